//! The trunk: features → outputs, and the gradient of any loss on the outputs.

use burn::tensor::{Device, Tensor, TensorData};
use pmm_core::Streams;
use rayon::prelude::*;

use crate::column_attention::ColumnAttention;
use crate::device::is_fused;
use crate::mlp::Mlp;
use crate::ops;
use crate::ops::ordered_mlp::OrderedRows;
use crate::ops::revealing::Revealing;
use crate::parts::Parts;
use crate::trunk_config::{TrunkConfig, TrunkKind};

/// What dropout leaves of each block's hidden units, `[blocks][rows, hidden]`: 0, or 1/(1 − p). Empty without dropout.
pub type Masks = Vec<Vec<f32>>;

/// A network on a device.
#[derive(Debug, Clone)]
pub struct Trunk {
    net: Net,
    device: Device,
}

#[derive(Debug, Clone)]
enum Net {
    Mlp(Mlp),
    Attention(ColumnAttention),
}

impl Trunk {
    /// A trunk over columns of so many features and outputs each; a perceptron's last layer also sees the features `straight`, increasing.
    pub fn new(
        columns: &[(usize, usize)],
        straight: Vec<usize>,
        config: &TrunkConfig,
        device: Device,
    ) -> Self {
        let sum = |number: fn(&(usize, usize)) -> usize| columns.iter().map(number).sum();
        let net = match config.kind {
            TrunkKind::Mlp | TrunkKind::Pooled | TrunkKind::Trees => {
                Net::Mlp(Mlp::new(sum(|c| c.0), sum(|c| c.1), config.width, config.blocks, straight))
            }
            TrunkKind::Attention => {
                Net::Attention(ColumnAttention::new(columns, config.width, config.blocks))
            }
        };
        Self { net, device }
    }

    /// Its weights; those of the output come last.
    pub fn parts(&self) -> &Parts {
        match &self.net {
            Net::Mlp(mlp) => mlp.parts(),
            Net::Attention(net) => net.parts(),
        }
    }

    /// Initial weights.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        match &self.net {
            Net::Mlp(mlp) => mlp.parts().initial(streams),
            Net::Attention(net) => net.initial(streams),
        }
    }

    /// Hidden units of a block in a row, and blocks: what dropout thins.
    pub fn hidden(&self) -> (usize, usize) {
        match &self.net {
            Net::Mlp(mlp) => (mlp.width(), mlp.blocks()),
            Net::Attention(net) => (net.hidden(), net.blocks()),
        }
    }

    /// Numbers per row that go in, and that come out.
    fn ends(&self) -> (usize, usize) {
        match &self.net {
            Net::Mlp(mlp) => (mlp.inputs(), mlp.outputs()),
            Net::Attention(net) => (net.inputs(), net.outputs()),
        }
    }

    /// Whether the fused kernels of the processor do the work.
    fn fused(&self) -> bool {
        is_fused(&self.device)
    }

    /// Outputs `[rows, outputs]` of features `[rows, inputs]`.
    pub fn forward(&self, weights: &[f32], features: Vec<f32>) -> Vec<f32> {
        if !self.fused() {
            let parts = self.parts().bind(weights, &self.device);
            return to_vec(self.by_burn(&parts, features, vec![], &self.device));
        }
        match &self.net {
            Net::Mlp(mlp) => ops::mlp::outputs(mlp, weights, features),
            Net::Attention(net) => ops::columns::Engine::new(net, weights).outputs(&features),
        }
    }

    /// The short cut for rows that get to know one column after the other, where the network has one.
    pub(crate) fn revealing<'a>(&'a self, weights: &'a [f32]) -> Option<Revealing<'a>> {
        match &self.net {
            Net::Mlp(mlp) if self.fused() => Some(Revealing::new(mlp, weights)),
            _ => None,
        }
    }

    /// The sum of a loss over rows; its gradient by the weights goes to `gradient`. `loss(row, outputs, slope)` is the loss of a row,
    /// and puts its gradient by the outputs to `slope`, which holds zeros.
    pub fn backward(
        &self,
        weights: &[f32],
        features: Vec<f32>,
        masks: Masks,
        loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
        gradient: &mut [f32],
    ) -> f64 {
        if !self.fused() {
            return self.backward_by_burn(weights, features, masks, loss, gradient);
        }
        match &self.net {
            Net::Mlp(mlp) => {
                let (y, tapes) = ops::mlp::forward(mlp, weights, &features, &masks, true);
                let (value, slope) = slopes(&y, mlp.outputs(), loss);
                ops::mlp::backward(mlp, weights, &features, &masks, tapes, &slope, gradient);
                value
            }
            Net::Attention(net) => {
                ops::columns::Engine::new(net, weights).gradient(&features, &masks, loss, gradient)
            }
        }
    }

    /// The same for all that rows are asked on their ways, added to `gradient`; none where the network has no short cut for that. A loss
    /// sees the outputs of the column that is asked for.
    pub(crate) fn backward_in_order(
        &self,
        weights: &[f32],
        rows: &OrderedRows<'_>,
        masks: &Masks,
        loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
        gradient: &mut [f32],
    ) -> Option<f64> {
        match &self.net {
            Net::Mlp(mlp) if self.fused() => {
                Some(ops::ordered_mlp::gradient(mlp, weights, rows, masks, loss, gradient))
            }
            _ => None,
        }
    }

    /// The same by Burn's autodiff, on any device.
    fn backward_by_burn(
        &self,
        weights: &[f32],
        features: Vec<f32>,
        masks: Masks,
        loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
        gradient: &mut [f32],
    ) -> f64 {
        let device = self.device.clone().autodiff();
        let parts = self.parts().bind(weights, &device);
        let y = self.by_burn(&parts, features, masks, &device);
        let (value, slope) = slopes(&to_vec(y.clone()), self.ends().1, loss);
        // ⟨y, slope⟩ with a fixed slope has the gradient of the loss, whatever the loss.
        let slope = Tensor::from_data(TensorData::new(slope, y.dims()), &device);
        let mut grads = (y * slope).sum().backward();
        for (part, tensor) in self.parts().iter().zip(&parts) {
            match tensor.grad_remove(&mut grads) {
                Some(grad) => gradient[part.range.clone()].copy_from_slice(&to_vec(grad)),
                None => gradient[part.range.clone()].fill(0.0),
            }
        }
        value
    }

    /// The plain composition.
    fn by_burn(&self, parts: &[Tensor<2>], features: Vec<f32>, masks: Masks, device: &Device) -> Tensor<2> {
        let rows = features.len() / self.ends().0;
        let tensor = |values: Vec<f32>| {
            let columns = values.len() / rows;
            Tensor::from_data(TensorData::new(values, [rows, columns]), device)
        };
        let x = tensor(features);
        let masks: Vec<Tensor<2>> = masks.into_iter().map(tensor).collect();
        match &self.net {
            Net::Mlp(mlp) => mlp.forward(parts, x, &masks),
            Net::Attention(net) => net.forward(parts, x, &masks),
        }
    }
}

/// The sum of a loss over rows and its gradient by the outputs.
fn slopes(
    y: &[f32],
    outputs: usize,
    loss: impl Fn(usize, &[f32], &mut [f32]) -> f64 + Sync,
) -> (f64, Vec<f32>) {
    let mut slopes = vec![0.0; y.len()];
    let rows = slopes.par_chunks_mut(outputs).zip(y.par_chunks(outputs)).with_min_len(16).enumerate();
    // Collected before they are added: the order must not depend on threads.
    let losses: Vec<f64> = rows.map(|(row, (slope, y))| loss(row, y, slope)).collect();
    (losses.iter().sum(), slopes)
}

pub(crate) fn to_vec(tensor: Tensor<2>) -> Vec<f32> {
    tensor
        .into_data()
        .try_to_vec()
        .unwrap_or_else(|error| unreachable!("the engine's numbers are f32: {error:?}"))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use pmm_core::Purpose;
    use pmm_data::rules::RowWay;

    fn numbers(n: usize, key: u64) -> Vec<f32> {
        let mut stream = Streams::new(5).stream(Purpose::DATA, key, 0);
        (0..n).map(|_| stream.normal() as f32).collect()
    }

    /// Three columns, of unlike sizes; half of the features of a row are 0, as those of unknown cells are.
    fn case(kind: TrunkKind) -> (Trunk, Vec<f32>, Vec<f32>) {
        let config = TrunkConfig { kind, width: 24, blocks: 2, dropout: 0.5 };
        let trunk = Trunk::new(&[(4, 3), (2, 1), (3, 5)], vec![1, 5, 8], &config, Device::flex());
        let mut rng = Streams::new(3).stream(Purpose::DATA, 0, 0);
        // Away from the zeros that biases start with, so that all of it counts.
        let initial = trunk.initial(&Streams::new(1));
        let weights = initial.into_iter().map(|w| w + 0.05 * rng.normal() as f32).collect();
        let x = numbers(150 * 9, 0).into_iter().map(|x| x.max(0.0)).collect();
        (trunk, weights, x)
    }

    /// The fused kernels and Burn's autodiff agree to 1e-5 of the largest gradient, with and without dropout, also in a last
    /// chunk or wave that is not full, and where nothing is asked of a column.
    #[test]
    fn fused_agrees_with_burn() {
        for kind in [TrunkKind::Mlp, TrunkKind::Attention] {
            let (trunk, weights, x) = case(kind);
            let ((hidden, _), slopes) = (trunk.hidden(), numbers(150 * 9, 1));
            let mask: Vec<f32> =
                numbers(150 * hidden, 2).into_iter().map(|u| if u > 0.0 { 2.0 } else { 0.0 }).collect();
            let loss = |row: usize, y: &[f32], slope: &mut [f32]| {
                let asked = if row.is_multiple_of(2) { 0..9 } else { 3..4 };
                slope[asked.clone()].copy_from_slice(&slopes[row * 9..][asked]);
                y.iter().zip(slope).map(|(y, slope)| f64::from(y * *slope)).sum()
            };
            for masks in [vec![], vec![mask.clone(), mask]] {
                let (mut fused, mut plain) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
                let a = trunk.backward(&weights, x.clone(), masks.clone(), loss, &mut fused);
                let b = trunk.backward_by_burn(&weights, x.clone(), masks, loss, &mut plain);
                assert!((a - b).abs() < 1e-5 * b.abs().max(100.0), "{kind:?}: {a} {b}");
                let scale = plain.iter().fold(0f32, |most, g| most.max(g.abs()));
                assert!(scale > 1.0);
                for part in trunk.parts().iter() {
                    let here = |g: &[f32]| g[part.range.clone()].to_vec();
                    for (f, p) in here(&fused).iter().zip(here(&plain)) {
                        assert!((f - p).abs() < 1e-5 * scale, "{kind:?}, {}: {f} {p}", part.name);
                    }
                }
            }
        }
    }

    #[test]
    fn fused_outputs_are_those_of_burn() {
        for kind in [TrunkKind::Mlp, TrunkKind::Attention] {
            let (trunk, weights, x) = case(kind);
            let parts = trunk.parts().bind(&weights, &trunk.device);
            let plain = to_vec(trunk.by_burn(&parts, x.clone(), vec![], &trunk.device));
            let fused = trunk.forward(&weights, x.clone());
            assert_eq!(fused.len(), 150 * 9);
            assert!(fused.iter().zip(&plain).all(|(f, p)| (f - p).abs() < 1e-5), "{kind:?}");
            // A row is what it is, whatever rows are beside it.
            assert_eq!(trunk.forward(&weights, x[70 * 9..80 * 9].to_vec()), fused[70 * 9..80 * 9]);
        }
    }

    /// The derivative along a direction is that of the values: fused or not, the gradient is one of the network's.
    #[test]
    fn gradients_are_those_of_the_values() {
        for kind in [TrunkKind::Mlp, TrunkKind::Attention] {
            let (trunk, weights, x) = case(kind);
            let loss = |_: usize, y: &[f32], slope: &mut [f32]| {
                slope.copy_from_slice(y);
                y.iter().map(|y| f64::from(y * y) / 2.0).sum()
            };
            let mut gradient = vec![0.0; weights.len()];
            trunk.backward(&weights, x.clone(), vec![], loss, &mut gradient);
            let along = numbers(weights.len(), 4);
            let value = |by: f32| -> f64 {
                let moved: Vec<f32> = weights.iter().zip(&along).map(|(w, d)| w + by * d).collect();
                let y = trunk.forward(&moved, x.clone());
                y.iter().map(|y| f64::from(*y).powi(2) / 2.0).sum()
            };
            let found = (value(1e-3) - value(-1e-3)) / 2e-3;
            let told: f64 = gradient.iter().zip(&along).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            assert!((found - told).abs() < 2e-3 * told.abs(), "{kind:?}: {found} {told}");
        }
    }

    /// Rows on ways of their own, some of whose columns follow from others and are not asked for, or are asked for with nothing new known.
    fn ways() -> Vec<RowWay> {
        let way = |revealed: &[usize], asked: &[(usize, usize)]| RowWay {
            revealed: revealed.to_vec(),
            asked: asked.to_vec(),
        };
        let some = [
            way(&[0, 1, 2], &[(0, 0), (1, 1), (2, 2)]),
            way(&[2, 0, 1], &[(0, 2), (2, 1)]),
            way(&[1, 0, 2], &[(1, 0), (1, 2)]),
            way(&[0], &[]),
        ];
        (0..150).map(|row| some[row % 4].clone()).collect()
    }

    const COLUMNS: [(Range<usize>, Range<usize>); 3] = [(0..4, 0..3), (4..6, 3..4), (6..9, 4..9)];

    /// All questions of a way in one pass are what they are one by one: rows with the features of the columns known by then, and a loss on
    /// the outputs of the column that is asked for. The gradient is added to what is there.
    #[test]
    fn ways_are_their_questions_one_by_one() {
        let (trunk, weights, x) = case(TrunkKind::Mlp);
        let ways = ways();
        let rows = OrderedRows { features: &x, columns: &COLUMNS, ways: &ways };
        let (mut one_by_one, mut outputs) = (Vec::new(), Vec::new());
        for (row, way) in ways.iter().enumerate() {
            for (known, column) in &way.asked {
                let seen =
                    |input: &usize| way.revealed[..*known].iter().any(|c| COLUMNS[*c].0.contains(input));
                one_by_one.extend((0..9).map(|input| if seen(&input) { x[row * 9 + input] } else { 0.0 }));
                outputs.push(COLUMNS[*column].1.clone());
            }
        }
        let (hidden, slopes) = (trunk.hidden().0, numbers(outputs.len() * 9, 1));
        let mask = numbers(outputs.len() * hidden, 2).into_iter().map(|u| if u > 0.0 { 2.0 } else { 0.0 });
        let mask: Vec<f32> = mask.collect();
        for masks in [vec![], vec![mask.clone(), mask]] {
            let plain_loss = |question: usize, y: &[f32], slope: &mut [f32]| {
                let range = outputs[question].clone();
                slope[range.clone()].copy_from_slice(&slopes[question * 9..][range.clone()]);
                y[range.clone()].iter().zip(&slope[range]).map(|(y, slope)| f64::from(y * slope)).sum()
            };
            let loss = |question: usize, y: &[f32], slope: &mut [f32]| {
                slope.copy_from_slice(&slopes[question * 9..][outputs[question].clone()]);
                y.iter().zip(slope).map(|(y, slope)| f64::from(y * *slope)).sum()
            };
            let mut expected = vec![0.0; weights.len()];
            let b = trunk.backward(&weights, one_by_one.clone(), masks.clone(), plain_loss, &mut expected);
            let mut found = vec![0.5; weights.len()];
            let a = trunk.backward_in_order(&weights, &rows, &masks, loss, &mut found).unwrap();
            assert!((a - b).abs() < 1e-5 * b.abs().max(100.0), "{a} {b}");
            let scale = expected.iter().fold(0f32, |most, g| most.max(g.abs()));
            for part in trunk.parts().iter() {
                for at in part.range.clone() {
                    let gap = (found[at] - 0.5 - expected[at]).abs();
                    assert!(gap < 1e-5 * scale, "{}: {} {}", part.name, found[at] - 0.5, expected[at]);
                }
            }
        }
    }

    /// One thread or three: the same bits.
    #[test]
    fn threads_change_nothing() {
        for kind in [TrunkKind::Mlp, TrunkKind::Attention] {
            let (trunk, weights, x) = case(kind);
            let slopes = numbers(150 * 9, 1);
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let loss = |row: usize, y: &[f32], slope: &mut [f32]| {
                    slope.copy_from_slice(&slopes[row * 9..][..9]);
                    f64::from(y[3])
                };
                let on_ways = |question: usize, y: &[f32], slope: &mut [f32]| {
                    slope.fill(slopes[question]);
                    f64::from(y[0])
                };
                let ways = ways();
                let rows = OrderedRows { features: &x, columns: &COLUMNS, ways: &ways };
                pool.install(|| {
                    let mut gradient = vec![0.0; weights.len()];
                    let value = trunk.backward(&weights, x.clone(), vec![], loss, &mut gradient);
                    let ordered = trunk.backward_in_order(&weights, &rows, &vec![], on_ways, &mut gradient);
                    assert_eq!(ordered.is_some(), kind == TrunkKind::Mlp);
                    (value.to_bits(), ordered.map(f64::to_bits), gradient)
                })
            };
            assert_eq!(run(1), run(3));
        }
    }
}
