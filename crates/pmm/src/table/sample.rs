//! New rows.

use arrow_array::RecordBatch;
use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, CellError, Cells, Coding, Kind, OutputColumn, RowsDecoder};
use pmm_net::table::{CellCoordinates, FillOptions};

use super::columns::find_modelled;
use super::model::Model;
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
    model: &'m Model,
    rows: u64,
    first_row: u64,
    given: Vec<(String, String)>,
    seed: u64,
    options: FillOptions,
}

impl<'m> Sample<'m> {
    pub(crate) fn new(model: &'m Model, rows: u64) -> Self {
        Self { model, rows, first_row: 0, given: Vec::new(), seed: 0, options: FillOptions::default() }
    }

    /// A cell that is given, as a file would have it.
    pub fn given(mut self, column: &str, value: impl ToString) -> Self {
        self.given.push((column.to_owned(), value.to_string()));
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
        let is_out = |column: &&pmm_data::Column| {
            matches!(column.kind, Kind::Identifier | Kind::Text) || matches!(column.coding, Coding::Out)
        };
        let out: Vec<&str> =
            schema.columns.iter().filter(is_out).map(|column| column.name.as_str()).collect();
        let mut notes = Vec::new();
        if !out.is_empty() {
            notes.push(format!("not part of the model, so empty: {}", out.join(", ")));
        }
        for given in self.parsed()? {
            let column = &schema.columns[given.column];
            let (Coding::Numbers(numbers), Cell::Value(value)) = (&column.coding, given.cell) else {
                continue;
            };
            let values = numbers.grid.values();
            let (low, high) = (values[0], values[values.len() - 1]);
            if value < low || value > high {
                let [low, high] = [low, high].map(|value| column.text(Cell::Value(value), 0.5));
                let (name, text) = (&column.name, &given.text);
                notes.push(format!(
                    "{name}={text} is outside what was seen ({low} to {high}): the model extrapolates"
                ));
            }
        }
        Ok(notes)
    }

    /// The columns of the rows, for a writer.
    pub fn columns(&self) -> Vec<OutputColumn> {
        self.model.schema().output()
    }

    /// The rows, batch by batch: never all in memory.
    pub fn rows(self) -> Result<SampledRows<'m>, Error> {
        let given = self.parsed()?;
        let Some(end) = self.first_row.checked_add(self.rows) else {
            return Err(Error::request("there are no rows beyond number 2^64", "ask for fewer rows"));
        };
        let schema = self.model.schema();
        let places = &self.model.denoiser.net().coordinates().columns;
        let coordinates = |place: &pmm_net::table::ColumnPlace| {
            let cell = given.iter().find(|given| given.column == place.column).map(|given| given.cell);
            cell.map_or(CellCoordinates::default(), |cell| {
                place.coordinates(&schema.columns[place.column], cell)
            })
        };
        Ok(SampledRows {
            model: self.model,
            decoder: schema.decoder()?,
            row: places.iter().map(coordinates).collect(),
            given,
            streams: Streams::new(self.seed),
            options: self.options,
            next: self.first_row,
            end,
        })
    }

    fn parsed(&self) -> Result<Vec<Given>, Error> {
        let mut given: Vec<Given> = Vec::new();
        for (name, text) in &self.given {
            let cell = Given::parse(self.model, name, text)?;
            if given.iter().any(|other| other.column == cell.column) {
                return Err(Error::request(format!("the column {name} is given twice"), "give it once"));
            }
            given.push(cell);
        }
        Ok(given)
    }
}

/// A cell that is given.
#[derive(Debug, Clone, PartialEq)]
struct Given {
    /// Its column of the schema.
    column: usize,
    cell: Cell,
    /// What was given, which is what comes out.
    text: String,
    /// Among levels that share a code, which one.
    tie: f64,
}

impl Given {
    fn parse(model: &Model, name: &str, text: &str) -> Result<Self, Error> {
        let schema = model.schema();
        let index = find_modelled(schema, name.trim())?;
        let column = &schema.columns[index];
        let refused = |source| Error::Given { column: column.name.clone(), value: text.to_owned(), source };
        let cell = column.parse(text).map_err(refused)?;
        let place = model.denoiser.net().coordinates().columns.iter().find(|place| place.column == index);
        let known = place.and_then(|place| place.tokens.as_ref()).map_or(&[][..], |tokens| &tokens.values);
        if let Cell::Value(value) = cell
            && !known.is_empty()
            && !known.contains(&value)
        {
            let nearest = known.iter().min_by(|a, b| (*a - value).abs().total_cmp(&(*b - value).abs()));
            let nearest = nearest.map_or_else(String::new, |value| column.text(Cell::Value(*value), 0.5));
            return Err(refused(CellError::OffGrid { text: text.trim().to_owned(), nearest }));
        }
        Ok(Self { column: index, cell, text: text.to_owned(), tie: column.tie(text) })
    }
}

/// Rows in the making.
pub struct SampledRows<'m> {
    model: &'m Model,
    decoder: RowsDecoder<'m>,
    /// What is known of every row.
    row: Vec<CellCoordinates>,
    given: Vec<Given>,
    streams: Streams,
    options: FillOptions,
    next: u64,
    end: u64,
}

impl SampledRows<'_> {
    fn batch(&mut self, rows: usize) -> Result<RecordBatch, Error> {
        let first = self.next;
        self.next += rows as u64;
        let known = self.row.repeat(rows);
        let filled = self.model.denoiser.fill(&known, first, self.options, &self.streams, |_| ())?;
        let columns = self.model.columns_of(&filled, rows);
        let given = |column: usize| self.given.iter().find(|given| given.column == column);
        let columns: Vec<Cells> = (0..)
            .zip(columns)
            .map(|(column, cells)| match given(column) {
                Some(given) => Cells::filled(given.cell, rows),
                None => cells,
            })
            .collect();
        let tie = |column: usize, row: usize| match given(column) {
            Some(given) => given.tie,
            None => tie(&self.streams, column, first + row as u64),
        };
        Ok(self.decoder.batch(rows, &columns, tie)?)
    }
}

impl Iterator for SampledRows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = CHUNK.min(self.end - self.next) as usize;
        (rows > 0).then(|| self.batch(rows))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
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
        let mut columns = vec![Cells::new(); self.schema().columns.len()];
        for (at, place) in places.iter().enumerate() {
            columns[place.column] = (0..rows).map(|row| filled[row * places.len() + at]).collect();
        }
        columns
    }
}
