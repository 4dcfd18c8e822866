//! Sums over the taps of a kernel, without unfolding the images: with a border of zeros around them, each tap of each channel is
//! a line of numbers some way along, and a few outputs of a few neighbouring pixels are summed in registers.
//!
//! Each is compiled for the vectors that a processor may have, and picks its version when it runs.

#![expect(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    reason = "sums stay in registers only where every index is a number that the compiler sees"
)]

use pulp::{Arch, Simd, WithSimd};

/// Numbers of the longest vectors: lines come in multiples of it, with room for as many beyond their end.
pub(super) const ROOM: usize = 16;
/// Outputs that are summed at once.
const BLOCK: usize = 8;
/// Inputs, and outputs at most, whose products are summed at once: lines come in multiples of it.
pub(super) const SQUARE: usize = 4;

/// A kernel `[output, taps]`, in blocks of outputs: `[taps, block]` each.
pub(super) struct Blocks {
    values: Vec<f32>,
    /// First output, and how many.
    outputs: Vec<(usize, usize)>,
    taps: usize,
}

impl Blocks {
    pub(super) fn new(kernel: &[f32], taps: usize) -> Self {
        let all = kernel.len() / taps.max(1);
        let (mut values, mut outputs, mut first) = (Vec::with_capacity(kernel.len()), Vec::new(), 0);
        while first < all {
            // The largest power of two, up to a block.
            let size = BLOCK.min(1 << (all - first).ilog2());
            for tap in 0..taps {
                values.extend((first..first + size).map(|output| kernel[output * taps + tap]));
            }
            outputs.push((first, size));
            first += size;
        }
        Self { values, outputs, taps }
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs.last().map_or(0, |(first, size)| first + size)
    }
}

/// out[o][p] = Σ kernel[o][tap] x[starts[tap] + p], for the first `span` pixels p or a few more.
pub(super) struct Sums<'a> {
    pub(super) x: &'a [f32],
    pub(super) starts: &'a [usize],
    pub(super) kernel: &'a Blocks,
    pub(super) out: &'a mut [f32],
    /// Between the lines of `out`.
    pub(super) stride: usize,
    pub(super) span: usize,
}

impl Sums<'_> {
    pub(super) fn run(self) {
        assert_eq!(self.kernel.taps, self.starts.len(), "a start for every tap");
        Arch::new().dispatch(self);
    }

    /// `WIDE` vectors of pixels, the first of them p; of a whole block `HIGH` outputs at a time.
    #[inline(always)]
    fn column<S: Simd, const HIGH: usize, const WIDE: usize>(&mut self, simd: S, p: usize) {
        let (x, starts, stride) = (&self.x[p..], self.starts, self.stride);
        let mut blocks = self.kernel.values.as_slice();
        for &(first, size) in &self.kernel.outputs {
            let (block, rest) = blocks.split_at(size * starts.len());
            blocks = rest;
            let to = Place { out: self.out, stride, from: first * stride + p };
            match size {
                BLOCK => tile::<S, BLOCK, HIGH, WIDE>(simd, x, starts, block, to),
                4 => tile::<S, 4, 4, WIDE>(simd, x, starts, block, to),
                2 => tile::<S, 2, 2, WIDE>(simd, x, starts, block, to),
                _ => tile::<S, 1, 1, WIDE>(simd, x, starts, block, to),
            }
        }
    }

    #[inline(always)]
    fn all<S: Simd, const HIGH: usize>(mut self, simd: S) {
        let mut p = 0;
        while p < self.span {
            let vectors = (self.span - p).div_ceil(S::F32_LANES);
            if vectors >= 3 {
                self.column::<S, HIGH, 3>(simd, p);
                p += 3 * S::F32_LANES;
            } else {
                self.column::<S, BLOCK, 1>(simd, p);
                p += S::F32_LANES;
            }
        }
    }
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as there are registers for, beside three of pixels and one of weights.
        if S::REGISTER_COUNT >= 32 { self.all::<S, BLOCK>(simd) } else { self.all::<S, 4>(simd) }
    }
}

struct Place<'a> {
    out: &'a mut [f32],
    stride: usize,
    from: usize,
}

/// A block of `SIZE` outputs, `HIGH` at a time, of `WIDE` vectors of pixels.
#[inline(always)]
fn tile<S: Simd, const SIZE: usize, const HIGH: usize, const WIDE: usize>(
    simd: S,
    x: &[f32],
    starts: &[usize],
    kernel: &[f32],
    to: Place<'_>,
) {
    let pixels = WIDE * S::F32_LANES;
    let (kernel, _) = kernel.as_chunks::<SIZE>();
    let mut first = 0;
    while first < SIZE {
        let mut sums = [[simd.splat_f32s(0.0); WIDE]; HIGH];
        for (weights, &start) in kernel.iter().zip(starts) {
            let (seen, _) = S::as_simd_f32s(&x[start..start + pixels]);
            for o in 0..HIGH {
                let weight = simd.splat_f32s(weights[first + o]);
                for v in 0..WIDE {
                    sums[o][v] = simd.mul_add_e_f32s(weight, seen[v], sums[o][v]);
                }
            }
        }
        for o in 0..HIGH {
            let line = &mut to.out[to.from + (first + o) * to.stride..][..pixels];
            let (line, _) = S::as_mut_simd_f32s(line);
            for v in 0..WIDE {
                line[v] = sums[o][v];
            }
        }
        first += HIGH;
    }
}

/// out[o][i][tap] += Σ_p d[o][p] x[i][ahead[tap] + p], over `span` numbers, a multiple of [`ROOM`]; lines come in multiples of
/// [`SQUARE`].
pub(super) struct Slopes<'a> {
    pub(super) x: &'a [f32],
    pub(super) d: &'a [f32],
    /// Between lines.
    pub(super) stride: usize,
    pub(super) ahead: &'a [usize],
    pub(super) span: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) out: &'a mut [f32],
}

impl Slopes<'_> {
    pub(super) fn run(self) {
        Arch::new().dispatch(self);
    }

    /// `HIGH` outputs with some inputs, at one tap.
    #[inline(always)]
    fn square<S: Simd, const HIGH: usize>(&mut self, simd: S, output: usize, input: usize, tap: usize) {
        let n = self.span / S::F32_LANES;
        let mut d: [&[S::f32s]; HIGH] = [&[]; HIGH];
        for o in 0..HIGH {
            let line = &self.d[(output + o) * self.stride..][..self.span];
            d[o] = &S::as_simd_f32s(line).0[..n];
        }
        let mut x: [&[S::f32s]; SQUARE] = [&[]; SQUARE];
        for i in 0..SQUARE {
            let line = &self.x[(input + i) * self.stride + self.ahead[tap]..][..self.span];
            x[i] = &S::as_simd_f32s(line).0[..n];
        }
        let mut sums = [[simd.splat_f32s(0.0); SQUARE]; HIGH];
        for p in 0..n {
            let seen = [x[0][p], x[1][p], x[2][p], x[3][p]];
            for o in 0..HIGH {
                let of_d = d[o][p];
                for i in 0..SQUARE {
                    sums[o][i] = simd.mul_add_e_f32s(of_d, seen[i], sums[o][i]);
                }
            }
        }
        let taps = self.ahead.len();
        for o in 0..HIGH {
            for i in 0..SQUARE {
                if output + o < self.outputs && input + i < self.inputs {
                    let place = ((output + o) * self.inputs + input + i) * taps + tap;
                    self.out[place] += simd.reduce_sum_f32s(sums[o][i]);
                }
            }
        }
    }

    #[inline(always)]
    fn all<S: Simd, const HIGH: usize>(mut self, simd: S) {
        let mut input = 0;
        while input < self.inputs {
            let mut output = 0;
            while output < self.outputs {
                for tap in 0..self.ahead.len() {
                    self.square::<S, HIGH>(simd, output, input, tap);
                }
                output += HIGH;
            }
            input += SQUARE;
        }
    }
}

impl WithSimd for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.all::<S, SQUARE>(simd) } else { self.all::<S, 2>(simd) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ways::every_way;
    use super::*;

    fn numbers(n: usize, factor: f32) -> Vec<f32> {
        (0..n).map(|i| (factor * i as f32).sin()).collect()
    }

    fn assert_near(found: &[f32], right: &[f32]) {
        for (found, right) in found.iter().zip(right) {
            assert!((found - right).abs() < 1e-5, "{found} {right}");
        }
    }

    /// Thirteen outputs are blocks of 8, 4 and 1; 75 pixels are vectors of 16 and some over.
    #[test]
    fn sums_are_the_same_in_every_way() {
        let (outputs, span, stride) = (13, 75, 80);
        let starts = [0, 3, 17, 100, 101];
        let (x, kernel) = (numbers(200, 0.7), numbers(outputs * starts.len(), 1.3));
        let blocks = Blocks::new(&kernel, starts.len());
        let right: Vec<f32> = (0..outputs * span)
            .map(|k| {
                (0..starts.len()).map(|t| kernel[k / span * starts.len() + t] * x[starts[t] + k % span]).sum()
            })
            .collect();
        let ways = every_way!(outputs * stride, |out| Sums {
            x: &x,
            starts: &starts,
            kernel: &blocks,
            out,
            stride,
            span
        });
        for found in ways {
            let pixels: Vec<f32> = found.chunks(stride).flat_map(|line| &line[..span]).copied().collect();
            assert_near(&pixels, &right);
        }
    }

    /// Five inputs and six outputs, in lines for eight of each.
    #[test]
    fn slopes_are_the_same_in_every_way() {
        let (inputs, outputs, span, stride) = (5, 6, 48, 64);
        let ahead = [0, 1, 9];
        let (x, d) = (numbers(8 * stride, 0.7), numbers(8 * stride, 1.3));
        let right: Vec<f32> = (0..outputs * inputs * ahead.len())
            .map(|k| {
                let (output, input, tap) =
                    (k / ahead.len() / inputs, k / ahead.len() % inputs, k % ahead.len());
                (0..span).map(|p| d[output * stride + p] * x[input * stride + ahead[tap] + p]).sum()
            })
            .collect();
        let ways = every_way!(right.len(), |out| {
            Slopes { x: &x, d: &d, stride, ahead: &ahead, span, inputs, outputs, out }
        });
        for found in ways {
            assert_near(&found, &right);
        }
    }
}
