//! New rows.

use arrow_array::RecordBatch;
use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, OutputColumn, RowsDecoder, UniqueCells};
use pmm_net::table::FillOptions;

use super::data::Data;
use super::given::{Given, Wish};
use super::model::Model;
use super::partial::Partial;
use crate::error::Error;

/// Rows of a batch.
pub(crate) const CHUNK: u64 = 4096;

/// New rows to draw. Row number r of a seed is the same whatever is drawn beside it, so that pieces fit together.
///
/// ```no_run
/// # let model = pmm::table::Model::open("penguins.pmm", &pmm::Device::flex())?;
/// for batch in model.sample(1000).given("species", "Adelie").rows()? {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok::<(), pmm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sample<'m> {
    pub(super) model: &'m Model,
    rows: u64,
    first_row: u64,
    pub(super) wishes: Vec<(String, Wish)>,
    partial: Option<Data>,
    pub(super) seed: u64,
    pub(super) options: FillOptions,
}

impl<'m> Sample<'m> {
    pub(crate) fn new(model: &'m Model, rows: u64) -> Self {
        let options = FillOptions::default();
        Self { model, rows, first_row: 0, wishes: Vec::new(), partial: None, seed: 0, options }
    }

    /// A cell that is given, as a file would have it; the empty text is a missing cell.
    pub fn given(self, column: &str, value: impl ToString) -> Self {
        self.wish(column, Wish::Is(value.to_string()))
    }

    /// A number or date from `low` to `high`, both included; `None` is an open end.
    pub fn given_range<T: ToString>(self, column: &str, low: Option<T>, high: Option<T>) -> Self {
        let text = |end: Option<T>| end.map(|end| end.to_string());
        self.wish(column, Wish::Between(text(low), text(high)))
    }

    /// One of some values.
    pub fn given_any<T: ToString>(self, column: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.wish(column, Wish::AnyOf(values.into_iter().map(|value| value.to_string()).collect()))
    }

    /// Rows of which some cells are given, the others being empty or not there: so many samples are drawn for each of them, one
    /// after the other.
    pub fn given_rows(mut self, partial: impl Into<Data>) -> Self {
        self.partial = Some(partial.into());
        self
    }

    fn wish(mut self, column: &str, wish: Wish) -> Self {
        self.wishes.push((column.to_owned(), wish));
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The number of the first row in the endless sample of the seed; 0 by default.
    pub fn first_row(mut self, row: u64) -> Self {
        self.first_row = row;
        self
    }

    /// Network calls per row, for models with gradual clocks; 100 by default.
    pub fn steps(mut self, steps: usize) -> Self {
        self.options.steps = steps;
        self
    }

    /// Lets repeated values (integers, prices) take values that were never seen.
    pub fn without_snapping(mut self) -> Self {
        self.options.snap = false;
        self
    }

    /// What a person should know: columns that come out empty, values from which the model extrapolates.
    pub fn notes(&self) -> Result<Vec<String>, Error> {
        let schema = self.model.schema();
        let end = self.first_row.saturating_add(self.rows);
        let mut notes = schema.identifier_notes(end);
        notes.extend(self.unique().and_then(|unique| unique.note(schema, end)));
        notes.extend(Given::parse(self.model, &self.wishes)?.notes);
        Ok(notes)
    }

    /// Columns that never repeat, where nothing is asked of the rows that could contradict them.
    fn unique(&self) -> Option<UniqueCells> {
        let free = self.wishes.is_empty() && self.partial.is_none();
        free.then(|| UniqueCells::new(self.model.schema(), &Streams::new(self.seed)))
    }

    /// The columns of the rows, for a writer.
    pub fn columns(&self) -> Vec<OutputColumn> {
        self.model.schema().output()
    }

    /// The rows, batch by batch: never all in memory.
    pub fn rows(self) -> Result<SampledRows<'m>, Error> {
        let given = Given::parse(self.model, &self.wishes)?;
        let Some(end) = self.first_row.checked_add(self.rows) else {
            return Err(Error::request("there are no rows beyond number 2^64", "ask for fewer rows"));
        };
        let schema = self.model.schema();
        let partial = match &self.partial {
            None => None,
            Some(data) => Some(Partial::open(data, self.model, &given)?),
        };
        Ok(SampledRows {
            model: self.model,
            decoder: schema.decoder()?.with_identifiers(&Streams::new(self.seed)),
            row: given.row(self.model),
            unique: self.unique(),
            given,
            partial,
            streams: Streams::new(self.seed),
            options: self.options,
            next: self.first_row,
            end,
            draws: self.rows,
        })
    }
}

/// Rows in the making.
pub struct SampledRows<'m> {
    model: &'m Model,
    decoder: RowsDecoder<'m>,
    /// What is known of every row.
    row: Vec<Option<Cell>>,
    unique: Option<UniqueCells>,
    given: Given,
    partial: Option<Partial>,
    streams: Streams,
    options: FillOptions,
    next: u64,
    end: u64,
    /// Samples of each partial row.
    draws: u64,
}

impl SampledRows<'_> {
    fn batch(&mut self, rows: usize) -> Result<RecordBatch, Error> {
        let first = self.next;
        self.next += rows as u64;
        let mut known = self.row.repeat(rows);
        if let Some(unique) = &self.unique {
            self.model.set_unique(unique, first, &mut known);
        }
        let columns = self.fill(&known, first)?;
        self.decoded(columns, first)
    }

    fn fill(&self, known: &[Option<Cell>], first: u64) -> Result<Vec<Cells>, Error> {
        let conditions = &self.given.conditions;
        let filled =
            self.model.denoiser.fill(known, conditions, first, self.options, &self.streams, |_| ())?;
        Ok(self.model.columns_of(&filled, known.len() / self.row.len().max(1)))
    }

    fn decoded(&self, columns: Vec<Cells>, first: u64) -> Result<RecordBatch, Error> {
        let rows = columns.iter().map(Cells::len).max().unwrap_or(0);
        let given = |column: usize| self.given.cells.iter().find(|given| given.column == column);
        let columns: Vec<Cells> = (0..)
            .zip(columns)
            .map(|(column, cells)| match given(column) {
                Some(given) => Cells::filled(given.cell, rows),
                None => cells,
            })
            .collect();
        let tie = |column: usize, row: usize| match given(column) {
            Some(given) => given.tie,
            None => {
                let tie = tie(&self.streams, column, first + row as u64);
                let cell = (row < columns[column].len()).then(|| columns[column].get(row));
                cell.and_then(|cell| self.given.tie(column, cell, tie)).unwrap_or(tie)
            }
        };
        Ok(self.decoder.batch_at(first, rows, &columns, tie)?)
    }

    /// The samples of the next partial rows.
    fn partial_batch(&mut self) -> Option<Result<RecordBatch, Error>> {
        let (draws, first) = (self.draws, self.next);
        let part = match self.partial.as_mut()?.next(self.model, draws).transpose()? {
            Ok(part) => part,
            Err(error) => return Some(Err(error)),
        };
        self.next += part.rows() as u64;
        Some(
            self.fill(&part.known(&self.row), first)
                .and_then(|columns| part.put(self.decoded(columns, first)?)),
        )
    }
}

impl Iterator for SampledRows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.partial.is_some() {
            return self.partial_batch();
        }
        let rows = CHUNK.min(self.end - self.next) as usize;
        (rows > 0).then(|| self.batch(rows))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.partial.is_some() {
            return (0, None);
        }
        let batches = (self.end - self.next).div_ceil(CHUNK) as usize;
        (batches, Some(batches))
    }
}

/// Which of the levels that share a code is written in a row.
pub(crate) fn tie(streams: &Streams, column: usize, row: u64) -> f64 {
    streams.block_stream(Purpose::RARE_LEVEL, column as u32, 0, row).unit()
}

impl Model {
    /// Filled cells `[rows, modelled columns]` by column of the schema.
    pub(crate) fn columns_of(&self, filled: &[Cell], rows: usize) -> Vec<Cells> {
        let places = &self.denoiser.net().coordinates().columns;
        let of_file = self.schema().columns.len();
        let mut columns = vec![Cells::new(); of_file];
        // Derived columns come last, and do not come out.
        for (at, place) in places.iter().enumerate().filter(|(_, place)| place.column < of_file) {
            columns[place.column] = (0..rows).map(|row| filled[row * places.len() + at]).collect();
        }
        columns
    }
}
