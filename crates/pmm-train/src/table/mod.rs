//! Tables: settings, the rows that are held out, and the task.

mod config;
mod split;
mod task;

pub use config::TableConfig;
pub use split::{MOST_HELD_OUT, split};
pub use task::{BatchConfig, TableTask, TrainBatch};
