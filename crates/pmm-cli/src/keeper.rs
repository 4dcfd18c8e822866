//! Keeps a fit safe while it runs: bar, log, checkpoints.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::ProgressBar;
use pmm_train::{Facts, Log, Progress, State, TrainConfig, Watcher, save_state};

use crate::output;

pub(crate) struct Keeper<'a> {
    train: &'a TrainConfig,
    identity: &'a Facts,
    checkpoint: PathBuf,
    log: Log,
    bar: ProgressBar,
    begun: Instant,
    saved: Instant,
    valid: f64,
    mean: f64,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(
        train: &'a TrainConfig,
        identity: &'a Facts,
        checkpoint: PathBuf,
        log: Log,
        step: u64,
        quiet: bool,
    ) -> Self {
        let bar = output::bar(train.steps, "fitting", quiet);
        bar.set_position(step);
        bar.reset_eta();
        let now = Instant::now();
        Self {
            train,
            identity,
            checkpoint,
            log,
            bar,
            begun: now,
            saved: now,
            valid: f64::NAN,
            mean: f64::NAN,
        }
    }

    fn save(&mut self, state: &State) -> anyhow::Result<()> {
        save_state(&self.checkpoint, state, self.identity)?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Saves the state; returns what is known of the fit, for the weights and the model card.
    pub(crate) fn finish(mut self, state: &State) -> anyhow::Result<Facts> {
        self.bar.finish_and_clear();
        self.save(state)?;
        let mut facts = self.identity.clone();
        facts.insert("steps".into(), state.step.to_string());
        facts.insert("skipped".into(), state.skipped.to_string());
        if let Some(best) = &state.best {
            facts.insert("best_step".into(), best.step.to_string());
            facts.insert("valid_loss".into(), format!("{:.6}", best.loss));
        }
        Ok(facts)
    }
}

impl Watcher for Keeper<'_> {
    type Error = anyhow::Error;

    fn step(&mut self, progress: Progress, state: &State) -> anyhow::Result<()> {
        let loss = progress.loss;
        self.mean = if self.mean.is_nan() { loss } else { 0.98 * self.mean + 0.02 * loss };
        self.bar.set_position(progress.step);
        if state.horizon > 0 {
            self.bar.set_length(state.begun + state.horizon);
        }
        if progress.step.is_multiple_of(10) {
            let held_out =
                if self.valid.is_nan() { String::new() } else { format!(", held out {:.4}", self.valid) };
            self.bar.set_message(format!("loss {:.4}{held_out}", self.mean));
        }
        if self.saved.elapsed() >= Duration::from_secs_f64(self.train.checkpoint_seconds) {
            self.save(state)?;
        }
        Ok(())
    }

    fn validated(&mut self, state: &State, train_loss: f64, valid_loss: f64) -> anyhow::Result<()> {
        self.valid = valid_loss;
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = self.train.of(state).rate(state.since());
        self.log
            .add(state.step, seconds, train_loss, valid_loss, rate, state.skipped)
            .context("cannot write log.csv")
    }
}
