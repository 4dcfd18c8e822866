//! Muon: momentum whose singular values are made equal, for the matrices of blocks.

use std::ops::Range;

use pmm_net::{SettingError, orthogonal};
use pmm_store::State;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How Muon moves a matrix: m ← β m + (1 − β) g, u = β m + (1 − β) g, and w ← w − η (√max(1, outputs/inputs) · orthogonal(u) + λ w).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MuonConfig {
    /// The largest learning rate η, which goes up and down as the others do. 0: AdamW moves these matrices, too.
    pub rate: f64,
    /// The momentum β.
    pub momentum: f64,
    /// The decay λ of weights, per unit of the learning rate.
    pub weight_decay: f64,
}

impl Default for MuonConfig {
    fn default() -> Self {
        Self { rate: 0.02, momentum: 0.95, weight_decay: 0.02 }
    }
}

impl MuonConfig {
    /// AdamW moves all matrices.
    pub fn off() -> Self {
        Self { rate: 0.0, ..Self::default() }
    }

    /// Whether AdamW moves all matrices.
    pub fn is_off(&self) -> bool {
        self.rate == 0.0
    }

    /// Refuses settings that make no step.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("muon.rate", self.rate, 0.0, 1e3)?;
        let fine = (0.0..1.0).contains(&self.momentum);
        SettingError::unless(fine, "muon.momentum", self.momentum, "at least 0 and below 1")?;
        SettingError::between("muon.weight_decay", self.weight_decay, 0.0, 1e6)
    }
}

/// A matrix that Muon moves, stored by rows, of which the columns are cut into as many matrices of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MuonMatrix {
    pub(crate) range: Range<usize>,
    pub(crate) shape: [usize; 2],
    pub(crate) pieces: usize,
    pub(crate) gain: f32,
    pub(crate) config: MuonConfig,
}

/// √max(1, outputs/inputs): the step of a matrix that makes many outputs of few inputs is as much longer.
pub(crate) fn gain(inputs: usize, outputs: usize) -> f32 {
    (outputs as f32 / inputs as f32).max(1.0).sqrt()
}

/// How far along its schedule a step is: the share of the largest learning rate, and the decay of the average.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) share: f64,
    pub(crate) ema: f64,
}

/// Moves some matrices, each on one thread. The momentum is where AdamW has its first moment: that of weight i at i − `origin`.
pub(crate) fn update(
    state: &mut State,
    matrices: &[MuonMatrix],
    origin: usize,
    gradient: &[f32],
    scale: f64,
    pace: Pace,
) {
    for matrix in matrices {
        let beta = matrix.config.momentum as f32;
        let momentum = &mut state.first_moment[matrix.range.start - origin..matrix.range.end - origin];
        for (m, g) in momentum.iter_mut().zip(&gradient[matrix.range.clone()]) {
            *m = beta * *m + (1.0 - beta) * (g * scale as f32);
        }
    }
    let momentum = &state.first_moment;
    let pieces: Vec<(&MuonMatrix, usize)> =
        matrices.iter().flat_map(|matrix| (0..matrix.pieces).map(move |piece| (matrix, piece))).collect();
    let steps: Vec<Vec<f32>> = pieces
        .par_iter()
        .map(|(matrix, piece)| matrix.step(*piece, (momentum, origin), gradient, scale as f32))
        .collect();
    for ((matrix, piece), step) in pieces.into_iter().zip(steps) {
        matrix.apply(piece, &step, state, origin, pace);
    }
}

impl MuonMatrix {
    /// Where the rows of a piece are in the weights.
    fn rows(&self, piece: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let [rows, columns] = self.shape;
        let (start, each) = (self.range.start, columns / self.pieces);
        (0..rows).map(move |row| start + row * columns + piece * each).map(move |at| at..at + each)
    }

    /// gain · orthogonal(β m + (1 − β) g).
    fn step(
        &self,
        piece: usize,
        (momentum, origin): (&[f32], usize),
        gradient: &[f32],
        scale: f32,
    ) -> Vec<f32> {
        let beta = self.config.momentum as f32;
        let mut u = Vec::with_capacity(self.range.len() / self.pieces);
        for row in self.rows(piece) {
            let both = momentum[row.start - origin..].iter().zip(&gradient[row]);
            u.extend(both.map(|(m, g)| beta * m + (1.0 - beta) * (g * scale)));
        }
        let mut step = orthogonal(&u, self.shape[0], self.shape[1] / self.pieces);
        step.iter_mut().for_each(|step| *step *= self.gain);
        step
    }

    fn apply(&self, piece: usize, step: &[f32], state: &mut State, origin: usize, pace: Pace) {
        let rate = self.config.rate * pace.share;
        let kept = (1.0 - rate * self.config.weight_decay) as f32;
        let (rate, ema) = (rate as f32, pace.ema as f32);
        let width = self.shape[1] / self.pieces;
        for (row, step) in self.rows(piece).zip(step.chunks_exact(width)) {
            let average = &mut state.average[row.start - origin..row.end - origin];
            let both = state.weights[row].iter_mut().zip(average);
            for ((w, average), step) in both.zip(step) {
                *w = kept * *w - rate * step;
                *average += (1.0 - ema) * (*w - *average);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps of a matrix of two pieces against the formula, written out on pieces that are matrices of their own.
    #[test]
    fn moves_by_orthogonal_momentum() {
        let config = MuonConfig { rate: 0.1, momentum: 0.9, weight_decay: 0.5 };
        let matrix = MuonMatrix { range: 1..13, shape: [2, 6], pieces: 2, gain: gain(2, 3), config };
        let number = |i: usize| ((i * 29 % 13) as f32 - 6.0) / 5.0;
        let start: Vec<f32> = (0..14).map(number).collect();
        let mut state = State::new(start.clone());
        let cut = |values: &[f32], piece: usize| -> Vec<f32> {
            (0..2).flat_map(|row| values[1 + row * 6 + piece * 3..][..3].to_vec()).collect()
        };
        let mut expected: Vec<Vec<f32>> = (0..2).map(|piece| cut(&start, piece)).collect();
        let mut momentum = vec![vec![0.0; 6]; 2];
        for t in 0..2 {
            let gradient: Vec<f32> = (0..14).map(|i| number(i * 3 + 5 * t + 1)).collect();
            let pace = Pace { share: 0.5, ema: 0.25 };
            update(&mut state, std::slice::from_ref(&matrix), 0, &gradient, 0.5, pace);
            for piece in 0..2 {
                let g: Vec<f32> = cut(&gradient, piece).iter().map(|g| 0.5 * g).collect();
                let m = &mut momentum[piece];
                m.iter_mut().zip(&g).for_each(|(m, g)| *m = 0.9 * *m + 0.1 * g);
                let u: Vec<f32> = m.iter().zip(&g).map(|(m, g)| 0.9 * m + 0.1 * g).collect();
                let o = orthogonal(&u, 2, 3);
                for (w, o) in expected[piece].iter_mut().zip(o) {
                    *w = *w * (1.0 - 0.05 * 0.5) - 0.05 * 1.5f32.sqrt() * o;
                }
            }
        }
        for (piece, expected) in expected.iter().enumerate() {
            for (w, e) in cut(&state.weights, piece).iter().zip(expected) {
                assert!((w - e).abs() < 1e-6, "{w} {e}");
            }
        }
        assert_eq!((state.weights[0], state.weights[13]), (start[0], start[13]));
        assert_ne!(state.average[1], start[1]);
    }
}
