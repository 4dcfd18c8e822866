//! How probable rows are, and which of their cells surprise.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use pmm_core::Streams;
use pmm_data::{Cells, OutputColumn, RowBatch};
use pmm_net::table::{CellScore, RowScore, TableDenoiser};

use super::data::Data;
use super::model::Model;
use super::row_keys::{Numbering, RowKeys, by_runs};
use super::rows::{Empty, Reader, known};
use crate::error::Error;

/// Orders of the columns over which the likelihood of a row is taken.
const ORDERS: usize = 4;
/// Cells of a row that are named, at most.
const NAMED: usize = 3;
/// A cell is surprising from this many nats on.
const SURPRISE: f64 = 5.0;

/// Rows to score: how likely each is, and which of its cells are not.
///
/// ```
/// use pmm::table::{Data, Fit};
/// let text: String = (0..200).map(|i| format!("{},{}\n", i % 7, ["x", "y"][i % 7 / 4])).collect();
/// let model = Fit::new(Data::from_csv(format!("a,b\n{text}"))).steps(300).run(&mut ())?;
/// let scores: Vec<_> = model.score(Data::from_csv("a,b\n1,x\n1,y\n")).rows()?.collect::<Result<_, _>>()?;
/// assert!(scores[0].log_likelihood > scores[1].log_likelihood);
/// # Ok::<(), pmm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Score<'m> {
    model: &'m Model,
    data: Data,
    seed: u64,
    keys: RowKeys,
    empty: Empty,
}

/// The score of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredRow {
    /// log p of its cells, in nats: a density where numbers do not repeat.
    pub log_likelihood: f64,
    /// Its standard error, over orders of the columns.
    pub error: f64,
    /// Its cells given the rest of the row, by column of the schema; none for what is not known or not modelled.
    pub cells: Vec<Option<ScoredCell>>,
    /// Sentences of the rules that it breaks.
    pub broken: Vec<String>,
}

/// The score of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredCell {
    /// −log p(cell | the rest of the row), in nats.
    pub surprise: f64,
    /// For numbers, how probable a value at least as far out is, on the nearer side.
    pub tail: Option<f64>,
    /// Sentences of the rules that it breaks.
    pub broken: Vec<String>,
}

impl<'m> Score<'m> {
    pub(crate) fn new(model: &'m Model, data: Data) -> Self {
        Self { model, data, seed: 0, keys: RowKeys::default(), empty: Empty::default() }
    }

    /// Fixes the orders of the columns; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The number of the first row: orders are keyed by it, so that pieces of a table are scored as the whole would be.
    pub fn first_row(mut self, row: u64) -> Self {
        self.keys.first_row = row;
        self
    }

    /// A column whose cells name the rows, in place of their numbers: whatever order rows come in, and in whatever pieces, one with the
    /// same key is scored alike. A key that is empty, or that comes twice, is refused.
    pub fn key(mut self, column: &str) -> Self {
        self.keys.column = Some(column.to_owned());
        self
    }

    /// What an empty cell says; by default that there is nothing.
    pub fn empty(mut self, empty: Empty) -> Self {
        self.empty = empty;
        self
    }

    /// The scores, one by one.
    pub fn rows(self) -> Result<impl Iterator<Item = Result<ScoredRow, Error>> + 'm, Error> {
        let batches = self.batches()?;
        Ok(batches.flat_map(|batch| {
            let rows: Vec<Result<ScoredRow, Error>> = match batch {
                Ok(rows) => rows.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            rows
        }))
    }

    /// The scores, batch by batch.
    pub fn batches(self) -> Result<ScoredRows<'m>, Error> {
        let reader = Reader::open(&self.data, self.model.schema())?;
        let numbering = self.keys.open(&reader)?;
        let rules = &self.model.schema().rules;
        Ok(ScoredRows {
            model: self.model,
            denoiser: self.model.denoiser.whole(),
            reader,
            // Once in so many rows it is to be expected.
            penalties: rules.iter().map(|rule| (rule.evidence.applies as f64 + 2.0).ln()).collect(),
            streams: Streams::new(self.seed),
            numbering,
            empty: self.empty,
        })
    }
}

/// Scores in the making.
pub struct ScoredRows<'m> {
    model: &'m Model,
    denoiser: TableDenoiser,
    reader: Reader,
    penalties: Vec<f64>,
    streams: Streams,
    numbering: Numbering,
    empty: Empty,
}

impl ScoredRows<'_> {
    /// What separates fields in the table's file.
    pub fn delimiter(&self) -> char {
        self.reader.source().delimiter()
    }

    /// What was noticed so far.
    pub fn notes(&self) -> Vec<String> {
        self.reader.notes()
    }

    fn score(&mut self, batch: &RowBatch, cells: &[Cells]) -> Result<Vec<ScoredRow>, Error> {
        let known = known(self.model, batch.rows(), cells, self.empty);
        let (numbers, penalties) = (self.numbering.numbers(batch)?, &self.penalties);
        let width = known.len() / batch.rows().max(1);
        let scores = by_runs(&numbers, |run, first| {
            let known = &known[run.start * width..run.end * width];
            let scores = self.denoiser.row_scores(known, ORDERS, first, penalties, &self.streams, |_| ());
            scores.ok_or_else(|| {
                Error::request(
                    "a model with gradual clocks has no exact likelihood",
                    "fit with clock = \"reveal\"",
                )
            })
        })?;
        let of_cells = self.denoiser.cell_scores(&known, penalties, |_| ());
        let columns = of_cells.len() / batch.rows().max(1);
        let rows = scores.into_iter().zip(of_cells.chunks(columns.max(1)));
        Ok(rows.map(|(row, cells)| self.row(row, cells)).collect())
    }

    fn row(&self, row: RowScore, cells: &[Option<CellScore>]) -> ScoredRow {
        let schema = self.model.schema();
        let sentences = |broken: &[usize]| -> Vec<String> {
            broken.iter().filter_map(|rule| Some(schema.rules.get(*rule)?.rule.sentence())).collect()
        };
        let places = &self.denoiser.net().coordinates().columns;
        let mut scored = vec![None; schema.columns.len()];
        // Derived columns come last, and are not asked for.
        for (place, cell) in places.iter().zip(cells) {
            let Some(scored) = scored.get_mut(place.column) else { break };
            *scored = cell.as_ref().map(|cell| ScoredCell {
                surprise: -cell.log_p,
                tail: cell.rank.map(|rank| rank.min(1.0 - rank)),
                broken: sentences(&cell.broken),
            });
        }
        let broken = sentences(&row.broken);
        ScoredRow { log_likelihood: row.log_p, error: row.error, cells: scored, broken }
    }
}

impl Iterator for ScoredRows<'_> {
    type Item = Result<Vec<ScoredRow>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (batch, cells) = match self.reader.next().transpose()? {
            Ok(rows) => rows,
            Err(error) => return Some(Err(error)),
        };
        Some(self.score(&batch, &cells))
    }
}

impl ScoredRow {
    /// The cells that surprise most: (column, score), the most surprising first.
    pub fn surprising(&self) -> Vec<(usize, &ScoredCell)> {
        let cells = self.cells.iter().enumerate();
        let mut cells: Vec<(usize, &ScoredCell)> =
            cells.filter_map(|(column, cell)| Some((column, cell.as_ref()?))).collect();
        cells.sort_by(|a, b| b.1.surprise.total_cmp(&a.1.surprise));
        cells.retain(|(_, cell)| cell.surprise >= SURPRISE || !cell.broken.is_empty());
        cells.truncate(NAMED);
        cells
    }
}

impl Model {
    /// Scored rows as columns for a writer: the row's number, its log-likelihood and standard error, the largest surprise and its
    /// column, all surprising cells, the rules that are broken.
    pub fn score_table(&self, first_row: u64, rows: &[ScoredRow]) -> Result<RecordBatch, Error> {
        let names = |row: &ScoredRow| {
            let cell = |(column, cell): &(usize, &ScoredCell)| {
                let tail = cell.tail.map_or_else(String::new, |tail| format!(", tail {tail:.1e}"));
                format!("{} ({:.1} nats{tail})", self.schema().columns[*column].name, cell.surprise)
            };
            row.surprising().iter().map(cell).collect::<Vec<_>>().join("; ")
        };
        let largest = |row: &ScoredRow| {
            row.cells.iter().flatten().map(|cell| cell.surprise).max_by(f64::total_cmp).unwrap_or(0.0)
        };
        let floats = |of: &dyn Fn(&ScoredRow) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(rows.iter().map(of)))
        };
        let texts = |of: &dyn Fn(&ScoredRow) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
        };
        let arrays = vec![
            Arc::new(Int64Array::from_iter_values((0..rows.len()).map(|row| (first_row + row as u64) as i64)))
                as ArrayRef,
            floats(&|row| row.log_likelihood),
            floats(&|row| row.error),
            floats(&largest),
            texts(&names),
            texts(&|row| row.broken.join("; ")),
        ];
        RecordBatch::try_new(Self::score_schema(), arrays).map_err(|error| {
            Error::request(format!("the scores cannot be put together: {error}"), "report this as a bug")
        })
    }

    fn score_schema() -> SchemaRef {
        let float = |name: &str| Field::new(name, DataType::Float64, false);
        Arc::new(ArrowSchema::new(vec![
            Field::new("row", DataType::Int64, false),
            float("log_likelihood"),
            float("standard_error"),
            float("surprise"),
            Field::new("surprising", DataType::Utf8, false),
            Field::new("broken_rules", DataType::Utf8, false),
        ]))
    }

    /// The columns of [`score_table`](Self::score_table), for a writer.
    pub fn score_columns() -> Vec<OutputColumn> {
        OutputColumn::of_schema(&Self::score_schema())
    }
}
