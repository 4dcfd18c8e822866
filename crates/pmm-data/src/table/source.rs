//! A table in a file: its format, its names, and its records as often as wanted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;

use super::columnar;
use super::error::ReadError;
use super::foreign::Foreign;
use super::header::{self, Header, HeaderEvidence};
use super::records::Records;
use super::schema::Schema;
use super::sniff::{self, Dialect, Sniffed};

/// How to read a file, where that should not be guessed.
#[derive(Debug, Clone, Default)]
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

/// A table in a file: CSV with any of the delimiters comma, tab, semicolon and bar, gzip of these, Parquet, or Arrow IPC
/// (Feather).
///
/// ```
/// use pmm_data::{ReadOptions, Source};
/// let source = Source::from_bytes("pets.csv", "name;legs\nRex;4\nTweety;2\n".into(), &ReadOptions::default())?;
/// assert_eq!((source.names(), source.delimiter()), (&["name".to_owned(), "legs".into()][..], ';'));
/// let records: Vec<_> = source.records()?.collect::<Result<_, _>>()?;
/// assert_eq!((records[1].line, &records[1].cells[0][..]), (3, "Tweety"));
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
}

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Delimited { delimiter: u8, gzip: bool },
    Parquet,
    Arrow,
}

impl Source {
    /// Opens a file, or standard input for `-`, and looks at its beginning.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Self::spool("standard input", &mut io::stdin().lock(), options);
        }
        let name = path.display().to_string();
        if path.is_dir() {
            let source = io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a table");
            return Err(ReadError::Io { path: name, source });
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

    /// A table in memory; `name` is used in messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Self, ReadError> {
        Self::new(name.to_owned(), Store::Memory(bytes.into()), options)
    }

    fn spool(name: &str, from: &mut dyn Read, options: &ReadOptions) -> Result<Self, ReadError> {
        let file = copied(from).map_err(|source| ReadError::Io { path: name.into(), source })?;
        Self::new(name.to_owned(), Store::Spool(file), options)
    }

    fn new(name: String, store: Store, options: &ReadOptions) -> Result<Self, ReadError> {
        let format = Format::Delimited { delimiter: b',', gzip: false };
        let (header, digest) = (true, OnceLock::new());
        let dialect = Dialect::plain(b',');
        let mut source = Self { name, store, format, dialect, header, names: vec![], notes: vec![], digest };
        source.format = source.find_format()?;
        match source.format {
            Format::Delimited { gzip, .. } => source.find_names(gzip, options)?,
            _ => source.names = columnar::names(&source)?,
        }
        let notes = header::unique_names(&mut source.names);
        source.notes.extend(notes);
        match source.records()?.next() {
            None => Err(ReadError::NoRows { path: source.name }),
            Some(record) => record.map(|_| source),
        }
    }

    /// The format, by the first bytes.
    fn find_format(&self) -> Result<Format, ReadError> {
        let head = self.head(&mut *self.raw()?, 1 << 12)?;
        match head.as_slice() {
            [] => Err(ReadError::Empty { path: self.name.clone() }),
            [0x1f, 0x8b, ..] => Ok(Format::Delimited { delimiter: b',', gzip: true }),
            [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Ok(Format::Arrow),
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
        let whole = head.len() < sniff::HEAD;
        let delimiter = match options.delimiter {
            None => None,
            Some(given)
                if given.is_ascii() && (given == '\t' || !given.is_ascii_control()) && given != '"' =>
            {
                Some(given as u8)
            }
            Some(given) => return Err(ReadError::Delimiter(given)),
        };
        let sniffed = Sniffed::new(&head, whole, delimiter);
        if let Some(separator) = sniffed.other_delimiter {
            return Err(ReadError::NoDelimiter { path: self.name.clone(), separator });
        }
        let delimiter = sniffed.dialect.delimiter;
        self.format = Format::Delimited { delimiter, gzip };
        (self.dialect, self.notes) = (sniffed.dialect, sniffed.notes);
        self.header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => sniffed.header != HeaderEvidence::Data,
        };
        // A record reader without names and header gives the first two lines whatever they are.
        let mut lines = Records::delimited(self, gzip, None)?;
        let mut first = lines.next().ok_or_else(|| ReadError::Empty { path: self.name.clone() })??.cells;
        let width = first.len();
        let more = !self.dialect.trailing
            && lines.next().and_then(Result::ok).is_some_and(|second| second.cells.len() == width + 1);
        if self.dialect.trailing && first.last().is_some_and(|last| last.trim().is_empty()) {
            first.pop();
        }
        let width = first.len();
        if !self.header {
            self.names = (1..=width).map(|place| format!("c{place}")).collect();
            self.notes.push("no header line: columns are called c1, c2, …".into());
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
            Format::Delimited { delimiter, .. } => delimiter as char,
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

    /// The records from the first on; may be called again.
    pub fn records(&self) -> Result<Records<'_>, ReadError> {
        match self.format {
            Format::Delimited { gzip, .. } => Records::delimited(self, gzip, Some(&self.names)),
            Format::Parquet | Format::Arrow => Records::columnar(self),
        }
    }

    /// BLAKE3 of the raw bytes, in hexadecimal.
    pub fn digest(&self) -> Result<&str, ReadError> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest);
        }
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut *self.raw()?, &mut hasher).map_err(|error| self.io(error))?;
        Ok(self.digest.get_or_init(|| hasher.finalize().to_hex().to_string()))
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

    /// The bytes as they are.
    fn raw(&self) -> Result<Box<dyn Read + Send>, ReadError> {
        Ok(match self.file()? {
            Some(file) => Box::new(file),
            None => Box::new(io::Cursor::new(self.memory())),
        })
    }

    /// The file, if there is one.
    pub(crate) fn file(&self) -> Result<Option<File>, ReadError> {
        match &self.store {
            Store::Path(path) => File::open(path).map(Some).map_err(|error| self.io(error)),
            Store::Spool(file) => file.reopen().map(Some).map_err(|error| self.io(error)),
            Store::Memory(_) => Ok(None),
        }
    }

    /// The bytes of a table in memory; empty for files.
    pub(crate) fn memory(&self) -> bytes::Bytes {
        if let Store::Memory(bytes) = &self.store { bytes.clone() } else { bytes::Bytes::new() }
    }

    /// The text, decompressed.
    pub(crate) fn text(&self, gzip: bool) -> Result<Box<dyn Read + Send>, ReadError> {
        let raw = self.raw()?;
        Ok(if gzip { Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, raw))) } else { raw })
    }

    fn head(&self, from: &mut dyn Read, most: usize) -> Result<Vec<u8>, ReadError> {
        let mut head = Vec::new();
        from.take(most as u64).read_to_end(&mut head).map_err(|error| self.io(error))?;
        Ok(head)
    }
}

/// Keeps what can be read only once.
fn copied(from: &mut dyn Read) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(from, &mut file)?;
    Ok(file)
}
