//! The law of one cell given the rest of its row, with what the rules say.

use pmm_core::Streams;
use pmm_data::Cell;

use super::asking::Asked;
use super::denoise::TableDenoiser;
use super::restricted::{Restricted, normal_mass, truncated};
use super::walk::WalkRow;

/// A case of a cell's law.
#[derive(Debug, Clone, PartialEq)]
pub enum CellLaw {
    /// It follows from the rest of the row.
    Cell(Cell),
    /// It is open.
    Open {
        /// Probabilities of the codes, where the column has any.
        codes: Vec<f64>,
        /// The law of the value's normal score, where the column has one.
        parts: Vec<ScorePart>,
    },
}

/// A part of the law of a normal score: a Gaussian between two scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScorePart {
    /// Its probability.
    pub weight: f64,
    /// The mean of the whole Gaussian.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// The least score.
    pub low: f64,
    /// The largest score.
    pub high: f64,
}

impl ScorePart {
    /// P(score ≤ z), within the part.
    pub fn cdf(&self, z: f64) -> f64 {
        let at = |z: f64| (z - self.mean) / self.sd;
        let all = normal_mass(at(self.low), at(self.high));
        if z <= self.low || all <= 0.0 {
            return if z >= self.high { 1.0 } else { 0.0 };
        }
        (normal_mass(at(self.low), at(z.min(self.high))) / all).min(1.0)
    }

    /// The density of the score, within the part.
    pub fn density(&self, z: f64) -> f64 {
        if z < self.low || z > self.high {
            return 0.0;
        }
        let at = |z: f64| (z - self.mean) / self.sd;
        let all = normal_mass(at(self.low), at(self.high)).max(f64::MIN_POSITIVE);
        (-0.5 * at(z).powi(2)).exp() / (self.sd * std::f64::consts::TAU.sqrt() * all)
    }

    /// The score that a share of the part is not above.
    pub fn quantile(&self, share: f64) -> f64 {
        let at = |z: f64| (z - self.mean) / self.sd;
        self.mean + self.sd * truncated(at(self.low), at(self.high), share)
    }
}

/// Choices less probable than this are not followed.
const LEAST: f64 = 1e-9;

impl TableDenoiser {
    /// The law of a column in rows of `[rows, columns]` cells, as cases with their probabilities. What is known of the column
    /// itself is not looked at; other cells that are not known count as such.
    pub fn cell_laws(&self, cells: &[Option<Cell>], column: usize) -> Vec<Vec<(f64, CellLaw)>> {
        let columns = self.net().coordinates().columns.len();
        let rows = cells.chunks_exact(columns).map(|cells| {
            let mut cells = cells.to_vec();
            cells[column] = None;
            // Nothing is drawn: the streams do not matter.
            self.walk_row(&cells, 0, &Streams::new(0))
        });
        let mut open: Vec<(usize, f64, WalkRow)> = rows.enumerate().map(|(at, row)| (at, 1.0, row)).collect();
        let mut laws = vec![Vec::new(); open.len()];
        while !open.is_empty() {
            open = self.next_cases(open, column, &mut laws);
        }
        laws
    }

    /// Settles the cases that can be settled; splits the others by what their next choice may be.
    fn next_cases(
        &self,
        cases: Vec<(usize, f64, WalkRow)>,
        column: usize,
        laws: &mut [Vec<(f64, CellLaw)>],
    ) -> Vec<(usize, f64, WalkRow)> {
        let (net, keeper) = (self.net(), self.net().keeper());
        let mut asked = Vec::new();
        for (at, weight, row) in cases {
            if row.known[column] {
                laws[at].push((weight, CellLaw::Cell(row.cells[column])));
                continue;
            }
            let first = keeper.instead(&row.known, column, false);
            let next = if keeper.is_choice(first) { first } else { column };
            asked.push((at, weight, row, next));
        }
        let rows = asked.iter_mut().map(|(at, _, row, next)| Asked { at: *at, row, column: *next });
        let laws_asked = self.asked_laws(&mut rows.collect::<Vec<_>>());
        let mut open = Vec::new();
        for ((at, weight, row, next), law) in asked.into_iter().zip(laws_asked) {
            let place = &net.coordinates().columns[next];
            let schema = &net.schema().columns[place.column];
            let allowed = keeper.allowed(row.rule_cells(), &row.known, next, keeper.active(), keeper.spans());
            let law = Restricted::new(place, schema, law, &allowed, true);
            if next == column {
                laws[at].push((weight, law.case()));
                continue;
            }
            for (code, p) in law.codes().iter().enumerate().filter(|(_, p)| **p > LEAST) {
                let mut case = row.clone();
                self.set(&mut case, next, place.cell(schema, Some(code as u32), f64::NAN, true));
                self.settle_row(&mut case);
                open.push((at, weight * p, case));
            }
        }
        open
    }
}
