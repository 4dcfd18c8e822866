//! Texts as the tables of local patterns alone see them.

use std::ops::Range;

use pmm_core::{EventOrder, MASK};

use super::ordered::OrderedNet;
use super::ordered_text::TABLES;
use crate::ops::softmax;

/// The steps of a text: the row of each table that a step reads, and the token that it should predict.
///
/// The tables are a model by themselves: p(token) ∝ exp Σ tables\[row\]\[token\]. A step costs a few additions, so they can read all of a text
/// in the time in which the network reads a small part of it.
#[derive(Debug, Clone)]
pub struct PatternSteps {
    classes: usize,
    told: Vec<u32>,
    /// Where the rows begin, counted from the first table: `[steps, TABLES]`.
    rows: Vec<usize>,
}

impl OrderedNet {
    /// Where the tables of patterns are among the weights.
    pub fn pattern_tables(&self) -> Option<Range<usize>> {
        let first = self.at.patterns?;
        Some(self.parts().get(first).range.start..self.parts().get(first + TABLES - 1).range.end)
    }

    /// A text (as for [`OrderedNet::text`]) in the order of its events. There must be tables.
    pub fn pattern_steps(&self, tokens: &[u32], order: &EventOrder) -> PatternSteps {
        let (neighbours, classes) = (self.neighbours(), self.classes());
        let mut known = vec![MASK; tokens.len()];
        let mut rows = Vec::with_capacity(tokens.len() * TABLES);
        for &position in &order.positions {
            neighbours.patterns(&known, position as usize, &mut rows);
            known[position as usize] = tokens[position as usize];
        }
        let table = |(index, row): (usize, u32)| {
            (((index % TABLES) << self.config().hash_bits) + row as usize) * classes
        };
        PatternSteps {
            classes,
            told: order.positions.iter().map(|&position| tokens[position as usize]).collect(),
            rows: rows.into_iter().enumerate().map(table).collect(),
        }
    }
}

impl PatternSteps {
    /// The rows of each step, and its token.
    pub fn iter(&self) -> impl Iterator<Item = (&[usize], u32)> {
        self.rows.chunks_exact(TABLES).zip(self.told.iter().copied())
    }

    /// The gradient of −log p of a step's token with respect to the logits, which is that with respect to each of its rows: p − 1 at the
    /// token, p elsewhere.
    pub fn gradient(&self, tables: &[f32], (rows, told): (&[usize], u32), gradient: &mut [f32]) {
        gradient.fill(0.0);
        for &row in rows {
            gradient.iter_mut().zip(&tables[row..row + self.classes]).for_each(|(sum, logit)| *sum += logit);
        }
        softmax(gradient);
        gradient[told as usize] -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use pmm_core::Streams;

    use super::*;
    use crate::text::OrderedConfig;

    /// With weights of the network at which its own logits are 0, the gradient by the tables is that of the whole network.
    #[test]
    fn tables_alone_are_the_network_before_it_has_learned() {
        let config = OrderedConfig { width: 12, blocks: 1, heads: 3, length: 6, window: 1, hash_bits: 4 };
        let net = OrderedNet::new(3, &config).unwrap();
        let mut weights = net.initial(&Streams::new(1));
        let tables = net.pattern_tables().unwrap();
        assert_eq!(tables, weights.len() - 5 * 16 * 3..weights.len());
        weights[tables.clone()].iter_mut().enumerate().for_each(|(i, w)| *w = (i % 7) as f32 / 5.0 - 0.4);
        let (tokens, order) = ([0, 2, 1, 1, 0, 2], EventOrder::sorted(&[0.5, 0.1, 0.9, 0.3, 0.2, 0.8]));
        let mut expected = vec![0.0; weights.len()];
        net.gradient(&weights, &[net.text(&tokens, &order)], &mut expected);
        let steps = net.pattern_steps(&tokens, &order);
        let (mut found, mut gradient) = (vec![0.0; tables.len()], vec![0.0; 3]);
        for step in steps.iter() {
            steps.gradient(&weights[tables.clone()], step, &mut gradient);
            for &row in step.0 {
                found[row..row + 3].iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += g / 6.0);
            }
        }
        assert!(found.iter().zip(&expected[tables]).all(|(a, b)| (a - b).abs() < 1e-6));
        assert!(found.iter().any(|g| g.abs() > 0.05));
    }
}
