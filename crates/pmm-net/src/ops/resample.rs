//! Half and twice the resolution of an image.

use burn::tensor::Tensor;
use burn::tensor::module::avg_pool2d;
use burn::tensor::ops::AvgPoolOptions;

/// What happens to the resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resample {
    /// Nothing.
    Keep,
    /// Means of 2×2 pixels.
    Down,
    /// Every pixel four times.
    Up,
}

impl Resample {
    /// Images `[rows, channels, height, width]`.
    pub(crate) fn apply(self, x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        match self {
            Resample::Keep => x,
            Resample::Down => avg_pool2d(x, AvgPoolOptions::new([2, 2])),
            Resample::Up => x
                .reshape([rows, channels, height, 1, width, 1])
                .repeat_dim(3, 2)
                .repeat_dim(5, 2)
                .reshape([rows, channels, 2 * height, 2 * width]),
        }
    }

    /// A number of rows or columns after it.
    pub(super) fn size(self, size: usize) -> usize {
        match self {
            Resample::Keep => size,
            Resample::Down => size / 2,
            Resample::Up => 2 * size,
        }
    }

    /// One channel with rows of `width`.
    pub(super) fn channel(self, to: &mut [f32], from: &[f32], width: usize) {
        match self {
            Resample::Keep => to.copy_from_slice(from),
            Resample::Down => halve(to, from, width, 0.25),
            Resample::Up => double(to, from, width, 1.0),
        }
    }

    /// The gradient by what [`Self::channel`] saw, from that by what it gave.
    pub(super) fn channel_back(self, to: &mut [f32], from: &[f32], width: usize) {
        match self {
            Resample::Keep => to.copy_from_slice(from),
            Resample::Down => double(to, from, width / 2, 0.25),
            Resample::Up => halve(to, from, 2 * width, 1.0),
        }
    }
}

/// Sums of 2×2 pixels, times a factor.
fn halve(to: &mut [f32], from: &[f32], width: usize, factor: f32) {
    for (to, from) in to.chunks_exact_mut(width / 2).zip(from.chunks_exact(2 * width)) {
        let (above, below) = from.split_at(width);
        let pairs = above.as_chunks::<2>().0.iter().zip(below.as_chunks::<2>().0);
        to.iter_mut().zip(pairs).for_each(|(to, (a, b))| *to = (a[0] + a[1] + b[0] + b[1]) * factor);
    }
}

/// Every pixel four times, times a factor.
fn double(to: &mut [f32], from: &[f32], width: usize, factor: f32) {
    for (to, from) in to.chunks_exact_mut(4 * width).zip(from.chunks_exact(width)) {
        let (above, below) = to.split_at_mut(2 * width);
        above.as_chunks_mut::<2>().0.iter_mut().zip(from).for_each(|(to, from)| *to = [from * factor; 2]);
        below.copy_from_slice(above);
    }
}
