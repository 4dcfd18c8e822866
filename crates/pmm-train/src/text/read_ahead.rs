//! The tables of local patterns read the text before the network does.

use pmm_core::{OrderMixture, Streams};
use pmm_net::text::{OrderedNet, PatternSteps};
use rayon::prelude::*;

use crate::adagrad::adagrad;
use pmm_store::State;

/// Windows between two looks at the progress.
const CHUNK: u64 = 64;
/// The orders of these windows are those of steps from here on: no run is as long.
const FIRST_STEP: u64 = 1 << 62;

/// Tables learn alone, token by token: the same objective as that of the whole network, where its own logits are still 0. A token costs
/// less than a hundredth of what it costs the network, so that all of a text can be read; the network then learns what the tables do not
/// know.
pub(super) struct ReadAhead<'a> {
    pub(super) net: &'a OrderedNet,
    pub(super) orders: &'a OrderMixture,
    pub(super) streams: &'a Streams,
    /// The tokens from there on, as many as a text has.
    pub(super) window: &'a (dyn Fn(u64) -> Vec<u32> + Sync),
    /// Tokens to learn from.
    pub(super) tokens: u64,
    /// Windows to read at most.
    pub(super) most: u64,
    /// Adagrad's rate.
    pub(super) rate: f32,
    /// The share of a token in the gradient of a step, by which the sums of squares go on.
    pub(super) share: f32,
}

impl ReadAhead<'_> {
    /// Reads each part of the text once at most, with tables that begin at 0. Where `goes_on` (windows read, of so many) says no, the tables
    /// are left at 0.
    pub(super) fn run(&self, state: &mut State, goes_on: &mut dyn FnMut(u64, u64) -> bool) {
        let Some(range) = self.net.pattern_tables() else { return };
        let tables = &mut state.weights[range.clone()];
        let sums = &mut state.second_moment[range.clone()];
        tables.fill(0.0);
        sums.fill(0.0);
        let (all, length) = (self.tokens / self.net.length() as u64, self.net.length() as u64);
        let (windows, stride) = (all.min(self.most), stride(all));
        let text = |window: u64| {
            let tokens = (self.window)(window * stride % all * length);
            let (step, row) = (FIRST_STEP + window / CHUNK, window % CHUNK);
            self.net.pattern_steps(&tokens, &self.orders.draw(tokens.len(), step, row, CHUNK, self.streams))
        };
        let chunk = |first: u64| -> Vec<PatternSteps> {
            (first..(first + CHUNK).min(windows)).into_par_iter().map(text).collect()
        };
        let mut ready = chunk(0);
        for first in (0..windows).step_by(CHUNK as usize) {
            if !goes_on(first, windows) {
                tables.fill(0.0);
                sums.fill(0.0);
                break;
            }
            let learn = || ready.iter().for_each(|steps| self.learn(tables, sums, steps));
            ready = rayon::join(learn, || chunk(first + CHUNK)).1;
        }
        state.average[range.clone()].copy_from_slice(&state.weights[range]);
    }

    fn learn(&self, tables: &mut [f32], sums: &mut [f32], steps: &PatternSteps) {
        let mut gradient = vec![0.0; self.net.classes()];
        for step in steps.iter() {
            steps.gradient(tables, step, &mut gradient);
            gradient.iter_mut().for_each(|g| *g *= self.share);
            for row in step.0.iter().map(|&row| row..row + gradient.len()) {
                adagrad(&mut tables[row.clone()], &mut sums[row], &gradient, self.rate);
            }
        }
    }
}

/// A step from window to window that comes by all of them, and by evenly spread ones first: near n/φ, and without a divisor in common.
fn stride(n: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (n as f64 * 0.618_033_988_749_895) as u64;
    (golden.max(1)..).find(|&stride| divisor(stride, n) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_read_once() {
        for n in [1, 2, 3, 10, 64, 1000, 1024] {
            let mut seen: Vec<u64> = (0..n).map(|window| window * stride(n) % n).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }
}
