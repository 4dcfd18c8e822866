//! Missing cells filled by draws from their law given the rest of the row.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, SchemaRef};
use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, OutputColumn, RowBatch};
use pmm_net::table::{Conditions, FillOptions, TableDenoiser};

use super::data::Data;
use super::model::Model;
use super::row_keys::{Numbering, RowKeys, by_runs};
use super::rows::{Empty, Reader, known};
use super::sample::tie;
use crate::error::Error;

/// Rows whose missing cells are to be filled. Every other cell stays as it is, to the bit.
#[derive(Debug, Clone)]
pub struct Impute<'m> {
    model: &'m Model,
    data: Data,
    draws: Option<u64>,
    seed: u64,
    keys: RowKeys,
    options: FillOptions,
    typed: bool,
}

impl<'m> Impute<'m> {
    pub(crate) fn new(model: &'m Model, data: Data) -> Self {
        Self {
            model,
            data,
            draws: None,
            seed: 0,
            keys: RowKeys::default(),
            options: FillOptions::default(),
            typed: false,
        }
    }

    /// So many completed tables, one after the other, numbered from 1 in a first column `draw`.
    pub fn draws(mut self, draws: u64) -> Self {
        self.draws = Some(draws);
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The number of the first row: draws are keyed by it, so that pieces of a table are filled as the whole would be.
    pub fn first_row(mut self, row: u64) -> Self {
        self.keys.first_row = row;
        self
    }

    /// A column whose cells name the rows, in place of their numbers: whatever order rows come in, and in whatever pieces, one with the
    /// same key is filled alike. A key that is empty, or that comes twice, is refused.
    pub fn key(mut self, column: &str) -> Self {
        self.keys.column = Some(column.to_owned());
        self
    }

    /// Network calls per row, for models with gradual clocks; 100 by default.
    pub fn steps(mut self, steps: usize) -> Self {
        self.options.steps = steps;
        self
    }

    /// Lets repeated values take values that were never seen.
    pub fn without_snapping(mut self) -> Self {
        self.options.snap = false;
        self
    }

    /// Rows of a text file come out in the types of their columns, in place of texts.
    pub fn typed(mut self) -> Self {
        self.typed = true;
        self
    }

    /// The completed rows, batch by batch, in the columns and types of the table.
    pub fn rows(self) -> Result<ImputedRows<'m>, Error> {
        let reader = Reader::open(&self.data, self.model.schema())?;
        let numbering = self.keys.open(&reader)?;
        let mut fields: Vec<Field> =
            reader.source().schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        let typed = self.typed && reader.source().is_delimited();
        for (index, column) in self.model.schema().columns.iter().enumerate().filter(|_| typed) {
            if let Some(place) = reader.place(index) {
                fields[place] =
                    Field::new(fields[place].name(), column.column_type().data_type().clone(), true);
            }
        }
        if self.draws.is_some() {
            let mut name = "draw".to_owned();
            while fields.iter().any(|field| *field.name() == name) {
                name.push('_');
            }
            fields.insert(0, Field::new(name, DataType::Int64, false));
        }
        Ok(ImputedRows {
            model: self.model,
            denoiser: self.model.denoiser.clone().complete(true),
            reader,
            schema: Arc::new(arrow_schema::Schema::new(fields)),
            draws: self.draws,
            draw: 0,
            streams: Streams::new(self.seed),
            numbering,
            options: self.options,
            typed,
            filled: 0,
        })
    }
}

/// Completed rows in the making.
pub struct ImputedRows<'m> {
    model: &'m Model,
    denoiser: TableDenoiser,
    reader: Reader,
    schema: SchemaRef,
    draws: Option<u64>,
    draw: u64,
    streams: Streams,
    numbering: Numbering,
    options: FillOptions,
    typed: bool,
    filled: u64,
}

impl ImputedRows<'_> {
    /// Names and types of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns, for a writer.
    pub fn columns(&self) -> Vec<OutputColumn> {
        OutputColumn::of_schema(&self.schema)
    }

    /// What separates fields in the table's file.
    pub fn delimiter(&self) -> char {
        self.reader.source().delimiter()
    }

    /// Cells that were filled so far.
    pub fn filled(&self) -> u64 {
        self.filled
    }

    /// What was noticed so far.
    pub fn notes(&self) -> Vec<String> {
        self.reader.notes()
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if let Some((batch, cells)) = self.reader.next()? {
                return self.fill(&batch, &cells).map(Some);
            }
            self.draw += 1;
            if self.draw >= self.draws.unwrap_or(1) {
                return Ok(None);
            }
            self.reader.restart()?;
            self.numbering.restart();
        }
    }

    fn fill(&mut self, batch: &RowBatch, cells: &[Cells]) -> Result<RecordBatch, Error> {
        let streams = self.streams.child(Purpose::IMPUTATION, self.draw);
        let (rows, numbers) = (batch.rows(), self.numbering.numbers(batch)?);
        let known = known(self.model, rows, cells, Empty::Unknown);
        let (columns, conditions) = (known.len() / rows.max(1), Conditions::default());
        let filled = by_runs(&numbers, |run, first| {
            let known = &known[run.start * columns..run.end * columns];
            Ok(self.denoiser.fill(known, &conditions, first, self.options, &streams, |_| ())?)
        })?;
        let filled = self.model.columns_of(&filled, rows);
        let mut arrays: Vec<ArrayRef> = batch.batch.columns().to_vec();
        for (index, column) in self.model.schema().columns.iter().enumerate() {
            let Some(place) = self.reader.place(index) else { continue };
            if column.is_modelled() {
                let gaps: Vec<bool> = cells[index].iter().map(|cell| cell == Cell::Missing).collect();
                self.filled += gaps.iter().filter(|gap| **gap).count() as u64;
                let tie = |row: usize| tie(&streams, index, numbers[row]);
                let decoder = column.decoder_to(arrays[place].data_type())?;
                arrays[place] = decoder.fill(&arrays[place], &gaps, &filled[index], tie)?;
            }
            if self.typed {
                arrays[place] = column.decoder()?.typed(&arrays[place], &self.model.schema().missing)?;
            }
        }
        if self.draws.is_some() {
            arrays.insert(0, Arc::new(Int64Array::from(vec![self.draw as i64 + 1; rows])));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(|error| {
            Error::request(format!("the rows cannot be put together: {error}"), "report this as a bug")
        })
    }
}

impl Iterator for ImputedRows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
