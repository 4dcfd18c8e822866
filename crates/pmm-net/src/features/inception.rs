//! The network of FID: Inception v3 as TensorFlow gave it out on 2015-12-05, with the names of its usual PyTorch form.
//!
//! It differs from the better known Inception v3 in that means of 3×3 pixels leave out the padding, and in that the last
//! block takes the largest of 3×3 pixels instead of their mean.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::layers::{Conv, Padding, max_of_three, mean_of_all, mean_of_three};
use super::weights::{Shape, Weights};

/// The width of the features.
pub(super) const DIMENSION: usize = 2048;
/// A tensor that no other network has.
pub(super) const MARK: &str = "Mixed_7c.branch_pool.conv.weight";
const EPSILON: f64 = 1e-3;

/// A convolution: part of its name, output channels, kernel, stride, whether zeros keep the size.
type Link = (&'static str, usize, [usize; 2], usize, bool);

const ONE: [usize; 2] = [1, 1];
const THREE: [usize; 2] = [3, 3];
const WIDE: [usize; 2] = [1, 7];
const HIGH: [usize; 2] = [7, 1];

/// What a block does besides its chains of convolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pool {
    Mean,
    Largest,
    /// The largest at stride 2, without a convolution.
    Halve,
}

/// Convolutions one after the other, perhaps with a fork of two at the end.
#[derive(Debug)]
struct Chain {
    convs: Vec<Conv>,
    fork: Vec<Conv>,
}

impl Chain {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let x = self.convs.iter().fold(x, |x, conv| relu(conv.forward(x)));
        if self.fork.is_empty() {
            return x;
        }
        Tensor::cat(self.fork.iter().map(|conv| relu(conv.forward(x.clone()))).collect(), 1)
    }
}

/// Chains side by side, and a pool.
#[derive(Debug)]
struct Block {
    chains: Vec<Chain>,
    pool: Pool,
    after_pool: Option<Conv>,
}

impl Block {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let mut parts: Vec<Tensor<4>> = self.chains.iter().map(|chain| chain.forward(x.clone())).collect();
        let pooled = match self.pool {
            Pool::Mean => mean_of_three(x),
            Pool::Largest => max_of_three(x, 1, 1),
            Pool::Halve => max_of_three(x, 2, 0),
        };
        parts.push(match &self.after_pool {
            Some(conv) => relu(conv.forward(pooled)),
            None => pooled,
        });
        Tensor::cat(parts, 1)
    }
}

/// The network, up to its pooled features.
#[derive(Debug)]
pub(super) struct Inception {
    stem: Vec<Conv>,
    blocks: Vec<Block>,
}

impl Inception {
    pub(super) fn new(weights: &mut Weights) -> Result<Self, String> {
        let stem: [Link; 5] = [
            ("Conv2d_1a_3x3", 32, THREE, 2, false),
            ("Conv2d_2a_3x3", 32, THREE, 1, false),
            ("Conv2d_2b_3x3", 64, THREE, 1, true),
            ("Conv2d_3b_1x1", 80, ONE, 1, false),
            ("Conv2d_4a_3x3", 192, THREE, 1, false),
        ];
        let mut reader = Reader { weights, block: "" };
        let (stem, mut channels) = reader.chain(3, &stem)?;
        let mut blocks = Vec::new();
        for (name, plan) in plans() {
            reader.block = name;
            let (block, outputs) = reader.block(channels, &plan)?;
            blocks.push(block);
            channels = outputs;
        }
        Ok(Self { stem, blocks })
    }

    /// Pooled features of images `[batch, 3, 299, 299]`.
    pub(super) fn features(&self, mut x: Tensor<4>) -> Tensor<2> {
        for (place, conv) in self.stem.iter().enumerate() {
            x = relu(conv.forward(x));
            if place == 2 || place == 4 {
                x = max_of_three(x, 2, 0);
            }
        }
        mean_of_all(self.blocks.iter().fold(x, |x, block| block.forward(x)))
    }
}

/// A block: its chains, each with a fork or none; its pool and the width of the convolution after it.
struct Plan {
    chains: Vec<(Vec<Link>, Vec<Link>)>,
    pool: (Pool, usize),
}

/// The blocks by name, from 35×35 pixels to 17×17 and 8×8.
fn plans() -> Vec<(&'static str, Plan)> {
    vec![
        ("Mixed_5b", fives(32)),
        ("Mixed_5c", fives(64)),
        ("Mixed_5d", fives(64)),
        ("Mixed_6a", halve_fives()),
        ("Mixed_6b", sevens(128)),
        ("Mixed_6c", sevens(160)),
        ("Mixed_6d", sevens(160)),
        ("Mixed_6e", sevens(192)),
        ("Mixed_7a", halve_sevens()),
        ("Mixed_7b", forks(Pool::Mean)),
        ("Mixed_7c", forks(Pool::Largest)),
    ]
}

fn fives(pool: usize) -> Plan {
    let double = vec![
        ("branch3x3dbl_1", 64, ONE, 1, true),
        ("branch3x3dbl_2", 96, THREE, 1, true),
        ("branch3x3dbl_3", 96, THREE, 1, true),
    ];
    let five = vec![("branch5x5_1", 48, ONE, 1, true), ("branch5x5_2", 64, [5, 5], 1, true)];
    let one = vec![("branch1x1", 64, ONE, 1, true)];
    Plan { chains: unforked([one, five, double]), pool: (Pool::Mean, pool) }
}

fn halve_fives() -> Plan {
    let double = vec![
        ("branch3x3dbl_1", 64, ONE, 1, true),
        ("branch3x3dbl_2", 96, THREE, 1, true),
        ("branch3x3dbl_3", 96, THREE, 2, false),
    ];
    Plan { chains: unforked([vec![("branch3x3", 384, THREE, 2, false)], double]), pool: (Pool::Halve, 0) }
}

fn sevens(inner: usize) -> Plan {
    let seven = vec![
        ("branch7x7_1", inner, ONE, 1, true),
        ("branch7x7_2", inner, WIDE, 1, true),
        ("branch7x7_3", 192, HIGH, 1, true),
    ];
    let double = vec![
        ("branch7x7dbl_1", inner, ONE, 1, true),
        ("branch7x7dbl_2", inner, HIGH, 1, true),
        ("branch7x7dbl_3", inner, WIDE, 1, true),
        ("branch7x7dbl_4", inner, HIGH, 1, true),
        ("branch7x7dbl_5", 192, WIDE, 1, true),
    ];
    let one = vec![("branch1x1", 192, ONE, 1, true)];
    Plan { chains: unforked([one, seven, double]), pool: (Pool::Mean, 192) }
}

fn halve_sevens() -> Plan {
    let three = vec![("branch3x3_1", 192, ONE, 1, true), ("branch3x3_2", 320, THREE, 2, false)];
    let seven = vec![
        ("branch7x7x3_1", 192, ONE, 1, true),
        ("branch7x7x3_2", 192, WIDE, 1, true),
        ("branch7x7x3_3", 192, HIGH, 1, true),
        ("branch7x7x3_4", 192, THREE, 2, false),
    ];
    Plan { chains: unforked([three, seven]), pool: (Pool::Halve, 0) }
}

fn forks(pool: Pool) -> Plan {
    let three = vec![("branch3x3_1", 384, ONE, 1, true)];
    let three_fork = vec![("branch3x3_2a", 384, [1, 3], 1, true), ("branch3x3_2b", 384, [3, 1], 1, true)];
    let double = vec![("branch3x3dbl_1", 448, ONE, 1, true), ("branch3x3dbl_2", 384, THREE, 1, true)];
    let double_fork =
        vec![("branch3x3dbl_3a", 384, [1, 3], 1, true), ("branch3x3dbl_3b", 384, [3, 1], 1, true)];
    let one = vec![("branch1x1", 320, ONE, 1, true)];
    Plan { chains: vec![(one, vec![]), (three, three_fork), (double, double_fork)], pool: (pool, 192) }
}

fn unforked<const N: usize>(chains: [Vec<Link>; N]) -> Vec<(Vec<Link>, Vec<Link>)> {
    chains.into_iter().map(|chain| (chain, vec![])).collect()
}

/// Takes blocks from the weights; the results come with their output channels.
struct Reader<'a> {
    weights: &'a mut Weights,
    /// The block that is read; empty for the stem.
    block: &'static str,
}

impl Reader<'_> {
    fn conv(&mut self, inputs: usize, link: Link) -> Result<Conv, String> {
        let (part, outputs, kernel, stride, keep) = link;
        let dot = if self.block.is_empty() { "" } else { "." };
        let name = format!("{}{dot}{part}", self.block);
        let padding = Padding::Zeros(if keep { kernel.map(|side| side / 2) } else { [0, 0] });
        let shape = Shape { inputs, outputs, kernel, stride, padding, groups: 1 };
        self.weights.conv(&format!("{name}.conv"), &format!("{name}.bn"), shape, EPSILON)
    }

    fn chain(&mut self, mut inputs: usize, links: &[Link]) -> Result<(Vec<Conv>, usize), String> {
        let mut convs = Vec::new();
        for &link in links {
            convs.push(self.conv(inputs, link)?);
            inputs = link.1;
        }
        Ok((convs, inputs))
    }

    fn block(&mut self, inputs: usize, plan: &Plan) -> Result<(Block, usize), String> {
        let (mut chains, mut outputs) = (Vec::new(), 0);
        for (links, fork) in &plan.chains {
            let (convs, width) = self.chain(inputs, links)?;
            outputs += if fork.is_empty() { width } else { fork.iter().map(|link| link.1).sum() };
            let fork = fork.iter().map(|&link| self.conv(width, link)).collect::<Result<_, _>>()?;
            chains.push(Chain { convs, fork });
        }
        let (pool, width) = plan.pool;
        let after_pool = match pool {
            Pool::Halve => None,
            _ => Some(self.conv(inputs, ("branch_pool", width, ONE, 1, true))?),
        };
        outputs += if after_pool.is_some() { width } else { inputs };
        Ok((Block { chains, pool, after_pool }, outputs))
    }
}
