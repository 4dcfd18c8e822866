//! A text to learn, by either kind of network.

use std::sync::Arc;

use pmm_core::{ParameterError, Streams};
use pmm_data::Tokens;
use pmm_net::text::{MaskedText, TextNetwork};
use pmm_train::text::{OrderedBatch, OrderedTask, TextConfig, TextTask};
use pmm_train::{Rules, Shard, State, Task};

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
                Self::Masked(TextTask::new(net.clone(), tokens.clone(), config, streams))
            }
        })
    }
}

impl Task for AnyTask {
    type Batch = AnyBatch;

    fn batch(&self, step: u64, shard: Shard) -> AnyBatch {
        match self {
            Self::Ordered(task) => AnyBatch::Ordered(task.batch(step, shard)),
            Self::Masked(task) => AnyBatch::Masked(task.batch(step, shard)),
        }
    }
    fn batch_rows(&self) -> usize {
        match self {
            Self::Ordered(task) => task.batch_rows(),
            Self::Masked(task) => task.batch_rows(),
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
    fn prepare(&self, state: &mut State, goes_on: &mut dyn FnMut(u64, u64) -> bool) {
        match self {
            Self::Ordered(task) => task.prepare(state, goes_on),
            Self::Masked(task) => task.prepare(state, goes_on),
        }
    }
    fn pieces(&self) -> usize {
        match self {
            Self::Ordered(task) => task.pieces(),
            Self::Masked(task) => task.pieces(),
        }
    }
    fn losses(&self, weights: &[f32], pieces: std::ops::Range<usize>) -> Vec<f64> {
        match self {
            Self::Ordered(task) => task.losses(weights, pieces),
            Self::Masked(task) => task.losses(weights, pieces),
        }
    }
    fn mean_loss(&self, losses: &[f64]) -> f64 {
        match self {
            Self::Ordered(task) => task.mean_loss(losses),
            Self::Masked(task) => task.mean_loss(losses),
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
