//! The residual block that both U-Nets are made of, and its attention.

use std::f64::consts::FRAC_1_SQRT_2;

use burn::tensor::{Tensor, activation};

use super::builder::{Builder, Role};
use super::config::{UnetConfig, UnetKind};
use super::dropout::Mask;
use super::embedding::Embedding;
use super::layers::{Conv, Linear, Norm, images};
use super::plan::BlockShape;
use crate::ops::conv::Input;
use crate::ops::resample::Resample;

/// x → r · (skip(x) + conv₁(drop(cond(conv₀(SiLU(norm₀(x))), e)))), then attention where there is one; skip and conv₀
/// resample before they convolve.
///
/// ADM: cond(h, e) = SiLU(norm₁(h) (1 + s) + b) with (s, b) linear in e, and r = 1. DDPM++: SiLU(norm₁(h + b)), r = √½.
#[derive(Debug, Clone)]
pub(super) struct Block {
    kind: UnetKind,
    resample: Resample,
    pub(super) takes_skip: bool,
    norm0: Norm,
    conv0: Conv,
    affine: Linear,
    norm1: Norm,
    conv1: Conv,
    skip: Option<Conv>,
    attention: Option<Attention>,
}

impl Block {
    pub(super) fn new(builder: &mut Builder, config: &UnetConfig, shape: &BlockShape) -> Self {
        let (kind, input, output) = (config.kind, shape.input, shape.output);
        let name = |part: &str| format!("{}.{part}", shape.name);
        let resampled = kind == UnetKind::Ddpmpp && shape.resample != Resample::Keep;
        let numbers = if kind == UnetKind::Adm { 2 * output } else { output };
        Self {
            kind,
            resample: shape.resample,
            takes_skip: shape.takes_skip,
            norm0: builder.norm(&name("norm0"), input),
            conv0: builder.conv(&name("conv0"), input, output, 3, Role::Inner),
            affine: builder.linear(&name("affine"), Embedding::width(config), numbers),
            norm1: builder.norm(&name("norm1"), output),
            conv1: builder.conv(&name("conv1"), output, output, 3, Role::Last),
            skip: (input != output || resampled)
                .then(|| builder.conv(&name("skip"), input, output, 1, Role::Inner)),
            attention: shape
                .attention
                .then(|| Attention::new(builder, &name(""), output, config.heads(output))),
        }
    }

    pub(super) fn forward(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        embedding: &Tensor<2>,
        mask: Option<Mask<'_>>,
    ) -> Tensor<4> {
        let h = Input { resample: self.resample, ..self.norm0.silu(parts, x.clone(), None) };
        let told = self.affine.forward(parts, embedding.clone());
        let h = match self.kind {
            UnetKind::Adm => {
                let h = self.conv0.forward(parts, h);
                let [_, channels, ..] = h.dims();
                let part = |k: usize| told.clone().narrow(1, k * channels, channels);
                self.norm1.silu(parts, h, Some((part(0), part(1))))
            }
            UnetKind::Ddpmpp => self.norm1.silu(parts, self.conv0.forward_and(parts, h, told), None),
        };
        let mask = mask.map(|mask| mask.tensor(h.x.dims(), &h.x.device()));
        let h = self.conv1.forward(parts, Input { mask, ..h });
        let skip = match &self.skip {
            Some(conv) => conv.forward(parts, images(x, self.resample)),
            None => self.resample.apply(x),
        };
        let y = self.rescale(h + skip);
        match &self.attention {
            Some(attention) => self.rescale(attention.forward(parts, y.clone()) + y),
            None => y,
        }
    }

    /// Keeps the variance of a sum, in DDPM++.
    fn rescale(&self, x: Tensor<4>) -> Tensor<4> {
        match self.kind {
            UnetKind::Adm => x,
            UnetKind::Ddpmpp => x * FRAC_1_SQRT_2,
        }
    }
}

/// proj(softmax(qᵀk/√c) v) over the pixels, with q, k and v from the normed input.
#[derive(Debug, Clone)]
struct Attention {
    heads: usize,
    norm: Norm,
    qkv: Conv,
    proj: Conv,
}

impl Attention {
    /// `prefix` ends in a dot.
    fn new(builder: &mut Builder, prefix: &str, channels: usize, heads: usize) -> Self {
        Self {
            heads,
            norm: builder.norm(&format!("{prefix}norm2"), channels),
            qkv: builder.conv(&format!("{prefix}qkv"), channels, 3 * channels, 1, Role::Attention),
            proj: builder.conv(&format!("{prefix}proj"), channels, channels, 1, Role::Last),
        }
    }

    fn forward(&self, parts: &[Tensor<2>], x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let (size, pixels) = (channels / self.heads, height * width);
        let qkv = self.qkv.forward(parts, self.norm.linear(parts, x));
        // The channels of a head are [channel, (q, k, v)].
        let qkv = qkv.reshape([rows * self.heads, size, 3, pixels]);
        let part = |k: usize| qkv.clone().narrow(2, k, 1).reshape([rows * self.heads, size, pixels]);
        let scores = (part(0) * (1.0 / (size as f64).sqrt())).swap_dims(1, 2).matmul(part(1));
        let weights = activation::softmax(scores, 2); // [rows · heads, query, key]
        let y = part(2).matmul(weights.swap_dims(1, 2));
        self.proj.forward(parts, images(y.reshape([rows, channels, height, width]), Resample::Keep))
    }
}
