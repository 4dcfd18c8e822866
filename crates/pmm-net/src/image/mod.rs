//! The network of an image: pixels on their clock in, the estimate of every pixel out.

mod denoise;
mod level;
mod net;
mod noisy;
mod pixels;

pub use denoise::ImageDenoiser;
pub use level::Parametrisation;
pub use net::{ImageNet, ImageShape};
pub use noisy::{Known, NoisyImage, region};
pub use pixels::{ImagePair, PixelFacts};
