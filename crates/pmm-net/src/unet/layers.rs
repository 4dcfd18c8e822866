//! Layers whose weights are parts, and the resampling between them.

use burn::tensor::Tensor;
use burn::tensor::module::{avg_pool2d, conv2d};
use burn::tensor::ops::{AvgPoolOptions, ConvOptions};

use super::config::groups;
use super::plan::Resample;

/// x W + b, with W `[input, output]`.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub(super) weight: usize,
    pub(super) bias: Option<usize>,
}

impl Linear {
    pub(super) fn forward(&self, parts: &[Tensor<2>], x: Tensor<2>) -> Tensor<2> {
        let y = x.matmul(parts[self.weight].clone());
        match self.bias {
            Some(bias) => y + parts[bias].clone(),
            None => y,
        }
    }
}

/// A convolution that keeps the resolution; its kernel is a part `[output, input · side²]`, its bias the next.
#[derive(Debug, Clone)]
pub(super) struct Conv {
    pub(super) weight: usize,
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) side: usize,
}

impl Conv {
    pub(super) fn forward(&self, parts: &[Tensor<2>], x: Tensor<4>) -> Tensor<4> {
        let (side, pad) = (self.side, self.side / 2);
        let kernel = parts[self.weight].clone().reshape([self.output, self.input, side, side]);
        let bias = parts[self.weight + 1].clone().reshape([self.output]);
        conv2d(x, kernel, Some(bias), ConvOptions::new([1, 1], [pad, pad], [1, 1], 1))
    }
}

/// Each group of channels to mean 0 and variance 1, then a scale and a shift for each channel: two parts of one row.
#[derive(Debug, Clone)]
pub(super) struct Norm {
    pub(super) scale: usize,
    pub(super) epsilon: f64,
}

impl Norm {
    pub(super) fn forward(&self, parts: &[Tensor<2>], x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let groups = groups(channels);
        let x = x.reshape([rows, groups, channels / groups * height * width]);
        let centred = x.clone() - x.mean_dim(2);
        let variance = (centred.clone() * centred.clone()).mean_dim(2);
        let y = centred * (variance + self.epsilon).sqrt().recip();
        let spread = |part: usize| parts[part].clone().reshape([1, channels, 1, 1]);
        y.reshape([rows, channels, height, width]) * spread(self.scale) + spread(self.scale + 1)
    }
}

/// Half or twice the resolution.
pub(super) fn resample(x: Tensor<4>, how: Resample) -> Tensor<4> {
    let [rows, channels, height, width] = x.dims();
    match how {
        Resample::Keep => x,
        Resample::Down => avg_pool2d(x, AvgPoolOptions::new([2, 2])),
        Resample::Up => x
            .reshape([rows, channels, height, 1, width, 1])
            .repeat_dim(3, 2)
            .repeat_dim(5, 2)
            .reshape([rows, channels, 2 * height, 2 * width]),
    }
}
