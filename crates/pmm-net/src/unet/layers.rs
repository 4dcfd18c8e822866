//! Layers whose weights are parts, and the resampling between them.

use burn::tensor::Tensor;
use burn::tensor::module::avg_pool2d;
use burn::tensor::ops::AvgPoolOptions;

use super::config::groups;
use super::plan::Resample;
use crate::ops::conv::conv;
use crate::ops::group_norm::{GroupNorm, group_norm};

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
    pub(super) side: usize,
}

impl Conv {
    pub(super) fn forward(&self, parts: &[Tensor<2>], x: Tensor<4>) -> Tensor<4> {
        conv(x, parts[self.weight].clone(), parts[self.weight + 1].clone(), self.side)
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
        self.norm(parts, x, None, false)
    }

    /// SiLU of it; or of it times (1 + scale) plus shift, which are `[rows, channels]`.
    pub(super) fn silu(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        told: Option<(Tensor<2>, Tensor<2>)>,
    ) -> Tensor<4> {
        self.norm(parts, x, told, true)
    }

    fn norm(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        told: Option<(Tensor<2>, Tensor<2>)>,
        silu: bool,
    ) -> Tensor<4> {
        let [rows, channels, ..] = x.dims();
        let (mut scale, mut shift) = (parts[self.scale].clone(), parts[self.scale + 1].clone());
        (scale, shift) = match told {
            Some((factor, offset)) => (scale * (factor.clone() + 1.0), shift * (factor + 1.0) + offset),
            None => (scale.repeat_dim(0, rows), shift.repeat_dim(0, rows)),
        };
        group_norm(x, scale, shift, GroupNorm { groups: groups(channels), epsilon: self.epsilon, silu })
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
