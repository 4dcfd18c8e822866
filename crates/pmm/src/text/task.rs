//! A text to learn, by either kind of network.

use std::sync::Arc;

use pmm_core::{ParameterError, Streams};
use pmm_data::Tokens;
use pmm_net::text::{MaskedText, TextNetwork};
use pmm_train::text::{OrderedBatch, OrderedTask, TextConfig, TextTask};
use pmm_train::{Rules, Task};

/// The task of a network.
pub(crate) enum AnyTask {
    Ordered(OrderedTask),
    Masked(TextTask),
}

/// A batch of a task.
pub(crate) enum AnyBatch {
    Ordered(OrderedBatch),
    Masked(Vec<MaskedText>),
}

impl AnyTask {
    pub(crate) fn new(
        net: &TextNetwork,
        tokens: &Arc<Tokens>,
        config: &TextConfig,
    ) -> Result<Self, ParameterError> {
        let streams = Streams::new(config.seed);
        Ok(match net {
            TextNetwork::Ordered(net) => {
                Self::Ordered(OrderedTask::new(net.clone(), tokens.clone(), config, streams)?)
            }
            TextNetwork::Masked(net) => {
                Self::Masked(TextTask::new(net.clone(), tokens.clone(), config.valid, config.batch, streams))
            }
        })
    }
}

impl Task for AnyTask {
    type Batch = AnyBatch;

    fn batch(&self, step: u64) -> AnyBatch {
        match self {
            Self::Ordered(task) => AnyBatch::Ordered(task.batch(step)),
            Self::Masked(task) => AnyBatch::Masked(task.batch(step)),
        }
    }
    fn gradient(&self, weights: &[f32], batch: AnyBatch, gradient: &mut [f32]) -> f64 {
        match (self, batch) {
            (Self::Ordered(task), AnyBatch::Ordered(batch)) => task.gradient(weights, batch, gradient),
            (Self::Masked(task), AnyBatch::Masked(batch)) => task.gradient(weights, batch, gradient),
            _ => unreachable!("a task is given its own batches"),
        }
    }
    fn initial(&self) -> Vec<f32> {
        match self {
            Self::Ordered(task) => task.initial(),
            Self::Masked(task) => task.initial(),
        }
    }
    fn validate(&self, weights: &[f32]) -> f64 {
        match self {
            Self::Ordered(task) => task.validate(weights),
            Self::Masked(task) => task.validate(weights),
        }
    }
    fn decayed(&self) -> Vec<f32> {
        match self {
            Self::Ordered(task) => task.decayed(),
            Self::Masked(task) => task.decayed(),
        }
    }
    fn rules(&self) -> Rules {
        match self {
            Self::Ordered(task) => task.rules(),
            Self::Masked(task) => task.rules(),
        }
    }
    fn rows_read<'b>(&self, batch: &'b AnyBatch) -> &'b [usize] {
        match (self, batch) {
            (Self::Ordered(task), AnyBatch::Ordered(batch)) => task.rows_read(batch),
            _ => &[],
        }
    }
}
