//! How any model is fitted: begun or gone on with, watched, kept safe, finished. Written once for all kinds of data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pmm_net::Device;
use pmm_store::{Identity, load_state, load_tensors, save_state};
use pmm_train::ranks::{Traffic, processor};
use pmm_train::{AllRanks, Alone, Outcome, Progress, Ranks, Shard, State, Task, TrainError, train};

use crate::error::Error;
use crate::fitted::{FitOutcome, FitSummary, Fitted, identity, save_settings};
use crate::folder::{CHECKPOINT, LOG, Mode, Place, WorkFolder};
use crate::kind::{Config, Kind};
use crate::log::Log;
use crate::settings::{Settings, difference};
use crate::watch::{Event, Watcher};

/// What every fit can be told, whatever its data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) settings: Settings,
    pub(crate) preset: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) steps: Option<u64>,
    pub(crate) minutes: Option<f64>,
    pub(crate) place: Option<Place>,
    pub(crate) device: Option<Device>,
    pub(crate) ranks: Option<AllRanks>,
}

impl Options {
    pub(crate) fn device(&self) -> Device {
        self.device.clone().unwrap_or_else(Device::flex)
    }

    pub(crate) fn is_resumed(&self) -> bool {
        self.place.as_ref().is_some_and(|place| matches!(place.mode, Mode::Resume | Mode::Follow))
    }

    /// Whether another rank writes, and this one takes settings and description from what it has written.
    pub(crate) fn follows(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.mode == Mode::Follow)
    }

    fn ranks(&self) -> AllRanks {
        self.ranks.clone().unwrap_or_else(|| Arc::new(Alone))
    }

    /// The options of this rank: rank 0 has those that are given. The others wait until it has begun a folder, and read there what they
    /// need; without a folder all do the same.
    pub(crate) fn of_rank(self) -> Result<Self, Error> {
        let ranks = self.ranks();
        if ranks.rank() == 0 || self.place.is_none() {
            return Ok(self);
        }
        let folder = String::from_utf8_lossy(&ranks.bytes_of_first(&[])?).into_owned();
        let place = Some(Place { folder: folder.into(), mode: Mode::Follow });
        Ok(Self { place, device: self.device, ranks: self.ranks, ..Self::default() })
    }

    /// Refuses times that are none.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(minutes) = self.minutes
            && !(minutes > 0.0 && minutes.is_finite())
        {
            return Err(Error::request(
                format!("{minutes} minutes are no time to train"),
                "give a positive number of minutes",
            ));
        }
        if self.minutes.is_some() && self.place.is_none() && self.ranks().size() > 1 {
            return Err(Error::request(
                "ranks without a folder cannot agree on a number of steps for a time",
                "give a number of steps, or a folder",
            ));
        }
        Ok(())
    }

    /// What the user has set, with the seed among it.
    pub(crate) fn given(&self) -> Result<Settings, Error> {
        let mut given = self.settings.clone();
        if let Some(seed) = self.seed.filter(|_| !given.has("seed")) {
            let large = |_| Error::request(format!("the seed {seed} is too large"), "seeds are below 2^63");
            given.set("seed", i64::try_from(seed).map_err(large)?)?;
        }
        Ok(given)
    }

    /// The settings of a new fit: those recommended, with so many steps if a number is asked for, and what is given over all.
    pub(crate) fn resolve<C: Config>(&self, recommended: C, given: &Settings) -> Result<C, Error> {
        let sized = match self.steps {
            Some(steps) => recommended.with_steps(steps),
            None => recommended,
        };
        let config: C = given.over(&sized)?;
        config.check()?;
        Ok(config)
    }

    /// The settings of a fit that goes on: those it began with. What is given must agree.
    pub(crate) fn resolve_stored<C: Config>(&self, stored: &C, given: &Settings) -> Result<C, Error> {
        let mut given = given.clone();
        if let Some(steps) = self.steps {
            given.set("train.steps", i64::try_from(steps).unwrap_or(i64::MAX))?;
        }
        let config: C = given.over(stored)?;
        config.check()?;
        let folder = self.place.as_ref().map(|place| place.folder.clone()).unwrap_or_default();
        match difference(&stored.that_count(), &config.that_count()) {
            Some(changed) => Err(Error::OtherSettings { folder, changed }),
            None => Ok(config),
        }
    }
}

/// Makes the model's weights, and what is known about them, of the best weights of training.
type Finish<'a, K> = &'a dyn Fn(&[f32]) -> (Vec<f32>, <K as Kind>::Facts);

/// Everything that a fit needs, once its data are read. Nothing is written yet.
pub(crate) struct Prepared<K: Kind> {
    pub(crate) config: K::Config,
    pub(crate) description: Arc<K::Description>,
    pub(crate) net: Arc<K::Net>,
    /// What the model has beside the network.
    pub(crate) more: K::More,
    pub(crate) identity: Identity,
    work: Option<WorkFolder>,
    is_resumed: bool,
    /// Where training begins or goes on, once the folder is made.
    state: Option<State>,
    ranks: Arc<Traffic>,
}

impl<K: Kind> Prepared<K> {
    /// Puts settings and data together, and checks that a fit that goes on was begun with them.
    pub(crate) fn new(
        work: Option<WorkFolder>,
        options: &Options,
        config: K::Config,
        description: Arc<K::Description>,
        data: &str,
    ) -> Result<Self, Error> {
        let net = Arc::new(K::network(&config, &description, &options.device())?);
        let identity = identity::<K>(data, &description, &config)?;
        // Who follows writes nothing.
        let work = work.filter(|_| !options.follows());
        let (is_resumed, more) = (options.is_resumed(), K::More::default());
        let ranks = Arc::new(Traffic::new(options.ranks()));
        let prepared =
            Self { config, description, net, more, identity, work, is_resumed, state: None, ranks };
        prepared.check_memory()?;
        Ok(prepared)
    }

    /// Weights, gradient, two moments, average and best, in four bytes each.
    fn check_memory(&self) -> Result<(), Error> {
        let weights = self.weights();
        let needed = 24.0 * weights as f64 / 1e6;
        match memory() {
            Some(available) if needed > available => {
                Err(Error::TooLarge { weights, needed: needed as u64, available: available as u64 })
            }
            _ => Ok(()),
        }
    }

    /// The folder of the fit, if it has one.
    pub(crate) fn folder(&self) -> Option<&std::path::Path> {
        self.work.as_ref().map(|work| work.path.as_path())
    }

    pub(crate) fn weights(&self) -> usize {
        K::parts(&self.net).len()
    }

    /// The number of steps for so many minutes, by a trial of a few; what the user has set stays.
    pub(crate) fn set_minutes(
        &mut self,
        minutes: f64,
        task: &impl Task,
        given: &Settings,
    ) -> Result<(), Error> {
        let own = Shard::of_rank(self.config.train().shards, 0, self.ranks.size()).len();
        let config = self.config.clone().with_steps(steps_in(minutes, task, self.config.train().shards, own));
        self.config = given.over(&config)?;
        self.config.check()?;
        self.identity = identity::<K>(&self.identity.data, &self.description, &self.config)?;
        Ok(())
    }

    /// Trains, from the start or from where it was left, and leaves a model. `finish` makes the model's weights, and what is
    /// known about them, of the best weights of training.
    pub(crate) fn run<T: Task>(
        mut self,
        task: &T,
        finish: Finish<'_, K>,
        watcher: &mut dyn Watcher,
    ) -> Result<Fitted<K>, Error> {
        self.begin(task)?;
        let mut state = self.state.take().unwrap_or_else(|| State::new(task.initial()));
        self.meet(watcher)?;
        // The others begin with the state of rank 0.
        if state.since() == 0 && self.ranks.rank() == 0 {
            prepare(task, &mut state, watcher);
        }
        watcher.notice(Event::Started { what: "fitting", total: Some(self.config.train().steps) });
        let log = match &self.work {
            Some(work) => Some(Log::open(&work.path.join(LOG), state.step)?),
            None => None,
        };
        let mut keeping = Checkpointing {
            prepared: &self,
            log,
            watcher,
            finish,
            begun: Instant::now(),
            saved: Instant::now(),
            kept: None,
        };
        let first = state.step;
        let outcome = train(task, self.config.train(), &*self.ranks, &mut state, &mut keeping);
        let seconds = keeping.begun.elapsed().as_secs_f64();
        // A rank that has lost the others has a part of the state only: the last checkpoint stands.
        match outcome {
            Err(TrainError::Watcher(error)) if !state.is_whole() => return Err(error),
            Err(TrainError::Ranks(error)) if !state.is_whole() => return Err(error.into()),
            _ => {}
        }
        keeping.keep(&state)?;
        watcher.notice(Event::Finished);
        if let Some(traffic) = self.traffic(state.step - first.min(state.step), seconds) {
            watcher.notice(Event::Note(&traffic));
        }
        let fitted = self.fitted(&state, finish, outcome.as_ref().ok().copied());
        self.conclude(&state, fitted, outcome)
    }

    /// Ranks find each other: those that follow are told of the folder, and all of what they compute with.
    fn meet(&self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let (ranks, shards) = (&self.ranks, self.config.train().shards);
        if ranks.size() == 1 {
            return Ok(());
        }
        if ranks.rank() == 0
            && let Some(work) = &self.work
        {
            ranks.bytes_of_first(work.path.to_string_lossy().as_bytes())?;
        }
        let processors = ranks.gather(processor().as_bytes())?;
        let words = |rank: usize| String::from_utf8_lossy(&processors[rank]).into_owned();
        if let Some(other) = (1..ranks.size()).find(|rank| processors[*rank] != processors[0]) {
            watcher.notice(Event::Note(&format!(
                "ranks have different processors (rank 0: {}; rank {other}: {}): the last bits of the model may differ from a fit on one \
                 of them",
                words(0),
                words(other)
            )));
        }
        if shards < ranks.size() {
            let idle = ranks.size() - shards;
            watcher.notice(Event::Note(&format!(
                "{} ranks share {shards} {}: {idle} have nothing to compute; the setting train.shards says into how many parts a batch is \
                 cut",
                ranks.size(),
                if shards == 1 { "shard" } else { "shards" }
            )));
        }
        Ok(())
    }

    /// What the ranks had to say to each other, in words.
    fn traffic(&self, steps: u64, seconds: f64) -> Option<String> {
        let (bytes, waited) = self.ranks.so_far();
        (self.ranks.size() > 1 && steps > 0).then(|| {
            format!(
                "{} ranks; each sent {:.2} MB a step, and rank 0 spent {:.0} % of its time in that, waiting for the others included",
                self.ranks.size(),
                bytes as f64 / steps as f64 / 1e6,
                100.0 * waited.as_secs_f64() / seconds.max(1e-9)
            )
        })
    }

    /// Finds the state to train from, unless that is done; whatever happens from here on, the folder can go on.
    pub(crate) fn begin(&mut self, task: &impl Task) -> Result<(), Error> {
        let (Some(work), None) = (&mut self.work, &self.state) else { return Ok(()) };
        let checkpoint = work.path.join(CHECKPOINT);
        let state = match self.is_resumed {
            true => load_state(&checkpoint, &self.identity, K::parts(&self.net).len())?,
            false => State::new(task.initial()),
        };
        // Before the settings, by which a folder is known as a fit: whatever has settings can go on.
        save_state(&checkpoint, &state, &self.identity)?;
        save_settings::<K>(&work.path, &self.config, &self.description)?;
        work.keep();
        self.state = Some(state);
        Ok(())
    }

    fn fitted(
        &self,
        state: &State,
        finish: Finish<'_, K>,
        outcome: Option<Outcome>,
    ) -> Result<Fitted<K>, Error> {
        let (weights, facts) = finish(state.best_weights());
        if !weights.iter().all(|weight| weight.is_finite()) {
            return Err(Error::NotFinite);
        }
        Ok(Fitted {
            config: self.config.clone(),
            description: self.description.clone(),
            net: self.net.clone(),
            weights,
            more: self.more.clone(),
            identity: self.identity.clone(),
            fit: FitSummary::of(state, outcome),
            facts,
            folder: None,
        })
    }

    fn conclude(
        self,
        state: &State,
        fitted: Result<Fitted<K>, Error>,
        outcome: Result<Outcome, TrainError<Error>>,
    ) -> Result<Fitted<K>, Error> {
        let diverged = match outcome {
            // Too short to be given up on the way, but half of it or more was skipped at the end.
            Ok(_) if 2 * state.skipped_in_a_row >= state.step.max(1) => {
                Some((state.step, state.skipped_in_a_row))
            }
            Ok(_) => None,
            Err(TrainError::Watcher(error)) => return Err(error),
            Err(TrainError::Ranks(error)) => return Err(error.into()),
            Err(TrainError::Diverged { step, in_a_row }) => Some((step, in_a_row)),
        };
        // What was never validated is no model to keep, if it did not learn.
        if let Some((step, in_a_row)) = diverged
            && (state.best.is_none() || fitted.is_err())
        {
            return Err(Error::Diverged { step, in_a_row, kept: false });
        }
        let mut fitted = fitted?;
        if let Some(work) = self.work {
            fitted.save_weights(&work.path)?;
            // One that was stopped or given up does not take another's place.
            fitted.folder = Some(match fitted.fit.outcome {
                FitOutcome::Finished | FitOutcome::Converged => work.finish()?,
                _ => work.path.clone(),
            });
        }
        match diverged {
            Some((step, in_a_row)) => Err(Error::Diverged { step, in_a_row, kept: true }),
            None => Ok(fitted),
        }
    }
}

/// Refuses to go on with other data than a fit was begun with, before anything of the folder is touched.
pub(crate) fn check_data(work: &WorkFolder, folder: &std::path::Path, digest: &str) -> Result<(), Error> {
    let (_, facts) = load_tensors::<pmm_store::Checkpoint>(&work.path.join(CHECKPOINT))?;
    let was = facts.identity.data;
    if was == digest {
        return Ok(());
    }
    Err(Error::OtherData { folder: folder.into(), was, is: digest.to_owned() })
}

/// What is learned before the first step.
fn prepare(task: &impl Task, state: &mut State, watcher: &mut dyn Watcher) {
    let mut begun = false;
    task.prepare(state, &mut |done, total| {
        if !std::mem::replace(&mut begun, true) {
            watcher.notice(Event::Started { what: "reading ahead", total: Some(total) });
        }
        watcher.notice(Event::Progress { done });
        !watcher.wants_stop()
    });
    if begun {
        watcher.notice(Event::Finished);
    }
}

/// How many steps fit into so many minutes, by a few of them; of each a rank computes `own` shards.
fn steps_in(minutes: f64, task: &impl Task, shards: usize, own: usize) -> u64 {
    let weights = task.initial();
    let mut gradient = vec![0.0; weights.len()];
    let mut step = |n: u64| {
        for index in 0..own.max(1) {
            let shard = Shard { index, count: shards };
            task.gradient(&weights, task.batch(n, shard), &mut gradient);
        }
    };
    (0..2).for_each(&mut step);
    let start = Instant::now();
    (2..10).for_each(&mut step);
    let seconds = start.elapsed().as_secs_f64() / 8.0;
    ((minutes * 60.0 / seconds / 1.15) as u64).max(10)
}

/// Megabytes of the machine's memory, where the system says.
fn memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<f64>().ok()? / 1e3)
}

/// Keeps a fit safe while it runs: log, checkpoints, the best model so far; and tells the watcher.
struct Checkpointing<'a, K: Kind> {
    prepared: &'a Prepared<K>,
    log: Option<Log>,
    watcher: &'a mut dyn Watcher,
    finish: Finish<'a, K>,
    begun: Instant,
    saved: Instant,
    /// The step of the best model that was written.
    kept: Option<u64>,
}

impl<K: Kind> Checkpointing<'_, K> {
    fn keep(&mut self, state: &State) -> Result<(), Error> {
        let Some(work) = &self.prepared.work else { return Ok(()) };
        save_state(&work.path.join(CHECKPOINT), state, &self.prepared.identity)?;
        let best = state.best.as_ref().map(|best| best.step);
        if best.is_some() && best != self.kept {
            if let Ok(fitted) = self.prepared.fitted(state, self.finish, None) {
                fitted.save_weights(&work.path)?;
            }
            self.kept = best;
        }
        self.saved = Instant::now();
        Ok(())
    }
}

impl<K: Kind> pmm_train::Watcher for Checkpointing<'_, K> {
    type Error = Error;

    fn wants_stop(&mut self) -> bool {
        self.watcher.wants_stop()
    }

    fn step(&mut self, progress: Progress, state: &State) -> Result<(), Error> {
        let train = self.prepared.config.train();
        let steps = if state.horizon > 0 { state.begun + state.horizon } else { train.steps };
        self.watcher.notice(Event::Step { step: progress.step, steps, loss: progress.loss });
        Ok(())
    }

    /// Rank 0 keeps; the others have no folder.
    fn wants_save(&mut self) -> bool {
        let seconds = self.prepared.config.train().checkpoint_seconds;
        self.prepared.work.is_some() && self.saved.elapsed() >= Duration::from_secs_f64(seconds)
    }

    fn save(&mut self, state: &State) -> Result<(), Error> {
        self.keep(state)
    }

    fn validated(&mut self, state: &State, train_loss: f64, held_out_loss: f64) -> Result<(), Error> {
        let is_best = state.best.as_ref().is_some_and(|best| best.step == state.step);
        self.watcher.notice(Event::Validated { step: state.step, train_loss, held_out_loss, is_best });
        let Some(log) = &mut self.log else { return Ok(()) };
        let rate = self.prepared.config.train().of(state).rate(state.since());
        let seconds = self.begun.elapsed().as_secs_f64();
        log.add(state.step, seconds, train_loss, held_out_loss, rate, state.skipped)
    }
}

/// What every `Fit` can be told: the builder's methods that tables, texts and images share. `self.options` is an [`Options`].
macro_rules! fit_options {
    () => {
        /// Fixes every random number; 0 by default.
        pub fn seed(mut self, seed: u64) -> Self {
            self.options.seed = Some(seed);
            self
        }

        /// Training steps, in place of as many as the size of the data suggests.
        pub fn steps(mut self, steps: u64) -> Self {
            self.options.steps = Some(steps);
            self
        }

        /// Training time, roughly; the number of steps is found by a trial.
        pub fn minutes(mut self, minutes: f64) -> Self {
            self.options.minutes = Some(minutes);
            self
        }

        /// Settings by name, as in a model's `config.toml`.
        pub fn settings(mut self, settings: &Settings) -> Self {
            self.options.settings.extend(settings);
            self
        }

        /// Settings that go together, by name.
        pub fn preset(mut self, name: &str) -> Self {
            self.options.preset = Some(name.to_owned());
            self
        }

        /// Keeps the fit in a folder, which must not be there yet: checkpoints on the way, the model in the end.
        pub fn at(mut self, folder: impl Into<PathBuf>) -> Self {
            self.options.place =
                Some(crate::folder::Place { folder: folder.into(), mode: crate::folder::Mode::New });
            self
        }

        /// Goes on with the fit in a folder, bit for bit as if it had never stopped.
        pub fn resume(mut self, folder: impl Into<PathBuf>) -> Self {
            self.options.place =
                Some(crate::folder::Place { folder: folder.into(), mode: crate::folder::Mode::Resume });
            self
        }

        /// Keeps the fit in a folder; a model that is there is replaced once the new one is whole.
        pub fn replace(mut self, folder: impl Into<PathBuf>) -> Self {
            self.options.place =
                Some(crate::folder::Place { folder: folder.into(), mode: crate::folder::Mode::Replace });
            self
        }

        /// The processes that fit together, each of which makes the same call: see [`ranks`](crate::ranks). The model is the same for
        /// any number of them; rank 0 writes it.
        pub fn ranks(mut self, ranks: crate::AllRanks) -> Self {
            self.options.ranks = Some(ranks);
            self
        }

        /// Where the network computes; the processor by default.
        pub fn device(mut self, device: Device) -> Self {
            self.options.device = Some(device);
            self
        }
    };
}
pub(crate) use fit_options;

/// What a fit would take.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Cost {
    /// The network's weights.
    pub weights: usize,
    /// Memory.
    pub megabytes: f64,
    /// Floating-point operations of a training step.
    pub operations_per_step: f64,
    /// Time on two cores, roughly.
    pub minutes: f64,
}
