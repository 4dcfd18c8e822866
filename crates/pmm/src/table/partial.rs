//! Rows of which some cells are given: samples are drawn for each of them.

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_select::take::take;
use arrow_select::zip::zip;
use pmm_data::{Cell, Cells, RowBatch};

use super::data::Data;
use super::given::Given;
use super::model::Model;
use super::rows::{Empty, Reader, known};
use crate::error::Error;

/// Samples that are drawn together.
const CHUNK: u64 = 4096;

/// Partial rows of a file, a few at a time.
pub(crate) struct Partial {
    reader: Reader,
    /// Rows that were read, and how many of them are done.
    open: Option<(RowBatch, Vec<Cells>, usize)>,
}

/// Some partial rows, each repeated.
pub(crate) struct Part {
    cells: Vec<Option<Cell>>,
    /// The columns of the file, by column of the schema.
    arrays: Vec<(usize, ArrayRef)>,
    rows: usize,
}

impl Partial {
    pub(crate) fn open(data: &Data, model: &Model, given: &Given) -> Result<Self, Error> {
        let reader = Reader::open(data, model.schema())?;
        let twice = given.cells.iter().find(|given| reader.place(given.column).is_some());
        if let Some(given) = twice {
            let name = &model.schema().columns[given.column].name;
            let what = format!("the column {name} is given for all rows and in the partial rows");
            return Err(Error::request(what, "give it once"));
        }
        Ok(Self { reader, open: None })
    }

    /// The next rows, each so many times; none at the end.
    pub(crate) fn next(&mut self, model: &Model, draws: u64) -> Result<Option<Part>, Error> {
        if draws == 0 {
            return Ok(None);
        }
        loop {
            let (batch, cells, done) = match self.open.take() {
                Some(open) => open,
                None => match self.reader.next()? {
                    Some((batch, cells)) => (batch, cells, 0),
                    None => return Ok(None),
                },
            };
            if done >= batch.rows() {
                continue;
            }
            let some = ((CHUNK / draws).max(1) as usize).min(batch.rows() - done);
            let part = self.part(model, &batch, &cells, done..done + some, draws)?;
            self.open = Some((batch, cells, done + some));
            return Ok(Some(part));
        }
    }

    fn part(
        &self,
        model: &Model,
        batch: &RowBatch,
        cells: &[Cells],
        rows: std::ops::Range<usize>,
        draws: u64,
    ) -> Result<Part, Error> {
        let all = known(model, batch.rows(), cells, Empty::Unknown);
        let columns = all.len() / batch.rows().max(1);
        let repeated: Vec<usize> = rows.flat_map(|row| std::iter::repeat_n(row, draws as usize)).collect();
        let cells = repeated.iter().flat_map(|row| all[row * columns..][..columns].iter().copied()).collect();
        let places = UInt64Array::from_iter_values(repeated.iter().map(|row| *row as u64));
        let mut arrays = Vec::new();
        for (index, column) in model.schema().columns.iter().enumerate() {
            if let Some(place) = self.reader.place(index) {
                let array = take(batch.batch.column(place), &places, None).map_err(put_together)?;
                let array = column.decoder()?.typed(&array, &model.schema().missing)?;
                arrays.push((index, array));
            }
        }
        Ok(Part { cells, arrays, rows: repeated.len() })
    }
}

impl Part {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// What is known of the rows, with what is given for all of them.
    pub(crate) fn known(&self, given: &[Option<Cell>]) -> Vec<Option<Cell>> {
        let columns = given.len().max(1);
        self.cells.iter().enumerate().map(|(i, cell)| cell.or(given[i % columns])).collect()
    }

    /// Drawn rows, with the given cells as they were.
    pub(crate) fn put(&self, drawn: RecordBatch) -> Result<RecordBatch, Error> {
        let mut arrays = drawn.columns().to_vec();
        for (index, array) in &self.arrays {
            let given = BooleanArray::from_iter((0..array.len()).map(|row| Some(array.is_valid(row))));
            let drawn = &arrays[*index];
            let array = if array.data_type() == drawn.data_type() {
                array.clone()
            } else {
                // Another type of the same values.
                arrow_cast::cast(array, drawn.data_type()).map_err(put_together)?
            };
            arrays[*index] = zip(&given, &array, drawn).map_err(put_together)?;
        }
        RecordBatch::try_new(drawn.schema(), arrays).map_err(put_together)
    }
}

fn put_together(error: arrow_schema::ArrowError) -> Error {
    Error::request(format!("the rows cannot be put together: {error}"), "report this as a bug")
}
