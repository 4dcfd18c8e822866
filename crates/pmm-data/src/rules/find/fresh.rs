//! A proposed rule on rows that had no part in the proposal.

use std::ops::Range;

use super::chance::{cautious, ln_at_least};

/// Inputs are compared with the outputs of so many other rows, to see what chance does.
const SHIFTS: usize = 8;

/// How a proposal does on fresh rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fresh {
    pub(crate) rows: f64,
    pub(crate) holds: f64,
    /// The share in which it would hold by chance: outputs of other rows, plus three standard errors.
    pub(crate) chance: f64,
}

impl Fresh {
    /// Counts in some rows; `holds(output, input)` says whether the output of one row fits the inputs of another.
    pub(crate) fn new(rows: Range<usize>, holds: impl Fn(usize, usize) -> Option<bool>) -> Self {
        let n = rows.len();
        let count = |shift: usize| {
            let mut counts = [0.0; 2];
            for place in 0..n {
                let other = rows.start + (place + shift) % n;
                if let Some(held) = holds(other, rows.start + place) {
                    counts[0] += 1.0;
                    counts[1] += f64::from(u8::from(held));
                }
            }
            counts
        };
        let [applies, held] = count(0);
        let (mut tried, mut chance) = (0.0, 0.0);
        for shift in (1..=SHIFTS).map(|shift| shift * n / (SHIFTS + 1)).filter(|&shift| shift > 0) {
            let [rows, held] = count(shift);
            tried += rows;
            chance += held;
        }
        Self { rows: applies, holds: held, chance: cautious(chance, tried) }
    }

    /// Whether it holds in nearly all rows, and chance would not explain that, at ln of a threshold.
    pub(crate) fn convinces(&self, ln_threshold: f64) -> bool {
        let breaks = self.rows - self.holds;
        self.rows >= 20.0
            && breaks <= 0.05 * self.rows
            && breaks <= 0.1 * (1.0 - self.chance) * self.rows
            && ln_at_least(self.holds, self.rows, self.chance) <= ln_threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_what_other_rows_do() {
        let value = |row: usize| row * 7_919 % 10;
        let fresh = Fresh::new(100..1_100, |a, b| Some(value(a) == value(b)));
        assert_eq!((fresh.rows, fresh.holds), (1_000.0, 1_000.0));
        assert!(fresh.chance < 0.3 && fresh.convinces(-100.0), "{fresh:?}");
        let always = Fresh::new(0..1_000, |_, _| Some(true));
        assert!(!always.convinces(-0.1));
    }
}
