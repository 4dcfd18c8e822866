//! A whole table in memory, coded by column.

use pmm_core::{Purpose, Streams};

use super::coder::{CodedRow, ReadNotes};
use super::column::EMPTY;
use super::error::ReadError;
use super::records::Record;
use super::sample::Reservoir;
use super::schema::Schema;
use super::source::Source;

/// The cells of one column, by row; both empty for a column that is not modelled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cells {
    /// The level's code; for numbers 0 for an ordinary value and s + 1 for special s; [`EMPTY`] for a missing cell.
    pub code: Vec<u32>,
    /// The number; NaN for levels, for specials that are texts and for missing cells.
    pub value: Vec<f64>,
}

/// A coded table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Cells per column of the schema.
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
        let modelled: Vec<bool> = schema.columns.iter().map(|column| column.is_modelled()).collect();
        let width = modelled.iter().filter(|&&modelled| modelled).count().max(1);
        let mut reservoir = Reservoir::new(max_cells / width, streams, Purpose::TABLE_ROWS, 0);
        let mut table = Self { rows: 0, columns: vec![Cells::default(); modelled.len()], origin: vec![] };
        let (mut records, mut record, mut row) = (source.records()?, Record::default(), CodedRow::default());
        while records.read(&mut record)? {
            coder.code_into(&record, &mut row)?;
            if let Some(slot) = reservoir.slot() {
                table.put(slot, &row, &modelled, reservoir.seen() - 1);
            }
        }
        table.sort();
        let mut notes = coder.notes().clone();
        notes.rows_kept = table.rows as u64;
        Ok((table, notes))
    }

    fn put(&mut self, slot: usize, row: &CodedRow, modelled: &[bool], origin: u64) {
        if slot == self.rows {
            self.rows += 1;
            self.origin.push(origin);
            for (cells, _) in self.columns.iter_mut().zip(modelled).filter(|(_, modelled)| **modelled) {
                cells.code.push(EMPTY);
                cells.value.push(f64::NAN);
            }
        }
        self.origin[slot] = origin;
        for (cells, &(code, value)) in self.columns.iter_mut().zip(&row.cells) {
            if let (Some(to_code), Some(to_value)) = (cells.code.get_mut(slot), cells.value.get_mut(slot)) {
                (*to_code, *to_value) = (code, value);
            }
        }
    }

    /// Back to the order of the file, which replacing rows in a reservoir has lost.
    fn sort(&mut self) {
        if self.origin.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_unstable_by_key(|&row| self.origin[row]);
        for cells in self.columns.iter_mut().filter(|cells| !cells.code.is_empty()) {
            cells.code = order.iter().map(|&row| cells.code[row]).collect();
            cells.value = order.iter().map(|&row| cells.value[row]).collect();
        }
        self.origin.sort_unstable();
    }
}
