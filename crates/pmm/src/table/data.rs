//! A table that is read: a file, bytes, or Arrow batches in memory.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pmm_data::{ReadOptions, Schema, Source};

use crate::error::Error;

/// A table, wherever it lies.
///
/// ```
/// use pmm::table::Data;
/// let data = Data::from_csv("species,legs\ndog,4\nbird,2\n");
/// # let _ = data;
/// ```
#[derive(Debug, Clone)]
pub struct Data {
    place: DataPlace,
    options: ReadOptions,
}

#[derive(Debug, Clone)]
enum DataPlace {
    File(PathBuf),
    Bytes(Vec<u8>),
    Query { uri: String, sql: String },
    Batches(SchemaRef, Vec<RecordBatch>),
}

impl Data {
    /// A file: CSV with any usual delimiter, gzip of that, Parquet or Arrow; a folder or a pattern (`year=*/part-*.parquet`) of such files,
    /// whose `key=value` folders are columns; `-` is standard input.
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self::new(DataPlace::File(path.as_ref().to_owned()))
    }

    /// The rows of a query of a database: `sqlite:///file.db`, `postgresql://…`, or any other that has an ADBC driver.
    pub fn query(uri: &str, sql: &str) -> Self {
        Self::new(DataPlace::Query { uri: uri.to_owned(), sql: sql.to_owned() })
    }

    /// The text of a CSV file.
    pub fn from_csv(text: impl Into<Vec<u8>>) -> Self {
        Self::new(DataPlace::Bytes(text.into()))
    }

    /// Arrow batches of one schema; none is copied.
    pub fn from_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self::new(DataPlace::Batches(schema, batches))
    }

    /// How a file is read, where that should not be guessed.
    pub fn reading(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }

    fn new(place: DataPlace) -> Self {
        Self { place, options: ReadOptions::default() }
    }

    /// Looks at the table's beginning.
    pub(crate) fn source(&self) -> Result<Source, Error> {
        Ok(match &self.place {
            DataPlace::File(path) => Source::open(path, &self.options)?,
            DataPlace::Query { uri, sql } => Source::query(uri, sql)?,
            DataPlace::Bytes(bytes) => Source::from_bytes("table", bytes.clone(), &self.options)?,
            DataPlace::Batches(schema, batches) => {
                Source::from_batches("table", schema.clone(), batches.clone())?
            }
        })
    }

    /// The same for another file of a model's table: it has a header line if the first one had.
    pub(crate) fn source_like(&self, schema: &Schema) -> Result<Source, Error> {
        let mut like = self.clone();
        if matches!(self.place, DataPlace::File(_)) && self.options == ReadOptions::default() {
            like.options = ReadOptions::like(schema);
        }
        like.source()
    }
}

impl From<RecordBatch> for Data {
    fn from(batch: RecordBatch) -> Self {
        Self::from_batches(batch.schema(), vec![batch])
    }
}

impl From<&Path> for Data {
    fn from(path: &Path) -> Self {
        Self::open(path)
    }
}

impl From<&str> for Data {
    fn from(path: &str) -> Self {
        Self::open(path)
    }
}
