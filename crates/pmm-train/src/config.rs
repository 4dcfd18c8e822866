//! The knobs of a training run.

use serde::{Deserialize, Serialize};

use pmm_store::State;

/// How to train. The default is the recommended run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// Steps in all.
    pub steps: u64,
    /// The largest learning rate.
    pub learning_rate: f64,
    /// Steps of linear growth to it; a cosine takes it down to 0 from there.
    pub warmup: u64,
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
    /// Seconds between checkpoints, at least: what a kill can cost. No part of a model's identity.
    pub checkpoint_seconds: f64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            steps: 3000,
            learning_rate: 1e-3,
            warmup: 100,
            decay: true,
            beta_2: 0.999,
            weight_decay: 0.01,
            clip: 1.0,
            ema: 0.998,
            validate_every: 100,
            patience: 20,
            checkpoint_seconds: 10.0,
        }
    }
}

impl TrainConfig {
    /// The learning rate of a step: linear warm-up, then half a cosine.
    ///
    /// ```
    /// use pmm_train::TrainConfig;
    /// let config = TrainConfig { steps: 1100, warmup: 100, learning_rate: 1.0, ..Default::default() };
    /// assert_eq!(config.rate(49), 0.5);
    /// assert!((config.rate(600) - 0.5).abs() < 1e-12);
    /// assert!(config.rate(1099) < 1e-4);
    /// ```
    pub fn rate(&self, step: u64) -> f64 {
        let warm = (step + 1) as f64 / self.warmup.max(1) as f64;
        let span = self.steps.saturating_sub(self.warmup).max(1) as f64;
        let done = (step.saturating_sub(self.warmup) as f64 / span).min(1.0);
        let cool = if self.decay { 0.5 * (1.0 + (std::f64::consts::PI * done).cos()) } else { 1.0 };
        self.learning_rate * warm.min(cool)
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

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if self.validate_every == 0 || self.patience == 0 {
            return Some("train.validate_every and train.patience must be at least 1".into());
        }
        if !positive(self.learning_rate) || !positive(self.clip) {
            return Some("train.learning_rate and train.clip must be positive numbers".into());
        }
        if !(0.0..1.0).contains(&self.ema) || !(0.0..=1e6).contains(&self.weight_decay) {
            return Some("train.ema must be at least 0 and below 1, train.weight_decay at least 0".into());
        }
        if !(0.0..1.0).contains(&self.beta_2) {
            return Some("train.beta_2 must be at least 0 and below 1".into());
        }
        if !(0.0..=1e9).contains(&self.checkpoint_seconds) {
            return Some("train.checkpoint_seconds must be between 0 and 1e9".into());
        }
        None
    }
}
