//! What a convolution does to images on the processor, and its gradient by hand.

use std::ops::Range;

use rayon::prelude::*;

use super::conv::{GroupNorm, Steps};
use super::flex::Values;
use super::lines::{Frame, Lines};
use super::moving::Moving;
use super::resample::Resample;
use super::rows::{add_number, add_rows, affine, affine_back, linear_mix, moments, product, sum_of};
use super::winograd::{self, Tiles};

/// Pixels whose gradients go through in one go, at least, where there are as many: the sums by kernel end with each go.
const SLOPE_PIXELS: usize = 1024;
/// Sums of slopes that are added up at the end, in order, at most: as many for any number of threads.
const LANES: usize = 4;

/// The numbers, and how they are cut.
pub(super) struct Work<'a> {
    x: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    kernel: &'a [f32],
    bias: &'a [f32],
    mask: &'a [f32],
    steps: Steps,
    pub(super) rows: usize,
    pub(super) input: usize,
    pub(super) output: usize,
    /// Pixels of a row and of a channel that come in.
    pub(super) width: usize,
    pub(super) pixels: usize,
    /// What the kernel is moved over.
    pub(super) out: Frame,
}

pub(super) struct Slopes {
    pub(super) x: Vec<f32>,
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) kernel: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// Places for the gradients of some rows by what each row has of its own.
struct OfRows<'a> {
    x: &'a mut [f32],
    scale: &'a mut [f32],
    shift: &'a mut [f32],
    bias: &'a mut [f32],
}

impl<'a> Work<'a> {
    pub(super) fn new(inputs: &'a [Values; 6], steps: Steps) -> Self {
        let (x, kernel) = (&inputs[0], &inputs[3]);
        let [rows, input, height, width] = [x.shape[0], x.shape[1], x.shape[2], x.shape[3]];
        let (output, resample) = (kernel.shape[0], steps.resample);
        let out = Frame { height: resample.size(height), width: resample.size(width), side: steps.side };
        let pixels = height * width;
        let [x, scale, shift, kernel, bias, mask] = inputs.each_ref().map(|values| &**values);
        Self { x, scale, shift, kernel, bias, mask, steps, rows, input, output, width, pixels, out }
    }

    pub(super) fn forward(&self) -> Vec<f32> {
        if winograd::suits(self.out, self.input, self.output) {
            self.forward_by::<Tiles>()
        } else {
            self.forward_by::<Lines>()
        }
    }

    fn forward_by<M: Moving>(&self) -> Vec<f32> {
        let kernel = M::kernel(self.out, self.kernel, self.input);
        let size = self.output * self.out.pixels();
        let mut y = vec![0.0; self.rows * size];
        let together = self.together(M::PIXELS, self.rows);
        // Whatever the cut, a pixel is the same sum; a few shares for each thread spread the work well.
        let share = self.rows.div_ceil(4 * rayon::current_num_threads()).next_multiple_of(together);
        y.par_chunks_mut((share * size).max(1)).enumerate().for_each(|(number, y)| {
            let (mut scratch, mut sums) = (Scratch::new(self), M::sums(self.out));
            let mut seen = M::new(self.out, self.input, together);
            for (group, y) in y.chunks_mut(together * size).enumerate() {
                let first = number * share + group * together;
                let rows = first..first + y.len() / size;
                if rows.len() < together {
                    seen = M::new(self.out, self.input, rows.len());
                }
                self.see(rows, &mut seen, &mut scratch);
                seen.convolved(&kernel, &mut sums);
                for (place, y) in y.chunks_exact_mut(self.out.pixels()).enumerate() {
                    let (image, output) = (place / self.output, place % self.output);
                    M::take(&sums, image, output, y);
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
    fn see<M: Moving>(&self, rows: Range<usize>, images: &mut M, scratch: &mut Scratch) {
        for (image, row) in rows.enumerate() {
            let Some(norm) = self.steps.norm else {
                for channel in 0..self.input {
                    self.see_channel(image, row, channel, None, images, scratch);
                }
                continue;
            };
            let group = self.input / norm.groups;
            for first in (0..self.input).step_by(group) {
                let (mean, inverse) = self.moments(row, first..first + group, norm);
                for channel in first..first + group {
                    let affine = Some(self.affine(row * self.input + channel, mean, inverse, norm));
                    self.see_channel(image, row, channel, affine, images, scratch);
                }
            }
        }
    }

    fn see_channel<M: Moving>(
        &self,
        image: usize,
        row: usize,
        channel: usize,
        map: Option<Affine>,
        images: &mut M,
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
        images.put(image, channel, seen);
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
    pub(super) fn back(&self, d: &[f32], by_x: bool) -> Slopes {
        if winograd::suits(self.out, self.input, self.output) {
            self.back_by::<Tiles>(d, by_x)
        } else {
            self.back_by::<Lines>(d, by_x)
        }
    }

    fn back_by<M: Moving>(&self, d: &[f32], by_x: bool) -> Slopes {
        let turned = by_x.then(|| M::kernel(self.out, &self.turned(), self.output));
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
            .map(|(number, of_rows)| self.back_of::<M>(number * lane, d, turned.as_ref(), of_rows))
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
    fn back_of<M: Moving>(
        &self,
        start: usize,
        d: &[f32],
        turned: Option<&M::Kernel>,
        of_rows: OfRows<'_>,
    ) -> Vec<f32> {
        let (pixels, rows) = (self.out.pixels(), of_rows.bias.len() / self.output);
        let together = self.together(SLOPE_PIXELS, rows);
        let mut kernel = M::no_slopes(self.out, self.input, self.output);
        let (mut scratch, mut sums) = (Scratch::new(self), M::sums(self.out));
        let room =
            |images: usize| (M::new(self.out, self.input, images), M::new(self.out, self.output, images));
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
            seen.add_slopes(&mut by, &mut kernel);
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
                self.back_to_x::<M>(start + row, image, &sums, x, of_row, &mut scratch);
            }
        }
        M::by_kernel(kernel)
    }

    /// The gradients of a row by x, scale and shift, from that by what the kernel saw.
    fn back_to_x<M: Moving>(
        &self,
        row: usize,
        image: usize,
        sums: &M::Sums,
        d_x: &mut [f32],
        (d_scale, d_shift): (&mut [f32], &mut [f32]),
        scratch: &mut Scratch,
    ) {
        let cut = |c: usize| c * self.pixels..(c + 1) * self.pixels;
        let Some(norm) = self.steps.norm else {
            for channel in 0..self.input {
                self.back_to_channel::<M>(row, channel, image, sums, scratch);
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
                self.back_to_channel::<M>(row, c, image, sums, scratch);
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
    fn back_to_channel<M: Moving>(
        &self,
        row: usize,
        c: usize,
        image: usize,
        sums: &M::Sums,
        scratch: &mut Scratch,
    ) {
        let Scratch { one, two } = scratch;
        let (after, before) = (&mut one[..self.out.pixels()], &mut two[..self.pixels]);
        if self.steps.resample == Resample::Keep {
            M::take(sums, image, c, before);
        } else {
            M::take(sums, image, c, after);
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
