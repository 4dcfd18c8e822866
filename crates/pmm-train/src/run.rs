//! The loop.

use std::ops::Range;
use std::sync::mpsc::sync_channel;

use crate::numbers::{Bytes, Numbers};
use crate::optimiser::Optimiser;
use crate::ranks::{Parts, Ranks, RanksError, deal, gather_average, gather_parts};
use crate::segment::Segment;
use crate::shard::{Shard, cut};
use crate::shard_sum::Tree;
use crate::task::{Outcome, Progress, Task, TrainError, Watcher};
use crate::train_config::{Exchange, TrainConfig};
use pmm_store::{Best, State};

/// Steps that may fail in a row before a run is given up.
const TOLERANCE: u64 = 25;

/// What a watcher asks for, as bits.
const STOP: u8 = 1;
const SAVE: u8 = 2;

/// Trains from `state` on to the end, or until validation stops improving (and then perhaps once more, see
/// [`TrainConfig::patience`]), or the watcher of any rank wants a stop. The state is whole at every return, also at an error; but where
/// several ranks have lost each other, or the watcher of one fails, each is left with its part ([`State::is_whole`] says so).
///
/// All ranks call it, with the same task and settings; they begin from the state of rank 0, and have the same weights, to the bit,
/// after every step.
pub fn train<T: Task, W: Watcher>(
    task: &T,
    config: &TrainConfig,
    ranks: &dyn Ranks,
    state: &mut State,
    watcher: &mut W,
) -> Result<Outcome, TrainError<W::Error>> {
    let optimiser = Optimiser::new(task.rules(), task.decayed());
    let segments = optimiser.segments(ranks.size());
    deal(state, &segments, ranks)?;
    let gradient = vec![0.0; state.weights.len()];
    let losses = Mean::default();
    let mut run = Run { task, config: config.of(state), optimiser, segments, gradient, losses, ranks };
    let outcome = run.all_steps(config, state, watcher);
    // What ends all ranks alike.
    let together = matches!(outcome, Ok(_) | Err(TrainError::Diverged { .. }));
    if ranks.size() > 1
        && together
        && let Some(whole) = gather_parts(state, &run.segments, true, ranks)?
    {
        whole.swap(state);
    }
    outcome
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
    /// One for each rank.
    segments: Vec<Segment>,
    gradient: Vec<f32>,
    losses: Mean,
    ranks: &'a dyn Ranks,
}

impl<T: Task> Run<'_, T> {
    /// The segment of this rank.
    fn own(&self) -> &Segment {
        &self.segments[self.ranks.rank()]
    }

    fn all_steps<W: Watcher>(
        &mut self,
        config: &TrainConfig,
        state: &mut State,
        watcher: &mut W,
    ) -> Result<Outcome, TrainError<W::Error>> {
        let (task, ranks, first) = (self.task, self.ranks, state.step);
        let shards = Shard::of_rank(config.shards, ranks.rank(), ranks.size());
        std::thread::scope(|scope| {
            // One batch ahead; the thread ends when the receiver is gone.
            let ((sender, batches), pool) = (sync_channel(1), pool_for_batches());
            let own = move |step| {
                let shards = shards.clone().map(|index| Shard { index, count: config.shards });
                shards.map(|shard| (shard, task.batch(step, shard))).collect::<Vec<_>>()
            };
            let batch =
                move |step| pool.as_ref().map_or_else(|| own(step), |pool| pool.install(|| own(step)));
            scope.spawn(move || (first..u64::MAX).try_for_each(|step| sender.send(batch(step))));
            loop {
                if state.since() >= self.config.steps {
                    return Ok(Outcome::Done);
                }
                if converged(state, config) {
                    let Some(horizon) = second(state, config) else { return Ok(Outcome::Converged) };
                    state.begin_again(task.initial(), horizon);
                    task.prepare(state, &mut |_, _| true);
                    Parts::keep_own(state, self.own());
                    self.config = config.of(state);
                    self.losses = Mean::default();
                }
                let asked = STOP * u8::from(watcher.wants_stop()) + SAVE * u8::from(watcher.wants_save());
                let asked = ranks.any(asked)?;
                if asked & STOP != 0 {
                    return Ok(Outcome::Interrupted);
                }
                if asked & SAVE != 0 {
                    self.save(state, watcher)?;
                }
                let Ok(shards) = batches.recv() else { return Ok(Outcome::Done) };
                self.step(state, shards, watcher)?;
            }
        })
    }

    /// Has the whole state kept by rank 0.
    fn save<W: Watcher>(&self, state: &mut State, watcher: &mut W) -> Result<(), TrainError<W::Error>> {
        if self.ranks.size() == 1 {
            return watcher.save(state).map_err(TrainError::Watcher);
        }
        let Some(whole) = gather_parts(state, &self.segments, false, self.ranks)? else { return Ok(()) };
        let own = whole.swap(state);
        let saved = watcher.save(state);
        own.swap(state);
        saved.map_err(TrainError::Watcher)
    }

    fn step<W: Watcher>(
        &mut self,
        state: &mut State,
        shards: Vec<(Shard, T::Batch)>,
        watcher: &mut W,
    ) -> Result<(), TrainError<W::Error>> {
        let (loss, rows) = self.gradient(&state.weights, shards)?;
        let norm = self.norm()?;
        if loss.is_finite() && norm.is_finite() {
            let scale = (self.config.clip / norm).min(1.0);
            self.optimiser.update(state, self.own(), &self.gradient, scale, &rows, &self.config);
            self.share_weights(state, &rows)?;
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

    /// The loss, and the rows under Adagrad that have a gradient, of this rank's segment; the gradient itself is kept.
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
        let mut tree = Tree::new(self.config.shards);
        for (shard, batch) in shards {
            tree.shard(shard.index, self.shard_gradient(weights, shard, batch));
        }
        let sum = tree.sum(&self.segments, self.config.exchange, self.ranks)?;
        let dense = self.own().dense.clone();
        self.gradient[dense].copy_from_slice(&sum.dense);
        for (at, values) in &sum.rows {
            self.gradient[*at..*at + values.len()].copy_from_slice(values);
        }
        Ok((sum.loss, sum.rows.into_iter().map(|(at, _)| at).collect()))
    }

    /// The norm of the gradient, of which every rank knows its segment.
    fn norm(&self) -> Result<f64, RanksError> {
        let own = self.optimiser.squares(&self.gradient, self.own());
        let all = in_order(&own, self.ranks)?;
        Ok(all.iter().sum::<f64>().sqrt())
    }

    /// Gives all ranks the weights of this one's segment; of tables, the rows that have changed.
    fn share_weights(&self, state: &mut State, rows: &[usize]) -> Result<(), RanksError> {
        if self.ranks.size() == 1 {
            return Ok(());
        }
        let weights = &mut state.weights;
        let row = |&at: &usize| (at, weights[at..at + self.optimiser.columns(at)].to_vec());
        let own = Numbers {
            dense: weights[self.own().dense.clone()].to_vec(),
            rows: rows.iter().map(row).collect(),
            ..Numbers::default()
        };
        let (all, mut bytes) =
            (Segment { dense: 0..own.dense.len(), rows: self.own().rows.clone() }, Vec::new());
        own.write_segment(&all, Exchange::Full, &mut bytes);
        for (rank, bytes) in self.ranks.gather(&bytes)?.iter().enumerate() {
            let numbers = Numbers::read(&mut Bytes(bytes), Exchange::Full);
            let taken = numbers.and_then(|numbers| {
                let segment = self.segments[rank].dense.clone();
                (segment.len() == numbers.dense.len())
                    .then(|| weights[segment].copy_from_slice(&numbers.dense))?;
                let place = |(at, values): (usize, Vec<f32>)| {
                    weights.get_mut(at..at.checked_add(values.len())?).map(|row| row.copy_from_slice(&values))
                };
                numbers.rows.into_iter().try_for_each(place)
            });
            taken.ok_or(RanksError::OutOfStep { rank, bytes: bytes.len() })?;
        }
        Ok(())
    }

    /// What a shard adds to loss and gradient: its own, by its share of the batch.
    fn shard_gradient(&mut self, weights: &[f32], shard: Shard, batch: T::Batch) -> Numbers {
        let rows = self.task.rows_read(&batch).to_vec();
        let loss = self.task.gradient(weights, batch, &mut self.gradient);
        let share = shard.share(self.task.batch_rows());
        let part = |range: Range<usize>| -> Vec<f32> {
            self.gradient[range].iter().map(|g| g * share as f32).collect()
        };
        let row = |at: usize| (at, part(at..at + self.optimiser.columns(at)));
        Numbers {
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
        let average = gather_average(state, &self.segments, self.ranks)?;
        let loss = held_out_loss(self.task, &average, self.ranks)?;
        if loss.is_finite() && state.best.as_ref().is_none_or(|best| loss < best.loss) {
            state.best = Some(Best { step: state.step, loss, weights: average.into_owned() });
        }
        let mean = std::mem::take(&mut self.losses).value();
        watcher.validated(state, mean, loss).map_err(TrainError::Watcher)
    }
}

/// The loss on held-out data, of which every rank looks at its part; NaN where there is none.
fn held_out_loss<T: Task>(task: &T, weights: &[f32], ranks: &dyn Ranks) -> Result<f64, RanksError> {
    let own = task.losses(weights, cut(task.pieces(), ranks.rank(), ranks.size()));
    let losses = in_order(&own, ranks)?;
    Ok(if losses.is_empty() { f64::NAN } else { task.mean_loss(&losses) })
}

/// The numbers of all ranks, one rank after the other.
fn in_order(own: &[f64], ranks: &dyn Ranks) -> Result<Vec<f64>, RanksError> {
    let mut numbers = Vec::new();
    for (rank, bytes) in ranks.gather(bytemuck::cast_slice(own))?.iter().enumerate() {
        if bytes.len() % 8 != 0 {
            return Err(RanksError::OutOfStep { rank, bytes: bytes.len() });
        }
        numbers.extend(bytemuck::pod_collect_to_vec::<u8, f64>(bytes));
    }
    Ok(numbers)
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
