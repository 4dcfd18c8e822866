//! Networks of a text. [`TextNet`]: masked tokens and a clock in, the law of every masked token out. [`OrderedNet`]: tokens in the order of
//! their events in, the law of each given those before it out.

mod batch;
mod denoise;
mod net;
mod network;
mod ordered;
mod ordered_cache;
mod ordered_config;
mod ordered_denoise;
mod ordered_text;
mod pattern_steps;
mod schedule;

pub use batch::MaskedText;
pub use denoise::TextDenoiser;
pub use net::TextNet;
pub use network::{TextNetConfig, TextNetwork};
pub(crate) use ordered::OrderedBlock;
pub use ordered::OrderedNet;
pub use ordered_cache::OrderedCache;
pub use ordered_config::OrderedConfig;
pub use ordered_denoise::OrderedDenoiser;
pub use ordered_text::OrderedText;
pub(crate) use ordered_text::TABLES;
pub use pattern_steps::PatternSteps;
pub use schedule::Schedule;
