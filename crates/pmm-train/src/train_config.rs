//! The knobs of a training run.

use serde::{Deserialize, Serialize};

use pmm_net::SettingError;
use pmm_store::State;

/// More steps than any run takes.
const MOST_STEPS: u64 = 1_000_000_000_000;

/// How the learning rate goes down after its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateSchedule {
    /// Half a cosine, to 0.
    #[default]
    Cosine,
    /// Constant for the first 41 % of the steps, then along a line to 2 %.
    Trapezoid,
}

impl RateSchedule {
    fn is_cosine(&self) -> bool {
        *self == Self::Cosine
    }
}

/// In which form gradients travel between ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// As they are: the model is the same, to the bit, on any number of ranks.
    #[default]
    Full,
    /// Rounded to bfloat16, in half the bytes. Not exact: the model depends on the number of ranks.
    Half,
}

impl Exchange {
    fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

fn is_one(shards: &usize) -> bool {
    *shards == 1
}

/// The share of the steps over which a trapezoid would fall to 0, and where it ends above that.
const FALL: f64 = 0.6;
const END: f64 = 0.02;

/// How to train. The default is the recommended run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// Steps in all.
    pub steps: u64,
    /// The largest learning rate.
    pub learning_rate: f64,
    /// Steps of linear growth to it.
    pub warmup: u64,
    /// How it goes down from there. Not written where it is a cosine: models from before there was a choice stay the same.
    #[serde(skip_serializing_if = "RateSchedule::is_cosine")]
    pub schedule: RateSchedule,
    /// Whether it is taken down at all.
    pub decay: bool,
    /// How long the optimiser remembers the squares of gradients: decay per step.
    pub beta_2: f64,
    /// Decoupled weight decay (per unit of learning rate), on matrices only.
    pub weight_decay: f64,
    /// The gradient is scaled down to this norm where it is longer.
    pub clip: f64,
    /// Decay per step of the moving average of the weights, the one that is validated and kept.
    pub ema: f64,
    /// Steps between validations.
    pub validate_every: u64,
    /// Validations without a new best after which the run stops. If the best came in the first half, a second run follows that
    /// is twice as long as the way to it: a learning rate that goes down in time learns better than one that is cut off.
    pub patience: u64,
    /// Parts that a batch is cut into, whose gradients are computed apart and added in a fixed tree: what several ranks can share. No part
    /// of a model's identity where it is 1.
    #[serde(skip_serializing_if = "is_one")]
    pub shards: usize,
    /// In which form gradients travel between ranks. Not written where it is full.
    #[serde(skip_serializing_if = "Exchange::is_full")]
    pub exchange: Exchange,
    /// Seconds between checkpoints, at least: what a kill can cost. No part of a model's identity.
    pub checkpoint_seconds: f64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            steps: 3000,
            learning_rate: 1e-3,
            warmup: 100,
            schedule: RateSchedule::Cosine,
            decay: true,
            beta_2: 0.999,
            weight_decay: 0.01,
            clip: 1.0,
            ema: 0.998,
            validate_every: 100,
            patience: 20,
            shards: 1,
            exchange: Exchange::Full,
            checkpoint_seconds: 10.0,
        }
    }
}

impl TrainConfig {
    /// The learning rate of a step: linear warm-up, then half a cosine or a trapezoid.
    ///
    /// ```
    /// use pmm_train::{RateSchedule, TrainConfig};
    /// let config = TrainConfig { steps: 1100, warmup: 100, learning_rate: 1.0, ..Default::default() };
    /// assert_eq!(config.rate(49), 0.5);
    /// assert!((config.rate(600) - 0.5).abs() < 1e-12);
    /// assert!(config.rate(1099) < 1e-4);
    /// let config = TrainConfig { steps: 1000, schedule: RateSchedule::Trapezoid, ..config };
    /// assert_eq!((config.rate(49), config.rate(411)), (0.5, 1.0));
    /// assert!((config.rate(700) - 0.52).abs() < 1e-12);
    /// ```
    pub fn rate(&self, step: u64) -> f64 {
        self.learning_rate * self.share(step)
    }

    /// The learning rate of a step over the largest.
    pub fn share(&self, step: u64) -> f64 {
        let warm = (step + 1) as f64 / self.warmup.max(1) as f64;
        let cool = match self.schedule {
            _ if !self.decay => 1.0,
            RateSchedule::Cosine => {
                let span = self.steps.saturating_sub(self.warmup).max(1) as f64;
                let done = (step.saturating_sub(self.warmup) as f64 / span).min(1.0);
                0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
            RateSchedule::Trapezoid => {
                let left = 1.0 - (step as f64 / self.steps.max(1) as f64).min(1.0);
                (left / FALL + END).min(1.0)
            }
        };
        warm.min(cool)
    }

    /// The settings of a second attempt of so many steps.
    pub(crate) fn shortened(&self, steps: u64) -> Self {
        let share = |n: u64| (n as f64 * steps as f64 / self.steps.max(1) as f64).ceil() as u64;
        Self {
            steps,
            warmup: share(self.warmup),
            validate_every: share(self.validate_every).max(10),
            // The average looks back over the same share of the run.
            ema: 1.0 - (1.0 - self.ema) * self.steps as f64 / steps.max(1) as f64,
            ..self.clone()
        }
    }

    /// The settings of the attempt that a state is in.
    pub fn of(&self, state: &State) -> Self {
        if state.horizon == 0 { self.clone() } else { self.shortened(state.horizon) }
    }

    /// The decay of the average at a step: short at first, so that it does not remember the initial weights.
    pub fn ema_at(&self, step: u64) -> f64 {
        self.ema.min((1.0 + step as f64) / (10.0 + step as f64))
    }

    /// With so many steps, and all that follows from their number: warm-up, how often it is validated, and an average of the
    /// weights that looks back over one `share`-th of the run. The one rule for tables, texts and images.
    ///
    /// ```
    /// use pmm_train::TrainConfig;
    /// let config = TrainConfig::default().with_steps(3000, 10.0);
    /// assert_eq!((config.steps, config.warmup, config.validate_every), (3000, 150, 100));
    /// assert!((config.ema - (1.0 - 10.0 / 3000.0)).abs() < 1e-12);
    /// ```
    pub fn with_steps(mut self, steps: u64, share: f64) -> Self {
        self.steps = steps;
        self.warmup = (steps / 20).min(200);
        self.validate_every = (steps / 30).max(10);
        self.ema = (1.0 - share / steps.max(1) as f64).clamp(0.9, 0.999);
        self
    }

    /// The settings that count for the result: all but how often it is saved.
    pub fn that_count(&self) -> Self {
        Self { checkpoint_seconds: Self::default().checkpoint_seconds, ..self.clone() }
    }

    /// Refuses settings that make no run of batches of so many rows.
    pub fn check(&self, batch: usize) -> Result<(), SettingError> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        SettingError::between("train.steps", self.steps, 1, MOST_STEPS)?;
        SettingError::between("train.warmup", self.warmup, 0, MOST_STEPS)?;
        SettingError::between("train.validate_every", self.validate_every, 1, MOST_STEPS)?;
        SettingError::between("train.patience", self.patience, 1, MOST_STEPS)?;
        SettingError::between("train.shards", self.shards, 1, batch)?;
        let rate = positive(self.learning_rate);
        SettingError::unless(rate, "train.learning_rate", self.learning_rate, "a positive number")?;
        SettingError::unless(positive(self.clip), "train.clip", self.clip, "a positive number")?;
        let share = |key: &str, value: f64| {
            SettingError::unless((0.0..1.0).contains(&value), key, value, "at least 0 and below 1")
        };
        share("train.ema", self.ema)?;
        share("train.beta_2", self.beta_2)?;
        SettingError::between("train.weight_decay", self.weight_decay, 0.0, 1e6)?;
        SettingError::between("train.checkpoint_seconds", self.checkpoint_seconds, 0.0, 1e9)
    }
}
