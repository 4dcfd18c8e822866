//! Texts: settings, the part that is held out, and the tasks.

mod block_rules;
mod config;
mod order_weights;
mod ordered_task;
mod read_ahead;
mod split;
mod task;

pub use config::{TEXT_PRESETS, TextConfig, TextKind};
pub use order_weights::OrderWeights;
pub use ordered_task::{OrderBits, OrderedBatch, OrderedTask};
pub use split::split;
pub use task::TextTask;
