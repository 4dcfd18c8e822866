//! Feature networks of images, forward only: what a Fréchet or kernel distance is measured in.
//!
//! | network | features | from | images become |
//! |---|---|---|---|
//! | ResNet of CIFAR-10 (He et al. 2016) | 64, and logits of ten classes | CIFAR-10 | 32×32, /255, ImageNet's mean and deviation |
//! | EfficientNet-Lite0 | 1280 | ImageNet | 224×224, (x − 127)/128 |
//! | Inception v3 of 2015-12-05 | 2048 | ImageNet | 299×299, (x − 128)/128 |
//!
//! A file of weights, safetensors or of PyTorch, is recognised by the names of its tensors ([`FeatureNet::load`]); images are bytes of any size, and grey
//! ones are repeated to three channels ([`FeatureNet::features`]). Only distances in Inception's features are called FID and
//! KID ([`FeatureNet::frechet_name`]); the others have the name of their network in theirs, also where they are measured on
//! images unlike those that the network was trained on, such as digits.
//!
//! ```no_run
//! use pmm_net::{Device, FeatureNet};
//! let net = FeatureNet::load("resnet20.safetensors".as_ref(), &Device::flex())?;
//! let images = [[0; 784], [255; 784]];
//! let images: Vec<&[u8]> = images.iter().map(|image| &image[..]).collect();
//! let features = net.features(&images, [1, 28, 28])?;
//! assert_eq!((features.len(), net.dimension()), (2 * 64, 64));
//! # Ok::<(), pmm_net::FeatureError>(())
//! ```

mod channels_last;
mod efficientnet;
mod error;
mod inception;
mod layers;
mod net;
mod pytorch;
mod resize;
mod resnet;
mod weights;

pub use error::FeatureError;
pub use net::FeatureNet;
