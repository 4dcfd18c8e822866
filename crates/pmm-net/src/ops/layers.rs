//! The linear layers of a network, by the parts of its weights.

use super::matmul::{Matrix, matmul};
use super::rows::add_bias;
use crate::parts::Parts;

/// Parts with their weights. A linear layer is the part of its matrix, and that of its bias after it.
#[derive(Clone, Copy)]
pub(super) struct Layers<'a> {
    pub(super) parts: &'a Parts,
    pub(super) weights: &'a [f32],
}

impl<'a> Layers<'a> {
    pub(super) fn part(self, index: usize) -> &'a [f32] {
        &self.weights[self.parts.get(index).range.clone()]
    }

    pub(super) fn matrix(self, index: usize) -> Matrix<'a> {
        let [rows, columns] = self.parts.get(index).shape;
        Matrix::new(self.part(index), rows, columns)
    }

    /// out = x W + b.
    pub(super) fn set_linear(self, index: usize, x: &[f32], out: &mut [f32]) {
        add_bias(out, self.part(index + 1), false);
        self.add_product(index, x, out);
    }

    /// out += x W + b.
    pub(super) fn add_linear(self, index: usize, x: &[f32], out: &mut [f32]) {
        add_bias(out, self.part(index + 1), true);
        self.add_product(index, x, out);
    }

    fn add_product(self, index: usize, x: &[f32], out: &mut [f32]) {
        let inputs = self.parts.get(index).shape[0];
        matmul(out, true, Matrix::new(x, x.len() / inputs, inputs), self.matrix(index));
    }

    /// x W + b.
    pub(super) fn linear(self, index: usize, x: &[f32]) -> Vec<f32> {
        let [inputs, outputs] = self.parts.get(index).shape;
        let mut out = vec![0.0; x.len() / inputs * outputs];
        self.set_linear(index, x, &mut out);
        out
    }

    /// x W, of a layer without a bias.
    pub(super) fn product(self, index: usize, x: &[f32]) -> Vec<f32> {
        let [inputs, outputs] = self.parts.get(index).shape;
        let rows = x.len() / inputs;
        let mut out = vec![0.0; rows * outputs];
        matmul(&mut out, false, Matrix::new(x, rows, inputs), self.matrix(index));
        out
    }

    /// d Wᵀ.
    pub(super) fn linear_back(self, index: usize, d: &[f32]) -> Vec<f32> {
        let [inputs, outputs] = self.parts.get(index).shape;
        let rows = d.len() / outputs;
        let mut out = vec![0.0; rows * inputs];
        matmul(&mut out, false, Matrix::new(d, rows, outputs), self.matrix(index).transposed());
        out
    }
}
