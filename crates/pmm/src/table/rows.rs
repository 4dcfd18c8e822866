//! Rows of another file of a model's table, a batch at a time.

use std::sync::Arc;

use pmm_data::{Batches, Cell, Cells, Coder, RowBatch, Schema, Source};
use pmm_net::table::ColumnPlace;

use super::data::Data;
use super::model::Model;
use crate::error::Error;

/// What an empty cell says, in rows that a model is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Empty {
    /// That there is nothing: one more fact about the row, where the training rows had such cells.
    #[default]
    Missing,
    /// Nothing: the cell has a value that is not known.
    Unknown,
}

/// Reads and codes rows.
pub(crate) struct Reader {
    source: Arc<Source>,
    batches: Batches<Arc<Source>>,
    coder: Coder<Arc<Schema>>,
}

impl Reader {
    pub(crate) fn open(data: &Data, schema: &Arc<Schema>) -> Result<Self, Error> {
        Self::new(Arc::new(data.source_like(schema)?), schema)
    }

    pub(crate) fn new(source: Arc<Source>, schema: &Arc<Schema>) -> Result<Self, Error> {
        let (coder, batches) = (Coder::new(schema.clone(), &source)?, Batches::new(source.clone())?);
        Ok(Self { source, batches, coder })
    }

    /// From the first row on again.
    pub(crate) fn restart(&mut self) -> Result<(), Error> {
        self.batches = Batches::new(self.source.clone())?;
        Ok(())
    }

    /// The next rows, as they are and coded; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(RowBatch, Vec<Cells>)>, Error> {
        let Some(batch) = self.batches.next() else { return Ok(None) };
        let batch = batch?;
        let cells = self.coder.code(&batch)?;
        Ok(Some((batch, cells)))
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The place in the file of a column of the schema.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        self.coder.place(column)
    }

    /// What was noticed so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes_without("")
    }

    /// The same, where it goes without saying that a column is not given: it is asked for.
    pub(crate) fn notes_without(&self, asked: &str) -> Vec<String> {
        let mut notes = self.coder.notes().clone();
        notes.absent.retain(|name| name != asked);
        self.source.notes().iter().cloned().chain(notes.messages()).collect()
    }
}

/// What is known of rows, `[rows, modelled columns]`.
pub(crate) fn known(model: &Model, rows: usize, columns: &[Cells], empty: Empty) -> Vec<Option<Cell>> {
    let places = &model.denoiser.net().coordinates().columns;
    let cell = |row: usize, place: &ColumnPlace| {
        // A column that the file does not have is unknown, as is one that is derived from others.
        let cells = columns.get(place.column).filter(|cells| !cells.is_empty())?;
        match cells.get(row) {
            Cell::Missing if empty == Empty::Unknown => None,
            cell => {
                let schema = &model.denoiser.net().schema().columns[place.column];
                (!place.coordinates(schema, cell).is_unknown()).then_some(cell)
            }
        }
    };
    (0..rows).flat_map(|row| places.iter().map(move |place| cell(row, place))).collect()
}
