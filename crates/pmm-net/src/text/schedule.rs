//! Clocks of texts, by name.

use pmm_core::{Clock, Linear, LogLinear, SemiAutoregressive, Staircase};
use serde::{Deserialize, Serialize};

use crate::transformer::CLOCK_FEATURES;

/// How the clock of a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The usual clock of masked diffusion: the share of revealed positions grows evenly.
    LogLinear,
    /// f = .01 (1 + 2000 t), of the paper's OpenWebText model.
    Linear,
    /// f = 3.5, and a hundred times that at the end; of the paper's text8 model.
    Staircase,
    /// A wave from left to right.
    SemiAutoregressive,
}

/// Places over which the share of masks is averaged.
const PLACES: usize = 64;

impl Schedule {
    /// The clock.
    pub fn clock(self) -> Box<dyn Clock> {
        match self {
            Self::LogLinear => Box::new(LogLinear),
            Self::Linear => Box::new(Linear::default()),
            Self::Staircase => Box::new(Staircase::default()),
            Self::SemiAutoregressive => Box::new(SemiAutoregressive::default()),
        }
    }

    /// What the network is told of a time: waves of the logarithm of the information, that is of −log of the share of
    /// positions still masked.
    pub(crate) fn features(self, t: f64) -> Vec<f32> {
        let clock = self.clock();
        let masked = (0..PLACES).map(|i| (-clock.information(t, i as f64 / PLACES as f64)).exp());
        let masked = masked.sum::<f64>() / PLACES as f64;
        let level = (-masked.ln()).max(1e-4).ln().min(4.0);
        let half = CLOCK_FEATURES / 2;
        let wave = |k: usize| level * 0.1 * 300f64.powf((k % half) as f64 / (half - 1) as f64);
        let feature = |k: usize| if k < half { wave(k).sin() } else { wave(k).cos() };
        (0..CLOCK_FEATURES).map(|k| feature(k) as f32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal shares of masks look alike to the network, whatever the clock; the ends are finite.
    #[test]
    fn features_tell_the_share_of_masks() {
        let t = 0.25;
        let a = Schedule::LogLinear.clock().information(t, 0.0);
        let same = Schedule::Linear.clock().time(a, 0.0);
        for (x, y) in Schedule::LogLinear.features(t).iter().zip(Schedule::Linear.features(same)) {
            assert!((x - y).abs() < 1e-3, "{x} {y}");
        }
        for schedule in
            [Schedule::LogLinear, Schedule::Linear, Schedule::Staircase, Schedule::SemiAutoregressive]
        {
            for t in [0.0, 1.0] {
                assert!(schedule.features(t).iter().all(|f| f.is_finite()), "{schedule:?} at {t}");
            }
            assert_ne!(schedule.features(0.1), schedule.features(0.9));
        }
    }
}
