//! The network of a text: masked tokens and a clock in, the law of every masked token out.

mod batch;
mod denoise;
mod net;
mod schedule;

pub use batch::MaskedText;
pub use denoise::TextDenoiser;
pub use net::TextNet;
pub use schedule::Schedule;
