//! How probable rows are, and which of their cells surprise.

use pmm_core::{Purpose, Streams};
use pmm_data::Cell;
use rayon::prelude::*;

use super::coordinates::ClockKind;
use super::denoise::TableDenoiser;
use super::walk::{Conditions, Decision, Step, WalkRow};

/// How probable a row is.
#[derive(Debug, Clone, PartialEq)]
pub struct RowScore {
    /// log p of its known cells, in nats: a density where numbers do not repeat. The mean over some orders of the columns.
    pub log_p: f64,
    /// Its standard error: orders differ where the laws of the network do not agree with each other.
    pub error: f64,
    /// The rules that it breaks, of those that hold in every row.
    pub broken: Vec<usize>,
}

/// How much a cell surprises.
#[derive(Debug, Clone, PartialEq)]
pub struct CellScore {
    /// log p(cell | the rest of the row), in nats.
    pub log_p: f64,
    /// P(number ≤ the cell's | the rest), for numbers of a continuum.
    pub rank: Option<f64>,
    /// The rules that it breaks.
    pub broken: Vec<usize>,
}

/// Rows that are scored together: a result does not depend on it.
const CHUNK: usize = 512;

impl TableDenoiser {
    /// Scores rows, `[rows, columns]` of the modelled columns; none if clocks are gradual, which have no exact likelihood.
    ///
    /// By the chain rule log p(x) = Σ log p(x_c | those before c) in any order of the columns; what follows from others by a
    /// rule costs nothing, and a rule that the row breaks costs its penalty: −log of how often that is to be expected.
    pub fn row_scores(
        &self,
        cells: &[Option<Cell>],
        orders: usize,
        first_row: u64,
        penalties: &[f64],
        streams: &Streams,
        mut done: impl FnMut(usize),
    ) -> Option<Vec<RowScore>> {
        if self.net().clock() != ClockKind::Reveal {
            return None;
        }
        let columns = self.net().coordinates().columns.len().max(1);
        let mut scores = Vec::with_capacity(cells.len() / columns);
        for (chunk, cells) in cells.chunks(CHUNK * columns).enumerate() {
            let actual = self.actual(cells, first_row + (chunk * CHUNK) as u64, streams);
            let runs = (0..orders).map(|order| self.in_one_order(&actual, penalties, order as u64, streams));
            let runs: Vec<Vec<f64>> = runs.collect();
            scores.extend(actual.into_iter().enumerate().map(|(row, actual)| {
                let logs: Vec<f64> = runs.iter().map(|run| run[row]).collect();
                let (log_p, error) = mean_and_error(&logs);
                RowScore { log_p, error, broken: actual.broken }
            }));
            done(cells.len() / columns);
        }
        Some(scores)
    }

    /// Scores every known cell of rows given the rest of its row; none for cells that are not known, and for all if clocks are
    /// gradual.
    pub fn cell_scores(
        &self,
        cells: &[Option<Cell>],
        penalties: &[f64],
        mut done: impl FnMut(usize),
    ) -> Vec<Option<CellScore>> {
        let columns = self.net().coordinates().columns.len().max(1);
        if self.net().clock() != ClockKind::Reveal {
            return vec![None; cells.len()];
        }
        let chunk = CHUNK.div_ceil(columns) * columns;
        let mut scores = Vec::with_capacity(cells.len());
        for cells in cells.chunks(chunk) {
            scores.extend(self.cells_of(cells, penalties));
            done(cells.len() / columns);
        }
        scores
    }

    fn cells_of(&self, cells: &[Option<Cell>], penalties: &[f64]) -> Vec<Option<CellScore>> {
        let columns = self.net().coordinates().columns.len();
        let keeper = self.net().keeper();
        // Nothing is drawn but what is not known of derived columns.
        let streams = Streams::new(0);
        let actual = self.actual(cells, 0, &streams);
        let places: Vec<usize> = (0..cells.len()).filter(|at| cells[*at].is_some()).collect();
        let row = |at: &usize| {
            let (row, column) = (at / columns, at % columns);
            let mut others = cells[row * columns..][..columns].to_vec();
            others[column] = None;
            let open = self.open_row(&others, row as u64, &streams);
            let mut open = open.with_active(keeper.active_without(&actual[row].broken));
            self.settle_row(&mut open);
            open.with_turns(vec![column])
        };
        let mut rows: Vec<WalkRow> = places.par_iter().with_min_len(16).map(row).collect();
        let read = |step: &Step<'_>, at: usize| self.read(step, &actual[places[at] / columns]);
        self.walk(&mut rows, None, &Conditions::default(), true, read);
        let mut scores = vec![None; cells.len()];
        for (at, row) in places.into_iter().zip(rows) {
            let (actual, column) = (&actual[at / columns], at % columns);
            let broken = keeper.broken_by(actual.row.rule_cells(), &actual.row.known, column);
            let log_p = row.log - penalty(&broken, penalties);
            scores[at] = Some(CellScore { log_p, rank: row.rank, broken });
        }
        scores
    }

    /// Rows as they are, with their derived columns.
    fn actual(&self, cells: &[Option<Cell>], first_row: u64, streams: &Streams) -> Vec<Actual> {
        let columns = self.net().coordinates().columns.len();
        let keeper = self.net().keeper();
        let row = |(row, cells): (usize, &[Option<Cell>])| {
            let row = self.walk_row(cells, first_row + row as u64, streams);
            let broken = keeper.broken(row.rule_cells(), &row.known);
            let given = cells.iter().map(Option::is_some).collect();
            Actual { row, given, broken }
        };
        cells.par_chunks_exact(columns).enumerate().with_min_len(16).map(row).collect()
    }

    /// log p of rows, the columns of each in an order of its own.
    fn in_one_order(&self, actual: &[Actual], penalties: &[f64], order: u64, streams: &Streams) -> Vec<f64> {
        let keeper = self.net().keeper();
        let unknown = vec![None; self.net().coordinates().columns.len()];
        let row = |actual: &Actual| {
            let number = actual.row.number;
            let mut turns: Vec<usize> = (0..unknown.len()).filter(|column| actual.given[*column]).collect();
            streams.stream(Purpose::LIKELIHOOD_ORDER, order, number).shuffle(&mut turns);
            let open = self.open_row(&unknown, number, streams);
            open.with_active(keeper.active_without(&actual.broken)).with_turns(turns)
        };
        let mut rows: Vec<WalkRow> = actual.par_iter().with_min_len(16).map(row).collect();
        let read = |step: &Step<'_>, at: usize| self.read(step, &actual[at]);
        self.walk(&mut rows, None, &Conditions::default(), true, read);
        rows.iter().zip(actual).map(|(row, actual)| row.log - penalty(&actual.broken, penalties)).collect()
    }

    /// A cell as it is, with its probability; one that is not known is drawn and costs nothing.
    fn read(&self, step: &Step<'_>, actual: &Actual) -> Decision {
        if !actual.row.known[step.column] {
            let streams = Streams::new(0);
            let purpose = Purpose::REVEALED_CELL;
            let mut rng = streams.block_stream(purpose, step.column as u32, 0, step.row.number);
            return Decision { cell: step.law.draw(&mut rng), log: 0.0, rank: None };
        }
        let cell = actual.row.cells[step.column];
        Decision { cell, log: step.law.log_probability(cell).max(LEAST_LOG), rank: step.law.rank(cell) }
    }
}

/// What the network finds impossible costs this.
const LEAST_LOG: f64 = -50.0;

/// A row as it is.
struct Actual {
    row: WalkRow,
    /// Which cells the caller knows.
    given: Vec<bool>,
    broken: Vec<usize>,
}

fn penalty(broken: &[usize], penalties: &[f64]) -> f64 {
    broken.iter().map(|rule| penalties.get(*rule).copied().unwrap_or(0.0)).sum()
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}
