//! Records of any file of the same table → codes and values, by the names of the columns.

use std::collections::HashMap;

use super::column::EMPTY;
use super::error::{CellError, ReadError};
use super::missing::Markers;
use super::near::listed;
use super::records::Record;
use super::schema::{Coding, Schema};
use super::source::Source;

/// Code and value of every column of the schema; constants and columns out of the model are `(EMPTY, NaN)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CodedRow {
    /// `(code, value)` as in [`Cells`](super::Cells).
    pub cells: Vec<(u32, f64)>,
}

/// A level that the schema does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// How many cells had such a level.
    pub count: u64,
    /// Some of the levels.
    pub examples: Vec<String>,
}

/// What was noticed while coding a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadNotes {
    /// Rows read.
    pub rows_seen: u64,
    /// Rows kept; fewer if a table was sampled.
    pub rows_kept: u64,
    /// Columns of the file that the schema does not have: ignored.
    pub extra: Vec<String>,
    /// Modelled columns of the schema that the file does not have: missing in every row.
    pub absent: Vec<String>,
    /// Levels that the schema does not know: missing.
    pub unseen: Vec<Unseen>,
}

impl ReadNotes {
    /// The notes as sentences; none if there is nothing to say.
    pub fn messages(&self) -> Vec<String> {
        let mut messages = Vec::new();
        if self.rows_kept < self.rows_seen {
            messages.push(format!("a sample of {} of {} rows is used", self.rows_kept, self.rows_seen));
        }
        if !self.extra.is_empty() {
            messages.push(format!("columns not in the model are ignored: {}", listed(&self.extra)));
        }
        if !self.absent.is_empty() {
            messages.push(format!("columns not in the file are taken as missing: {}", listed(&self.absent)));
        }
        for unseen in &self.unseen {
            let levels = listed(&unseen.examples);
            messages.push(format!(
                "column {}: {} cells with levels never seen before are taken as missing: {levels}",
                unseen.column, unseen.count
            ));
        }
        messages
    }
}

/// Codes the records of one file.
pub struct Coder<'a> {
    schema: &'a Schema,
    path: String,
    markers: Markers,
    /// The place in a record of every column of the schema.
    places: Vec<Option<usize>>,
    notes: ReadNotes,
    /// The place in `notes.unseen` of a column.
    unseen: HashMap<usize, usize>,
}

/// Examples of unseen levels that are kept.
const EXAMPLES: usize = 5;

impl Schema {
    /// A coder for a file: its columns are matched by name, or by position if it has no header line.
    pub fn coder(&self, source: &Source) -> Result<Coder<'_>, ReadError> {
        let (path, names) = (source.name().to_owned(), source.names());
        let places: Vec<Option<usize>> = if source.header() {
            let index: HashMap<&str, usize> =
                names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
            self.columns.iter().map(|column| index.get(column.name.as_str()).copied()).collect()
        } else if names.len() == self.columns.len() {
            (0..names.len()).map(Some).collect()
        } else {
            return Err(ReadError::ColumnCount { path, expected: self.columns.len(), found: names.len() });
        };
        if places.iter().all(Option::is_none) {
            let expected = self.columns.iter().map(|column| column.name.clone()).collect();
            return Err(ReadError::NoCommonColumn { path, expected });
        }
        let absent = self
            .columns
            .iter()
            .zip(&places)
            .filter(|(column, place)| place.is_none() && column.is_modelled());
        let absent = absent.map(|(column, _)| column.name.clone()).collect();
        let extra = (0..names.len())
            .filter(|place| !places.contains(&Some(*place)))
            .map(|place| names[place].clone());
        let notes = ReadNotes { extra: extra.collect(), absent, ..ReadNotes::default() };
        let markers = Markers::new(&self.missing);
        Ok(Coder { schema: self, path, markers, places, notes, unseen: HashMap::new() })
    }
}

impl Coder<'_> {
    /// Codes one record. A level never seen is missing and noted; what is no number in a number column is an error.
    pub fn code(&mut self, record: &Record) -> Result<CodedRow, ReadError> {
        let mut row = CodedRow::default();
        self.code_into(record, &mut row)?;
        Ok(row)
    }

    /// Like [`code`](Self::code), reusing the memory of `row`.
    pub fn code_into(&mut self, record: &Record, row: &mut CodedRow) -> Result<(), ReadError> {
        self.notes.rows_seen += 1;
        self.notes.rows_kept = self.notes.rows_seen;
        row.cells.clear();
        for place in 0..self.places.len() {
            let cell = self.cell(place, record)?;
            row.cells.push(cell);
        }
        Ok(())
    }

    fn cell(&mut self, place: usize, record: &Record) -> Result<(u32, f64), ReadError> {
        let (schema, missing) = (self.schema, (EMPTY, f64::NAN));
        let column = &schema.columns[place];
        let written = self.places[place].and_then(|at| record.cells.get(at)).map_or("", String::as_str);
        let text = written.trim();
        if !column.is_modelled() || text.is_empty() {
            return Ok(missing);
        }
        if let Coding::Levels(levels) = &column.coding {
            // A level is what was read, blanks included; a marker may be a level.
            return Ok(match levels.code(written).or_else(|| levels.code(text)) {
                Some(code) => (code, f64::NAN),
                None if self.markers.is_missing(text) => missing,
                None => {
                    self.note_unseen(place, text);
                    missing
                }
            });
        }
        if self.markers.is_missing(text) {
            return Ok(missing);
        }
        column.parse(written).map_err(|cell| self.refusal(record.line, &column.name, cell))
    }

    fn refusal(&self, line: u64, column: &str, cell: CellError) -> ReadError {
        ReadError::Cell { path: self.path.clone(), line, column: column.to_owned(), cell: Box::new(cell) }
    }

    fn note_unseen(&mut self, place: usize, text: &str) {
        let unseen = &mut self.notes.unseen;
        let at = *self.unseen.entry(place).or_insert_with(|| {
            unseen.push(Unseen {
                column: self.schema.columns[place].name.clone(),
                count: 0,
                examples: vec![],
            });
            unseen.len() - 1
        });
        let unseen = &mut unseen[at];
        unseen.count += 1;
        if unseen.examples.len() < EXAMPLES && unseen.examples.iter().all(|example| example != text) {
            unseen.examples.push(text.to_owned());
        }
    }

    /// What was noticed so far.
    pub fn notes(&self) -> &ReadNotes {
        &self.notes
    }
}
