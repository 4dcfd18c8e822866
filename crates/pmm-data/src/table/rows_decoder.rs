//! Whole rows of cells → record batches.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use super::cell::Cells;
use super::decoder::Decoder;
use super::error::WriteError;
use super::output_column::OutputColumn;
use super::schema::{Column, Schema};

/// Turns cells of all columns of a schema to record batches.
pub struct RowsDecoder<'a> {
    decoders: Vec<Decoder<'a>>,
    schema: SchemaRef,
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
        Ok(RowsDecoder { decoders, schema: Arc::new(arrow_schema::Schema::new(fields)) })
    }
}

impl RowsDecoder<'_> {
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
        if columns.len() != self.decoders.len() {
            let (expected, found) = (self.decoders.len().to_string(), columns.len().to_string());
            return Err(WriteError::Columns { expected, found });
        }
        let arrays = (0..).zip(self.decoders.iter().zip(columns));
        let arrays =
            arrays.map(|(place, (decoder, cells))| decoder.array(rows, cells, |row| tie(place, row)));
        let arrays = arrays.collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| WriteError::Columnar { path: "rows".into(), reason: error.to_string() })
    }
}
