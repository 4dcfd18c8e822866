//! The loop.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use crate::optimiser::{Optimiser, Rules};
use crate::ranks::{Ranks, RanksError, share_state};
use crate::shard::{Shard, cut};
use crate::shard_sum::{Gradient, Tree};
use crate::train_config::TrainConfig;
use pmm_store::{Best, State};

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

/// Sees a run on its way, and keeps its state safe. Its errors stop the run.
pub trait Watcher {
    /// What may go wrong in keeping.
    type Error;
    /// Asked before every step: whether the run should stop here.
    fn wants_stop(&mut self) -> bool {
        false
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

/// Steps that may fail in a row before a run is given up.
const TOLERANCE: u64 = 25;

/// Trains from `state` on to the end, or until validation stops improving (and then perhaps once more, see
/// [`TrainConfig::patience`]), or the watcher of any rank wants a stop. The state is whole at every return, also at an error.
///
/// All ranks call it, with the same task and settings; they begin from the state of rank 0, and are in the same state, to the bit,
/// after every step.
pub fn train<T: Task, W: Watcher>(
    task: &T,
    config: &TrainConfig,
    ranks: &dyn Ranks,
    state: &mut State,
    watcher: &mut W,
) -> Result<Outcome, TrainError<W::Error>> {
    share_state(state, ranks)?;
    let first = state.step;
    let shards = Shard::of_rank(config.shards, ranks.rank(), ranks.size());
    std::thread::scope(|scope| {
        // One batch ahead; the thread ends when the receiver is gone.
        let ((sender, batches), pool) = (sync_channel(1), pool_for_batches());
        let own = move |step| {
            let shards = shards.clone().map(|index| Shard { index, count: config.shards });
            shards.map(|shard| (shard, task.batch(step, shard))).collect::<Vec<_>>()
        };
        let batch = move |step| pool.as_ref().map_or_else(|| own(step), |pool| pool.install(|| own(step)));
        scope.spawn(move || (first..u64::MAX).try_for_each(|step| sender.send(batch(step))));
        let mut run = Run {
            task,
            config: config.of(state),
            optimiser: Optimiser::new(task.rules(), task.decayed()),
            gradient: vec![0.0; state.weights.len()],
            losses: Mean::default(),
            ranks,
        };
        loop {
            if state.since() >= run.config.steps {
                return Ok(Outcome::Done);
            }
            if converged(state, config) {
                let Some(horizon) = second(state, config) else { return Ok(Outcome::Converged) };
                state.begin_again(task.initial(), horizon);
                run.config = config.of(state);
                run.losses = Mean::default();
            }
            if ranks.any(watcher.wants_stop())? {
                return Ok(Outcome::Interrupted);
            }
            let Ok(shards) = batches.recv() else { return Ok(Outcome::Done) };
            run.step(state, shards, watcher)?;
        }
    })
}

/// A caller in a pool of its own asks for nothing of the global one, which a forked process cannot use. The thread that makes
/// batches is in no pool, so it gets one of the same size.
fn pool_for_batches() -> Option<rayon::ThreadPool> {
    rayon::current_thread_index()?;
    rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build().ok()
}

/// Whether a first attempt has gone on too long without a new best; a second one goes to its end.
fn converged(state: &State, config: &TrainConfig) -> bool {
    let waited = state.best.as_ref().map_or(0, |best| state.step.saturating_sub(best.step));
    state.horizon == 0 && waited / config.validate_every >= config.patience
}

/// The steps of a second attempt, where the first had its best in its first half: twice as many, but not so many that both
/// together take a quarter more than was planned.
fn second(state: &State, config: &TrainConfig) -> Option<u64> {
    let best = state.best.as_ref()?.step;
    let left = (config.steps + config.steps / 4).saturating_sub(state.step);
    (best > 0 && best < config.steps / 2).then_some((2 * best).min(left)).filter(|steps| *steps > 0)
}

struct Run<'a, T> {
    task: &'a T,
    config: TrainConfig,
    optimiser: Optimiser,
    gradient: Vec<f32>,
    losses: Mean,
    ranks: &'a dyn Ranks,
}

impl<T: Task> Run<'_, T> {
    fn step<W: Watcher>(
        &mut self,
        state: &mut State,
        shards: Vec<(Shard, T::Batch)>,
        watcher: &mut W,
    ) -> Result<(), TrainError<W::Error>> {
        let (loss, rows) = self.gradient(&state.weights, shards)?;
        let norm = self.optimiser.norm(&self.gradient);
        if loss.is_finite() && norm.is_finite() {
            let scale = (self.config.clip / norm).min(1.0);
            self.optimiser.update(state, &self.gradient, scale, &rows, &self.config);
            state.skipped_in_a_row = 0;
            self.losses.add(loss);
        } else {
            state.skipped += 1;
            state.skipped_in_a_row += 1;
        }
        state.step += 1;
        if state.skipped_in_a_row >= TOLERANCE {
            return Err(TrainError::Diverged { step: state.step, in_a_row: state.skipped_in_a_row });
        }
        let last = state.since() == self.config.steps;
        if last || state.since().is_multiple_of(self.config.validate_every) {
            self.validate(state, watcher)?;
        }
        watcher.step(Progress { step: state.step, loss }, state).map_err(TrainError::Watcher)
    }

    /// The loss and the rows under Adagrad that have a gradient; the gradient itself is kept.
    fn gradient(
        &mut self,
        weights: &[f32],
        mut shards: Vec<(Shard, T::Batch)>,
    ) -> Result<(f64, Vec<usize>), RanksError> {
        if let Some((Shard::WHOLE, batch)) =
            shards.pop_if(|_| self.ranks.size() == 1 && self.config.shards == 1)
        {
            let rows = self.task.rows_read(&batch).to_vec();
            return Ok((self.task.gradient(weights, batch, &mut self.gradient), rows));
        }
        let dense = self.optimiser.dense();
        let mut tree = Tree::new(self.config.shards);
        for (shard, batch) in shards {
            tree.shard(shard.index, self.shard_gradient(weights, shard, batch));
        }
        let sum = tree.sum((dense, weights.len()), self.ranks)?;
        self.gradient[..dense].copy_from_slice(&sum.dense);
        for (at, values) in &sum.rows {
            self.gradient[*at..*at + values.len()].copy_from_slice(values);
        }
        Ok((sum.loss, sum.rows.into_iter().map(|(at, _)| at).collect()))
    }

    /// What a shard adds to loss and gradient: its own, by its share of the batch.
    fn shard_gradient(&mut self, weights: &[f32], shard: Shard, batch: T::Batch) -> Gradient {
        let rows = self.task.rows_read(&batch).to_vec();
        let loss = self.task.gradient(weights, batch, &mut self.gradient);
        let share = shard.share(self.task.batch_rows());
        let part = |range: Range<usize>| -> Vec<f32> {
            self.gradient[range].iter().map(|g| g * share as f32).collect()
        };
        let row = |at: usize| (at, part(at..at + self.optimiser.columns(at)));
        Gradient {
            loss: loss * share,
            dense: part(0..self.optimiser.dense()),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    fn validate<W: Watcher>(
        &mut self,
        state: &mut State,
        watcher: &mut W,
    ) -> Result<(), TrainError<W::Error>> {
        let loss = held_out_loss(self.task, &state.average, self.ranks)?;
        if loss.is_finite() && state.best.as_ref().is_none_or(|best| loss < best.loss) {
            state.best = Some(Best { step: state.step, loss, weights: state.average.clone() });
        }
        let mean = std::mem::take(&mut self.losses).value();
        watcher.validated(state, mean, loss).map_err(TrainError::Watcher)
    }
}

/// The loss on held-out data, of which every rank looks at its part; NaN where there is none.
fn held_out_loss<T: Task>(task: &T, weights: &[f32], ranks: &dyn Ranks) -> Result<f64, RanksError> {
    let own = task.losses(weights, cut(task.pieces(), ranks.rank(), ranks.size()));
    let all = ranks.gather(bytemuck::cast_slice(&own))?;
    let mut losses: Vec<f64> = Vec::new();
    for (rank, bytes) in all.iter().enumerate() {
        if bytes.len() % 8 != 0 {
            return Err(RanksError::OutOfStep { rank, bytes: bytes.len() });
        }
        losses.extend(bytemuck::pod_collect_to_vec::<u8, f64>(bytes));
    }
    Ok(if losses.is_empty() { f64::NAN } else { task.mean_loss(&losses) })
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }
    fn value(self) -> f64 {
        self.sum / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Alone;
    use pmm_store::{Identity, load_state, save_state};

    /// Least squares with noisy targets: weights go to (2, −1); chosen batches are poisoned.
    struct Toy {
        poisoned: std::ops::Range<u64>,
    }

    impl Task for Toy {
        type Batch = (f32, f32, f32);
        fn batch(&self, step: u64, _: Shard) -> Self::Batch {
            let mut stream = pmm_core::Streams::new(1).stream(pmm_core::Purpose::DATA, step, 0);
            let (a, b) = (stream.normal() as f32, stream.normal() as f32);
            let noise = if self.poisoned.contains(&step) { f32::NAN } else { 0.1 * stream.normal() as f32 };
            (a, b, 2.0 * a - b + noise)
        }
        fn batch_rows(&self) -> usize {
            1
        }
        fn gradient(&self, w: &[f32], (a, b, y): Self::Batch, gradient: &mut [f32]) -> f64 {
            let error = w[0] * a + w[1] * b - y;
            gradient.copy_from_slice(&[error * a, error * b]);
            0.5 * f64::from(error) * f64::from(error)
        }
        fn initial(&self) -> Vec<f32> {
            vec![0.0, 0.0]
        }
        fn pieces(&self) -> usize {
            1
        }
        fn losses(&self, w: &[f32], pieces: Range<usize>) -> Vec<f64> {
            pieces.map(|_| f64::from((w[0] - 2.0).powi(2) + (w[1] + 1.0).powi(2))).collect()
        }
        fn decayed(&self) -> Vec<f32> {
            vec![0.0; 2]
        }
    }

    #[derive(Default)]
    struct Quiet {
        validations: usize,
        stop_at: Option<u64>,
        step: u64,
    }

    impl Watcher for Quiet {
        type Error = std::convert::Infallible;
        fn wants_stop(&mut self) -> bool {
            self.stop_at.is_some_and(|at| self.step >= at)
        }
        fn step(&mut self, progress: Progress, _: &State) -> Result<(), Self::Error> {
            self.step = progress.step;
            Ok(())
        }
        fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Self::Error> {
            self.validations += 1;
            Ok(())
        }
    }

    fn config() -> TrainConfig {
        TrainConfig { steps: 600, learning_rate: 0.05, warmup: 10, ..Default::default() }
    }

    #[test]
    fn learns_and_keeps_the_best() {
        let mut state = State::new(vec![0.0, 0.0]);
        let mut quiet = Quiet::default();
        let outcome = train(&Toy { poisoned: 0..0 }, &config(), &Alone, &mut state, &mut quiet).unwrap();
        assert_eq!((outcome, quiet.validations), (Outcome::Done, 6));
        assert!(state.best.as_ref().unwrap().loss < 1e-3, "{:?}", state.best);
    }

    #[test]
    fn poisoned_steps_are_skipped_and_counted() {
        let mut state = State::new(vec![0.0, 0.0]);
        train(&Toy { poisoned: 100..110 }, &config(), &Alone, &mut state, &mut Quiet::default()).unwrap();
        assert_eq!((state.skipped, state.skipped_in_a_row), (10, 0));
        assert!(state.best.as_ref().unwrap().loss < 1e-3);
    }

    #[test]
    fn endless_poison_stops_the_run_with_a_whole_state() {
        let mut state = State::new(vec![0.0, 0.0]);
        let error = train(&Toy { poisoned: 200..600 }, &config(), &Alone, &mut state, &mut Quiet::default())
            .unwrap_err();
        assert!(matches!(error, TrainError::Diverged { step: 225, in_a_row: 25 }), "{error}");
        assert!(state.weights.iter().all(|w| w.is_finite()) && state.best.is_some());
    }

    #[test]
    fn no_improvement_ends_the_first_attempt() {
        let mut state = State::new(vec![2.0, -1.0]); // nothing to learn
        let config = TrainConfig { validate_every: 10, patience: 3, ..config() };
        let outcome =
            train(&Toy { poisoned: 0..0 }, &config, &Alone, &mut state, &mut Quiet::default()).unwrap();
        // The best came at once: a second attempt follows, twice as long as the way there.
        assert_eq!((outcome, state.step, state.begun, state.horizon), (Outcome::Done, 60, 40, 20));
    }

    /// A task whose held-out loss has its least a tenth of the way on: a second attempt is made, and goes to its end.
    struct Overfits;

    impl Task for Overfits {
        type Batch = ();
        fn batch(&self, _: u64, _: Shard) {}
        fn batch_rows(&self) -> usize {
            1
        }
        fn gradient(&self, _: &[f32], (): (), gradient: &mut [f32]) -> f64 {
            gradient[0] = -1.0;
            0.0
        }
        fn initial(&self) -> Vec<f32> {
            vec![0.0]
        }
        fn pieces(&self) -> usize {
            1
        }
        fn losses(&self, w: &[f32], pieces: Range<usize>) -> Vec<f64> {
            pieces.map(|_| f64::from((w[0] - 1.0).abs())).collect()
        }
        fn decayed(&self) -> Vec<f32> {
            vec![0.0]
        }
    }

    #[test]
    fn a_second_attempt_is_shorter_and_resumes_exactly() {
        let config = TrainConfig {
            steps: 1000,
            learning_rate: 0.01,
            warmup: 0,
            validate_every: 20,
            patience: 5,
            ema: 0.5,
            ..Default::default()
        };
        let run = |state: &mut State, stop_at: Option<u64>| {
            let mut watcher = Quiet { stop_at, ..Default::default() };
            train(&Overfits, &config, &Alone, state, &mut watcher).unwrap()
        };
        let mut whole = State::new(vec![0.0]);
        assert_eq!(run(&mut whole, None), Outcome::Done);
        assert!(
            whole.begun > 0 && whole.horizon == 2 * (whole.begun - 100),
            "{} {}",
            whole.begun,
            whole.horizon
        );
        assert_eq!(whole.since(), whole.horizon);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        for at in [whole.begun - 1, whole.begun, whole.begun + 1, whole.begun + 33] {
            let mut state = State::new(vec![0.0]);
            assert_eq!(run(&mut state, Some(at)), Outcome::Interrupted);
            save_state(&path, &state, &Identity::new("", "", "")).unwrap();
            let mut state = load_state(&path, &Identity::new("", "", ""), 1).unwrap();
            run(&mut state, None);
            assert_eq!(state, whole, "stopped at {at}");
        }
    }

    /// Stopped anywhere and gone on through a file: the same bits.
    #[test]
    fn resume_is_exact() {
        let task = Toy { poisoned: 300..303 };
        let mut whole = State::new(vec![0.0, 0.0]);
        train(&task, &config(), &Alone, &mut whole, &mut Quiet::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let identity = Identity::new("abc", "", "");
        for at in [1, 99, 100, 301, 599] {
            let mut state = State::new(vec![0.0, 0.0]);
            let mut watcher = Quiet { stop_at: Some(at), ..Default::default() };
            assert_eq!(
                train(&task, &config(), &Alone, &mut state, &mut watcher).unwrap(),
                Outcome::Interrupted
            );
            assert_eq!(state.step, at);
            save_state(&path, &state, &identity).unwrap();
            let mut state = load_state(&path, &identity, 2).unwrap();
            train(&task, &config(), &Alone, &mut state, &mut Quiet::default()).unwrap();
            assert_eq!(state, whole, "stopped at {at}");
        }
        let other = Identity::new("xyz", "", "");
        let error = load_state(&path, &other, 2).unwrap_err().to_string();
        assert!(error.ends_with("does not belong here: its data is abc, not xyz"), "{error}");
        assert!(load_state(&path, &identity, 3).unwrap_err().to_string().contains("2 numbers, not 3"));
    }
}
