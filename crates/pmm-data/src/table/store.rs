//! A whole table in memory, coded by column.

use pmm_core::{Purpose, Streams};

use super::cell::{Cell, Cells};
use super::coder::ReadNotes;
use super::error::ReadError;
use super::sample::Reservoir;
use super::schema::Schema;
use super::source::Source;

/// A coded table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Cells per column of the schema; none for a column that is not modelled, or that the file does not have
    /// ([`ReadNotes::absent`]).
    pub columns: Vec<Cells>,
    /// The place in the file of every row, from 0.
    pub origin: Vec<u64>,
}

impl Table {
    /// Reads and codes a file. Of a file with more than `max_cells` modelled cells a uniform sample of rows is kept, in the
    /// order of the file; the notes say so.
    pub fn read(
        source: &Source,
        schema: &Schema,
        max_cells: usize,
        streams: &Streams,
    ) -> Result<(Self, ReadNotes), ReadError> {
        let mut coder = schema.coder(source)?;
        let width = schema.columns.iter().filter(|column| column.is_modelled()).count().max(1);
        let mut reservoir = Reservoir::new(max_cells / width, streams, Purpose::TABLE_ROWS, 0);
        let columns = vec![Cells::default(); schema.columns.len()];
        let mut table = Self { rows: 0, columns, origin: vec![] };
        for batch in source.batches()? {
            let batch = batch?;
            let cells = coder.code(&batch)?;
            for row in 0..batch.rows() {
                if let Some(slot) = reservoir.slot() {
                    table.put(slot, &cells, row, batch.first + row as u64);
                }
            }
        }
        table.sort();
        let mut notes = coder.notes().clone();
        notes.rows_kept = table.rows as u64;
        Ok((table, notes))
    }

    fn put(&mut self, slot: usize, cells: &[Cells], row: usize, origin: u64) {
        let present = |cells: &&Cells| !cells.is_empty();
        if slot == self.rows {
            self.rows += 1;
            self.origin.push(origin);
            for (column, _) in self.columns.iter_mut().zip(cells).filter(|(_, cells)| present(cells)) {
                column.push(Cell::Missing);
            }
        }
        self.origin[slot] = origin;
        for (column, cells) in self.columns.iter_mut().zip(cells).filter(|(_, cells)| present(cells)) {
            column.set(slot, cells.get(row));
        }
    }

    /// Back to the order of the file, which replacing rows in a reservoir has lost.
    fn sort(&mut self) {
        if self.origin.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_unstable_by_key(|&row| self.origin[row]);
        for cells in self.columns.iter_mut().filter(|cells| !cells.is_empty()) {
            *cells = cells.select(&order);
        }
        self.origin.sort_unstable();
    }
}
