//! Convolutions that keep the resolution, 1×1 and 3×3: images are unfolded into a matrix, a few at a time, and multiplied.

use std::cmp::Ordering;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor};
use rayon::prelude::*;

use super::flex::{from_values, values};
use super::matmul::{Matrix, matmul};
use super::rows::{add_rows, sum_of};

/// Images `[rows, input, height, width]` with a kernel `[output, input · side²]` and a bias `[1, output]`; the border is 0.
pub(crate) fn conv(x: Tensor<4>, kernel: Tensor<2>, bias: Tensor<2>, side: usize) -> Tensor<4> {
    if x.device().inner() != Device::flex() {
        return plain(x, kernel, bias, side);
    }
    let (x, kernel, bias) = (x.into_dispatch(), kernel.into_dispatch(), bias.into_dispatch());
    Tensor::from_dispatch(<Dispatch as ConvOps>::conv(x, kernel, bias, side))
}

/// The plain composition on Burn, for any device.
fn plain(x: Tensor<4>, kernel: Tensor<2>, bias: Tensor<2>, side: usize) -> Tensor<4> {
    let [output, _] = kernel.dims();
    let input = x.dims()[1];
    let options = ConvOptions::new([1, 1], [side / 2, side / 2], [1, 1], 1);
    conv2d(x, kernel.reshape([output, input, side, side]), Some(bias.reshape([output])), options)
}

/// The operation by backend.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait ConvOps: Backend {
    fn conv(
        x: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        side: usize,
    ) -> FloatTensor<Self>;
}

/// Its gradient by hand.
pub(crate) trait ConvBack: ConvOps {
    /// The gradient by images.
    fn by_x(kernel: FloatTensor<Self>, d: FloatTensor<Self>, side: usize) -> FloatTensor<Self>;
    /// The gradients by kernel and bias.
    fn by_kernel(
        x: FloatTensor<Self>,
        d: FloatTensor<Self>,
        side: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

impl ConvOps for Flex {
    fn conv(
        x: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        side: usize,
    ) -> FloatTensor<Self> {
        let (x, kernel, bias) = (values(x), values(kernel), values(bias));
        let shape = Shape::new(&x.shape, kernel.shape[0], side);
        from_values(forward(&shape, &x, &kernel, &bias), [shape.rows, shape.output, x.shape[2], x.shape[3]])
    }
}

impl ConvBack for Flex {
    /// By images it is a convolution, too: with the kernel turned by half a circle, outputs to inputs.
    fn by_x(kernel: FloatTensor<Self>, d: FloatTensor<Self>, side: usize) -> FloatTensor<Self> {
        let (kernel, d) = (values(kernel), values(d));
        let (output, taps) = (kernel.shape[0], side * side);
        let input = kernel.shape[1] / taps;
        let mut turned = vec![0.0; kernel.len()];
        for (o, of_output) in kernel.chunks_exact(input * taps).enumerate() {
            for (i, of_input) in of_output.chunks_exact(taps).enumerate() {
                let place = &mut turned[(i * output + o) * taps..][..taps];
                place.iter_mut().zip(of_input.iter().rev()).for_each(|(to, from)| *to = *from);
            }
        }
        let shape = Shape::new(&d.shape, input, side);
        from_values(forward(&shape, &d, &turned, &[]), [shape.rows, input, d.shape[2], d.shape[3]])
    }

    fn by_kernel(
        x: FloatTensor<Self>,
        d: FloatTensor<Self>,
        side: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let (x, d) = (values(x), values(d));
        let shape = Shape::new(&x.shape, d.shape[1], side);
        let (kernel, bias) = slopes(&shape, &x, &d);
        (from_values(kernel, [shape.output, shape.unfolded()]), from_values(bias, [1, shape.output]))
    }
}

impl<B: ConvBack, C: CheckpointStrategy> ConvOps for Autodiff<B, C> {
    fn conv(
        x: FloatTensor<Self>,
        kernel: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        side: usize,
    ) -> FloatTensor<Self> {
        #[derive(Debug)]
        struct Conv;

        impl<B: ConvBack> Backward<B, 3> for Conv {
            type State = (FloatTensor<B>, FloatTensor<B>, usize);

            fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, _: &mut Checkpointer) {
                let [of_x, of_kernel, of_bias] = ops.parents;
                let d = grads.consume::<B>(&ops.node);
                let (x, kernel, side) = ops.state;
                if let Some(node) = of_x {
                    grads.register::<B>(node.id, B::by_x(kernel, d.clone(), side));
                }
                if of_kernel.is_some() || of_bias.is_some() {
                    let (by_kernel, by_bias) = B::by_kernel(x, d, side);
                    of_kernel.into_iter().for_each(|node| grads.register::<B>(node.id, by_kernel.clone()));
                    of_bias.into_iter().for_each(|node| grads.register::<B>(node.id, by_bias.clone()));
                }
            }
        }

        let nodes = [x.node(), kernel.node(), bias.node()];
        let (x, kernel) = (x.into_primitive(), kernel.into_primitive());
        let y = B::conv(x.clone(), kernel.clone(), bias.into_primitive(), side);
        match Conv.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((x, kernel, side), y),
            OpsKind::UnTracked(prep) => prep.finish(y),
        }
    }
}

/// Pixels of a product, at least, where there are as many: small images go together.
const PIXELS: usize = 256;
/// Sums of slopes that are added up at the end, in order: as many for any number of threads.
const LANES: usize = 8;

struct Shape {
    rows: usize,
    input: usize,
    output: usize,
    height: usize,
    width: usize,
    side: usize,
    /// Images that go together.
    together: usize,
}

impl Shape {
    fn new(x: &[usize], output: usize, side: usize) -> Self {
        let (rows, height, width) = (x[0], x[2], x[3]);
        let together = (PIXELS / (height * width).max(1)).clamp(1, rows.max(1));
        Self { rows, input: x[1], output, height, width, side, together }
    }

    fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Numbers that an output pixel sees.
    fn unfolded(&self) -> usize {
        self.input * self.side * self.side
    }

    /// Some images `[images, input, pixels]` as `[input · side², images · pixels]`: what each output pixel sees.
    fn unfold(&self, x: &[f32], seen: &mut Vec<f32>) {
        let (pixels, taps) = (self.pixels(), self.side * self.side);
        let images = x.len() / (self.input * pixels);
        seen.resize(self.unfolded() * images * pixels, 0.0);
        for (line, seen) in seen.chunks_exact_mut(images * pixels).enumerate() {
            let (channel, tap) = (line / taps, line % taps);
            for (image, seen) in seen.chunks_exact_mut(pixels).enumerate() {
                let from = &x[(image * self.input + channel) * pixels..][..pixels];
                self.shift(from, (tap / self.side, tap % self.side), seen);
            }
        }
    }

    /// A channel as a tap sees it, which looks so far down and right, less the padding.
    fn shift(&self, from: &[f32], (down, right): (usize, usize), to: &mut [f32]) {
        let (pad, width) = (self.side / 2, self.width);
        // All at once, as if rows followed each other …
        let (ahead, behind) = (down * width + right, pad * width + pad);
        let all = from.len();
        if ahead >= behind {
            let by = (ahead - behind).min(all);
            to[..all - by].copy_from_slice(&from[by..]);
            to[all - by..].fill(0.0);
        } else {
            let by = (behind - ahead).min(all);
            to[by..].copy_from_slice(&from[..all - by]);
            to[..by].fill(0.0);
        }
        // … and then 0 where a row has taken from its neighbour.
        let beyond = match right.cmp(&pad) {
            Ordering::Less => 0..(pad - right).min(width),
            Ordering::Equal => return,
            Ordering::Greater => width.saturating_sub(right - pad)..width,
        };
        to.chunks_exact_mut(width).for_each(|row| row[beyond.clone()].fill(0.0));
    }
}

/// The images, and the bias if there is one.
fn forward(shape: &Shape, x: &[f32], kernel: &[f32], bias: &[f32]) -> Vec<f32> {
    let pixels = shape.pixels();
    let kernel = Matrix::new(kernel, shape.output, shape.unfolded());
    let mut y = vec![0.0; shape.rows * shape.output * pixels];
    let groups = y.par_chunks_mut((shape.together * shape.output * pixels).max(1));
    let groups = groups.zip(x.par_chunks((shape.together * shape.input * pixels).max(1)));
    groups.for_each_init(
        || (Vec::new(), Vec::new()),
        |(seen, product), (y, x)| {
            let columns = y.len() / shape.output;
            shape.unfold(x, seen);
            let seen = Matrix::new(seen, shape.unfolded(), columns);
            if columns == pixels {
                return product_and_bias(y, kernel, seen, bias);
            }
            product.resize(y.len(), 0.0);
            product_and_bias(product, kernel, seen, bias);
            // [output, images, pixels] → [images, output, pixels].
            for (channel, line) in product.chunks_exact(columns).enumerate() {
                for (image, line) in line.chunks_exact(pixels).enumerate() {
                    y[(image * shape.output + channel) * pixels..][..pixels].copy_from_slice(line);
                }
            }
        },
    );
    y
}

fn product_and_bias(y: &mut [f32], kernel: Matrix<'_>, seen: Matrix<'_>, bias: &[f32]) {
    let columns = y.len() / bias.len().max(1);
    y.chunks_exact_mut(columns.max(1)).zip(bias).for_each(|(line, bias)| line.fill(*bias));
    matmul(y, !bias.is_empty(), kernel, seen);
}

/// The gradients by kernel and bias.
fn slopes(shape: &Shape, x: &[f32], d: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let pixels = shape.pixels();
    let (sizes, taps) = ((shape.input * pixels, shape.output * pixels), shape.unfolded());
    let groups = shape.rows.div_ceil(shape.together);
    let lane_rows = groups.div_ceil(LANES).max(1) * shape.together;
    let lanes: Vec<(Vec<f32>, Vec<f32>)> = x
        .par_chunks((lane_rows * sizes.0).max(1))
        .zip(d.par_chunks((lane_rows * sizes.1).max(1)))
        .map(|(x, d)| {
            let (mut kernel, mut bias) = (vec![0.0; shape.output * taps], vec![0.0; shape.output]);
            let (mut seen, mut lines) = (Vec::new(), Vec::new());
            let groups = x.chunks(shape.together * sizes.0).zip(d.chunks(shape.together * sizes.1));
            for (x, d) in groups {
                let columns = d.len() / shape.output;
                shape.unfold(x, &mut seen);
                // [images, output, pixels] → [output, images, pixels].
                lines.resize(d.len(), 0.0);
                for (image, d) in d.chunks_exact(sizes.1).enumerate() {
                    for (channel, d) in d.chunks_exact(pixels).enumerate() {
                        lines[channel * columns + image * pixels..][..pixels].copy_from_slice(d);
                    }
                }
                for (bias, line) in bias.iter_mut().zip(lines.chunks_exact(columns)) {
                    *bias += sum_of(line);
                }
                let seen = Matrix::new(&seen, taps, columns).transposed();
                matmul(&mut kernel, true, Matrix::new(&lines, shape.output, columns), seen);
            }
            (kernel, bias)
        })
        .collect();
    let (mut kernel, mut bias) = (vec![0.0; shape.output * taps], vec![0.0; shape.output]);
    for (by_kernel, by_bias) in &lanes {
        add_rows(&mut kernel, by_kernel, true);
        add_rows(&mut bias, by_bias, true);
    }
    (kernel, bias)
}

#[cfg(test)]
mod tests {
    use super::super::flex::test::{agree, numbers};
    use super::*;

    /// Value and all gradients agree with Burn's own, also for sides that are no multiple of anything, for one image and for
    /// more than go together.
    #[test]
    fn agrees_with_burn() {
        for (rows, input, output, height, width, side) in [
            (1, 1, 1, 1, 1, 3),
            (3, 2, 5, 7, 4, 3),
            (11, 3, 4, 5, 5, 3),
            (2, 4, 3, 17, 18, 3),
            (5, 6, 2, 3, 2, 1),
        ] {
            let inputs = [
                numbers([rows, input, height, width], 1),
                numbers([output, input * side * side, 1, 1], 2),
                numbers([1, output, 1, 1], 3),
            ];
            agree(&inputs, |fused, [x, kernel, bias]| {
                let kernel = kernel.reshape([output, input * side * side]);
                let bias = bias.reshape([1, output]);
                if fused { conv(x, kernel, bias, side) } else { plain(x, kernel, bias, side) }
            });
        }
    }

    /// No image, no pixel.
    #[test]
    fn an_empty_batch_stays_empty() {
        let device = Device::flex();
        let x = Tensor::<4>::zeros([0, 2, 4, 4], &device);
        let y = conv(x, Tensor::zeros([3, 18], &device), Tensor::zeros([1, 3], &device), 3);
        assert_eq!(y.dims(), [0, 3, 4, 4]);
    }
}
