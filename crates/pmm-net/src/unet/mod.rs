//! The network of an image: the two U-Nets of Karras et al. 2022 (arXiv 2206.00364), ADM and DDPM++.

mod block;
mod builder;
mod config;
mod cost;
mod dropout;
mod embedding;
mod layers;
mod net;
mod plan;
mod presets;

pub use config::{UnetConfig, UnetKind};
pub use dropout::Dropout;
pub use net::Unet;
