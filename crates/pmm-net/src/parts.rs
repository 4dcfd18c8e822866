//! Weights as one flat buffer with named parts.

use std::ops::Range;

use burn::tensor::{Device, Tensor, TensorData};
use pmm_core::{Purpose, Streams};

/// A named matrix (or a bias, as a matrix of one row) in the flat buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Dotted path, such as `block.0.up.weight`.
    pub name: String,
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Where it is.
    pub range: Range<usize>,
}

/// All parts of a network, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    parts: Vec<Part>,
    len: usize,
}

impl Parts {
    /// Adds a part; returns its index.
    pub fn add(&mut self, name: impl Into<String>, rows: usize, columns: usize) -> usize {
        let range = self.len..self.len + rows * columns;
        self.len = range.end;
        self.parts.push(Part { name: name.into(), shape: [rows, columns], range });
        self.parts.len() - 1
    }

    /// Adds the weight and the bias of a linear layer; returns the index of the weight, the bias follows it.
    pub fn add_linear(&mut self, name: &str, input: usize, output: usize) -> usize {
        let weight = self.add(format!("{name}.weight"), input, output);
        self.add(format!("{name}.bias"), 1, output);
        weight
    }

    /// The parts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Part> {
        self.parts.iter()
    }

    /// A part.
    pub fn get(&self, index: usize) -> &Part {
        &self.parts[index]
    }

    /// The number of weights.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Initial weights: uniform within ±1/√(fan in) for matrices, 0 for biases.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = vec![0.0; self.len];
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.shape[0] > 1) {
            let mut stream = streams.stream(Purpose::INITIAL, 0, index as u64);
            let bound = 1.0 / (part.shape[0] as f64).sqrt();
            weights[part.range.clone()]
                .iter_mut()
                .for_each(|w| *w = (bound * (2.0 * stream.unit() - 1.0)) as f32);
        }
        weights
    }

    /// 1 for the weights of matrices, which decay, and 0 for biases, which do not.
    pub fn decayed(&self) -> Vec<f32> {
        let decays = |part: &Part| f32::from(u8::from(part.shape[0] > 1));
        self.parts.iter().flat_map(|part| std::iter::repeat_n(decays(part), part.range.len())).collect()
    }

    /// The parts as tensors on a device, ready for gradients where the device records them.
    pub(crate) fn bind(&self, weights: &[f32], device: &Device) -> Vec<Tensor<2>> {
        let bind = |part: &Part| {
            let data = TensorData::new(weights[part.range.clone()].to_vec(), part.shape);
            let tensor = Tensor::from_data(data, device);
            if device.is_autodiff() { tensor.require_grad() } else { tensor }
        };
        self.parts.iter().map(bind).collect()
    }
}
