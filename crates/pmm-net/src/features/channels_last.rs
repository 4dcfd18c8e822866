//! Convolutions with fixed weights on the processor: one image on one thread, its channels last.
//!
//! A convolution of all channels is then one matrix product, and one of each channel alone a sum of products of neighbouring numbers, which is
//! what Burn's own is slow at.

use multiversion::multiversion;

use super::layers::{Conv, Convolve, Padding};
use crate::ops::matmul::{Matrix, matmul};

/// An image, `[height, width, channels]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Picture {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
    pub(super) values: Vec<f32>,
}

impl Picture {
    /// Of `[channels, height, width]`.
    pub(super) fn of(values: &[f32], [channels, height, width]: [usize; 3]) -> Self {
        let pixels = height * width;
        let at = |pixel: usize| (0..channels).map(move |channel| values[channel * pixels + pixel]);
        Self { height, width, channels, values: (0..pixels).flat_map(at).collect() }
    }

    /// The mean over all pixels of each channel.
    pub(super) fn means(&self) -> Vec<f32> {
        let mut sums = vec![0f64; self.channels];
        for pixel in self.values.chunks_exact(self.channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let pixels = (self.height * self.width) as f64;
        sums.into_iter().map(|sum| (sum / pixels) as f32).collect()
    }
}

/// A convolution of pictures.
#[derive(Debug)]
pub(super) struct Layer {
    /// `[high · wide · inputs, outputs]`; where each channel is alone, `[high · wide, channels]`.
    kernel: Vec<f32>,
    bias: Vec<f32>,
    sides: [usize; 2],
    stride: usize,
    padding: Padding,
    alone: bool,
}

/// Which pixels a kernel sees: rows and columns that come out, and how far above and left of the picture it begins.
struct Frame {
    height: usize,
    width: usize,
    above: usize,
    left: usize,
}

impl Layer {
    /// The same convolution; its groups are one, or as many as channels.
    pub(super) fn of(conv: &Conv) -> Self {
        let [outputs, inputs, high, wide] = conv.kernel.dims();
        let kernel: Vec<f32> = conv.kernel.to_data().iter::<f32>().collect();
        let taps = high * wide;
        let mut turned = vec![0.0; kernel.len()];
        for output in 0..outputs {
            for input in 0..inputs {
                for tap in 0..taps {
                    turned[(tap * inputs + input) * outputs + output] =
                        kernel[(output * inputs + input) * taps + tap];
                }
            }
        }
        Self {
            kernel: turned,
            bias: conv.bias.to_data().iter::<f32>().collect(),
            sides: [high, wide],
            stride: conv.stride,
            padding: conv.padding,
            alone: conv.groups > 1,
        }
    }

    fn frame(&self, x: &Picture) -> Frame {
        let [(above, below), (left, right)] =
            self.padding.pairs([x.height, x.width], self.sides, self.stride);
        let size = |side: usize, zeros: usize, kernel: usize| {
            (side + zeros).saturating_sub(kernel) / self.stride + 1
        };
        Frame {
            height: size(x.height, above + below, self.sides[0]),
            width: size(x.width, left + right, self.sides[1]),
            above,
            left,
        }
    }

    /// The place in a picture that a tap of the kernel sees for an output pixel, if it is in the picture.
    fn seen(&self, x: &Picture, frame: &Frame, [row, column]: [usize; 2], tap: usize) -> Option<usize> {
        let row = (row * self.stride + tap / self.sides[1]).checked_sub(frame.above)?;
        let column = (column * self.stride + tap % self.sides[1]).checked_sub(frame.left)?;
        (row < x.height && column < x.width).then_some((row * x.width + column) * x.channels)
    }

    fn taps(&self) -> usize {
        self.sides[0] * self.sides[1]
    }

    /// Each channel alone.
    fn alone(&self, x: &Picture, frame: &Frame) -> Vec<f32> {
        let channels = x.channels;
        let mut y = vec![0.0; frame.height * frame.width * channels];
        let mut seen = Vec::with_capacity(self.taps());
        for (pixel, y) in y.chunks_exact_mut(channels).enumerate() {
            let at = [pixel / frame.width, pixel % frame.width];
            seen.clear();
            seen.extend(
                (0..self.taps())
                    .filter_map(|tap| self.seen(x, frame, at, tap).map(|place| (tap * channels, place))),
            );
            sum_of_products(y, &self.bias, &self.kernel, &x.values, &seen);
        }
        y
    }

    /// All channels together: a matrix product of what the kernel sees, a few rows of pixels at a time.
    fn together(&self, x: &Picture, frame: &Frame) -> Vec<f32> {
        let outputs = self.bias.len();
        let mut y: Vec<f32> = self.bias.repeat(frame.height * frame.width);
        let width = self.taps() * x.channels;
        let kernel = Matrix::new(&self.kernel, width, outputs);
        if self.taps() == 1 && self.stride == 1 {
            matmul(&mut y, true, Matrix::new(&x.values, frame.height * frame.width, width), kernel);
            return y;
        }
        let mut patches = vec![0.0; frame.width * width];
        for (row, y) in y.chunks_exact_mut(frame.width * outputs).enumerate() {
            for (column, patch) in patches.chunks_exact_mut(width).enumerate() {
                for (tap, patch) in patch.chunks_exact_mut(x.channels).enumerate() {
                    match self.seen(x, frame, [row, column], tap) {
                        Some(place) => patch.copy_from_slice(&x.values[place..place + x.channels]),
                        None => patch.fill(0.0),
                    }
                }
            }
            matmul(y, true, Matrix::new(&patches, frame.width, width), kernel);
        }
        y
    }
}

impl Convolve for Layer {
    type Image = Picture;

    fn convolved(&self, x: &Picture) -> Picture {
        let frame = self.frame(x);
        let values = if self.alone { self.alone(x, &frame) } else { self.together(x, &frame) };
        Picture { height: frame.height, width: frame.width, channels: self.bias.len(), values }
    }

    fn bounded(mut x: Picture) -> Picture {
        bound(&mut x.values);
        x
    }

    fn sum(mut x: Picture, more: &Picture) -> Picture {
        x.values.iter_mut().zip(&more.values).for_each(|(x, more)| *x += more);
        x
    }
}

/// Between 0 and 6.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn bound(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.clamp(0.0, 6.0));
}

/// Numbers that are summed side by side.
const LANES: usize = 16;

/// bias + Σ kernel · x for each channel, over the places of kernel and picture that see each other.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn sum_of_products(y: &mut [f32], bias: &[f32], kernel: &[f32], x: &[f32], seen: &[(usize, usize)]) {
    let (lanes, rest) = y.as_chunks_mut::<LANES>();
    let done = lanes.len() * LANES;
    for (chunk, y) in lanes.iter_mut().enumerate() {
        let first = chunk * LANES;
        y.copy_from_slice(&bias[first..first + LANES]);
        for (tap, place) in seen {
            let (kernel, x) = (&kernel[tap + first..][..LANES], &x[place + first..][..LANES]);
            for i in 0..LANES {
                y[i] += kernel[i] * x[i];
            }
        }
    }
    for (i, y) in rest.iter_mut().enumerate() {
        let channel = done + i;
        *y = bias[channel]
            + seen.iter().map(|(tap, place)| kernel[tap + channel] * x[place + channel]).sum::<f32>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, Tensor, TensorData};

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729 + 13) % 1009) as f32 / 504.5 - 1.0).collect()
    }

    /// All kinds of convolutions agree with Burn's: strides, odd sizes, both paddings, one group and as many as channels.
    #[test]
    fn agrees_with_burn() {
        let device = Device::flex();
        // Inputs, outputs, sides, stride, padding, groups, height, width.
        let cases = [
            (3, 8, [3, 3], 2, Padding::Same, 1, 9, 6),
            (5, 4, [1, 1], 1, Padding::Same, 1, 3, 4),
            (5, 4, [1, 1], 2, Padding::Same, 1, 5, 4),
            (2, 3, [1, 7], 1, Padding::Zeros([0, 3]), 1, 4, 5),
            (4, 6, [3, 3], 2, Padding::Zeros([0, 0]), 1, 7, 8),
            (19, 19, [3, 3], 1, Padding::Same, 19, 5, 7),
            (32, 32, [5, 5], 2, Padding::Same, 32, 7, 6),
        ];
        for (inputs, outputs, [high, wide], stride, padding, groups, height, width) in cases {
            let tensor = |shape: [usize; 4], seed: usize| {
                let values = numbers(shape.iter().product(), seed);
                Tensor::<4>::from_data(TensorData::new(values, shape), &device)
            };
            let bias = Tensor::from_data(TensorData::new(numbers(outputs, 3), [outputs]), &device);
            let kernel = tensor([outputs, inputs / groups, high, wide], 1);
            let conv = Conv { kernel, bias, stride, padding, groups };
            let x = tensor([1, inputs, height, width], 2);
            let y = Convolve::convolved(&conv, &x);
            let [_, channels, rows, columns] = y.dims();
            let expected =
                Picture::of(&y.to_data().iter::<f32>().collect::<Vec<_>>(), [channels, rows, columns]);
            let x = Picture::of(&x.to_data().iter::<f32>().collect::<Vec<_>>(), [inputs, height, width]);
            let found = Layer::of(&conv).convolved(&x);
            assert_eq!((found.height, found.width, found.channels), (rows, columns, channels));
            let close = found.values.iter().zip(&expected.values).all(|(a, b)| (a - b).abs() < 1e-5);
            assert!(close, "{inputs} → {outputs}, {high}×{wide}, stride {stride}, {groups} groups");
        }
    }

    #[test]
    fn means_are_by_channel() {
        let x = Picture::of(&[1.0, 3.0, -7.0, 9.0], [2, 1, 2]);
        assert_eq!((x.values.clone(), x.means()), (vec![1.0, -7.0, 3.0, 9.0], vec![2.0, 1.0]));
        assert_eq!(Layer::bounded(x).values, [1.0, 0.0, 3.0, 6.0]);
    }
}
