//! Convolutions that keep the resolution, 1×1 and 3×3, with all that happens to images before: group norm, SiLU, dropout, resampling.
//!
//! A few images at a time go through all of it, so that what lies between stays in the caches; the gradient computes it again.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, activation};

use super::conv_work::Work;
use super::flex::{from_values, values};
use super::resample::Resample;
use crate::device::is_fused;

/// Images `[rows, channels, height, width]`, and what happens to them before they are convolved, in this order.
pub(crate) struct Input {
    pub(crate) x: Tensor<4>,
    pub(crate) norm: Option<Scaled>,
    /// What they are multiplied by, of the same shape.
    pub(crate) mask: Option<Tensor<4>>,
    pub(crate) resample: Resample,
}

/// f(scale · norm(x) + shift), with scales and shifts `[rows, channels]`.
pub(crate) struct Scaled {
    pub(crate) scale: Tensor<2>,
    pub(crate) shift: Tensor<2>,
    pub(crate) norm: GroupNorm,
}

/// Each group of channels of an image to mean 0 and variance 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupNorm {
    /// Groups of channels.
    pub(crate) groups: usize,
    /// Added to the variance.
    pub(crate) epsilon: f64,
    /// Whether f is SiLU, or nothing.
    pub(crate) silu: bool,
}

/// Convolves with a kernel `[output, input · side²]` and adds a bias `[1, output]`, or one for each image `[rows, output]`; the
/// border is 0.
pub(crate) fn conv(input: Input, kernel: Tensor<2>, bias: Tensor<2>, side: usize) -> Tensor<4> {
    let device = input.x.device();
    if !is_fused(&device.clone().inner()) {
        return plain(input, kernel, bias, side);
    }
    let steps = Steps {
        side,
        norm: input.norm.as_ref().map(|scaled| scaled.norm),
        mask: input.mask.is_some(),
        resample: input.resample,
    };
    // What is not there is a number that nothing looks at.
    let (scale, shift) = match input.norm {
        Some(scaled) => (scaled.scale, scaled.shift),
        None => (Tensor::zeros([1, 1], &device), Tensor::zeros([1, 1], &device)),
    };
    let mask = input.mask.unwrap_or_else(|| Tensor::zeros([1, 1, 1, 1], &device));
    Tensor::from_dispatch(<Dispatch as ConvOps>::conv(
        input.x.into_dispatch(),
        scale.into_dispatch(),
        shift.into_dispatch(),
        kernel.into_dispatch(),
        bias.into_dispatch(),
        mask.into_dispatch(),
        steps,
    ))
}

/// The plain composition on Burn, for any device.
fn plain(input: Input, kernel: Tensor<2>, bias: Tensor<2>, side: usize) -> Tensor<4> {
    let mut x = input.x;
    if let Some(scaled) = input.norm {
        x = plain_norm(x, scaled);
    }
    if let Some(mask) = input.mask {
        x = x * mask;
    }
    let x = input.resample.plain(x);
    let ([output, _], channels) = (kernel.dims(), x.dims()[1]);
    let options = ConvOptions::new([1, 1], [side / 2, side / 2], [1, 1], 1);
    let y = conv2d(x, kernel.reshape([output, channels, side, side]), None, options);
    let [rows, _] = bias.dims();
    y + bias.reshape([rows, output, 1, 1])
}

fn plain_norm(x: Tensor<4>, Scaled { scale, shift, norm }: Scaled) -> Tensor<4> {
    let [rows, channels, height, width] = x.dims();
    let x = x.reshape([rows, norm.groups, channels / norm.groups * height * width]);
    let centred = x.clone() - x.mean_dim(2);
    let variance = (centred.clone() * centred.clone()).mean_dim(2);
    let y = centred * (variance + norm.epsilon).sqrt().recip();
    let spread = |numbers: Tensor<2>| numbers.reshape([rows, channels, 1, 1]);
    let y = y.reshape([rows, channels, height, width]) * spread(scale) + spread(shift);
    if norm.silu { activation::silu(y) } else { y }
}

/// What is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    pub(super) side: usize,
    pub(super) norm: Option<GroupNorm>,
    pub(super) mask: bool,
    pub(super) resample: Resample,
}

/// The operation by backend.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait ConvOps: Backend {
    fn conv(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mask: FloatTensor<Self>,
        steps: Steps,
    ) -> FloatTensor<Self>;
}

/// Its gradient by hand: by all inputs in their order, but for the mask; by x, scale and shift only where it is wanted.
pub(crate) trait ConvBack: ConvOps {
    fn back(
        inputs: [FloatTensor<Self>; 6],
        d: FloatTensor<Self>,
        steps: Steps,
        by_x: bool,
    ) -> [Option<FloatTensor<Self>>; 5];
}

impl ConvOps for Flex {
    fn conv(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mask: FloatTensor<Self>,
        steps: Steps,
    ) -> FloatTensor<Self> {
        let inputs = [x, scale, shift, kernel, bias, mask].map(values);
        let work = Work::new(&inputs, steps);
        from_values(work.forward(), [work.rows, work.output, work.out.height, work.out.width])
    }
}

impl ConvBack for Flex {
    fn back(
        inputs: [FloatTensor<Self>; 6],
        d: FloatTensor<Self>,
        steps: Steps,
        by_x: bool,
    ) -> [Option<FloatTensor<Self>>; 5] {
        let inputs = inputs.map(values);
        let work = Work::new(&inputs, steps);
        let slopes = work.back(&values(d), by_x);
        let matrix = |values: Vec<f32>, like: usize| {
            from_values(values, [inputs[like].shape[0], inputs[like].shape[1]])
        };
        let by_norm = by_x && steps.norm.is_some();
        [
            by_x.then(|| {
                from_values(slopes.x, [work.rows, work.input, work.pixels / work.width, work.width])
            }),
            by_norm.then(|| matrix(slopes.scale, 1)),
            by_norm.then(|| matrix(slopes.shift, 2)),
            Some(matrix(slopes.kernel, 3)),
            Some(matrix(slopes.bias, 4)),
        ]
    }
}

impl<B: ConvBack, C: CheckpointStrategy> ConvOps for Autodiff<B, C> {
    fn conv(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        mask: FloatTensor<Self>,
        steps: Steps,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct Conv;

        impl<B: ConvBack> Backward<B, 5> for Conv {
            type State = ([FloatTensor<B>; 6], Steps);

            fn backward(self, ops: Ops<Self::State, 5>, grads: &mut Gradients, _: &mut Checkpointer) {
                let d = grads.consume::<B>(&ops.node);
                let (inputs, steps) = ops.state;
                let by_x = ops.parents[..3].iter().any(Option::is_some);
                let slopes = B::back(inputs, d, steps, by_x);
                for (node, slope) in ops.parents.into_iter().zip(slopes) {
                    if let (Some(node), Some(slope)) = (node, slope) {
                        grads.register::<B>(node.id, slope);
                    }
                }
            }
        }

        let nodes = [x.node(), scale.node(), shift.node(), kernel.node(), bias.node()];
        let inputs = [x, scale, shift, kernel, bias, mask].map(|input| input.into_primitive());
        let [x, scale, shift, kernel, bias, mask] = inputs.clone();
        let y = B::conv(x, scale, shift, kernel, bias, mask, steps);
        match Conv.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((inputs, steps), y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flex::test::{agree, numbers};
    use super::*;
    use burn::tensor::Device;

    struct Case {
        rows: usize,
        input: usize,
        output: usize,
        size: (usize, usize),
        side: usize,
        groups: Option<usize>,
        silu: bool,
        mask: bool,
        resample: Resample,
        own_bias: bool,
    }

    const PLAIN: Case = Case {
        rows: 3,
        input: 2,
        output: 5,
        size: (7, 4),
        side: 3,
        groups: None,
        silu: false,
        mask: false,
        resample: Resample::Keep,
        own_bias: false,
    };

    /// Value and all gradients agree with Burn's own: also for sizes that are no multiple of anything, for one image and for more than
    /// go together; with and without what may happen before.
    #[test]
    fn agrees_with_burn() {
        let cases = [
            Case { rows: 1, input: 1, output: 1, size: (1, 1), ..PLAIN },
            PLAIN,
            Case { rows: 11, input: 3, output: 4, size: (5, 5), ..PLAIN },
            Case { rows: 2, input: 4, output: 3, size: (17, 18), ..PLAIN },
            Case { rows: 2, input: 3, output: 13, size: (3, 40), ..PLAIN },
            Case { rows: 5, input: 6, output: 2, size: (3, 2), side: 1, ..PLAIN },
            Case { rows: 1, input: 4, groups: Some(1), size: (1, 1), ..PLAIN },
            Case { input: 8, groups: Some(2), size: (5, 3), side: 1, own_bias: true, ..PLAIN },
            Case { input: 8, groups: Some(4), size: (16, 8), silu: true, ..PLAIN },
            Case { groups: Some(1), size: (6, 4), silu: true, resample: Resample::Down, ..PLAIN },
            Case { rows: 19, groups: Some(2), silu: true, mask: true, resample: Resample::Up, ..PLAIN },
            Case { resample: Resample::Up, side: 1, ..PLAIN },
            Case { mask: true, own_bias: true, size: (4, 2), resample: Resample::Down, ..PLAIN },
            Case { input: 32, output: 48, size: (7, 5), ..PLAIN },
            Case { rows: 70, input: 32, output: 32, size: (4, 4), groups: Some(8), silu: true, ..PLAIN },
            Case { input: 48, output: 32, groups: Some(4), mask: true, resample: Resample::Up, ..PLAIN },
        ];
        for case in cases {
            let Case { rows, input, output, size: (height, width), side, .. } = case;
            let inputs = [
                numbers([rows, input, height, width], 1),
                numbers([rows, input, 1, 1], 2),
                numbers([rows, input, 1, 1], 3),
                numbers([output, input * side * side, 1, 1], 4),
                numbers([if case.own_bias { rows } else { 1 }, output, 1, 1], 5),
            ];
            agree(&inputs, |fused, [x, scale, shift, kernel, bias]| {
                let flat = |t: Tensor<4>| {
                    let [a, b, ..] = t.dims();
                    t.reshape([a, b])
                };
                let mask = case.mask.then(|| Tensor::from_data(numbers(x.dims(), 6), &x.device()));
                // Without a norm they still have a gradient, of 0.
                let unused = (scale.clone().sum() + shift.clone().sum()) * 0.0;
                let norm = case.groups.map(|groups| Scaled {
                    scale: flat(scale),
                    shift: flat(shift),
                    norm: GroupNorm { groups, epsilon: 1e-5, silu: case.silu },
                });
                let input = Input { x, norm, mask, resample: case.resample };
                let (kernel, bias) = (flat(kernel), flat(bias));
                let y =
                    if fused { conv(input, kernel, bias, side) } else { plain(input, kernel, bias, side) };
                y + unused.reshape([1, 1, 1, 1])
            });
        }
    }

    /// No image, no pixel.
    #[test]
    fn an_empty_batch_stays_empty() {
        let device = Device::flex();
        let x = Tensor::<4>::zeros([0, 2, 4, 4], &device);
        let input = Input { x, norm: None, mask: None, resample: Resample::Keep };
        let y = conv(input, Tensor::zeros([3, 18], &device), Tensor::zeros([1, 3], &device), 3);
        assert_eq!(y.dims(), [0, 3, 4, 4]);
    }
}
