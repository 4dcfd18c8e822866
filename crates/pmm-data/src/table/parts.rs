//! A table in many files: their rows one after the other, with what their folders say as further columns.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::batches::{Batches, FileRows, RowBatch};
use super::error::ReadError;
use super::find_files::FoundFile;
use super::header::Header;
use super::source::{ReadOptions, Source};

/// The files of a table.
#[derive(Debug)]
pub(crate) struct Parts {
    files: Vec<Part>,
    /// The columns of all: those of the files, then those of the folders.
    schema: SchemaRef,
}

/// One file.
#[derive(Debug)]
struct Part {
    source: Arc<Source>,
    /// The place in the file of every column that comes from there.
    places: Vec<usize>,
    /// What its folders say.
    values: Vec<Option<String>>,
}

impl Parts {
    /// Opens all files, and checks that they are one table. Those without rows are left out; how many is noted.
    pub(crate) fn open(
        path: &Path,
        files: &[FoundFile],
        options: &ReadOptions,
    ) -> Result<(Self, Vec<String>), ReadError> {
        let (mut sources, mut empty, mut options) = (Vec::new(), 0, options.clone());
        for file in files {
            match Source::open(&file.path, &options) {
                Ok(source) => {
                    options.header = if source.header() { Header::Yes } else { Header::No };
                    sources.push((Arc::new(source), file));
                }
                Err(ReadError::NoRows { .. } | ReadError::Empty { .. }) => empty += 1,
                Err(error) => return Err(error),
            }
        }
        let Some((first, file)) = sources.first().cloned() else {
            return Err(ReadError::NoRows { path: path.display().to_string() });
        };
        let keys: Vec<&str> = file.keys.iter().map(|(key, _)| key.as_str()).collect();
        if let Some(twice) = keys.iter().find(|key| first.names().iter().any(|name| name == *key)) {
            let what = format!("its folder says {twice}=…, and it has a column {twice} of its own");
            return Err(other(&first, &first, what));
        }
        let mut parts = Vec::with_capacity(sources.len());
        for (source, file) in &sources {
            let places = same_columns(&first, source)?;
            if !file.keys.iter().map(|(key, _)| key).eq(&keys) {
                return Err(other(source, &first, "it lies in folders of other keys".into()));
            }
            let values = file.keys.iter().map(|(_, value)| value.clone()).collect();
            parts.push(Part { source: source.clone(), places, values });
        }
        let schema = Arc::new(whole_schema(&first, &keys, &parts));
        let mut notes = vec![format!("{} files", parts.len())];
        notes.extend((empty > 0).then(|| format!("{empty} files without rows are left out")));
        notes.extend(first.notes().iter().cloned());
        Ok((Self { files: parts, schema }, notes))
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The first file, of whose kind all are.
    pub(crate) fn first(&self) -> &Source {
        &self.files[0].source
    }

    /// What all files are known by, with what their folders say.
    pub(crate) fn digest(&self) -> Result<blake3::Hash, ReadError> {
        let mut hasher = blake3::Hasher::new();
        for part in &self.files {
            hasher.update(part.source.digest()?.as_bytes());
            for value in &part.values {
                let text = value.as_deref().unwrap_or("\0");
                hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
        }
        Ok(hasher.finalize())
    }
}

/// Reads the files one after the other.
pub(crate) struct PartsReader {
    parts: Arc<Parts>,
    at: usize,
    current: Option<Box<Batches<Arc<Source>>>>,
    rows: u64,
}

impl PartsReader {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts, at: 0, current: None, rows: 0 }
    }

    /// The next rows, none at the end.
    pub(crate) fn batch(&mut self) -> Result<Option<RowBatch>, ReadError> {
        loop {
            let Some(part) = self.parts.files.get(self.at) else { return Ok(None) };
            if self.current.is_none() {
                self.current = Some(Box::new(Batches::new(part.source.clone())?));
            }
            if let Some(batch) = self.current.as_mut().and_then(Iterator::next) {
                let whole = part.whole(batch?, self.rows, &self.parts.schema)?;
                self.rows += whole.rows() as u64;
                return Ok(Some(whole));
            }
            self.current = None;
            self.at += 1;
        }
    }
}

impl Part {
    /// The rows of a file as rows of the whole table.
    fn whole(&self, rows: RowBatch, first: u64, schema: &SchemaRef) -> Result<RowBatch, ReadError> {
        let count = rows.rows();
        let own = self.places.iter().map(|place| rows.batch.column(*place)).zip(schema.fields());
        let mut columns: Vec<ArrayRef> = own.map(|(array, field)| filled(array, field, count)).collect();
        for (value, field) in self.values.iter().zip(&schema.fields()[self.places.len()..]) {
            columns.push(match (value, field.data_type()) {
                (Some(value), DataType::Int64) => {
                    let number: Option<i64> = value.parse().ok();
                    Arc::new(Int64Array::from(vec![number; count]))
                }
                (Some(value), _) => Arc::new(StringArray::from(vec![value.as_str(); count])),
                // In delimited text an empty cell is what is missing.
                (None, DataType::Utf8) if self.source.is_delimited() => {
                    Arc::new(StringArray::from(vec![""; count]))
                }
                (None, data_type) => new_null_array(data_type, count),
            });
        }
        let batch =
            RecordBatch::try_new(schema.clone(), columns).map_err(|error| self.source.columnar(&error))?;
        let file = FileRows { name: self.source.name().into(), first: rows.first };
        Ok(RowBatch { first, lines: rows.lines, batch, file: Some(file) })
    }
}

/// A column that has no type in one file because it has no value there is as long as any other.
fn filled(array: &ArrayRef, field: &Field, rows: usize) -> ArrayRef {
    match array.data_type() {
        DataType::Null => new_null_array(field.data_type(), rows),
        _ => array.clone(),
    }
}

fn other(source: &Source, first: &Source, what: String) -> ReadError {
    ReadError::OtherPart { path: source.name().to_owned(), first: first.name().to_owned(), what }
}

/// Where a file has the columns of the first one.
fn same_columns(first: &Source, source: &Source) -> Result<Vec<usize>, ReadError> {
    if first.is_delimited() != source.is_delimited() {
        return Err(other(source, first, "one is delimited text, the other is not".into()));
    }
    if let Some(extra) = source.names().iter().find(|name| !first.names().contains(name)) {
        return Err(other(source, first, format!("it has a column {extra} more")));
    }
    let place = |(name, field): (&String, &Arc<Field>)| {
        let Some(place) = source.names().iter().position(|found| found == name) else {
            return Err(other(source, first, format!("it has no column {name}")));
        };
        match (source.schema().field(place).data_type(), field.data_type()) {
            (found, wanted) if found == wanted || *found == DataType::Null => Ok(place),
            (found, wanted) => {
                Err(other(source, first, format!("its column {name} is of the type {found}, not {wanted}")))
            }
        }
    };
    first.names().iter().zip(first.schema().fields()).map(place).collect()
}

/// What folders say is text, as in delimited files; beside typed columns it is a number where all are whole numbers.
fn whole_schema(first: &Source, keys: &[&str], parts: &[Part]) -> Schema {
    let is_number = |value: &str| value.parse::<i64>().is_ok_and(|number| number.to_string() == value);
    let key = |(place, name): (usize, &&str)| {
        let mut values = parts.iter().filter_map(|part| part.values[place].as_deref());
        let typed = !first.is_delimited() && values.clone().next().is_some() && values.all(is_number);
        Field::new(*name, if typed { DataType::Int64 } else { DataType::Utf8 }, true)
    };
    let own = first.schema().fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let fields: Vec<Field> = own.chain(keys.iter().enumerate().map(key)).collect();
    Schema::new_with_metadata(fields, first.schema().metadata().clone())
}
