//! Half and twice the resolution of an image.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn::tensor::module::avg_pool2d;
use burn::tensor::ops::AvgPoolOptions;
use rayon::prelude::*;

use super::flex::{from_values, values};
use crate::device::is_fused;

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
        if self == Resample::Keep || !is_fused(&x.device().inner()) {
            return self.plain(x);
        }
        let [_, _, height, width] = x.dims();
        Tensor::from_dispatch(<Dispatch as ResampleOps>::resample(x.into_dispatch(), [height, width], self))
    }

    /// The plain composition on Burn, for any device.
    pub(super) fn plain(self, x: Tensor<4>) -> Tensor<4> {
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

/// The operation by backend, for images of a given height and width.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait ResampleOps: Backend {
    fn resample(x: FloatTensor<Self>, size: [usize; 2], how: Resample) -> FloatTensor<Self>;
}

/// Its gradient by hand.
pub(crate) trait ResampleBack: ResampleOps {
    fn back(d: FloatTensor<Self>, size: [usize; 2], how: Resample) -> FloatTensor<Self>;
}

impl ResampleOps for Flex {
    fn resample(x: FloatTensor<Self>, size: [usize; 2], how: Resample) -> FloatTensor<Self> {
        each_channel(x, size.map(|side| how.size(side)), |to, from| how.channel(to, from, size[1]))
    }
}

impl ResampleBack for Flex {
    fn back(d: FloatTensor<Self>, size: [usize; 2], how: Resample) -> FloatTensor<Self> {
        each_channel(d, size, |to, from| how.channel_back(to, from, size[1]))
    }
}

/// Images of a new size, channel by channel, from the old ones.
fn each_channel(
    x: FloatTensor<Flex>,
    [height, width]: [usize; 2],
    f: impl Fn(&mut [f32], &[f32]) + Sync,
) -> FloatTensor<Flex> {
    let x = values(x);
    let (rows, channels, old) = (x.shape[0], x.shape[1], x.shape[2] * x.shape[3]);
    let mut y = vec![0.0; rows * channels * height * width];
    let both = y.par_chunks_exact_mut((height * width).max(1)).zip(x.par_chunks_exact(old.max(1)));
    both.for_each(|(y, from)| f(y, from));
    from_values(y, [rows, channels, height, width])
}

impl<B: ResampleBack, C: CheckpointStrategy> ResampleOps for Autodiff<B, C> {
    fn resample(x: FloatTensor<Self>, size: [usize; 2], how: Resample) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct Resampled;

        impl<B: ResampleBack> Backward<B, 1> for Resampled {
            type State = ([usize; 2], Resample);

            fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
                let d = grads.consume::<B>(&ops.node);
                let (size, how) = ops.state;
                let [node] = ops.parents;
                node.into_iter().for_each(|node| grads.register::<B>(node.id, B::back(d.clone(), size, how)));
            }
        }

        let node = x.node();
        let y = B::resample(x.into_primitive(), size, how);
        match Resampled.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((size, how), y),
            OpsKind::UnTracked(prep) => prep.finish(y),
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

#[cfg(test)]
mod tests {
    use super::super::flex::test::{agree, numbers};
    use super::*;

    /// Value and gradient agree with Burn's own.
    #[test]
    fn agrees_with_burn() {
        for how in [Resample::Keep, Resample::Down, Resample::Up] {
            agree(&[numbers([3, 2, 4, 6], 1)], |fused, [x]| if fused { how.apply(x) } else { how.plain(x) });
        }
    }
}
