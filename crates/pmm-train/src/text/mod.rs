//! Texts: settings, the part that is held out, and the task.

mod config;
mod split;
mod task;

pub use config::{TEXT_PRESETS, TextConfig, TextKind};
pub use split::split;
pub use task::TextTask;
