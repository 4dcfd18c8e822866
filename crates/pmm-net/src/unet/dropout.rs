//! Dropout whose masks are functions of (seed, step, row, block).

use burn::tensor::{Device, Tensor, TensorData};
use pmm_core::{Purpose, Streams};

/// Where the masks of a training step come from.
///
/// A row's masks depend on the seed, the step, the row and the block only, so a batch may be cut at will: a piece that
/// starts at the batch's row r passes `first_row: r`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropout {
    /// The seed.
    pub streams: Streams,
    /// The step of training.
    pub step: u64,
    /// The row of the first image.
    pub first_row: u64,
}

/// The mask of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mask<'a> {
    pub(super) dropout: &'a Dropout,
    pub(super) block: u32,
    /// The share that is dropped.
    pub(super) share: f64,
}

impl Mask<'_> {
    /// What images of this shape are multiplied by: 0 for the share, 1/(1 − share) for the rest.
    pub(super) fn tensor(&self, shape: [usize; 4], device: &Device) -> Tensor<4> {
        let mask = TensorData::new(self.values(shape[0], shape[1..].iter().product()), shape);
        Tensor::from_data(mask, device)
    }

    fn values(&self, rows: usize, units: usize) -> Vec<f32> {
        let keep = 1.0 - self.share;
        // Sixteen bits a unit: four units a word.
        let bound = (keep * 65536.0).round() as u64;
        let scale = (1.0 / keep) as f32;
        let mut mask = vec![0f32; rows * units];
        for (row, mask) in mask.chunks_exact_mut(units).enumerate() {
            let Dropout { streams, step, first_row } = *self.dropout;
            let purpose = Purpose::IMAGE_DROPOUT;
            let mut rng = streams.block_stream(purpose, self.block, step, first_row + row as u64);
            for units in mask.chunks_mut(4) {
                let word = rng.word();
                for (k, unit) in units.iter_mut().enumerate() {
                    *unit = if (word >> (16 * k)) & 0xffff < bound { scale } else { 0.0 };
                }
            }
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share is dropped, the mean kept, and a row's mask does not depend on the rows before it.
    #[test]
    fn masks() {
        let dropout = Dropout { streams: Streams::new(1), step: 3, first_row: 0 };
        let mask = |dropout: &Dropout, rows| Mask { dropout, block: 2, share: 0.25 }.values(rows, 4098);
        let all = mask(&dropout, 4);
        let dropped = all.iter().filter(|unit| **unit == 0.0).count() as f64 / all.len() as f64;
        // Five standard deviations of a share of 16,392 units.
        assert!((dropped - 0.25).abs() < 0.017, "{dropped}");
        assert!(all.iter().all(|unit| *unit == 0.0 || (unit - 4.0 / 3.0).abs() < 1e-6));
        assert_eq!(all[2 * 4098..], mask(&Dropout { first_row: 2, ..dropout }, 2));
        assert_ne!(all, mask(&Dropout { step: 4, ..dropout }, 4));
    }
}
