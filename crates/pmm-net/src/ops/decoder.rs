//! A causal transformer with fixed weights, forward only.

use super::attention::Attention;
use super::matmul::{Matrix, matmul};
use super::rows::{add_bias, gelu, modulate, norm};

/// x W + b.
#[derive(Debug)]
pub(crate) struct Dense {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Dense {
    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let rows = x.len() / inputs;
        let mut out = vec![0.0; rows * outputs];
        add_bias(&mut out, &self.bias, false);
        matmul(&mut out, true, Matrix::new(x, rows, inputs), Matrix::new(&self.weight, inputs, outputs));
        out
    }
}

/// The scale (less 1) and shift of a norm.
#[derive(Debug)]
pub(crate) struct Scale {
    less_one: Vec<f32>,
    shift: Vec<f32>,
}

impl Scale {
    pub(crate) fn new(scale: Vec<f32>, shift: Vec<f32>) -> Self {
        Self { less_one: scale.into_iter().map(|scale| scale - 1.0).collect(), shift }
    }

    fn apply(&self, h: &[f32]) -> Vec<f32> {
        let (normed, _) = norm(h, self.shift.len());
        modulate(&normed, &self.shift, &self.less_one)
    }
}

#[derive(Debug)]
pub(crate) struct DecoderBlock {
    pub(crate) first: Scale,
    pub(crate) qkv: Dense,
    pub(crate) project: Dense,
    pub(crate) second: Scale,
    pub(crate) up: Dense,
    pub(crate) down: Dense,
}

/// Embeddings, blocks and a last norm; the output is tied to the embedding of tokens.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) tokens: Vec<f32>,
    pub(crate) positions: Vec<f32>,
    pub(crate) blocks: Vec<DecoderBlock>,
    pub(crate) last: Scale,
}

impl Decoder {
    /// Logits `[tokens, classes]`.
    pub(crate) fn logits(&self, tokens: &[u32]) -> Vec<f32> {
        let (width, length) = (self.width, tokens.len());
        let attention = Attention { length, width, heads: self.heads, angles: (&[], &[]), causal: true };
        let mut h: Vec<f32> = tokens
            .iter()
            .flat_map(|&token| &self.tokens[token as usize * width..][..width])
            .copied()
            .collect();
        h.iter_mut().zip(&self.positions).for_each(|(h, p)| *h += p);
        let add = |h: &mut [f32], y: Vec<f32>| h.iter_mut().zip(y).for_each(|(h, y)| *h += y);
        for block in &self.blocks {
            let qkv = block.qkv.apply(&block.first.apply(&h));
            let attended = block.project.apply(&attention.forward(&qkv));
            add(&mut h, attended);
            let up = gelu(&block.up.apply(&block.second.apply(&h)));
            add(&mut h, block.down.apply(&up));
        }
        let h = self.last.apply(&h);
        let classes = self.tokens.len() / width;
        let mut logits = vec![0.0; length * classes];
        let table = Matrix::new(&self.tokens, classes, width).transposed();
        matmul(&mut logits, false, Matrix::new(&h, length, width), table);
        logits
    }
}
