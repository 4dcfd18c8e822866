//! Layers whose weights are parts.

use burn::tensor::Tensor;

use super::config::groups;
use crate::ops::conv::{GroupNorm, Input, Scaled, conv};
use crate::ops::resample::Resample;

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
    pub(super) fn forward(&self, parts: &[Tensor<2>], x: Input) -> Tensor<4> {
        conv(x, parts[self.weight].clone(), parts[self.weight + 1].clone(), self.side)
    }

    /// With more to each image's bias, `[rows, output]`.
    pub(super) fn forward_and(&self, parts: &[Tensor<2>], x: Input, more: Tensor<2>) -> Tensor<4> {
        conv(x, parts[self.weight].clone(), parts[self.weight + 1].clone() + more, self.side)
    }
}

/// Images as they are, or resampled.
pub(super) fn images(x: Tensor<4>, resample: Resample) -> Input {
    Input { x, norm: None, mask: None, resample }
}

/// Each group of channels to mean 0 and variance 1, then a scale and a shift for each channel: two parts of one row.
#[derive(Debug, Clone)]
pub(super) struct Norm {
    pub(super) scale: usize,
    pub(super) epsilon: f64,
}

impl Norm {
    pub(super) fn linear(&self, parts: &[Tensor<2>], x: Tensor<4>) -> Input {
        self.norm(parts, x, None, false)
    }

    /// SiLU of it; or of it times (1 + scale) plus shift, which are `[rows, channels]`.
    pub(super) fn silu(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        told: Option<(Tensor<2>, Tensor<2>)>,
    ) -> Input {
        self.norm(parts, x, told, true)
    }

    fn norm(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        told: Option<(Tensor<2>, Tensor<2>)>,
        silu: bool,
    ) -> Input {
        let [rows, channels, ..] = x.dims();
        let (mut scale, mut shift) = (parts[self.scale].clone(), parts[self.scale + 1].clone());
        (scale, shift) = match told {
            Some((factor, offset)) => (scale * (factor.clone() + 1.0), shift * (factor + 1.0) + offset),
            None => (scale.repeat_dim(0, rows), shift.repeat_dim(0, rows)),
        };
        let norm = GroupNorm { groups: groups(channels), epsilon: self.epsilon, silu };
        Input { norm: Some(Scaled { scale, shift, norm }), ..images(x, Resample::Keep) }
    }
}
