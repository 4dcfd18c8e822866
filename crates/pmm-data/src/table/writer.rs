//! Records of text → a file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use super::error::WriteError;
use super::schema::{Coding, Column};
use super::writer_columnar::Columns;
use crate::temporary::temporary;

/// A format that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Fields separated by a character: comma, tab, ….
    Delimited(char),
    /// The same, compressed.
    Gzip(char),
    /// Apache Parquet, with snappy compression.
    Parquet,
    /// Arrow IPC (Feather version 2).
    Arrow,
}

impl FileFormat {
    /// The format of a file's name: `.parquet`, `.arrow` or `.feather`, `.tsv`, else CSV; with `.gz` compressed.
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (name, gzip) = name.strip_suffix(".gz").map_or((name.as_str(), false), |name| (name, true));
        let delimiter = if name.ends_with(".tsv") || name.ends_with(".tab") { '\t' } else { ',' };
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            _ if gzip => Self::Gzip(delimiter),
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            _ => Self::Delimited(delimiter),
        }
    }
}

/// What a Parquet or Arrow column holds; an empty text is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// Text.
    Text,
    /// 64-bit integers.
    Integer,
    /// 64-bit floating-point numbers.
    Float,
    /// True or false.
    Boolean,
}

/// A column to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type, where the format has types.
    pub cell_type: CellType,
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, cell_type: CellType) -> Self {
        Self { name: name.into(), cell_type }
    }
}

impl Column {
    /// The field that holds the texts of [`decode`](Self::decode).
    pub fn field(&self) -> Field {
        let cell_type = match &self.coding {
            Coding::Numbers(numbers)
                if numbers.date.is_none()
                    && numbers.format.form.is_plain()
                    && numbers.specials.iter().all(|special| special.value.is_some()) =>
            {
                let whole =
                    numbers.format.decimals == 0 && numbers.format.least == 0 && !numbers.format.exponent;
                if whole { CellType::Integer } else { CellType::Float }
            }
            Coding::Levels(levels)
                if levels
                    .levels()
                    .iter()
                    .all(|level| ["true", "false"].contains(&level.text.to_lowercase().as_str())) =>
            {
                CellType::Boolean
            }
            _ => CellType::Text,
        };
        Field::new(self.name.clone(), cell_type)
    }
}

/// Writes records of text to a file or a stream. A file is written under a temporary name in the same folder and renamed by
/// [`finish`](Self::finish); without it nothing is left behind.
///
/// ```
/// use pmm_data::{CellType, Field, Writer};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("pets.csv");
/// let mut writer = Writer::create(&path, &[Field::new("name", CellType::Text), Field::new("legs", CellType::Integer)])?;
/// writer.write(&["Rex, the dog", "4"])?;
/// assert!(!path.exists());
/// writer.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "name,legs\n\"Rex, the dog\",4\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    sink: Sink,
    fields: usize,
    path: String,
    /// The temporary file and its name to be.
    target: Option<(NamedTempFile, PathBuf)>,
}

enum Sink {
    Delimited(Box<csv::Writer<Output>>),
    Columns(Box<Columns>),
}

impl Writer {
    /// Writes to a path, in the format of its name.
    pub fn create(path: impl AsRef<Path>, fields: &[Field]) -> Result<Self, WriteError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let error = |source| WriteError::Io { path: name.clone(), source };
        let file = temporary(path).map_err(error)?;
        let output = file.reopen().map_err(error)?;
        let mut writer = Self::new(name.clone(), Box::new(output), FileFormat::of(path), fields)?;
        writer.target = Some((file, path.to_owned()));
        Ok(writer)
    }

    /// Writes to a stream such as standard output.
    pub fn stream(
        output: impl Write + Send + 'static,
        format: FileFormat,
        fields: &[Field],
    ) -> Result<Self, WriteError> {
        Self::new("output".into(), Box::new(output), format, fields)
    }

    fn new(
        path: String,
        output: Box<dyn Write + Send>,
        format: FileFormat,
        fields: &[Field],
    ) -> Result<Self, WriteError> {
        let output = BufWriter::with_capacity(1 << 16, output);
        let (output, delimiter) = match format {
            FileFormat::Delimited(delimiter) => (Output::Plain(output), delimiter),
            FileFormat::Gzip(delimiter) => {
                (Output::Gzip(Box::new(GzEncoder::new(output, Compression::default()))), delimiter)
            }
            FileFormat::Parquet | FileFormat::Arrow => {
                let sink = Sink::Columns(Box::new(Columns::new(path.clone(), output, format, fields)?));
                return Ok(Self { sink, fields: fields.len(), path, target: None });
            }
        };
        let delimiter = u8::try_from(delimiter).unwrap_or(b',');
        let csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(output);
        let mut writer =
            Self { sink: Sink::Delimited(Box::new(csv)), fields: fields.len(), path, target: None };
        writer.write(&fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>())?;
        Ok(writer)
    }

    /// Writes one record.
    pub fn write<T: AsRef<str>>(&mut self, cells: &[T]) -> Result<(), WriteError> {
        if cells.len() != self.fields {
            return Err(WriteError::Ragged { expected: self.fields, found: cells.len() });
        }
        match &mut self.sink {
            Sink::Columns(columns) => columns.write(cells),
            Sink::Delimited(csv) => {
                let path = &self.path;
                csv.write_record(cells.iter().map(|cell| cell.as_ref().as_bytes())).map_err(|error| {
                    match error.into_kind() {
                        csv::ErrorKind::Io(source) => WriteError::Io { path: path.clone(), source },
                        other => WriteError::Io {
                            path: path.clone(),
                            source: io::Error::other(format!("{other:?}")),
                        },
                    }
                })
            }
        }
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<(), WriteError> {
        let path = self.path;
        let error = |source| WriteError::Io { path: path.clone(), source };
        match self.sink {
            Sink::Columns(columns) => columns.finish()?,
            Sink::Delimited(csv) => {
                let output = csv.into_inner().map_err(|full| error(full.into_error()))?;
                output.finish().map_err(error)?;
            }
        }
        if let Some((file, path)) = self.target {
            file.as_file().sync_all().map_err(error)?;
            file.persist(path).map_err(|failed| error(failed.error))?;
        }
        Ok(())
    }
}

/// Plain or compressed bytes.
enum Output {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(Box<GzEncoder<BufWriter<Box<dyn Write + Send>>>>),
}

impl Output {
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut output) => output.flush(),
            Self::Gzip(output) => output.finish()?.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            Self::Gzip(output) => output.flush(),
        }
    }
}
