//! A table in a file or in memory: its format, its columns, and its rows as often as wanted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;

use super::batches::Batches;
use super::columnar;
use super::delimited::Lines;
use super::digest;
use super::error::ReadError;
use super::find_files::{FoundFile, find_files, found_addresses};
use super::foreign::Foreign;
use super::header::{self, Header, HeaderEvidence};
use super::parts::Parts;
use super::ranged::RangedReader;
use super::remote::Remote;
use super::schema::Schema;
use super::sniff::{self, Dialect, Sniffed};
use crate::unpacked::Unpacked;

/// How to read a file, where that should not be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// What separates fields; guessed if none.
    pub delimiter: Option<char>,
    /// Whether the first line names the columns.
    pub header: Header,
}

impl ReadOptions {
    /// For another file of the same table: it has a header line if the first one had.
    pub fn like(schema: &Schema) -> Self {
        Self { delimiter: None, header: if schema.header { Header::Yes } else { Header::No } }
    }
}

/// A table: a file of CSV with any of the delimiters comma, tab, semicolon and bar, gzip of these, Parquet or Arrow IPC (a
/// Feather file or a stream); a folder or a pattern of such files, whose `key=value` folders are columns; or Arrow record batches in
/// memory.
///
/// ```
/// use pmm_data::{ReadOptions, Source};
/// let source = Source::from_bytes("pets.csv", "name;legs\nRex;4\nTweety;2\n".into(), &ReadOptions::default())?;
/// assert_eq!((source.names(), source.delimiter()), (&["name".to_owned(), "legs".into()][..], ';'));
/// let rows = source.batches()?.next().unwrap()?;
/// assert_eq!((rows.rows(), rows.place(1).to_string()), (2, "line 3".to_owned()));
/// # Ok::<(), pmm_data::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Source {
    name: String,
    store: Store,
    format: Format,
    dialect: Dialect,
    header: bool,
    names: Vec<String>,
    schema: SchemaRef,
    notes: Vec<String>,
    digest: OnceLock<String>,
}

/// Where the bytes are.
#[derive(Debug)]
enum Store {
    Path(PathBuf),
    /// What came through a pipe, kept so that it can be read twice; gone with the source.
    Spool(NamedTempFile),
    Memory(bytes::Bytes),
    Batches(Vec<RecordBatch>),
    Parts(Arc<Parts>),
    Remote(Remote),
}

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Delimited {
        delimiter: u8,
        gzip: bool,
    },
    Parquet,
    Arrow,
    ArrowStream,
    Batches,
    /// Files; with the delimiter, if they are delimited text.
    Parts {
        delimiter: Option<u8>,
    },
}

impl Source {
    /// Opens a file, a folder or pattern of files, the same in an S3-compatible store (`s3://…`, with the feature `s3`), or standard input
    /// for `-`, and looks at its beginning.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self::spool("standard input", &mut io::stdin().lock(), options);
        }
        let name = path.display().to_string();
        if name.starts_with("s3://") {
            return match found_addresses(&name)? {
                Some(files) => Self::of_files(path, &files, options),
                None => Self::new(name.clone(), Store::Remote(Remote::open(&name)?), options),
            };
        }
        if name.contains("://") && !path.exists() {
            return Err(ReadError::NoQuery { uri: name });
        }
        if let Some(files) = find_files(path)? {
            return Self::of_files(path, &files, options);
        }
        // A named pipe can be read only once.
        let metadata =
            std::fs::metadata(path).map_err(|source| ReadError::Io { path: name.clone(), source })?;
        if !metadata.is_file() {
            let mut file = File::open(path).map_err(|source| ReadError::Io { path: name.clone(), source })?;
            return Self::spool(&name, &mut file, options);
        }
        Self::new(name, Store::Path(path.to_owned()), options)
    }

    /// A file in memory; `name` is used in messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Self, ReadError> {
        Self::new(name.to_owned(), Store::Memory(bytes.into()), options)
    }

    /// Record batches in memory, which are neither copied nor written anywhere; `name` is used in messages.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{Int64Array, RecordBatch};
    /// use arrow_schema::{DataType, Field, Schema};
    /// use pmm_data::Source;
    /// let schema = Arc::new(Schema::new(vec![Field::new("legs", DataType::Int64, true)]));
    /// let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![4, 2]))])?;
    /// let source = Source::from_batches("pets", schema, vec![batch])?;
    /// assert_eq!(source.batches()?.next().unwrap()?.rows(), 2);
    /// let empty = Source::from_batches("pets", source.schema().clone(), vec![])?;
    /// assert!(empty.batches()?.next().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_batches(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, ReadError> {
        let path = || name.to_owned();
        if let Some(at) = batches.iter().position(|batch| batch.schema().fields() != schema.fields()) {
            let reason = format!("batch {at} has other columns or types than the schema");
            return Err(ReadError::Columnar { path: path(), reason });
        }
        let mut source = Self::blank(path(), Store::Batches(batches), Format::Batches);
        source.schema = schema;
        source.checked()
    }

    /// One table of many files.
    fn of_files(path: &Path, files: &[FoundFile], options: &ReadOptions) -> Result<Self, ReadError> {
        let (parts, notes) = Parts::open(path, files, options)?;
        let (first, schema) = (parts.first(), parts.schema().clone());
        let delimiter = first.is_delimited().then(|| first.delimiter() as u8);
        let (header, name) = (first.header(), path.display().to_string());
        let mut source = Self::blank(name, Store::Parts(Arc::new(parts)), Format::Parts { delimiter });
        source.names = schema.fields().iter().map(|field| field.name().clone()).collect();
        (source.header, source.schema, source.notes) = (header, schema, notes);
        Ok(source)
    }

    /// Rows of a query, in a file that goes with the source.
    pub(crate) fn of_spool(name: &str, file: NamedTempFile, digest: blake3::Hash) -> Result<Self, ReadError> {
        let source = Self::new(name.to_owned(), Store::Spool(file), &ReadOptions::default())?;
        let _ = source.digest.set(digest.to_hex().to_string());
        Ok(source)
    }

    fn spool(name: &str, from: &mut dyn Read, options: &ReadOptions) -> Result<Self, ReadError> {
        let file = copied(from).map_err(|source| ReadError::Io { path: name.into(), source })?;
        Self::new(name.to_owned(), Store::Spool(file), options)
    }

    fn new(name: String, store: Store, options: &ReadOptions) -> Result<Self, ReadError> {
        let mut source = Self::blank(name, store, Format::Arrow);
        source.format = source.find_format()?;
        if let Format::Delimited { gzip, .. } = source.format {
            source.find_names(gzip, options)?;
        }
        source.checked()
    }

    fn blank(name: String, store: Store, format: Format) -> Self {
        let schema = Arc::new(arrow_schema::Schema::empty());
        let (dialect, digest) = (Dialect::plain(b','), OnceLock::new());
        Self { name, store, format, dialect, header: true, names: vec![], schema, notes: vec![], digest }
    }

    /// Gives the columns names and types, and looks at the first row.
    fn checked(mut self) -> Result<Self, ReadError> {
        if !self.is_delimited() {
            self.schema = columnar::schema(&self)?;
            self.names = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        }
        let notes = header::unique_names(&mut self.names);
        self.notes.extend(notes);
        let field = |(place, name): (usize, &String)| match self.schema.fields().get(place) {
            Some(field) => field.as_ref().clone().with_name(name),
            None => Field::new(name, DataType::Utf8, true),
        };
        let fields: Vec<Field> = self.names.iter().enumerate().map(field).collect();
        self.schema =
            Arc::new(arrow_schema::Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        match self.batches()?.next() {
            // A table in memory has its types without a row, as a part of a larger one may.
            None if matches!(self.format, Format::Batches) => Ok(self),
            None => Err(ReadError::NoRows { path: self.name }),
            Some(batch) => batch.map(|_| self),
        }
    }

    /// The format, by the first bytes.
    fn find_format(&self) -> Result<Format, ReadError> {
        let head = self.head(&mut *self.raw()?.0, 8)?;
        match head.as_slice() {
            [] => Err(ReadError::Empty { path: self.name.clone() }),
            [0x1f, 0x8b, ..] => Ok(Format::Delimited { delimiter: b',', gzip: true }),
            [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Ok(Format::Arrow),
            [0xff, 0xff, 0xff, 0xff, ..] => Ok(Format::ArrowStream),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
                let bytes = format!("{:02X} {:02X}", head[0], head[1]);
                Err(ReadError::NotUtf8 { path: self.name.clone(), line: 1, column: "1".into(), bytes })
            }
            _ => Ok(Format::Delimited { delimiter: b',', gzip: false }),
        }
    }

    /// Delimiter, header and names of a delimited text.
    fn find_names(&mut self, gzip: bool, options: &ReadOptions) -> Result<(), ReadError> {
        let head = self.head(&mut *self.text(gzip)?, sniff::HEAD)?;
        if let Some(Foreign { what, advice }) = Foreign::of_text(&head) {
            return Err(ReadError::Unsupported { path: self.name.clone(), what, advice });
        }
        let sniffed = Sniffed::new(&head, head.len() < sniff::HEAD, delimiter(options)?);
        if let Some(separator) = sniffed.other_delimiter {
            return Err(ReadError::NoDelimiter { path: self.name.clone(), separator });
        }
        self.format = Format::Delimited { delimiter: sniffed.dialect.delimiter, gzip };
        (self.dialect, self.notes) = (sniffed.dialect, sniffed.notes);
        self.header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => sniffed.header != HeaderEvidence::Data,
        };
        self.read_names(gzip)
    }

    /// Names by the first two records, whatever they are.
    fn read_names(&mut self, gzip: bool) -> Result<(), ReadError> {
        let mut lines = Lines::open(self, gzip)?;
        let mut first = lines.record(self)?.ok_or_else(|| ReadError::Empty { path: self.name.clone() })?;
        let longer = |second: Vec<String>| second.len() == first.len() + 1;
        let more = !self.dialect.trailing && lines.record(self).ok().flatten().is_some_and(longer);
        first.pop_if(|last| self.dialect.trailing && last.trim().is_empty());
        if !self.header {
            self.names = (1..=first.len()).map(|place| format!("c{place}")).collect();
            // Rows that a model of such a file made have these names above them.
            self.header = first.iter().map(|name| name.trim()).eq(&self.names);
            if !self.header {
                self.notes.push("no header line: columns are called c1, c2, …".into());
            }
            return Ok(());
        }
        if let Some(name) = first.first_mut().filter(|_| self.dialect.commented_header) {
            *name = name.trim_start_matches('#').to_owned();
        }
        self.names = first.into_iter().map(|name| name.trim().to_owned()).collect();
        if more {
            self.names.insert(0, "rownames".into());
            self.notes.push(
                "the header names one column fewer than there are: the first is called rownames".into(),
            );
        }
        Ok(())
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns' names, unique.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What separates fields; a comma for Parquet and Arrow.
    pub fn delimiter(&self) -> char {
        match self.format {
            Format::Delimited { delimiter, .. } | Format::Parts { delimiter: Some(delimiter) } => {
                delimiter as char
            }
            _ => ',',
        }
    }

    /// Whether the file names its columns.
    pub fn header(&self) -> bool {
        self.header
    }

    /// What a reader should know: names made up or made unique.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The columns: unique names; `Utf8` for delimited text, else the types and metadata as they came.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Whether it is delimited text, which has no types of its own.
    pub fn is_delimited(&self) -> bool {
        matches!(self.format, Format::Delimited { .. } | Format::Parts { delimiter: Some(_) })
    }

    /// The rows from the first on, some thousand at a time; may be called any number of times.
    pub fn batches(&self) -> Result<Batches<&Self>, ReadError> {
        Batches::new(self)
    }

    /// BLAKE3 in hexadecimal: of a file's raw bytes; of batches in memory, of names, types and cells, however they are cut.
    pub fn digest(&self) -> Result<&str, ReadError> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let digest = match &self.store {
            Store::Batches(batches) => {
                digest::of_batches(&self.schema, batches).map_err(|error| self.columnar(&error))?
            }
            Store::Parts(parts) => parts.digest()?,
            _ => {
                let mut hasher = blake3::Hasher::new();
                io::copy(&mut *self.raw()?.0, &mut hasher).map_err(|error| self.io(error))?;
                hasher.finalize()
            }
        };
        Ok(self.digest.get_or_init(|| digest.to_hex().to_string()))
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn io(&self, source: io::Error) -> ReadError {
        ReadError::Io { path: self.name.clone(), source }
    }

    pub(crate) fn columnar(&self, error: &ArrowError) -> ReadError {
        ReadError::Columnar { path: self.name.clone(), reason: error.to_string() }
    }

    /// The bytes as they are, and how many there are.
    fn raw(&self) -> Result<(Box<dyn Read + Send>, u64), ReadError> {
        if let Some(remote) = self.remote() {
            return Ok((Box::new(RangedReader::new(remote)), remote.length()));
        }
        let Some(file) = self.file()? else {
            let bytes = self.memory();
            let length = bytes.len() as u64;
            return Ok((Box::new(io::Cursor::new(bytes)), length));
        };
        let length = file.metadata().map_err(|error| self.io(error))?.len();
        Ok((Box::new(file), length))
    }

    /// The file, if there is one.
    pub(crate) fn file(&self) -> Result<Option<File>, ReadError> {
        match &self.store {
            Store::Path(path) => File::open(path).map(Some).map_err(|error| self.io(error)),
            Store::Spool(file) => file.reopen().map(Some).map_err(|error| self.io(error)),
            Store::Memory(_) | Store::Batches(_) | Store::Parts(_) | Store::Remote(_) => Ok(None),
        }
    }

    /// The file, if it is in a store.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        if let Store::Remote(remote) = &self.store { Some(remote) } else { None }
    }

    /// The files of a table of many.
    pub(crate) fn parts(&self) -> Result<Arc<Parts>, ReadError> {
        match &self.store {
            Store::Parts(parts) => Ok(parts.clone()),
            _ => Err(ReadError::NoFiles { path: self.name.clone() }),
        }
    }

    /// The bytes of a table in memory; empty for files.
    pub(crate) fn memory(&self) -> bytes::Bytes {
        if let Store::Memory(bytes) = &self.store { bytes.clone() } else { bytes::Bytes::new() }
    }

    /// The batches in memory, with their own schema; none of a file.
    pub(crate) fn batches_in_memory(&self) -> (SchemaRef, Vec<RecordBatch>) {
        let batches = if let Store::Batches(batches) = &self.store { batches.clone() } else { vec![] };
        (self.schema.clone(), batches)
    }

    /// The text, decompressed.
    pub(crate) fn text(&self, gzip: bool) -> Result<Box<dyn Read + Send>, ReadError> {
        let (raw, length) = self.raw()?;
        if !gzip {
            return Ok(raw);
        }
        let gzip = MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, raw));
        Ok(Box::new(Unpacked::new(gzip, length)))
    }

    fn head(&self, from: &mut dyn Read, most: usize) -> Result<Vec<u8>, ReadError> {
        let mut head = Vec::new();
        from.take(most as u64).read_to_end(&mut head).map_err(|error| self.io(error))?;
        Ok(head)
    }
}

/// The delimiter that is asked for.
fn delimiter(options: &ReadOptions) -> Result<Option<u8>, ReadError> {
    let fit = |given: char| given.is_ascii() && (given == '\t' || !given.is_ascii_control()) && given != '"';
    match options.delimiter {
        Some(given) if !fit(given) => Err(ReadError::Delimiter(given)),
        given => Ok(given.map(|given| given as u8)),
    }
}

/// Keeps what can be read only once.
fn copied(from: &mut dyn Read) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(from, &mut file)?;
    Ok(file)
}
