//! Rows of any file of the same table → cells, by the names of the columns.

use std::borrow::Borrow;
use std::collections::HashMap;

use arrow_schema::DataType;

use super::batches::RowBatch;
use super::cell::{Cell, Cells};
use super::error::{CellError, Place, ReadError};
use super::missing::{ColumnMarkers, MarkerRole, MarkerUse, Markers};
use super::near::listed;
use super::scalar::Scalar;
use super::schema::{Column, Schema};
use super::source::Source;
use super::value_coder::ValueCoder;
use super::view::View;

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
    /// Modelled columns of the schema that the file does not have: unknown in every row.
    pub absent: Vec<String>,
    /// Levels that the schema does not know: unknown.
    pub unseen: Vec<Unseen>,
    /// Texts that may mark a missing cell, and whether they did, by column.
    pub markers: Vec<ColumnMarkers>,
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
            messages.push(format!("columns that are not given are unknown: {}", listed(&self.absent)));
        }
        for unseen in &self.unseen {
            let levels = listed(&unseen.examples);
            messages.push(format!(
                "column {}: {} cells with levels never seen before are taken as unknown: {levels}",
                unseen.column, unseen.count
            ));
        }
        if let Some(missing) = ColumnMarkers::listed(&self.markers, MarkerRole::Missing) {
            messages.push(format!("taken as missing: {missing}"));
        }
        if let Some(levels) = ColumnMarkers::listed(&self.markers, MarkerRole::Level) {
            messages.push(format!("taken as levels of their columns, not as missing: {levels}"));
        }
        messages
    }
}

/// Codes the rows of one file. `S` is a schema, borrowed or shared.
pub struct Coder<S> {
    schema: S,
    path: String,
    /// What is missing in delimited text; elsewhere only null is.
    markers: Option<Markers>,
    columns: Vec<CodedColumn>,
    absent: Vec<usize>,
    notes: ReadNotes,
    /// The place in `notes.unseen` of a column.
    unseen: HashMap<usize, usize>,
}

/// One column of the schema in this file.
struct CodedColumn {
    /// Its place in the file.
    place: Option<usize>,
    values: ValueCoder,
}

/// Examples of unseen levels that are kept.
const EXAMPLES: usize = 5;

impl Schema {
    /// A coder for a file: its columns are matched by name, or by position if it has no header line.
    pub fn coder(&self, source: &Source) -> Result<Coder<&Self>, ReadError> {
        Coder::new(self, source)
    }
}

impl<S: Borrow<Schema>> Coder<S> {
    /// A coder of a schema, borrowed or shared.
    pub fn new(holder: S, source: &Source) -> Result<Self, ReadError> {
        let schema = holder.borrow();
        let (path, names) = (source.name().to_owned(), source.names());
        let places: Vec<Option<usize>> = if source.header() {
            let index: HashMap<&str, usize> =
                names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
            schema.columns.iter().map(|column| index.get(column.name.as_str()).copied()).collect()
        } else if names.len() == schema.columns.len() {
            (0..names.len()).map(Some).collect()
        } else {
            return Err(ReadError::ColumnCount { path, expected: schema.columns.len(), found: names.len() });
        };
        if places.iter().all(Option::is_none) {
            let expected = schema.columns.iter().map(|column| column.name.clone()).collect();
            return Err(ReadError::NoCommonColumn { path, expected });
        }
        let absent: Vec<usize> = (0..places.len())
            .filter(|&column| places[column].is_none() && schema.columns[column].is_modelled())
            .collect();
        let extra = (0..names.len())
            .filter(|place| !places.contains(&Some(*place)))
            .map(|place| names[place].clone());
        let absent_names = absent.iter().map(|&column| schema.columns[column].name.clone()).collect();
        let notes = ReadNotes { extra: extra.collect(), absent: absent_names, ..ReadNotes::default() };
        let markers = source.is_delimited().then(|| Markers::new(&schema.missing));
        let coded = |(column, place): (&Column, Option<usize>)| {
            let data_type = place.map_or(&DataType::Utf8, |place| source.schema().field(place).data_type());
            let refused = |cell| ReadError::Cell {
                path: path.clone(),
                place: Place::Row(1),
                column: column.name.clone(),
                cell: Box::new(cell),
            };
            Ok(CodedColumn { place, values: ValueCoder::new(column, data_type).map_err(refused)? })
        };
        let columns = schema.columns.iter().zip(places).map(coded).collect::<Result<_, ReadError>>()?;
        Ok(Self { schema: holder, path, markers, columns, absent, notes, unseen: HashMap::new() })
    }

    /// Codes some rows: cells by column of the schema. Columns that are not modelled, and those that the file does not have
    /// (see [`absent`](Self::absent)), have no cells at all. A level never seen is [`Cell::Unseen`] and noted; what is no
    /// number in a number column is an error.
    pub fn code(&mut self, rows: &RowBatch) -> Result<Vec<Cells>, ReadError> {
        let cells = (0..self.columns.len()).map(|column| self.code_column(column, rows)).collect();
        self.notes.rows_seen += rows.rows() as u64;
        self.notes.rows_kept = self.notes.rows_seen;
        cells
    }

    /// Modelled columns that the file does not have: unknown in every row, which is not missing.
    pub fn absent(&self) -> &[usize] {
        &self.absent
    }

    /// The place in the file of a column of the schema.
    pub fn place(&self, column: usize) -> Option<usize> {
        self.columns[column].place
    }

    /// What was noticed so far.
    pub fn notes(&self) -> &ReadNotes {
        &self.notes
    }

    fn code_column(&mut self, index: usize, rows: &RowBatch) -> Result<Cells, ReadError> {
        let column = &self.schema.borrow().columns[index];
        let Some(place) = self.columns[index].place.filter(|_| column.is_modelled()) else {
            return Ok(Cells::new());
        };
        let view = View::of(rows.batch.column(place).as_ref());
        let mut cells = Cells::with_capacity(rows.rows());
        let (mut unseen, mut marked) = (Vec::new(), Vec::new());
        for row in 0..rows.rows() {
            let Some(scalar) = view.get(row) else {
                cells.push(Cell::Missing);
                continue;
            };
            let coded = self.columns[index].values.code(column, scalar, self.markers.as_ref());
            let cell = coded.map_err(|cell| self.refusal(rows, row, column, cell))?;
            match (cell, scalar) {
                (Cell::Unseen, scalar) => unseen.push(scalar.text()),
                (_, Scalar::Text(text)) if self.is_marker(text) => marked.push((cell, text)),
                _ => {}
            }
            cells.push(cell);
        }
        marked.iter().for_each(|&(cell, text)| self.note_marker(index, cell, text));
        unseen.iter().for_each(|text| self.note_unseen(index, text));
        Ok(cells)
    }

    fn refusal(&self, rows: &RowBatch, row: usize, column: &Column, cell: CellError) -> ReadError {
        let path = rows.file.as_ref().map_or_else(|| self.path.clone(), |file| file.name.to_string());
        let (place, column) = (rows.place_in_file(row), column.name.clone());
        ReadError::Cell { path, place, column, cell: Box::new(cell) }
    }

    fn is_marker(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && self.markers.as_ref().is_some_and(|markers| markers.is_missing(text))
    }

    fn note_marker(&mut self, column: usize, cell: Cell, text: &str) {
        let role = if cell == Cell::Missing { MarkerRole::Missing } else { MarkerRole::Level };
        let column = &self.schema.borrow().columns[column].name;
        let known = |one: &ColumnMarkers| one.column == *column && one.found.role == role;
        let at = self.notes.markers.iter().position(known).unwrap_or_else(|| {
            let found = MarkerUse { role, markers: vec![] };
            self.notes.markers.push(ColumnMarkers { column: column.clone(), found });
            self.notes.markers.len() - 1
        });
        self.notes.markers[at].add(text);
    }

    fn note_unseen(&mut self, column: usize, text: &str) {
        let unseen = &mut self.notes.unseen;
        let at = *self.unseen.entry(column).or_insert_with(|| {
            let column = self.schema.borrow().columns[column].name.clone();
            unseen.push(Unseen { column, count: 0, examples: vec![] });
            unseen.len() - 1
        });
        let unseen = &mut unseen[at];
        unseen.count += 1;
        if unseen.examples.len() < EXAMPLES && unseen.examples.iter().all(|example| example != text) {
            unseen.examples.push(text.to_owned());
        }
    }
}
