//! Calibration: laws are widened where held-out rows say that they are too sure.

use rayon::prelude::*;

use super::batch::Batch;
use super::head::{COMPONENTS, ColumnHead, Target, ValueHead, log_shares};
use super::net::TableNet;

/// Factors by which a column's standard deviations may grow, as logs; and temperatures of its codes.
const WIDER: [f32; 12] = [0.0, 0.04, 0.08, 0.12, 0.17, 0.22, 0.28, 0.35, 0.43, 0.52, 0.62, 0.75];

impl TableNet {
    /// Weights whose laws are as wide as held-out batches want them: per column, the factor for the standard deviations with the
    /// lowest loss, and for a target also the temperature of its codes. Both go into the last layer, so that nothing else need
    /// know. (Codes of other columns are left: what cooling gains in likelihood it loses in how well columns hang together.)
    ///
    /// A target's own law is judged where all other columns are known, as in prediction.
    pub fn calibrated(&self, weights: &[f32], batches: &[Batch], target: Option<usize>) -> Vec<f32> {
        let outputs: Vec<Vec<f32>> =
            batches.iter().map(|batch| self.outputs_of(weights, batch.features.clone())).collect();
        let columns = self.heads().len();
        let chosen: Vec<(f32, f32)> = (0..columns)
            .into_par_iter()
            .map(|column| {
                let mut cells = Vec::new();
                for (batch, outputs) in batches.iter().zip(&outputs) {
                    let rows = batch.targets.chunks(columns).zip(outputs.chunks(self.outputs()));
                    let alone = |targets: &[Target]| targets.iter().filter(|t| t.weight > 0.0).count() == 1;
                    let wanted = rows.filter(|(targets, _)| {
                        targets[column].weight > 0.0 && (target != Some(column) || alone(targets))
                    });
                    cells.extend(wanted.map(|(targets, outputs)| (&targets[column], outputs)));
                }
                let (cooler, wider) = self.heads()[column].widths(&cells, &self.shares(column));
                (if target == Some(column) { cooler } else { 0.0 }, wider)
            })
            .collect();
        let mut weights = weights.to_vec();
        let last = self.parts().iter().len();
        for (column, (head, (cooler, wider))) in self.heads().iter().zip(chosen).enumerate() {
            let shares = self.shares(column);
            for part in [last - 2, last - 1].map(|index| self.parts().get(index).clone()) {
                for row in weights[part.range.clone()].chunks_exact_mut(part.shape[1]) {
                    if let Some(range) = &head.tokens {
                        // Weights shrink to 0, biases to the shares.
                        let bias = if part.shape[0] == 1 { 1.0 } else { 0.0 };
                        shrink(&mut row[range.clone()], &shares, bias, cooler);
                    }
                    if let (Some((range, ValueHead::Mixture)), 1) = (&head.value, part.shape[0]) {
                        row[range.clone()][2 * COMPONENTS..].iter_mut().for_each(|w| *w += wider);
                    }
                }
            }
        }
        weights
    }

    /// Logits of the codes' shares in the data.
    fn shares(&self, column: usize) -> Vec<f32> {
        let tokens = self.coordinates.columns[column].tokens.as_ref();
        tokens.map_or(Vec::new(), |tokens| {
            log_shares(&tokens.counts, tokens.codes, self.heads()[column].missing)
        })
    }
}

/// Moves logits towards `scale` times those of the shares: a law that is too sure gives way to what is common, not to what is
/// uniform.
fn shrink(logits: &mut [f32], shares: &[f32], scale: f32, cooler: f32) {
    for (logit, share) in logits.iter_mut().zip(shares) {
        *logit = scale * share + (*logit - scale * share) * (-cooler).exp();
    }
}

impl ColumnHead {
    /// Log temperature of the codes and log factor of the standard deviations with the lowest loss on cells.
    fn widths(&self, cells: &[(&Target, &[f32])], shares: &[f32]) -> (f32, f32) {
        let best = |change: &dyn Fn(&mut [f32], f32), part: &dyn Fn(&Target) -> Target| {
            let loss = |by: f32| -> f64 {
                let mut slope = Vec::new();
                let cell = |(target, outputs): &(&Target, &[f32])| {
                    let mut outputs = outputs.to_vec();
                    change(&mut outputs, by);
                    slope.resize(outputs.len(), 0.0);
                    self.loss(&outputs, &Target { weight: 1.0, ..part(target) }, &mut slope)
                };
                cells.iter().map(cell).sum()
            };
            let losses = WIDER.map(loss);
            let least = (0..WIDER.len()).min_by(|a, b| losses[*a].total_cmp(&losses[*b])).unwrap_or(0);
            if losses[least].is_finite() { WIDER[least] } else { 0.0 }
        };
        let cooler = self.tokens.as_ref().map_or(0.0, |range| {
            let cool = |outputs: &mut [f32], by: f32| shrink(&mut outputs[range.clone()], shares, 1.0, by);
            best(&cool, &|target| Target { value: None, ..*target })
        });
        let wider = match &self.value {
            Some((range, ValueHead::Mixture)) => {
                let widen = |outputs: &mut [f32], by: f32| {
                    outputs[range.clone()][2 * COMPONENTS..].iter_mut().for_each(|log_sd| *log_sd += by);
                };
                best(&widen, &|target| Target { token: None, ..*target })
            }
            _ => 0.0,
        };
        (cooler, wider)
    }
}
