//! Networks for Posterior Mean Matching: g, which tells x from states on their clocks.
//!
//! [`Trunk`] is a network from features to outputs on Burn, [`Mlp`] or [`ColumnAttention`]; [`table`] turns the cells of a table
//! into features and the outputs into laws of cells, losses and gradients. [`Transformer`] is a network over the positions of a
//! text, and [`text`] what makes it a denoiser of masked texts. [`Unet`] is a network from images to images, [`image`] what makes
//! it a denoiser of images in noise, and [`features`] are those in which scores of images are measured. Weights are one flat buffer
//! with named parts ([`Part`]), so that the optimiser, checkpoints and files need to know nothing else.

mod column_attention;
mod device;
pub mod features;
mod gpt2;
pub mod image;
mod mlp;
mod ops;
mod parts;
mod setting;
pub mod table;
pub mod text;
mod transformer;
mod trunk;
mod trunk_config;
mod unet;

pub use burn::tensor::Device;
pub use column_attention::ColumnAttention;
pub use device::{DEVICES, DeviceError, device};
pub use features::{FeatureError, FeatureNet};
pub use gpt2::{Gpt2, NamedTensor};
pub use mlp::Mlp;
pub use ops::orthogonal::orthogonal;
pub use parts::{Part, Parts};
pub use setting::SettingError;
pub use transformer::{Positions, Transformer, TransformerConfig};
pub use trunk::{Masks, Trunk};
pub use trunk_config::{TrunkConfig, TrunkKind};
pub use unet::{Dropout, Unet, UnetConfig, UnetKind};
