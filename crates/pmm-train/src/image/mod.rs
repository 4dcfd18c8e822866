//! Images: settings, facts about the data, the images that are held out, and the task.

mod augment;
mod config;
mod facts;
mod split;
mod task;

pub use config::{IMAGE_PRESETS, ImageConfig, ImageKind};
pub use facts::ImageFacts;
pub use split::split;
pub use task::ImageTask;
