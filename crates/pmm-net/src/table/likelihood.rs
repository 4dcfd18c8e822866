//! The likelihood of rows under a reveal model, in bits per column.

use pmm_core::Streams;
use pmm_data::Cell;
use pmm_data::rules::Allowed;
use serde::Serialize;

use super::cell_law::ScorePart;
use super::denoise::TableDenoiser;
use super::head::Law;
use super::restricted::Restricted;
use super::score::RowScore;

/// What rows cost, in bits per column: a mean over rows, with its standard error.
///
/// A category or a number whose values repeat costs −log₂ of its probability, another number −log₂ of its density. The latter
/// depends on the scale, so only differences have a meaning: `saved` is what a column is cheaper by because the others are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Likelihood {
    /// Under the model: every column given those before it, in a random order.
    pub bits: f64,
    /// Its standard error.
    pub bits_error: f64,
    /// Under columns that know nothing of each other: the shares of the training rows, and standard normal scores.
    pub independent: f64,
    /// Its standard error.
    pub independent_error: f64,
    /// The difference, independent − model: what dependences save.
    pub saved: f64,
    /// Its standard error.
    pub saved_error: f64,
    /// Rows behind it.
    pub rows: usize,
}

impl TableDenoiser {
    /// The likelihood of rows, `[rows, columns]` of the modelled columns: −log₂ p(x) over the number of columns with a known
    /// cell, each row in a random order of its columns. None if clocks are gradual, which have no such sum, or if no cell is
    /// known.
    pub fn likelihood(
        &self,
        cells: &[Option<Cell>],
        streams: &Streams,
        done: impl FnMut(usize),
    ) -> Option<Likelihood> {
        let columns = self.net().coordinates().columns.len();
        let scores = self.row_scores(cells, 1, 0, &[], streams, done)?;
        let row = |(score, cells): (RowScore, &[Option<Cell>])| {
            let known = cells.iter().flatten().count() as f64;
            let independent: f64 =
                cells.iter().enumerate().map(|(column, cell)| self.alone(column, *cell)).sum();
            let bits = |nats: f64| -nats / known * std::f64::consts::LOG2_E;
            (known > 0.0).then(|| (bits(score.log_p), bits(independent)))
        };
        let rows: Vec<(f64, f64)> =
            scores.into_iter().zip(cells.chunks_exact(columns.max(1))).filter_map(row).collect();
        (!rows.is_empty()).then(|| summary(&rows))
    }

    /// log p of a cell that knows nothing of the others: the shares of the training rows, and standard normal scores.
    fn alone(&self, column: usize, cell: Option<Cell>) -> f64 {
        let Some(cell) = cell else { return 0.0 };
        let place = &self.net().coordinates().columns[column];
        let mut law = Law { parts: vec![ScorePart::whole(1.0, 0.0, 1.0)], ..Law::default() };
        if let Some(tokens) = &place.tokens {
            // Half a row more for each code: one that was never seen is not impossible.
            let total = tokens.counts.iter().sum::<u64>() as f64 + 0.5 * tokens.codes as f64;
            let count = |code: usize| tokens.counts.get(code).copied().unwrap_or(0) as f64 + 0.5;
            law.codes = (0..tokens.codes).map(|code| count(code) / total).collect();
        }
        let schema = &self.net().schema().columns[place.column];
        Restricted::new(place, schema, law, &Allowed::any(), true).log_probability(cell)
    }
}

fn summary(rows: &[(f64, f64)]) -> Likelihood {
    let n = rows.len() as f64;
    let mean_and_error = |cost: &dyn Fn(&(f64, f64)) -> f64| {
        let mean = rows.iter().map(cost).sum::<f64>() / n;
        let squares: f64 = rows.iter().map(|row| (cost(row) - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
    };
    let (bits, bits_error) = mean_and_error(&|row| row.0);
    let (independent, independent_error) = mean_and_error(&|row| row.1);
    let (saved, saved_error) = mean_and_error(&|row| row.1 - row.0);
    Likelihood { bits, bits_error, independent, independent_error, saved, saved_error, rows: rows.len() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use burn::tensor::Device;
    use pmm_core::Head;
    use pmm_data::{Overrides, ReadOptions, Schema, Source};

    use super::*;
    use crate::TrunkConfig;
    use crate::table::{ClockKind, TableNet};

    /// A network that has learnt nothing but the shares of the codes, for a table of this text.
    fn ignorant(text: &str) -> TableDenoiser {
        let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
        let schema = Arc::new(Schema::infer(&source, &Overrides::default()).unwrap());
        let config = TrunkConfig { width: 8, ..TrunkConfig::default() };
        let net = TableNet::new(schema, ClockKind::Reveal, Head::Marginal, &config, Device::flex()).unwrap();
        let mut weights = net.initial(&Streams::new(0));
        let output = net.parts().get(net.parts().iter().len() - 2).range.clone();
        weights[output].fill(0.0);
        TableDenoiser::new(Arc::new(net), weights)
    }

    /// Columns of four and of two equally frequent levels: (log₂ 4 + log₂ 2)/2 = 1.5 bits per column, in any order, and
    /// nothing to save.
    #[test]
    fn independent_uniform_levels_cost_their_logarithm() {
        let mut text = String::from("a,b\n");
        for i in 0..400 {
            text += &format!("{},{}\n", ["p", "q", "r", "s"][i % 4], ["x", "y"][(i / 4) % 2]);
        }
        let denoiser = ignorant(&text);
        let level = |level: usize| Some(Cell::Level(level as u32));
        let cells: Vec<Option<Cell>> = (0..800).flat_map(|i| [level(i % 4), level((i / 4) % 2)]).collect();
        let mut seen = 0;
        let found = denoiser.likelihood(&cells, &Streams::new(1), |rows| seen += rows).unwrap();
        assert!((found.bits - 1.5).abs() < 1e-5 && (found.independent - 1.5).abs() < 1e-9, "{found:?}");
        assert!(found.saved.abs() < 1e-5 && found.saved_error < 1e-5, "{found:?}");
        assert_eq!((found.rows, seen), (800, 800));
    }

    /// Cells that are unknown cost nothing: one column of four levels is left, 2 bits.
    #[test]
    fn unknown_cells_are_left_out() {
        let text = "a,b\n".to_owned() + &"p,x\nq,y\nr,x\ns,y\n".repeat(50);
        let denoiser = ignorant(&text);
        let cells: Vec<Option<Cell>> = (0..40).flat_map(|i| [Some(Cell::Level(i % 4)), None]).collect();
        let found = denoiser.likelihood(&cells, &Streams::new(1), |_| ()).unwrap();
        assert!((found.bits - 2.0).abs() < 1e-5, "{found:?}");
        assert_eq!(denoiser.likelihood(&[None; 8], &Streams::new(1), |_| ()), None);
    }

    /// Numbers spread evenly from 0 to 1,000 cost log₂ 1,000 = 9.97 bits each.
    #[test]
    fn numbers_cost_their_entropy() {
        let text: String =
            std::iter::once("x\n".to_owned()).chain((0..1000).map(|i| format!("{i}.5\n"))).collect();
        let denoiser = ignorant(&text);
        let cells: Vec<Option<Cell>> = (5..995).map(|i| Some(Cell::Value(f64::from(i) + 0.5))).collect();
        let found = denoiser.likelihood(&cells, &Streams::new(1), |_| ()).unwrap();
        assert!((found.independent - 1000f64.log2()).abs() < 0.02, "{found:?}");
        assert!(found.bits.is_finite() && found.bits > found.independent - 0.02, "{found:?}");
    }
}
