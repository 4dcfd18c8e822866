//! Named tensors from a file, and convolutions with their batch norms folded in.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData, f16};
use safetensors::{Dtype, SafeTensors};

use super::error::FeatureError;
use super::layers::{Conv, Linear, Padding};
use super::pytorch;
use crate::gpt2::NamedTensor;

/// Tensors to be taken by name.
#[derive(Debug)]
pub(super) struct Weights {
    tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
    device: Device,
}

/// A convolution as its network describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) kernel: [usize; 2],
    pub(super) stride: usize,
    pub(super) padding: Padding,
    /// 1, or as many as channels.
    pub(super) groups: usize,
}

impl Weights {
    /// Reads safetensors or a file of PyTorch, of 32-bit or 16-bit numbers; tensors of other types are no weights.
    pub(super) fn read(path: &Path, device: &Device) -> Result<Self, FeatureError> {
        let unreadable = |source| FeatureError::Io { path: path.into(), source };
        let mut head = Vec::new();
        File::open(path).and_then(|file| file.take(9).read_to_end(&mut head)).map_err(unreadable)?;
        if pytorch::is_pytorch(&head) {
            let tensors =
                pytorch::read(path).map_err(|reason| FeatureError::Pytorch { path: path.into(), reason })?;
            return Ok(Self::new(tensors, device));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let refused = |reason: String| FeatureError::Weights { path: path.into(), reason };
        let file = SafeTensors::deserialize(&bytes).map_err(|error| refused(error.to_string()))?;
        let tensors = file.iter().filter_map(|(name, view)| {
            let values = match view.dtype() {
                Dtype::F32 => view.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
                Dtype::F16 => {
                    view.data().as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect()
                }
                _ => return None,
            };
            Some((name.to_owned(), view.shape().to_vec(), values))
        });
        Ok(Self::new(tensors.collect(), device))
    }

    pub(super) fn new(tensors: Vec<NamedTensor>, device: &Device) -> Self {
        let tensors = tensors.into_iter().map(|(name, shape, values)| (name, (shape, values))).collect();
        Self { tensors, device: device.clone() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// A tensor, which must have this shape and be finite.
    fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let (found, values) =
            self.tensors.remove(name).ok_or_else(|| format!("no tensor is called {name}"))?;
        if found != shape || values.len() != shape.iter().product::<usize>() {
            return Err(format!("{name} is {found:?}, not {shape:?}"));
        }
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(format!("{name} holds {value}")),
            None => Ok(values),
        }
    }

    /// A convolution without a bias and the norm after it, as one convolution: W·s and b − m·s, with s = g/√(v + ε).
    pub(super) fn conv(
        &mut self,
        name: &str,
        norm: &str,
        shape: Shape,
        epsilon: f64,
    ) -> Result<Conv, String> {
        let Shape { inputs, outputs, kernel: [height, width], stride, padding, groups } = shape;
        let sizes = [outputs, inputs / groups, height, width];
        let mut kernel = self.take(&format!("{name}.weight"), &sizes)?;
        let mut of_norm = |part: &str| self.take(&format!("{norm}.{part}"), &[outputs]);
        let (gain, mut bias) = (of_norm("weight")?, of_norm("bias")?);
        let (mean, variance) = (of_norm("running_mean")?, of_norm("running_var")?);
        let each = kernel.len() / outputs;
        for (channel, weights) in kernel.chunks_exact_mut(each).enumerate() {
            let scale = f64::from(gain[channel]) / (f64::from(variance[channel]) + epsilon).sqrt();
            if !scale.is_finite() {
                return Err(format!("{norm}.running_var holds {}", variance[channel]));
            }
            weights.iter_mut().for_each(|weight| *weight = (f64::from(*weight) * scale) as f32);
            bias[channel] = (f64::from(bias[channel]) - f64::from(mean[channel]) * scale) as f32;
        }
        let kernel = Tensor::from_data(TensorData::new(kernel, sizes), &self.device);
        let bias = Tensor::from_data(TensorData::new(bias, [outputs]), &self.device);
        Ok(Conv { kernel, bias, stride, padding, groups })
    }

    /// x Wᵀ + b.
    pub(super) fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, String> {
        let weight = self.take(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.take(&format!("{name}.bias"), &[outputs])?;
        let weight = Tensor::<2>::from_data(TensorData::new(weight, [outputs, inputs]), &self.device);
        let bias = Tensor::from_data(TensorData::new(bias, [1, outputs]), &self.device);
        Ok(Linear { weight: weight.transpose(), bias })
    }
}
