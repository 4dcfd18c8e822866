//! Whole rows of cells → record batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use pmm_core::Streams;

use super::cell::Cells;
use super::decoder::Decoder;
use super::error::WriteError;
use super::identifier::NewIdentifiers;
use super::output_column::OutputColumn;
use super::schema::{Coding, Column, Schema};

/// Turns cells of all columns of a schema to record batches.
pub struct RowsDecoder<'a> {
    decoders: Vec<Decoder<'a>>,
    schema: SchemaRef,
    /// New identifiers, for columns that name rows.
    identifiers: Vec<Option<NewIdentifiers<'a>>>,
}

impl Schema {
    /// The columns as they are written: names, types, and how delimited text shows them.
    pub fn output(&self) -> Vec<OutputColumn> {
        self.columns.iter().map(Column::output).collect()
    }

    /// A decoder of rows, to the types of [`output`](Self::output).
    pub fn decoder(&self) -> Result<RowsDecoder<'_>, WriteError> {
        let fields: Vec<_> = self.output().into_iter().map(|column| column.field).collect();
        let decoders = self.columns.iter().map(Column::decoder).collect::<Result<_, _>>()?;
        let identifiers = vec![None; self.columns.len()];
        Ok(RowsDecoder { decoders, schema: Arc::new(arrow_schema::Schema::new(fields)), identifiers })
    }

    /// What a person should know about columns that are not modelled, in new rows before number `end`.
    pub fn identifier_notes(&self, end: u64) -> Vec<String> {
        let out = |column: &&Column| matches!(column.coding, Coding::Out);
        let names = |new: bool| {
            let columns =
                self.columns.iter().filter(out).filter(|column| column.identifiers.is_some() == new);
            columns.map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (new, empty) = (names(true), names(false));
        let mut notes = Vec::new();
        if !new.is_empty() {
            notes.push(format!("new identifiers, none of them real: {new}"));
        }
        if !empty.is_empty() {
            notes.push(format!("not part of the model, so empty: {empty}"));
        }
        for column in &self.columns {
            let unshared = column.identifiers.as_ref().is_some_and(|known| known.shared.is_none());
            if let Some(possible) =
                column.possible_identifiers().filter(|possible| unshared && *possible < end)
            {
                let name = &column.name;
                notes.push(format!(
                    "{name} has {possible} new identifiers of its pattern, so rows beyond have none"
                ));
            }
        }
        notes
    }
}

impl<'a> RowsDecoder<'a> {
    /// Columns that name rows get new identifiers in [`batch_at`](Self::batch_at): where none repeats, none twice, and none
    /// of those that were learned from. The identifier of a row hangs on the seed, its column and its number alone.
    pub fn with_identifiers(mut self, streams: &Streams) -> Self {
        let new = |(place, decoder): (usize, &Decoder<'a>)| {
            Some(NewIdentifiers::new(decoder.column().identifiers.as_ref()?, place, streams))
        };
        self.identifiers = self.decoders.iter().enumerate().map(new).collect();
        self
    }

    /// Names and types of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// A batch of rows, from the cells of every column of the schema; columns that are not modelled have none, and are
    /// null or constant. `tie` gives the u of (column, row) for levels that share a code.
    pub fn batch(
        &self,
        rows: usize,
        columns: &[Cells],
        tie: impl Fn(usize, usize) -> f64,
    ) -> Result<RecordBatch, WriteError> {
        self.arrays(rows, columns, tie, |_| None)
    }

    /// The same, of rows from number `first` on, with new identifiers.
    pub fn batch_at(
        &self,
        first: u64,
        rows: usize,
        columns: &[Cells],
        tie: impl Fn(usize, usize) -> f64,
    ) -> Result<RecordBatch, WriteError> {
        self.arrays(rows, columns, tie, |place| {
            let new = self.identifiers[place].as_ref()?;
            let texts: Vec<Option<String>> = (0..rows as u64).map(|row| new.text(first + row)).collect();
            Some(self.decoders[place].of_texts(&texts))
        })
    }

    fn arrays(
        &self,
        rows: usize,
        columns: &[Cells],
        tie: impl Fn(usize, usize) -> f64,
        identifiers: impl Fn(usize) -> Option<Result<ArrayRef, WriteError>>,
    ) -> Result<RecordBatch, WriteError> {
        if columns.len() != self.decoders.len() {
            let (expected, found) = (self.decoders.len().to_string(), columns.len().to_string());
            return Err(WriteError::Columns { expected, found });
        }
        let arrays = (0..).zip(self.decoders.iter().zip(columns));
        let arrays = arrays.map(|(place, (decoder, cells))| {
            identifiers(place).unwrap_or_else(|| decoder.array(rows, cells, |row| tie(place, row)))
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| WriteError::Columnar { path: "rows".into(), reason: error.to_string() })
    }
}
