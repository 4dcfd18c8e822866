//! The likelihood of rows under a reveal model, in bits per column.

use pmm_core::{Purpose, Streams};
use serde::Serialize;

use super::coordinates::{CellCoordinates, ClockKind, ColumnPlace};
use super::denoise::TableDenoiser;
use super::features::View;
use super::head::Law;

/// What rows cost, in bits per column: a mean over rows, with its standard error.
///
/// A token costs −log₂ of its probability, a number −log₂ of the density of its normal score. The latter depends on the
/// scale, so only differences have a meaning: `saved` is what a column is cheaper by because the others are known.
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

/// Rows that share an order.
const CHUNK: usize = 512;

impl TableDenoiser {
    /// The likelihood of rows, `[rows, columns]` of the modelled columns: −log₂ p(x) = −Σ log₂ p(x_c | those before c), over the
    /// number of columns. None if clocks are gradual, which have no such sum, or if no cell is known.
    ///
    /// By the chain rule any order of the columns gives the same if the laws agree with each other; every 512 rows take one at
    /// random, keyed by their place. Unknown cells are left out: they cost nothing and tell nothing.
    pub fn likelihood(
        &self,
        cells: &[CellCoordinates],
        streams: &Streams,
        mut done: impl FnMut(usize),
    ) -> Option<Likelihood> {
        let columns = self.net().coordinates().columns.len();
        if self.net().clock() != ClockKind::Reveal || columns == 0 {
            return None;
        }
        let mut rows = Vec::with_capacity(cells.len() / columns);
        for (chunk, cells) in cells.chunks(CHUNK * columns).enumerate() {
            let mut order: Vec<usize> = (0..columns).collect();
            streams.stream(Purpose::LIKELIHOOD_ORDER, 0, chunk as u64).shuffle(&mut order);
            rows.extend(self.costs(cells, &order).into_iter().filter_map(Cost::per_column));
            done(cells.len() / columns);
        }
        (!rows.is_empty()).then(|| summary(&rows))
    }

    /// What every row costs if its columns come in this order.
    fn costs(&self, cells: &[CellCoordinates], order: &[usize]) -> Vec<Cost> {
        let columns = order.len();
        let mut costs = vec![Cost::default(); cells.len() / columns];
        let mut revealed = vec![false; columns];
        for &column in order {
            let place = &self.net().coordinates().columns[column];
            let view = |row: usize, c: usize| {
                if revealed[c] { View::of(&cells[row * columns + c]) } else { View::default() }
            };
            let laws = self.laws(costs.len(), view, column);
            for ((cost, law), row) in costs.iter_mut().zip(&laws).zip(cells.chunks(columns)) {
                cost.add(place, self.score(column, &row[column]), &row[column], law);
            }
            revealed[column] = true;
        }
        costs
    }

    /// The normal score of a cell's value, at its mid-rank.
    fn score(&self, column: usize, cell: &CellCoordinates) -> Option<f64> {
        let place = &self.net().coordinates().columns[column];
        cell.value.map(|value| place.from_value(&self.net().schema().columns[place.column], value, 0.5))
    }
}

/// What a row costs.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    model: f64,
    independent: f64,
    columns: usize,
}

impl Cost {
    fn add(&mut self, place: &ColumnPlace, score: Option<f64>, cell: &CellCoordinates, law: &Law) {
        if cell.is_unknown() {
            return;
        }
        self.columns += 1;
        if let (Some(token), Some(tokens)) = (cell.token, &place.tokens) {
            // Half a row more for each code: one that was never seen is not impossible.
            let total: u64 = tokens.counts.iter().sum();
            let count = tokens.counts.get(token as usize).copied().unwrap_or(0);
            self.independent -= ((count as f64 + 0.5) / (total as f64 + 0.5 * tokens.codes as f64)).log2();
            self.model -= law.codes[token as usize].max(f64::MIN_POSITIVE).log2();
        }
        if let Some(z) = score {
            let half_log_2_pi = 0.5 * std::f64::consts::TAU.ln();
            self.independent += (half_log_2_pi + 0.5 * z * z) * std::f64::consts::LOG2_E;
            self.model -= law.log_density(z).max(f64::MIN_POSITIVE.ln()) * std::f64::consts::LOG2_E;
        }
    }

    /// (model, independent) per column of the row that has a value.
    fn per_column(self) -> Option<(f64, f64)> {
        let n = self.columns as f64;
        (self.columns > 0).then(|| (self.model / n, self.independent / n))
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
    use crate::table::TableNet;

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
        let token = |token: usize| CellCoordinates { token: Some(token as u32), value: None };
        let cells: Vec<CellCoordinates> = (0..800).flat_map(|i| [token(i % 4), token((i / 4) % 2)]).collect();
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
        let cells: Vec<CellCoordinates> = (0..40)
            .flat_map(|i| [CellCoordinates { token: Some(i % 4), value: None }, CellCoordinates::default()])
            .collect();
        let found = denoiser.likelihood(&cells, &Streams::new(1), |_| ()).unwrap();
        assert!((found.bits - 2.0).abs() < 1e-5, "{found:?}");
        assert_eq!(denoiser.likelihood(&[CellCoordinates::default(); 8], &Streams::new(1), |_| ()), None);
    }

    /// Standard normal scores cost ½ log₂ 2πe = 2.047 bits; the mid-ranks of 1,000 values come within .01 of it.
    #[test]
    fn scores_cost_the_entropy_of_the_normal_law() {
        let text: String =
            std::iter::once("x\n".to_owned()).chain((0..1000).map(|i| format!("{}.5\n", i * i))).collect();
        let denoiser = ignorant(&text);
        let gate = denoiser.net().coordinates().columns[0].tokens.as_ref().map(|_| 0);
        let cells: Vec<CellCoordinates> =
            (0..1000).map(|i| CellCoordinates { token: gate, value: Some(f64::from(i * i) + 0.5) }).collect();
        let found = denoiser.likelihood(&cells, &Streams::new(1), |_| ()).unwrap();
        assert!((found.independent - 2.0471).abs() < 0.01, "{found:?}");
        assert!(found.bits.is_finite() && found.bits > found.independent - 0.01, "{found:?}");
    }
}
