//! Convolutions that keep the resolution, 1×1 and 3×3, with all that happens to images before: group norm, SiLU, dropout, resampling.
//!
//! A few images at a time go through all of it, so that what lies between stays in the caches; the gradient computes it again.

use std::ops::Range;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, activation};
use rayon::prelude::*;

use super::flex::{Values, from_values, values};
use super::lines::{Convolved, Frame, Lines};
use super::resample::Resample;
use super::rows::{add_number, add_rows, affine, affine_back, linear_mix, moments, product, sum_of};
use super::taps::Blocks;

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
    if device.clone().inner() != Device::flex() {
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
    side: usize,
    norm: Option<GroupNorm>,
    mask: bool,
    resample: Resample,
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

/// Pixels that go through in one go, at least, where there are as many: small images go together.
const PIXELS: usize = 256;
/// The same for gradients, where the sums by kernel end with each go.
const SLOPE_PIXELS: usize = 1024;
/// Sums of slopes that are added up at the end, in order, at most: as many for any number of threads.
const LANES: usize = 4;

/// The numbers, and how they are cut.
struct Work<'a> {
    x: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    kernel: &'a [f32],
    bias: &'a [f32],
    mask: &'a [f32],
    steps: Steps,
    rows: usize,
    input: usize,
    output: usize,
    /// Pixels of a row and of a channel that come in.
    width: usize,
    pixels: usize,
    /// What the kernel is moved over.
    out: Frame,
}

struct Slopes {
    x: Vec<f32>,
    scale: Vec<f32>,
    shift: Vec<f32>,
    kernel: Vec<f32>,
    bias: Vec<f32>,
}

/// Places for the gradients of some rows by what each row has of its own.
struct OfRows<'a> {
    x: &'a mut [f32],
    scale: &'a mut [f32],
    shift: &'a mut [f32],
    bias: &'a mut [f32],
}

impl<'a> Work<'a> {
    fn new(inputs: &'a [Values; 6], steps: Steps) -> Self {
        let (x, kernel) = (&inputs[0], &inputs[3]);
        let [rows, input, height, width] = [x.shape[0], x.shape[1], x.shape[2], x.shape[3]];
        let (output, resample) = (kernel.shape[0], steps.resample);
        let out = Frame { height: resample.size(height), width: resample.size(width), side: steps.side };
        let pixels = height * width;
        let [x, scale, shift, kernel, bias, mask] = inputs.each_ref().map(|values| &**values);
        Self { x, scale, shift, kernel, bias, mask, steps, rows, input, output, width, pixels, out }
    }

    fn forward(&self) -> Vec<f32> {
        let kernel = Blocks::new(self.kernel, self.input * self.out.taps());
        let size = self.output * self.out.pixels();
        let mut y = vec![0.0; self.rows * size];
        let together = self.together(PIXELS, self.rows);
        // Whatever the cut, a pixel is the same sum; a few shares for each thread spread the work well.
        let share = self.rows.div_ceil(4 * rayon::current_num_threads()).next_multiple_of(together);
        y.par_chunks_mut((share * size).max(1)).enumerate().for_each(|(number, y)| {
            let (mut scratch, mut sums) = (Scratch::new(self), Convolved::new(self.out));
            let mut lines = Lines::new(self.out, self.input, together);
            for (group, y) in y.chunks_mut(together * size).enumerate() {
                let first = number * share + group * together;
                let rows = first..first + y.len() / size;
                if rows.len() < together {
                    lines = Lines::new(self.out, self.input, rows.len());
                }
                self.see(rows, &mut lines, &mut scratch);
                lines.convolved(&kernel, &mut sums);
                for (place, y) in y.chunks_exact_mut(self.out.pixels()).enumerate() {
                    let (image, output) = (place / self.output, place % self.output);
                    sums.take(image, output, y);
                    add_number(y, self.bias[self.bias_of(first + image) + output]);
                }
            }
        });
        y
    }

    /// Where the bias of a row starts.
    fn bias_of(&self, row: usize) -> usize {
        if self.bias.len() == self.output { 0 } else { row * self.output }
    }

    /// Images that go together, for so many pixels.
    fn together(&self, pixels: usize, most: usize) -> usize {
        (pixels / self.out.pixels().max(1)).clamp(1, most.max(1))
    }

    /// What the kernel sees of some rows.
    fn see(&self, rows: Range<usize>, lines: &mut Lines, scratch: &mut Scratch) {
        for (image, row) in rows.enumerate() {
            let Some(norm) = self.steps.norm else {
                for channel in 0..self.input {
                    self.see_channel(image, row, channel, None, lines, scratch);
                }
                continue;
            };
            let group = self.input / norm.groups;
            for first in (0..self.input).step_by(group) {
                let (mean, inverse) = self.moments(row, first..first + group, norm);
                for channel in first..first + group {
                    let affine = Some(self.affine(row * self.input + channel, mean, inverse, norm));
                    self.see_channel(image, row, channel, affine, lines, scratch);
                }
            }
        }
    }

    fn see_channel(
        &self,
        image: usize,
        row: usize,
        channel: usize,
        map: Option<Affine>,
        lines: &mut Lines,
        scratch: &mut Scratch,
    ) {
        let cut = self.channel(row, channel);
        let Scratch { one, two } = scratch;
        let (before, after) = (&mut one[..self.pixels], &mut two[..self.out.pixels()]);
        let mut seen = &self.x[cut.clone()];
        if let Some(map) = map {
            affine(before, seen, map.factor, map.offset, map.silu);
            seen = before;
        }
        let masked;
        if self.steps.mask {
            masked = product(seen, &self.mask[cut]);
            seen = &masked;
        }
        if self.steps.resample != Resample::Keep {
            self.steps.resample.channel(after, seen, self.width);
            seen = after;
        }
        lines.put(image, channel, seen);
    }

    /// Where a channel's pixels are.
    fn channel(&self, row: usize, channel: usize) -> Range<usize> {
        let start = (row * self.input + channel) * self.pixels;
        start..start + self.pixels
    }

    /// Mean and 1/σ of a group of channels.
    fn moments(&self, row: usize, channels: Range<usize>, norm: GroupNorm) -> (f32, f32) {
        let all = self.channel(row, channels.start).start..self.channel(row, channels.end).start;
        let (mean, variance) = moments(&self.x[all]);
        (mean, (1.0 / (f64::from(variance) + norm.epsilon).sqrt()) as f32)
    }

    fn affine(&self, channel: usize, mean: f32, inverse: f32, norm: GroupNorm) -> Affine {
        let factor = inverse * self.scale[channel];
        Affine { factor, offset: self.shift[channel] - mean * factor, silu: norm.silu }
    }

    /// The gradients, by all inputs, from that by the output.
    fn back(&self, d: &[f32], by_x: bool) -> Slopes {
        let turned = by_x.then(|| Blocks::new(&self.turned(), self.output * self.out.taps()));
        let lane = self.rows.div_ceil(LANES).max(self.together(SLOPE_PIXELS, self.rows));
        let norms = if self.steps.norm.is_some() { self.scale.len() } else { 0 };
        let mut slopes = Slopes {
            x: vec![0.0; if by_x { self.x.len() } else { 0 }],
            scale: vec![0.0; norms],
            shift: vec![0.0; norms],
            kernel: vec![0.0; self.kernel.len()],
            bias: vec![0.0; self.rows * self.output],
        };
        let mut lanes = Vec::new();
        {
            let mut x = slopes.x.chunks_mut((lane * self.input * self.pixels).max(1));
            let mut scale = slopes.scale.chunks_mut(lane * self.input);
            let mut shift = slopes.shift.chunks_mut(lane * self.input);
            for bias in slopes.bias.chunks_mut(lane * self.output) {
                let [x, scale, shift] =
                    [&mut x, &mut scale, &mut shift].map(|parts| parts.next().unwrap_or_default());
                lanes.push(OfRows { x, scale, shift, bias });
            }
        }
        let by_kernel: Vec<Vec<f32>> = lanes
            .into_par_iter()
            .enumerate()
            .map(|(number, of_rows)| self.back_of(number * lane, d, turned.as_ref(), of_rows))
            .collect();
        by_kernel.iter().for_each(|by_kernel| add_rows(&mut slopes.kernel, by_kernel, true));
        if self.bias.len() == self.output {
            let mut bias = vec![0.0; self.output];
            add_rows(&mut bias, &slopes.bias, false);
            slopes.bias = bias;
        }
        slopes
    }

    /// The kernel turned by half a circle, outputs to inputs: with it the gradient by the images is a convolution, too.
    fn turned(&self) -> Vec<f32> {
        let taps = self.out.taps();
        let mut turned = vec![0.0; self.kernel.len()];
        for (o, of_output) in self.kernel.chunks_exact(self.input * taps).enumerate() {
            for (i, of_input) in of_output.chunks_exact(taps).enumerate() {
                let place = &mut turned[(i * self.output + o) * taps..][..taps];
                place.iter_mut().zip(of_input.iter().rev()).for_each(|(to, from)| *to = *from);
            }
        }
        turned
    }

    /// The gradients of some rows, to their places, and their sum by the kernel.
    fn back_of(&self, start: usize, d: &[f32], turned: Option<&Blocks>, of_rows: OfRows<'_>) -> Vec<f32> {
        let (pixels, rows) = (self.out.pixels(), of_rows.bias.len() / self.output);
        let together = self.together(SLOPE_PIXELS, rows);
        let mut kernel = vec![0.0; self.kernel.len()];
        let (mut scratch, mut sums) = (Scratch::new(self), Convolved::new(self.out));
        let room = |images: usize| {
            (Lines::new(self.out, self.input, images), Lines::new(self.out, self.output, images))
        };
        let (mut seen, mut by) = room(together);
        for first in (0..rows).step_by(together) {
            let images = together.min(rows - first);
            if images < together {
                (seen, by) = room(images);
            }
            self.see(start + first..start + first + images, &mut seen, &mut scratch);
            for place in 0..images * self.output {
                let d = &d[((start + first) * self.output + place) * pixels..][..pixels];
                by.put(place / self.output, place % self.output, d);
                of_rows.bias[first * self.output + place] = sum_of(d);
            }
            seen.add_slopes(&by, &mut kernel);
            let Some(turned) = turned else { continue };
            by.convolved(turned, &mut sums);
            for image in 0..images {
                let row = first + image;
                let numbers = row * self.input..(row + 1) * self.input;
                let x = &mut of_rows.x[row * self.input * self.pixels..][..self.input * self.pixels];
                let of_row = match self.steps.norm {
                    Some(_) => (&mut of_rows.scale[numbers.clone()], &mut of_rows.shift[numbers]),
                    None => <(&mut [f32], &mut [f32])>::default(),
                };
                self.back_to_x(start + row, image, &sums, x, of_row, &mut scratch);
            }
        }
        kernel
    }

    /// The gradients of a row by x, scale and shift, from that by what the kernel saw.
    fn back_to_x(
        &self,
        row: usize,
        image: usize,
        sums: &Convolved,
        d_x: &mut [f32],
        (d_scale, d_shift): (&mut [f32], &mut [f32]),
        scratch: &mut Scratch,
    ) {
        let cut = |c: usize| c * self.pixels..(c + 1) * self.pixels;
        let Some(norm) = self.steps.norm else {
            for channel in 0..self.input {
                self.back_to_channel(row, channel, image, sums, scratch);
                d_x[cut(channel)].copy_from_slice(&scratch.two[..self.pixels]);
            }
            return;
        };
        let group = self.input / norm.groups;
        for first in (0..self.input).step_by(group) {
            let (mean, inverse) = self.moments(row, first..first + group, norm);
            // The means over the group of the gradient by norm(x), and of that times norm(x).
            let (mut plain, mut turned) = (0.0, 0.0);
            let size = (group * self.pixels) as f32;
            for c in first..first + group {
                self.back_to_channel(row, c, image, sums, scratch);
                let (place, x) = (&mut d_x[cut(c)], &self.x[self.channel(row, c)]);
                let map = self.affine(row * self.input + c, mean, inverse, norm);
                let d = &scratch.two[..self.pixels];
                let (sum, product) = affine_back(place, d, x, map.factor, map.offset, map.silu);
                d_shift[c] = sum;
                d_scale[c] = inverse * (product - mean * sum);
                let scale = self.scale[row * self.input + c];
                plain += scale * d_shift[c] / size;
                turned += scale * d_scale[c] / size;
            }
            // inverse · (scale · d − plain − norm(x) · turned)
            let of_x = -inverse * inverse * turned;
            let rest = -inverse * plain - mean * of_x;
            for c in first..first + group {
                let (d, x) = (&mut d_x[cut(c)], &self.x[self.channel(row, c)]);
                linear_mix(d, x, inverse * self.scale[row * self.input + c], of_x, rest);
            }
        }
    }

    /// The gradient by a channel before mask and resampling, to `scratch.two`.
    fn back_to_channel(&self, row: usize, c: usize, image: usize, sums: &Convolved, scratch: &mut Scratch) {
        let Scratch { one, two } = scratch;
        let (after, before) = (&mut one[..self.out.pixels()], &mut two[..self.pixels]);
        if self.steps.resample == Resample::Keep {
            sums.take(image, c, before);
        } else {
            sums.take(image, c, after);
            self.steps.resample.channel_back(before, after, self.width);
        }
        if self.steps.mask {
            before.copy_from_slice(&product(before, &self.mask[self.channel(row, c)]));
        }
    }
}

/// factor · x + offset, and SiLU of it where wanted.
struct Affine {
    factor: f32,
    offset: f32,
    silu: bool,
}

/// Places for a channel before and after resampling.
struct Scratch {
    one: Vec<f32>,
    two: Vec<f32>,
}

impl Scratch {
    fn new(work: &Work<'_>) -> Self {
        let room = vec![0.0; work.pixels.max(work.out.pixels())];
        Self { one: room.clone(), two: room }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flex::test::{agree, numbers};
    use super::*;

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
