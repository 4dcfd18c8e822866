//! What ranks gain: a few steps that are measured, and what follows from them for other numbers of ranks.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pmm_store::State;
use serde::Serialize;

use crate::ranks::{AllRanks, RanksError, Traffic};
use crate::run::train;
use crate::task::{Progress, Task, TrainError, Watcher};
use crate::train_config::TrainConfig;

/// Steps that are measured; one before them is not.
const STEPS: u64 = 4;

/// What the ranks of a job gain over one of them, by a few steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// How many there are.
    pub ranks: usize,
    /// Into how many parts a batch is cut: ranks beyond that have nothing to compute.
    pub shards: usize,
    /// Seconds of a step on these ranks, as measured.
    pub step: f64,
    /// Seconds that all ranks together compute for a step: about what one would take by itself.
    pub compute: f64,
    /// Bytes that each sends in a step.
    pub bytes: f64,
    /// Bytes a second, as the rank found it that waited least for the others.
    pub bandwidth: f64,
}

impl Gain {
    /// How many times as fast as one rank.
    pub fn speed_up(&self) -> f64 {
        self.compute / self.step
    }

    /// How many times as fast so many ranks would be as one: the compute of the rank that has the most shards, and as many bytes as it
    /// would send at the measured bandwidth. Waiting for ranks that are slow by chance is not counted.
    ///
    /// ```
    /// let gain = pmm_train::Gain { ranks: 2, shards: 8, step: 0.6, compute: 1.0, bytes: 1e6, bandwidth: 1e7 };
    /// // Half of the compute, and a tenth of a second for a megabyte; then an eighth, and 1.75 megabytes.
    /// assert!((gain.predicted(2) - 1.0 / 0.6).abs() < 1e-9 && (gain.predicted(8) - 1.0 / 0.3).abs() < 1e-9);
    /// assert_eq!(gain.predicted(16), 1.0 / (1.0 / 8.0 + 1.875e-1));
    /// ```
    pub fn predicted(&self, ranks: usize) -> f64 {
        let away = |ranks: usize| 1.0 - 1.0 / ranks as f64;
        let compute = self.compute * self.shards.div_ceil(ranks) as f64 / self.shards as f64;
        let bytes = self.bytes * away(ranks) / away(self.ranks);
        self.compute / (compute + bytes / self.bandwidth)
    }
}

/// Takes a few steps from the beginning, on all ranks, and keeps nothing of them. None where there is one rank only.
pub fn measure_gain(
    task: &impl Task,
    config: &TrainConfig,
    ranks: AllRanks,
) -> Result<Option<Gain>, RanksError> {
    if ranks.size() == 1 {
        return Ok(None);
    }
    // Stopped before it is validated.
    let config = TrainConfig { steps: STEPS + 2, validate_every: STEPS + 2, ..config.clone() };
    let traffic = Arc::new(Traffic::new(ranks.clone()));
    let mut clock = Clock { traffic: traffic.clone(), begun: None, taken: None };
    let mut state = State::new(task.initial());
    match train(task, &config, &*traffic, &mut state, &mut clock) {
        Err(TrainError::Ranks(error)) => return Err(error),
        // A loss that is not finite takes its time as well.
        Ok(_) | Err(TrainError::Diverged { .. } | TrainError::Watcher(_)) => {}
    }
    let (seconds, bytes, exchange) = clock.taken.unwrap_or((0.0, 0, Duration::ZERO));
    let own = [seconds, exchange.as_secs_f64(), bytes as f64].map(|all| all / STEPS as f64);
    let mut all = Vec::new();
    for (rank, bytes) in ranks.gather(bytemuck::cast_slice(&own))?.iter().enumerate() {
        let numbers: Option<[f64; 3]> = bytemuck::try_pod_read_unaligned(bytes).ok();
        all.push(numbers.ok_or(RanksError::OutOfStep { rank, bytes: bytes.len() })?);
    }
    let largest = |place: usize| all.iter().map(|numbers| numbers[place]).fold(0.0, f64::max);
    let waited_least = all.iter().map(|numbers| numbers[1]).fold(f64::MAX, f64::min);
    Ok(Some(Gain {
        ranks: ranks.size(),
        shards: config.shards,
        step: largest(0),
        compute: all.iter().map(|[step, exchange, _]| step - exchange).sum(),
        bytes: largest(2),
        bandwidth: largest(2) / waited_least.max(1e-9),
    }))
}

/// Takes the time of some steps, and ends the run.
struct Clock {
    traffic: Arc<Traffic>,
    begun: Option<(Instant, u64, Duration)>,
    taken: Option<(f64, u64, Duration)>,
}

impl Watcher for Clock {
    type Error = Infallible;

    fn wants_stop(&mut self) -> bool {
        self.taken.is_some()
    }

    fn step(&mut self, progress: Progress, _: &State) -> Result<(), Infallible> {
        let (bytes, waited) = self.traffic.so_far();
        match self.begun {
            None => self.begun = Some((Instant::now(), bytes, waited)),
            Some((begun, sent, before)) if progress.step == 1 + STEPS => {
                self.taken = Some((begun.elapsed().as_secs_f64(), bytes - sent, waited - before));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}
