//! EfficientNet-Lite0: inverted bottlenecks without gates, ReLU6, padding as in TensorFlow.

use super::channels_last::Layer;
use super::layers::{Conv, Convolve, Padding};
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
struct Block<C> {
    expand: Option<C>,
    depthwise: C,
    project: C,
    /// Whether the input is added to the output.
    skip: bool,
}

impl<C: Convolve> Block<C> {
    fn forward(&self, x: C::Image) -> C::Image {
        let y = match &self.expand {
            Some(expand) => self.depthwise.convolved(&C::bounded(expand.convolved(&x))),
            None => self.depthwise.convolved(&x),
        };
        let y = self.project.convolved(&C::bounded(y));
        if self.skip { C::sum(y, &x) } else { y }
    }
}

/// The network, up to its pooled features.
#[derive(Debug)]
pub(super) struct Efficientnet<C> {
    stem: C,
    blocks: Vec<Block<C>>,
    head: C,
}

impl Efficientnet<Conv> {
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

    /// The same for the processor.
    pub(super) fn with_channels_last(&self) -> Efficientnet<Layer> {
        let block = |block: &Block<Conv>| Block {
            expand: block.expand.as_ref().map(Layer::of),
            depthwise: Layer::of(&block.depthwise),
            project: Layer::of(&block.project),
            skip: block.skip,
        };
        Efficientnet {
            stem: Layer::of(&self.stem),
            blocks: self.blocks.iter().map(block).collect(),
            head: Layer::of(&self.head),
        }
    }
}

impl<C: Convolve> Efficientnet<C> {
    /// Features of 224 × 224 pixels of three colours, before they are pooled.
    pub(super) fn forward(&self, x: &C::Image) -> C::Image {
        let x = C::bounded(self.stem.convolved(x));
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        C::bounded(self.head.convolved(&x))
    }
}

fn block(
    weights: &mut Weights,
    name: &str,
    [inputs, inner, outputs]: [usize; 3],
    side: usize,
    stride: usize,
) -> Result<Block<Conv>, String> {
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
