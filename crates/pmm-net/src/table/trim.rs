//! Trimming: what the network finds all but impossible is not drawn.
//!
//! A softmax never says 0. Where one column follows from another, every wrong code keeps a little probability, and among many
//! columns a few rows in a hundred come out with a combination that cannot be. A code is far off if its probability is less
//! than a small share of how often it occurs: a rare code is not far off merely because it is rare.

use super::batch::Batch;
use super::head::{log_shares, probabilities};
use super::net::TableNet;
use super::trees::{Answers, Shares};

/// Ratios of probability to share below which a code may be taken for impossible.
const THRESHOLDS: [f64; 8] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

impl TableNet {
    /// For every column, the ratio of probability to share below which a code is not drawn; 0 draws all.
    ///
    /// Trimming takes away the probability p below the threshold, of which held-out rows say that a part q is true: it is false
    /// by q afterwards, and was by p − q before. With `pooled` p is that of the network and of trees together. The threshold with the largest p − 2q is taken, if that is above 0.
    pub fn trims(
        &self,
        weights: &[f32],
        batches: &[Batch],
        pooled: Option<(&Answers, &[Shares])>,
    ) -> Vec<f64> {
        let columns = self.heads().len();
        let mut gains = vec![[0.0; THRESHOLDS.len()]; columns];
        let shares: Vec<Vec<f64>> = (0..columns).map(|column| self.shares_of(column)).collect();
        for (number, batch) in batches.iter().enumerate() {
            let outputs = self.outputs_of(weights, batch.features.clone());
            for (at, target) in batch.targets.iter().enumerate() {
                let (true, Some(token)) = (target.weight > 0.0, target.token) else { continue };
                let column = at % columns;
                let outputs = &outputs[at / columns * self.outputs()..][..self.outputs()];
                let codes = self.heads()[column].law(outputs, target.mean, target.clock).codes;
                let codes = self.pooled_codes(codes, (number, at), pooled);
                for (code, (p, share)) in codes.iter().zip(&shares[column]).enumerate() {
                    let found = if code == token as usize { 2.0 } else { 0.0 };
                    let far =
                        THRESHOLDS.iter().zip(&mut gains[column]).filter(|(limit, _)| *p < *limit * share);
                    far.for_each(|(_, gain)| *gain += p - found);
                }
            }
        }
        let best = |gains: &[f64; THRESHOLDS.len()]| {
            // The lowest of equals.
            let most =
                (0..THRESHOLDS.len()).rev().max_by(|a, b| gains[*a].total_cmp(&gains[*b])).unwrap_or(0);
            if gains[most] > 0.0 { THRESHOLDS[most] } else { 0.0 }
        };
        gains.iter().map(best).collect()
    }

    /// How often each code of a column occurs.
    pub(super) fn shares_of(&self, column: usize) -> Vec<f64> {
        let tokens = self.coordinates.columns[column].tokens.as_ref();
        let missing = self.heads()[column].missing;
        let mut shares = Vec::new();
        if let Some(tokens) = tokens {
            probabilities(&log_shares(&tokens.counts, tokens.codes, missing), missing, &mut shares);
        }
        shares
    }
}

/// Takes away the codes whose probability is below `limit` times their share. Some code is as probable as its share, so that
/// one stays.
pub(super) fn trim(codes: &mut [f64], shares: &[f64], limit: f64) {
    codes.iter_mut().zip(shares).filter(|(p, share)| **p < limit * **share).for_each(|(p, _)| *p = 0.0);
    let sum: f64 = codes.iter().sum();
    codes.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use burn::tensor::Device;
    use pmm_core::{Head, Streams};
    use pmm_data::{Overrides, ReadOptions, Schema, Source, Table};

    use super::super::batch::{BatchRows, Shown};
    use super::*;
    use crate::TrunkConfig;
    use crate::table::{ClockKind, Conditions, FillOptions, TableDenoiser};

    /// A network of a table that says the same whatever is known: its last biases, which begin at the index returned.
    fn constant_net(text: String) -> (TableNet, Table, Vec<f32>, usize) {
        let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
        let schema = Arc::new(Schema::infer(&source, &Overrides::default()).unwrap());
        let (table, _) = Table::read(&source, &schema, 1 << 20, &Streams::new(0)).unwrap();
        let config = TrunkConfig { width: 8, ..TrunkConfig::default() };
        let net = TableNet::new(schema, ClockKind::Reveal, Head::Marginal, &config, Device::flex()).unwrap();
        let mut weights = net.initial(&Streams::new(0));
        let last = net.parts().iter().len();
        weights[net.parts().get(last - 2).range.clone()].fill(0.0);
        let biases = net.parts().get(last - 1).range.start;
        (net, table, weights, biases)
    }

    /// A rare code that is as probable as it is frequent stays; a frequent one that is all but excluded goes.
    #[test]
    fn trims_by_the_ratio_to_the_share() {
        let mut codes = [0.004, 0.006, 0.99];
        trim(&mut codes, &[0.004, 0.6, 0.396], 0.05);
        assert!((codes[0] - 0.004 / 0.994).abs() < 1e-12 && codes[1] == 0.0, "{codes:?}");
        assert!((codes.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// A network that says .8 % of a code that half the rows have: if held-out rows never have it, it is trimmed and never drawn; if
    /// they do have it, it stays.
    #[test]
    fn held_out_rows_decide() {
        let text = "a,b\n".to_owned() + &"p,x\nq,y\n".repeat(100);
        let (net, table, mut weights, biases) = constant_net(text);
        // The logits of `a`: 99.2 % and .8 %, whatever is known.
        let first = net.cell(&table, 0, 0).token.unwrap() as usize;
        weights[biases + first] = 0.992f32.ln();
        weights[biases + 1 - first] = 0.008f32.ln();
        let batch = |rows: &[u32]| {
            net.batch(
                &table,
                rows,
                |_| Shown::Columns(vec![false; 2]),
                &Streams::new(0),
                BatchRows::all(0, rows.len()),
            )
            .unwrap()
        };
        let only_p: Vec<u32> = (0..100).map(|i| 2 * i).collect();
        let all: Vec<u32> = (0..200).collect();
        assert_eq!(net.trims(&weights, &[batch(&all)], None), [0.0, 0.0]);
        let trims = net.trims(&weights, &[batch(&only_p)], None);
        assert_eq!(trims, [0.02, 0.0], ".8 % of a half is a ratio of .016");
        let net = Arc::new(net);
        let draw = |trims: &[f64]| {
            let denoiser = TableDenoiser::new(net.clone(), weights.clone()).trimmed(trims);
            let cells = vec![None; 2 * 2000];
            let (free, options) = (Conditions::default(), FillOptions::default());
            let drawn = denoiser.fill(&cells, &free, 0, options, &Streams::new(1), |_| ()).unwrap();
            drawn.chunks(2).filter(|row| row[0] != pmm_data::Cell::Level(first as u32)).count()
        };
        assert_eq!((draw(&trims), draw(&[0.0, 0.0]) > 0), (0, true));
    }

    /// A cell of which the network is sure that it is missing, filled all the same: by the level that is likelier, not by the first.
    #[test]
    fn sure_gaps_are_filled_by_their_level() {
        let text = "a,b\n".to_owned() + &"p,x\nq,y\n,x\n".repeat(100);
        let (net, _, mut weights, biases) = constant_net(text);
        let gap = net.heads()[0].missing.unwrap();
        weights[biases + gap] = 30.0;
        let levels: Vec<usize> = (0..net.coordinates().columns[0].tokens.as_ref().unwrap().codes)
            .filter(|code| *code != gap)
            .collect();
        let likely = *levels.last().unwrap();
        levels.iter().for_each(|level| weights[biases + level] = if *level == likely { 0.0 } else { -20.0 });
        let denoiser = TableDenoiser::new(Arc::new(net), weights).trimmed(&[0.05, 0.0]).complete(true);
        let cells = vec![None; 2 * 50];
        let (free, options) = (Conditions::default(), FillOptions::default());
        let drawn = denoiser.fill(&cells, &free, 0, options, &Streams::new(1), |_| ()).unwrap();
        assert!(
            drawn.chunks(2).all(|row| row[0] == pmm_data::Cell::Level(likely as u32)),
            "{likely}: {drawn:?}"
        );
    }
}
