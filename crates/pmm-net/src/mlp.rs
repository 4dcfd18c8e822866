//! A residual multilayer perceptron.

use burn::tensor::{Int, Tensor, activation};

use crate::parts::Parts;

/// h = x W + b; then for every block h ← h + drop(silu(norm(h) W₁ + b₁)) W₂ + b₂; at last y = [norm(h), s] W + b, where s are some
/// inputs that go straight there: what is nearly a sum of them need not come through the norms, which know no size. The norm is
/// that of LayerNorm without scale and shift, which the next matrix would absorb. This is the plain composition on Burn,
/// for any device; on the processor the fused kernel of `ops/mlp.rs` does the same.
#[derive(Debug, Clone)]
pub struct Mlp {
    inputs: usize,
    width: usize,
    blocks: usize,
    straight: Vec<usize>,
    parts: Parts,
}

/// Added to the variance in the norm.
pub(crate) const EPSILON: f64 = 1e-5;

impl Mlp {
    /// So many inputs and outputs; the inputs `straight`, increasing, also go to the last layer.
    pub fn new(inputs: usize, outputs: usize, width: usize, blocks: usize, straight: Vec<usize>) -> Self {
        let mut parts = Parts::default();
        parts.add_linear("input", inputs, width);
        for block in 0..blocks {
            parts.add_linear(&format!("block.{block}.up"), width, width);
            parts.add_linear(&format!("block.{block}.down"), width, width);
        }
        parts.add_linear("output", width + straight.len(), outputs);
        Self { inputs, width, blocks, straight, parts }
    }

    /// Its weights.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }
    /// Numbers per row that go in.
    pub fn inputs(&self) -> usize {
        self.inputs
    }
    /// Numbers per row that come out.
    pub fn outputs(&self) -> usize {
        self.parts.get(2 + 4 * self.blocks).shape[1]
    }
    /// Residual blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }
    /// Width of the hidden layers.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The inputs that also go to the last layer, increasing.
    pub fn straight(&self) -> &[usize] {
        &self.straight
    }

    /// Outputs of a batch; `masks` are dropout's, one per block, or none.
    pub fn forward(&self, parts: &[Tensor<2>], x: Tensor<2>, masks: &[Tensor<2>]) -> Tensor<2> {
        let linear = |x: Tensor<2>, index: usize| x.matmul(parts[index].clone()) + parts[index + 1].clone();
        let mut h = linear(x.clone(), 0);
        for block in 0..self.blocks {
            let mut u = activation::silu(linear(norm(h.clone()), 2 + 4 * block));
            if let Some(mask) = masks.get(block) {
                u = u * mask.clone();
            }
            h = h + linear(u, 4 + 4 * block);
        }
        let mut last = norm(h);
        if !self.straight.is_empty() {
            let columns: Vec<i64> = self.straight.iter().map(|input| *input as i64).collect();
            let columns: Tensor<1, Int> = Tensor::from_data(columns.as_slice(), &x.device());
            last = Tensor::cat(vec![last, x.select(1, columns)], 1);
        }
        linear(last, 2 + 4 * self.blocks)
    }
}

/// (h − mean)/σ by rows.
pub(crate) fn norm(h: Tensor<2>) -> Tensor<2> {
    let centred = h.clone() - h.mean_dim(1);
    let variance = centred.clone().powi_scalar(2).mean_dim(1);
    centred / (variance + EPSILON).sqrt()
}
