//! What is trained, and who watches.

use std::ops::Range;

use crate::optimiser::Rules;
use crate::ranks::RanksError;
use crate::shard::Shard;
use pmm_store::State;

/// What is trained: parameters and a batch give a loss and its gradient.
pub trait Task: Sync {
    /// A batch, made ready on another thread while the network works on the one before.
    type Batch: Send;

    /// A shard of the batch of a step: a function of these two alone.
    fn batch(&self, step: u64, shard: Shard) -> Self::Batch;

    /// Rows, texts or images of a step, of which shards have their shares.
    fn batch_rows(&self) -> usize;

    /// The mean loss on a shard, and its gradient.
    fn gradient(&self, weights: &[f32], batch: Self::Batch, gradient: &mut [f32]) -> f64;

    /// The weights to begin with.
    fn initial(&self) -> Vec<f32>;

    /// Learns what is learned before the first step, for a state with these weights; the same however often it is called. `goes_on`
    /// hears how far that is (done, of so many) and says whether to go on; where not, the state is left as it was.
    fn prepare(&self, _: &mut State, _goes_on: &mut dyn FnMut(u64, u64) -> bool) {}

    /// Pieces of held-out data, each of which can be looked at by itself; 0 where there are none.
    fn pieces(&self) -> usize;

    /// The losses of some pieces, always the same for the same weights.
    fn losses(&self, weights: &[f32], pieces: Range<usize>) -> Vec<f64>;

    /// The loss on held-out data by the losses of all pieces, one after the other.
    fn mean_loss(&self, losses: &[f64]) -> f64 {
        losses.iter().sum::<f64>() / losses.len() as f64
    }

    /// 1 for weights that decay (matrices), 0 for those that do not (biases).
    fn decayed(&self) -> Vec<f32>;

    /// By which rule each weight is moved: all by AdamW, where it is not said.
    fn rules(&self) -> Rules {
        Rules::default()
    }

    /// Where the rows begin that a batch reads of the weights under [`Rule::Adagrad`](crate::Rule::Adagrad). Of these weights
    /// [`Task::gradient`] need write no other rows.
    fn rows_read<'b>(&self, _: &'b Self::Batch) -> &'b [usize] {
        &[]
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// The loss of the last step.
    pub loss: f64,
}

/// Sees a run on its way, and keeps its state safe. Its errors stop the run. Of several ranks, each has in its state only its part of
/// moments and averages, but for what [`Watcher::save`] is given.
pub trait Watcher {
    /// What may go wrong in keeping.
    type Error;
    /// Asked before every step: whether the run should stop here.
    fn wants_stop(&mut self) -> bool {
        false
    }
    /// Asked before every step: whether the state should be kept.
    fn wants_save(&mut self) -> bool {
        false
    }
    /// The whole state, on rank 0, where any rank wants it to be kept.
    fn save(&mut self, _: &State) -> Result<(), Self::Error> {
        Ok(())
    }
    /// After every step.
    fn step(&mut self, progress: Progress, state: &State) -> Result<(), Self::Error>;
    /// After every validation, with the mean training loss since the last one.
    fn validated(&mut self, state: &State, train_loss: f64, valid_loss: f64) -> Result<(), Self::Error>;
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps were taken.
    Done,
    /// Validation had not improved for `patience` validations.
    Converged,
    /// It was asked to stop.
    Interrupted,
}

/// Why a run stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum TrainError<E> {
    /// Losses or gradients are not finite, step after step.
    #[error("{in_a_row} steps in a row gave a loss or gradient that is not finite (the last at step {step})")]
    Diverged {
        /// The step.
        step: u64,
        /// How many in a row.
        in_a_row: u64,
    },
    /// Ranks could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The watcher could not go on.
    #[error(transparent)]
    Watcher(E),
}
