//! The maps of Winograd's F(4×4, 3×3) between tiles of 4×4 outputs, of the 6×6 pixels that they come from, and 3×3 kernels.

#![expect(clippy::needless_range_loop, reason = "a map goes by columns, then by rows of the same square")]

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

/// Outputs of a tile along one side, and pixels that they come from.
pub(super) const TILE: usize = 4;
pub(super) const SEEN: usize = 6;

/// A map of the numbers along one side of a tile.
pub(super) trait Map {
    const FROM: usize;
    const TO: usize;
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN];
}

/// A map on both sides of tiles, whose numbers are vectors.
pub(super) struct Mapped<'a, M> {
    /// Where each tile begins in `from` and in `to`.
    pub(super) places: &'a [(usize, usize)],
    pub(super) from: &'a [f32],
    /// Between rows and between columns of a tile.
    pub(super) from_steps: (usize, usize),
    pub(super) to: &'a mut [f32],
    pub(super) to_steps: (usize, usize),
    /// Numbers of a vector, a multiple of the longest vectors'.
    pub(super) count: usize,
    pub(super) map: PhantomData<M>,
}

impl<M: Map> Mapped<'_, M> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl<M: Map> WithSimd for Mapped<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = S::F32_LANES;
        for &(from, to) in self.places {
            for lane in (0..self.count).step_by(lanes) {
                let mut half = [[simd.splat_f32s(0.0); SEEN]; SEEN];
                for column in 0..M::FROM {
                    let mut x = [simd.splat_f32s(0.0); SEEN];
                    for (row, x) in x.iter_mut().enumerate().take(M::FROM) {
                        let place = from + lane + row * self.from_steps.0 + column * self.from_steps.1;
                        *x = S::as_simd_f32s(&self.from[place..place + lanes]).0[0];
                    }
                    let y = M::map(simd, x);
                    for row in 0..M::TO {
                        half[row][column] = y[row];
                    }
                }
                for (row, half) in half.into_iter().enumerate().take(M::TO) {
                    let y = M::map(simd, half);
                    for (column, y) in y.into_iter().enumerate().take(M::TO) {
                        let place = to + lane + row * self.to_steps.0 + column * self.to_steps.1;
                        S::as_mut_simd_f32s(&mut self.to[place..place + lanes]).0[0] = y;
                    }
                }
            }
        }
    }
}

/// Bᵀ.
pub(super) struct ExpandImage;
/// A.
pub(super) struct ExpandSlope;
/// G.
pub(super) struct ExpandKernel;
/// Aᵀ.
pub(super) struct Contract;
/// Gᵀ.
pub(super) struct ContractKernel;

impl Map for ExpandImage {
    const FROM: usize = 6;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let ends = |x0, x2, x4| times(4.0, x0, times(-5.0, x2, x4));
        let (even, odd) = (times(-4.0, x[2], x[4]), times(-4.0, x[1], x[3]));
        let (near, far) = (simd.sub_f32s(x[4], x[2]), simd.sub_f32s(x[3], x[1]));
        [
            ends(x[0], x[2], x[4]),
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            times(2.0, far, near),
            times(-2.0, far, near),
            ends(x[1], x[3], x[5]),
        ]
    }
}

impl Map for ExpandSlope {
    const FROM: usize = 4;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let (even, odd) = (simd.add_f32s(x[0], x[2]), simd.add_f32s(x[1], x[3]));
        let (far, odd_far) = (times(4.0, x[2], x[0]), times(4.0, x[3], x[1]));
        [
            x[0],
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            times(2.0, odd_far, far),
            times(-2.0, odd_far, far),
            x[3],
        ]
    }
}

impl Map for ExpandKernel {
    const FROM: usize = 3;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let by = |a: f32, x: S::f32s| simd.mul_f32s(simd.splat_f32s(a), x);
        let (even, odd) = (by(-1.0 / 6.0, simd.add_f32s(x[0], x[2])), by(-1.0 / 6.0, x[1]));
        let (far, odd_far) = (simd.add_f32s(by(1.0 / 24.0, x[0]), by(1.0 / 6.0, x[2])), by(1.0 / 12.0, x[1]));
        [
            by(0.25, x[0]),
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            simd.add_f32s(far, odd_far),
            simd.sub_f32s(far, odd_far),
            x[2],
        ]
    }
}

impl Map for Contract {
    const FROM: usize = 6;
    const TO: usize = 4;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let (even, odd) = (simd.add_f32s(x[1], x[2]), simd.sub_f32s(x[1], x[2]));
        let (far, odd_far) = (simd.add_f32s(x[3], x[4]), simd.sub_f32s(x[3], x[4]));
        [
            simd.add_f32s(x[0], simd.add_f32s(even, far)),
            times(2.0, odd_far, odd),
            times(4.0, far, even),
            simd.add_f32s(times(8.0, odd_far, odd), x[5]),
            x[0],
            x[0],
        ]
    }
}

impl Map for ContractKernel {
    const FROM: usize = 6;
    const TO: usize = 3;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let by = |a: f32, x: S::f32s| simd.mul_f32s(simd.splat_f32s(a), x);
        let (even, odd) = (by(-1.0 / 6.0, simd.add_f32s(x[1], x[2])), simd.sub_f32s(x[2], x[1]));
        let (far, odd_far) = (simd.add_f32s(x[3], x[4]), simd.sub_f32s(x[3], x[4]));
        [
            times(0.25, x[0], times(1.0 / 24.0, far, even)),
            times(1.0 / 6.0, odd, by(1.0 / 12.0, odd_far)),
            simd.add_f32s(x[5], times(1.0 / 6.0, far, even)),
            x[0],
            x[0],
            x[0],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::taps::ROOM;
    use super::super::ways::every_way;
    use super::*;

    /// Tiles whose numbers are vectors, mapped on both sides, in every way.
    fn mapped<M: Map>(from: &[f32]) -> Vec<Vec<f32>> {
        every_way!(M::TO * M::TO * ROOM, |to| Mapped::<M> {
            places: &[(0, 0)],
            from,
            from_steps: (M::FROM * ROOM, ROOM),
            to,
            to_steps: (M::TO * ROOM, ROOM),
            count: ROOM,
            map: PhantomData,
        })
    }

    fn numbers(n: usize, factor: f32) -> Vec<f32> {
        (0..n * ROOM).map(|i| (factor * i as f32).sin()).collect()
    }

    fn assert_near(found: &[f32], right: &[f32]) {
        assert_eq!(found.len(), right.len());
        for (found, right) in found.iter().zip(right) {
            assert!((found - right).abs() < 2e-5, "{found} {right}");
        }
    }

    fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
        a.iter().zip(b).map(|(a, b)| a * b).collect()
    }

    /// A tile comes out as the sums over the nine taps.
    #[test]
    fn a_tile_is_a_convolution() {
        let (image, kernel) = (numbers(SEEN * SEEN, 0.7), numbers(9, 1.3));
        let right: Vec<f32> = (0..TILE * TILE * ROOM)
            .map(|k| {
                let (row, column, lane) = (k / ROOM / TILE, k / ROOM % TILE, k % ROOM);
                let tap = |tap: usize| {
                    let pixel = (row + tap / 3) * SEEN + column + tap % 3;
                    kernel[tap * ROOM + lane] * image[pixel * ROOM + lane]
                };
                (0..9).map(tap).sum()
            })
            .collect();
        for (image, kernel) in mapped::<ExpandImage>(&image).iter().zip(mapped::<ExpandKernel>(&kernel)) {
            for found in mapped::<Contract>(&product(image, &kernel)) {
                assert_near(&found, &right);
            }
        }
    }

    /// The maps of the gradient are those of the value, transposed: ⟨contract(x), y⟩ = ⟨x, expand(y)⟩.
    #[test]
    fn gradients_take_the_maps_back() {
        let sum = |numbers: Vec<f32>| numbers.iter().map(|x| f64::from(*x)).sum::<f64>();
        let (tiles, outputs, kernel) = (numbers(SEEN * SEEN, 0.7), numbers(16, 1.3), numbers(9, 0.4));
        for (contracted, expanded) in mapped::<Contract>(&tiles).iter().zip(mapped::<ExpandSlope>(&outputs)) {
            let (one, two) = (sum(product(contracted, &outputs)), sum(product(&tiles, &expanded)));
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
        for (contracted, expanded) in
            mapped::<ContractKernel>(&tiles).iter().zip(mapped::<ExpandKernel>(&kernel))
        {
            let (one, two) = (sum(product(contracted, &kernel)), sum(product(&tiles, &expanded)));
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
    }
}
