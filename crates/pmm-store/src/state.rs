//! Everything a run needs to go on: what a checkpoint holds.

/// Weights, moments and counters after a number of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Steps taken.
    pub step: u64,
    /// The step at which the present attempt began: 0, or where a first one was given up.
    pub begun: u64,
    /// The steps of a second attempt; 0 in the first.
    pub horizon: u64,
    /// The weights.
    pub weights: Vec<f32>,
    /// AdamW's first moments.
    pub first_moment: Vec<f32>,
    /// AdamW's second moments.
    pub second_moment: Vec<f32>,
    /// The moving average of the weights.
    pub average: Vec<f32>,
    /// The best average so far.
    pub best: Option<Best>,
    /// Steps skipped because loss or gradient were not finite.
    pub skipped: u64,
    /// How many of them came last, in a row.
    pub skipped_in_a_row: u64,
    /// Updates made: what AdamW's bias correction counts.
    pub updates: u64,
}

/// The average with the lowest validation loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// When it was seen.
    pub step: u64,
    /// Its validation loss.
    pub loss: f64,
    /// Its weights.
    pub weights: Vec<f32>,
}

impl State {
    /// The start of a run.
    pub fn new(weights: Vec<f32>) -> Self {
        let zeros = vec![0.0; weights.len()];
        Self {
            step: 0,
            begun: 0,
            horizon: 0,
            average: weights.clone(),
            first_moment: zeros.clone(),
            second_moment: zeros,
            weights,
            best: None,
            skipped: 0,
            skipped_in_a_row: 0,
            updates: 0,
        }
    }

    /// A second attempt of so many steps, from the start; the best so far is kept.
    pub fn begin_again(&mut self, weights: Vec<f32>, horizon: u64) {
        let (step, skipped, best) = (self.step, self.skipped, self.best.take());
        *self = Self { step, begun: step, horizon, skipped, best, ..Self::new(weights) };
    }

    /// Whether there are moments and an average for every weight: not so on one of several ranks, which keeps its part.
    pub fn is_whole(&self) -> bool {
        let kept = [&self.first_moment, &self.second_moment, &self.average];
        kept.iter().all(|kept| kept.len() == self.weights.len())
    }

    /// Steps of the present attempt.
    pub fn since(&self) -> u64 {
        self.step - self.begun
    }

    /// The weights to use: the best average, or the latest where nothing was validated.
    pub fn best_weights(&self) -> &[f32] {
        self.best.as_ref().map_or(&self.average, |best| &best.weights)
    }
}
