//! EfficientNet-Lite0: inverted bottlenecks without gates, ReLU6, padding as in TensorFlow.

use burn::tensor::Tensor;
use burn::tensor::activation::relu6;

use super::layers::{Conv, Padding, mean_of_all};
use super::weights::{Shape, Weights};

/// The width of the features.
pub(super) const DIMENSION: usize = 1280;
/// A tensor that no other network has.
pub(super) const MARK: &str = "_conv_head.weight";
const EPSILON: f64 = 1e-3;

/// Stages: blocks, side of the kernel, stride of the first block, expansion, output channels.
const STAGES: [(usize, usize, usize, usize, usize); 7] = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
];

/// Expand, convolve each channel alone, project.
#[derive(Debug)]
struct Block {
    expand: Option<Conv>,
    depthwise: Conv,
    project: Conv,
    /// Whether the input is added to the output.
    skip: bool,
}

impl Block {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.expand.as_ref().map_or_else(|| x.clone(), |expand| relu6(expand.forward(x.clone())));
        let y = self.project.forward(relu6(self.depthwise.forward(y)));
        if self.skip { y + x } else { y }
    }
}

/// The network, up to its pooled features.
#[derive(Debug)]
pub(super) struct Efficientnet {
    stem: Conv,
    blocks: Vec<Block>,
    head: Conv,
}

impl Efficientnet {
    pub(super) fn new(weights: &mut Weights) -> Result<Self, String> {
        let stem = weights.conv("_conv_stem", "_bn0", conv(3, 32, 3, 2, 1), EPSILON)?;
        let (mut blocks, mut inputs) = (Vec::new(), 32);
        for (count, side, stride, expansion, outputs) in STAGES {
            for place in 0..count {
                let stride = if place == 0 { stride } else { 1 };
                let name = format!("_blocks.{}", blocks.len());
                blocks.push(block(weights, &name, [inputs, expansion * inputs, outputs], side, stride)?);
                inputs = outputs;
            }
        }
        let head = weights.conv("_conv_head", "_bn1", conv(inputs, DIMENSION, 1, 1, 1), EPSILON)?;
        Ok(Self { stem, blocks, head })
    }

    /// Pooled features of images `[batch, 3, 224, 224]`.
    pub(super) fn features(&self, x: Tensor<4>) -> Tensor<2> {
        let x = relu6(self.stem.forward(x));
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        mean_of_all(relu6(self.head.forward(x)))
    }
}

fn block(
    weights: &mut Weights,
    name: &str,
    [inputs, inner, outputs]: [usize; 3],
    side: usize,
    stride: usize,
) -> Result<Block, String> {
    let mut take = |part: &str, norm: &str, shape: Shape| {
        weights.conv(&format!("{name}.{part}"), &format!("{name}.{norm}"), shape, EPSILON)
    };
    Ok(Block {
        expand: if inner == inputs {
            None
        } else {
            Some(take("_expand_conv", "_bn0", conv(inputs, inner, 1, 1, 1))?)
        },
        depthwise: take("_depthwise_conv", "_bn1", conv(inner, inner, side, stride, inner))?,
        project: take("_project_conv", "_bn2", conv(inner, outputs, 1, 1, 1))?,
        skip: stride == 1 && inputs == outputs,
    })
}

fn conv(inputs: usize, outputs: usize, side: usize, stride: usize, groups: usize) -> Shape {
    Shape { inputs, outputs, kernel: [side; 2], stride, padding: Padding::Same, groups }
}
