//! Rows of a table, some thousand at a time, in the types of their columns.

use std::borrow::Borrow;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::columnar::Reader;
use super::delimited::Lines;
use super::error::{Place, ReadError};
use super::parts::PartsReader;
use super::source::{Format, Source};

/// Rows of a batch, at most.
pub(crate) const ROWS: usize = 8_192;

/// Rows of one of the files of a table.
#[derive(Debug, Clone)]
pub(crate) struct FileRows {
    pub(crate) name: Arc<str>,
    /// The number of the first row in the file, from 0.
    pub(crate) first: u64,
}

/// Some rows of a table, one after the other.
#[derive(Debug, Clone)]
pub struct RowBatch {
    /// The number of the first row in the table, from 0.
    pub first: u64,
    /// The file that the rows are of, where a table has many.
    pub(crate) file: Option<FileRows>,
    /// The line at which each row begins, in delimited text.
    pub(crate) lines: Option<Vec<u64>>,
    /// The cells. Of delimited text every column is `Utf8`, with the cells exactly as they stand in the file; of Parquet,
    /// Arrow and batches in memory the arrays are as they came.
    pub batch: RecordBatch,
}

impl RowBatch {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Where a row of the batch is in the file; in a table of many files, in the whole table.
    pub fn place(&self, row: usize) -> Place {
        if self.file.is_some() {
            return Place::Row(self.first + row as u64 + 1);
        }
        self.place_in_file(row)
    }

    /// Where a row of the batch is in its own file.
    pub(crate) fn place_in_file(&self, row: usize) -> Place {
        let first = self.file.as_ref().map_or(self.first, |file| file.first);
        match self.lines.as_ref().and_then(|lines| lines.get(row)) {
            Some(&line) => Place::Line(line),
            None => Place::Row(first + row as u64 + 1),
        }
    }
}

/// The batches of a [`Source`], from its first row on; ends after the first error. `S` is a source, borrowed or shared.
pub struct Batches<S> {
    source: S,
    from: From,
    done: bool,
}

enum From {
    Delimited(Box<Lines>),
    Columnar(Reader),
    Parts(PartsReader),
}

impl<S: Borrow<Source>> Batches<S> {
    /// From the first row on.
    pub fn new(holder: S) -> Result<Self, ReadError> {
        let source = holder.borrow();
        let from = match source.format() {
            Format::Delimited { gzip, .. } => {
                let mut lines = Lines::open(source, gzip)?;
                if source.header() {
                    lines.record(source)?;
                }
                From::Delimited(Box::new(lines))
            }
            Format::Parts { .. } => From::Parts(PartsReader::new(source.parts()?)),
            _ => From::Columnar(Reader::open(source)?),
        };
        Ok(Self { source: holder, from, done: false })
    }
}

impl<S: Borrow<Source>> Iterator for Batches<S> {
    type Item = Result<RowBatch, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = match &mut self.from {
            From::Delimited(lines) => lines.batch(self.source.borrow()),
            From::Columnar(reader) => reader.batch(self.source.borrow()),
            From::Parts(reader) => reader.batch(),
        };
        self.done = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
