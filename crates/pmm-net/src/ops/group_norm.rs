//! Group norm with a scale and a shift of each image's channels, and SiLU after it where wanted, in one pass each way.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{Device, Tensor, activation};
use rayon::prelude::*;

use super::flex::{Values, from_values, values};
use super::rows::{affine, affine_back, linear_mix, moments};

/// Which norm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupNorm {
    /// Groups of channels.
    pub(crate) groups: usize,
    /// Added to the variance.
    pub(crate) epsilon: f64,
    /// Whether SiLU follows.
    pub(crate) silu: bool,
}

/// f(scale · norm(x) + shift) for images `[rows, channels, height, width]`, scales and shifts `[rows, channels]`.
pub(crate) fn group_norm(x: Tensor<4>, scale: Tensor<2>, shift: Tensor<2>, norm: GroupNorm) -> Tensor<4> {
    if x.device().inner() != Device::flex() {
        return plain(x, scale, shift, norm);
    }
    let (x, scale, shift) = (x.into_dispatch(), scale.into_dispatch(), shift.into_dispatch());
    let GroupNorm { groups, epsilon, silu } = norm;
    Tensor::from_dispatch(<Dispatch as NormOps>::group_norm(x, scale, shift, groups, epsilon, silu))
}

/// The plain composition on Burn, for any device.
fn plain(x: Tensor<4>, scale: Tensor<2>, shift: Tensor<2>, norm: GroupNorm) -> Tensor<4> {
    let [rows, channels, height, width] = x.dims();
    let x = x.reshape([rows, norm.groups, channels / norm.groups * height * width]);
    let centred = x.clone() - x.mean_dim(2);
    let variance = (centred.clone() * centred.clone()).mean_dim(2);
    let y = centred * (variance + norm.epsilon).sqrt().recip();
    let spread = |numbers: Tensor<2>| numbers.reshape([rows, channels, 1, 1]);
    let y = y.reshape([rows, channels, height, width]) * spread(scale) + spread(shift);
    if norm.silu { activation::silu(y) } else { y }
}

/// The operation by backend.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait NormOps: Backend {
    fn group_norm(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        groups: usize,
        epsilon: f64,
        silu: bool,
    ) -> FloatTensor<Self>;
}

/// Its gradient by hand: by x, scale and shift.
pub(crate) trait NormBack: NormOps {
    fn back(inputs: [FloatTensor<Self>; 3], d: FloatTensor<Self>, norm: GroupNorm) -> [FloatTensor<Self>; 3];
}

impl NormOps for Flex {
    fn group_norm(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        groups: usize,
        epsilon: f64,
        silu: bool,
    ) -> FloatTensor<Self> {
        let (x, scale, shift) = (values(x), values(scale), values(shift));
        let shape = Shape::new(&x, GroupNorm { groups, epsilon, silu });
        let mut y = vec![0.0; x.len()];
        let groups = y.par_chunks_mut(shape.group().max(1)).zip(x.par_chunks(shape.group().max(1)));
        groups.enumerate().for_each(|(group, (y, x))| {
            let (mean, inverse) = shape.moments(x);
            let channels = y.chunks_exact_mut(shape.pixels).zip(x.chunks_exact(shape.pixels));
            for ((y, x), channel) in channels.zip(group * shape.channels..) {
                let factor = inverse * scale[channel];
                affine(y, x, factor, shift[channel] - mean * factor, silu);
            }
        });
        from_values(y, shape.dims(&x))
    }
}

impl NormBack for Flex {
    fn back(inputs: [FloatTensor<Self>; 3], d: FloatTensor<Self>, norm: GroupNorm) -> [FloatTensor<Self>; 3] {
        let [x, scale, shift] = inputs.map(values);
        let d = values(d);
        let shape = Shape::new(&x, norm);
        let (mut d_x, mut d_scale, mut d_shift) =
            (vec![0.0; x.len()], vec![0.0; scale.len()], vec![0.0; scale.len()]);
        let size = shape.group().max(1);
        let outputs = d_x.par_chunks_mut(size).zip(d_scale.par_chunks_mut(shape.channels));
        let outputs = outputs.zip(d_shift.par_chunks_mut(shape.channels));
        let inputs = x.par_chunks(size).zip(d.par_chunks(size));
        outputs.zip(inputs).enumerate().for_each(|(group, (((d_x, d_scale), d_shift), (x, d)))| {
            let (mean, inverse) = shape.moments(x);
            let first = group * shape.channels;
            let cut = |c: usize| c * shape.pixels..(c + 1) * shape.pixels;
            // The means over the group of the gradient by norm(x), and of that times norm(x).
            let (mut plain, mut turned) = (0.0, 0.0);
            for c in 0..shape.channels {
                let factor = inverse * scale[first + c];
                let (place, x, offset) = (&mut d_x[cut(c)], &x[cut(c)], shift[first + c] - mean * factor);
                let (sum, product) = affine_back(place, &d[cut(c)], x, factor, offset, norm.silu);
                d_shift[c] = sum;
                d_scale[c] = inverse * (product - mean * sum);
                plain += scale[first + c] * d_shift[c] / size as f32;
                turned += scale[first + c] * d_scale[c] / size as f32;
            }
            // inverse · (scale · d − plain − norm(x) · turned)
            let of_x = -inverse * inverse * turned;
            for c in 0..shape.channels {
                let rest = -inverse * plain - mean * of_x;
                linear_mix(&mut d_x[cut(c)], &x[cut(c)], inverse * scale[first + c], of_x, rest);
            }
        });
        let small = [scale.shape[0], scale.shape[1]];
        [from_values(d_x, shape.dims(&x)), from_values(d_scale, small), from_values(d_shift, small)]
    }
}

impl<B: NormBack, C: CheckpointStrategy> NormOps for Autodiff<B, C> {
    fn group_norm(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        groups: usize,
        epsilon: f64,
        silu: bool,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct Norm;

        impl<B: NormBack> Backward<B, 3> for Norm {
            type State = ([FloatTensor<B>; 3], GroupNorm);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let d = grads.consume::<B>(&ops.node);
                let (inputs, norm) = ops.state;
                for (node, slope) in ops.parents.into_iter().zip(B::back(inputs, d, norm)) {
                    node.into_iter().for_each(|node| grads.register::<B>(node.id, slope.clone()));
                }
            }
        }

        let nodes = [x.node(), scale.node(), shift.node()];
        let inputs = [x, scale, shift].map(|input| input.into_primitive());
        let [x, scale, shift] = inputs.clone();
        let y = B::group_norm(x, scale, shift, groups, epsilon, silu);
        match Norm.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((inputs, GroupNorm { groups, epsilon, silu }), y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}

struct Shape {
    /// Channels of a group.
    channels: usize,
    pixels: usize,
    epsilon: f64,
}

impl Shape {
    fn new(x: &Values, norm: GroupNorm) -> Self {
        Self { channels: x.shape[1] / norm.groups, pixels: x.shape[2] * x.shape[3], epsilon: norm.epsilon }
    }

    fn group(&self) -> usize {
        self.channels * self.pixels
    }

    fn dims(&self, x: &Values) -> [usize; 4] {
        [x.shape[0], x.shape[1], x.shape[2], x.shape[3]]
    }

    /// Mean and 1/σ of a group.
    fn moments(&self, x: &[f32]) -> (f32, f32) {
        let (mean, variance) = moments(x);
        (mean, (1.0 / (f64::from(variance) + self.epsilon).sqrt()) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flex::test::{agree, numbers};
    use super::*;

    /// Value and all gradients agree with Burn's own, with and without SiLU.
    #[test]
    fn agrees_with_burn() {
        for (rows, channels, groups, height, width) in [(1, 4, 1, 1, 1), (3, 8, 2, 5, 3), (2, 12, 3, 16, 8)] {
            for silu in [false, true] {
                let norm = GroupNorm { groups, epsilon: 1e-5, silu };
                let inputs = [
                    numbers([rows, channels, height, width], 1),
                    numbers([rows, channels, 1, 1], 2),
                    numbers([rows, channels, 1, 1], 3),
                ];
                agree(&inputs, |fused, [x, scale, shift]| {
                    let (scale, shift) = (scale.reshape([rows, channels]), shift.reshape([rows, channels]));
                    if fused { group_norm(x, scale, shift, norm) } else { plain(x, scale, shift, norm) }
                });
            }
        }
    }
}
