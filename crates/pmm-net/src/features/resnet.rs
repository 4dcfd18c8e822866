//! The ResNet of He et al. 2016 for CIFAR-10, of 6n + 2 layers, with shortcuts that have no weights.

use burn::tensor::activation::relu;
use burn::tensor::{Tensor, s};

use super::layers::{Conv, Linear, Padding, mean_of_all};
use super::weights::{Shape, Weights};

/// The width of the features.
pub(super) const DIMENSION: usize = 64;
/// The classes of CIFAR-10.
pub(super) const CLASSES: usize = 10;
/// A tensor that no other network has.
pub(super) const MARK: &str = "layer3.0.conv1.weight";
const EPSILON: f64 = 1e-5;

/// The network.
#[derive(Debug)]
pub(super) struct Resnet {
    stem: Conv,
    blocks: Vec<[Conv; 2]>,
    linear: Linear,
}

impl Resnet {
    pub(super) fn new(weights: &mut Weights) -> Result<Self, String> {
        let stem = weights.conv("conv1", "bn1", three(3, 16, 1), EPSILON)?;
        let (mut blocks, mut inputs) = (Vec::new(), 16);
        for (stage, outputs) in [(1, 16), (2, 32), (3, 64)] {
            let mut block = 0;
            while block == 0 || weights.has(&format!("layer{stage}.{block}.conv1.weight")) {
                let name = |part: &str| format!("layer{stage}.{block}.{part}");
                let first = three(inputs, outputs, outputs / inputs);
                let first = weights.conv(&name("conv1"), &name("bn1"), first, EPSILON)?;
                let second =
                    weights.conv(&name("conv2"), &name("bn2"), three(outputs, outputs, 1), EPSILON)?;
                blocks.push([first, second]);
                (block, inputs) = (block + 1, outputs);
            }
        }
        Ok(Self { stem, blocks, linear: weights.linear("linear", DIMENSION, CLASSES)? })
    }

    /// Layers with weights.
    pub(super) fn depth(&self) -> usize {
        2 * self.blocks.len() + 2
    }

    /// Pooled features of images `[batch, 3, 32, 32]`.
    pub(super) fn features(&self, x: Tensor<4>) -> Tensor<2> {
        let mut x = relu(self.stem.forward(x));
        for [first, second] in &self.blocks {
            let y = second.forward(relu(first.forward(x.clone())));
            let missing = y.dims()[1] - x.dims()[1];
            // Every other pixel, and empty channels on both sides.
            let kept = match missing {
                0 => x,
                _ => x.slice(s![.., .., ..;2, ..;2]).pad([(missing / 2, missing / 2), (0, 0), (0, 0)], 0.0),
            };
            x = relu(y + kept);
        }
        mean_of_all(x)
    }

    /// Logits from features.
    pub(super) fn logits(&self, features: Tensor<2>) -> Tensor<2> {
        self.linear.forward(features)
    }
}

fn three(inputs: usize, outputs: usize, stride: usize) -> Shape {
    Shape { inputs, outputs, kernel: [3, 3], stride, padding: Padding::Zeros([1, 1]), groups: 1 }
}
