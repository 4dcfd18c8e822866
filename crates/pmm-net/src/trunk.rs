//! The trunk: features → outputs, and the gradient of any loss on the outputs.

use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::mlp::Mlp;
use crate::ops;
use crate::parts::Parts;

/// The shape of a trunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrunkConfig {
    /// Width of the hidden layers.
    pub width: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Share of hidden units dropped in training.
    pub dropout: f64,
}

impl Default for TrunkConfig {
    fn default() -> Self {
        Self { width: 256, blocks: 3, dropout: 0.1 }
    }
}

/// What dropout leaves of each block's hidden units, `[blocks][rows, width]`: 0, or 1/(1 − p). Empty without dropout.
pub type Masks = Vec<Vec<f32>>;

/// A network on a device.
#[derive(Debug, Clone)]
pub struct Trunk {
    mlp: Mlp,
    device: Device,
}

impl Trunk {
    /// A trunk from so many features to so many outputs.
    pub fn new(inputs: usize, outputs: usize, config: &TrunkConfig, device: Device) -> Self {
        Self { mlp: Mlp::new(inputs, outputs, config.width, config.blocks), device }
    }

    /// Its weights.
    pub fn parts(&self) -> &Parts {
        self.mlp.parts()
    }

    /// Whether the fused kernels of the processor do the work.
    fn fused(&self) -> bool {
        self.device == Device::flex()
    }

    /// Outputs `[rows, outputs]` of features `[rows, inputs]`.
    pub fn forward(&self, weights: &[f32], features: Vec<f32>) -> Vec<f32> {
        if self.fused() {
            return ops::mlp::outputs(&self.mlp, weights, features);
        }
        let rows = features.len() / self.mlp.inputs();
        let parts = self.mlp.parts().bind(weights, &self.device);
        let x = Tensor::from_data(TensorData::new(features, [rows, self.mlp.inputs()]), &self.device);
        to_vec(self.mlp.forward(&parts, x, &[]))
    }

    /// Forward, then `loss` on the outputs, which returns its value and its gradient by the outputs; the gradient by the
    /// weights goes to `gradient`.
    pub fn backward(
        &self,
        weights: &[f32],
        features: Vec<f32>,
        masks: Masks,
        loss: impl FnOnce(&[f32]) -> (f64, Vec<f32>),
        gradient: &mut [f32],
    ) -> f64 {
        if !self.fused() {
            return self.backward_by_burn(weights, features, masks, loss, gradient);
        }
        let (y, tapes) = ops::mlp::forward(&self.mlp, weights, &features, &masks, true);
        let (value, slope) = loss(&y);
        ops::mlp::backward(&self.mlp, weights, &features, &masks, tapes, &slope, gradient);
        value
    }

    /// The same by Burn's autodiff, on any device.
    fn backward_by_burn(
        &self,
        weights: &[f32],
        features: Vec<f32>,
        masks: Masks,
        loss: impl FnOnce(&[f32]) -> (f64, Vec<f32>),
        gradient: &mut [f32],
    ) -> f64 {
        let rows = features.len() / self.mlp.inputs();
        let device = self.device.clone().autodiff();
        let parts = self.mlp.parts().bind(weights, &device);
        let x = Tensor::from_data(TensorData::new(features, [rows, self.mlp.inputs()]), &device);
        let masks: Vec<Tensor<2>> = masks
            .into_iter()
            .map(|mask| Tensor::from_data(TensorData::new(mask, [rows, self.mlp.width()]), &device))
            .collect();
        let y = self.mlp.forward(&parts, x, &masks);
        let (value, slope) = loss(&to_vec(y.clone()));
        // ⟨y, slope⟩ with a fixed slope has the gradient of the loss, whatever the loss.
        let slope = Tensor::from_data(TensorData::new(slope, y.dims()), &device);
        let mut grads = (y * slope).sum().backward();
        for (part, tensor) in self.mlp.parts().iter().zip(&parts) {
            match tensor.grad_remove(&mut grads) {
                Some(grad) => gradient[part.range.clone()].copy_from_slice(&to_vec(grad)),
                None => gradient[part.range.clone()].fill(0.0),
            }
        }
        value
    }
}

pub(crate) fn to_vec(tensor: Tensor<2>) -> Vec<f32> {
    tensor
        .into_data()
        .try_to_vec()
        .unwrap_or_else(|error| unreachable!("the engine's numbers are f32: {error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm::{Purpose, Streams};

    fn numbers(n: usize, key: u64) -> Vec<f32> {
        let mut stream = Streams::new(5).stream(Purpose::DATA, key, 0);
        (0..n).map(|_| stream.normal() as f32).collect()
    }

    /// The fused kernel and Burn's autodiff agree, with and without dropout, also in a last chunk that is not full.
    #[test]
    fn fused_agrees_with_burn() {
        let config = TrunkConfig { width: 24, blocks: 2, dropout: 0.5 };
        let trunk = Trunk::new(7, 5, &config, Device::flex());
        let rows = 150;
        let weights = trunk.parts().initial(&Streams::new(1));
        let (x, slope) = (numbers(rows * 7, 0), numbers(rows * 5, 1));
        let mask: Vec<f32> =
            numbers(rows * 24, 2).into_iter().map(|u| if u > 0.0 { 2.0 } else { 0.0 }).collect();
        for masks in [vec![], vec![mask.clone(), mask]] {
            let (mut fused, mut plain) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
            let mut outputs = Vec::new();
            let loss = |y: &[f32]| (f64::from(y[3]), slope.clone());
            let a = trunk.backward(&weights, x.clone(), masks.clone(), loss, &mut fused);
            let record = |y: &[f32]| {
                outputs = y.to_vec();
                (f64::from(y[3]), slope.clone())
            };
            let b = trunk.backward_by_burn(&weights, x.clone(), masks.clone(), record, &mut plain);
            assert!((a - b).abs() < 1e-5);
            if masks.is_empty() {
                let y = trunk.forward(&weights, x.clone());
                assert!(y.iter().zip(&outputs).all(|(a, b)| (a - b).abs() < 1e-5));
            }
            let scale = plain.iter().fold(0f32, |most, g| most.max(g.abs()));
            assert!(scale > 1.0);
            for (f, p) in fused.iter().zip(&plain) {
                assert!((f - p).abs() < 1e-5 * scale, "{f} {p}");
            }
        }
    }

    /// One thread or three: the same bits.
    #[test]
    fn threads_change_nothing() {
        let trunk = Trunk::new(30, 11, &TrunkConfig { width: 64, blocks: 3, dropout: 0.0 }, Device::flex());
        let weights = trunk.parts().initial(&Streams::new(2));
        let (x, slope) = (numbers(256 * 30, 0), numbers(256 * 11, 1));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut gradient = vec![0.0; weights.len()];
                trunk.backward(&weights, x.clone(), vec![], |_| (0.0, slope.clone()), &mut gradient);
                gradient
            })
        };
        assert_eq!(run(1), run(3));
    }
}
