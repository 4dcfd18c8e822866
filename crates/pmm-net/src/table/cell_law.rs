//! The law of one cell given the rest of its row, with what the rules say.

use pmm_core::{Stream, Streams};
use pmm_data::Cell;
use rayon::prelude::*;

use super::asking::Asked;
use super::denoise::TableDenoiser;
use super::features::View;
use super::head::Law;
use super::restricted::{Restricted, normal_mass, truncated};
use super::walk::{Conditions, WalkRow};

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

/// ½ log 2π.
pub(super) const HALF_LOG_2_PI: f64 = 0.918_938_533_204_672_7;

impl ScorePart {
    /// A Gaussian that is not cut.
    pub fn whole(weight: f64, mean: f64, sd: f64) -> Self {
        Self { weight, mean, sd, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    fn is_whole(&self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }

    fn at(&self, z: f64) -> f64 {
        (z - self.mean) / self.sd
    }

    /// What the cut leaves of the Gaussian.
    fn all(&self) -> f64 {
        if self.is_whole() { 1.0 } else { normal_mass(self.at(self.low), self.at(self.high)) }
    }

    /// P(score ≤ z), within the part.
    pub fn cdf(&self, z: f64) -> f64 {
        if z >= self.high {
            return 1.0;
        }
        self.between(f64::NEG_INFINITY, z)
    }

    /// P(low < score ≤ high), within the part.
    pub fn between(&self, low: f64, high: f64) -> f64 {
        let (from, to) = (low.max(self.low), high.min(self.high));
        if from >= to {
            return 0.0;
        }
        let all = self.all();
        if all <= 0.0 {
            return 0.0;
        }
        (normal_mass(self.at(from), self.at(to)) / all).min(1.0)
    }

    /// What of the part lies between two scores, with its own probability.
    pub(super) fn cut(&self, low: f64, high: f64) -> Self {
        let weight = self.weight * self.between(low, high);
        Self { weight, low: low.max(self.low), high: high.min(self.high), ..*self }
    }

    /// The density of the score, within the part.
    pub fn density(&self, z: f64) -> f64 {
        if z < self.low || z > self.high { 0.0 } else { self.log_density(z).exp() }
    }

    /// Its logarithm, at a score that is not outside.
    pub(super) fn log_density(&self, z: f64) -> f64 {
        -0.5 * self.at(z).powi(2) - self.sd.ln() - HALF_LOG_2_PI - self.all().max(f64::MIN_POSITIVE).ln()
    }

    /// A draw of the score, within the part.
    pub(super) fn draw(&self, rng: &mut Stream) -> f64 {
        if self.is_whole() { self.mean + self.sd * rng.normal() } else { self.quantile(rng.unit()) }
    }

    /// Mean and standard deviation of the score, within the part.
    pub(super) fn moments(&self) -> (f64, f64) {
        if self.is_whole() {
            return (self.mean, self.sd);
        }
        let (a, b) = (self.at(self.low), self.at(self.high));
        let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let edge = |z: f64| if z.is_finite() { z * density(z) } else { 0.0 };
        let all = self.all().max(f64::MIN_POSITIVE);
        let shift = (density(a) - density(b)) / all;
        let variance = 1.0 + (edge(a) - edge(b)) / all - shift * shift;
        (self.mean + self.sd * shift, self.sd * variance.max(0.0).sqrt())
    }

    /// The score that a share of the part is not above.
    pub fn quantile(&self, share: f64) -> f64 {
        self.mean + self.sd * truncated(self.at(self.low), self.at(self.high), share)
    }
}

/// Choices less probable than this are not followed.
const LEAST: f64 = 1e-9;

impl TableDenoiser {
    /// The law of a column in rows of `[rows, columns]` cells, within its condition if there is one, as cases with their
    /// probabilities. What is known of the column itself is not looked at; other cells that are not known count as such.
    pub fn cell_laws(
        &self,
        cells: &[Option<Cell>],
        column: usize,
        conditions: &Conditions,
    ) -> Vec<Vec<(f64, CellLaw)>> {
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
            open = self.next_cases(open, column, conditions, &mut laws);
        }
        laws
    }

    /// The laws of some columns in rows, `[columns][rows]`, each by itself as [`cell_laws`](Self::cell_laws) has it: one call of the
    /// network for all of them. The columns must not be known in the rows.
    pub fn open_laws(&self, cells: &[Option<Cell>], columns: &[usize]) -> Vec<Vec<Vec<(f64, CellLaw)>>> {
        let (keeper, each) = (self.net().keeper(), self.net().coordinates().columns.len());
        let row = |cells: &[Option<Cell>]| self.walk_row(cells, 0, &Streams::new(0));
        let rows: Vec<WalkRow> = cells.chunks_exact(each).map(row).collect();
        let outputs = self.outputs_at(rows.len(), |row, column| View::of(&rows[row].seen[column]));
        let law = |(at, row): (usize, &WalkRow), column: usize| {
            if row.known[column] {
                return vec![(1.0, CellLaw::Cell(row.cells[column]))];
            }
            if keeper.is_choice(keeper.instead(&row.known, column, false)) {
                // What a rule wants first is followed up in all that it may be.
                let cells = &cells[at * each..][..each];
                return self.cell_laws(cells, column, &Conditions::default()).swap_remove(0);
            }
            let law = self.law_of(column, &outputs[at * self.net().outputs()..], &row.seen);
            let law = self.within(row, column, law, &Conditions::default());
            vec![(1.0, law.case())]
        };
        let laws = |column: &usize| rows.iter().enumerate().map(|row| law(row, *column)).collect();
        columns.par_iter().map(laws).collect()
    }

    /// A law within what the rules that hold in all rows, and a condition, leave; nothing is trimmed.
    fn within<'a>(
        &'a self,
        row: &WalkRow,
        column: usize,
        law: Law,
        conditions: &Conditions,
    ) -> Restricted<'a> {
        let (net, keeper) = (self.net(), self.net().keeper());
        let mut allowed =
            keeper.allowed(row.rule_cells(), &row.known, column, keeper.active(), keeper.spans());
        if let Some(condition) = conditions.of(column) {
            allowed = allowed.and(condition);
        }
        let place = &net.coordinates().columns[column];
        Restricted::new(place, &net.schema().columns[place.column], law, &allowed, true)
    }

    /// Settles the cases that can be settled; splits the others by what their next choice may be.
    fn next_cases(
        &self,
        cases: Vec<(usize, f64, WalkRow)>,
        column: usize,
        conditions: &Conditions,
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
            let law = self.within(&row, next, law, conditions);
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
