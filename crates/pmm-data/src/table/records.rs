//! Records of text, one after the other, with exact complaints.

use std::io::{self, Read};

use csv::ByteRecord;

use super::columnar::Batches;
use super::error::ReadError;
use super::source::Source;

/// One row as text, cells as they stand in the file; a missing cell of a Parquet or Arrow file is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The line at which it begins; the number of the row for Parquet and Arrow.
    pub line: u64,
    /// A text per column.
    pub cells: Vec<String>,
}

/// The records of a [`Source`]; stops after the first error.
pub struct Records<'a> {
    source: &'a Source,
    names: Option<&'a [String]>,
    from: From,
    done: bool,
}

enum From {
    Delimited(Box<Lines>),
    Columnar(Batches),
}

/// Lines of text, cut to fields.
struct Lines {
    reader: csv::Reader<Guard>,
    bytes: ByteRecord,
    /// Whether lines end with a carriage return, as the first one shows.
    returns: Option<bool>,
    /// Lines before the first record.
    skipped: u64,
}

/// No record is longer than this: what seems longer is a quote that is never closed.
const LONGEST: usize = 64 << 20;

/// Ends every text, so that an open quote shows: it swallows the mark. No text has such a line of its own.
const END: &str = "\0\u{1}end of text\u{1}\0";

impl<'a> Records<'a> {
    /// Lines of a text; a header is skipped if `names` are given and the source has one.
    pub(crate) fn delimited(
        source: &'a Source,
        gzip: bool,
        names: Option<&'a [String]>,
    ) -> Result<Self, ReadError> {
        let skip = source.dialect().skip;
        let mut inner = source.text(gzip)?;
        io::copy(&mut inner.by_ref().take(skip.bytes as u64), &mut io::sink())
            .map_err(|error| source.io(error))?;
        let guard = Guard { inner, left: LONGEST, end: format!("\n{END}\n").into_bytes(), ended: 0 };
        let reader = source.dialect().reader().buffer_capacity(1 << 16).from_reader(guard);
        let (bytes, skipped) = (ByteRecord::new(), skip.lines);
        let from = From::Delimited(Box::new(Lines { reader, bytes, returns: None, skipped }));
        let mut records = Self { source, names: None, from, done: false };
        if names.is_some() && source.header() {
            records.read(&mut Record::default())?;
        }
        records.names = names;
        Ok(records)
    }

    pub(crate) fn columnar(source: &'a Source) -> Result<Self, ReadError> {
        let from = From::Columnar(Batches::open(source)?);
        Ok(Self { source, names: Some(source.names()), from, done: false })
    }

    /// Reads the next record into `record`, reusing its memory; false at the end.
    pub fn read(&mut self, record: &mut Record) -> Result<bool, ReadError> {
        if self.done {
            return Ok(false);
        }
        let found = match &mut self.from {
            From::Delimited(lines) => lines.read(self.source, self.names, record),
            From::Columnar(batches) => batches.read(self.source, record),
        };
        self.done = !matches!(found, Ok(true));
        found
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::default();
        match self.read(&mut record) {
            Ok(true) => Some(Ok(record)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl Lines {
    /// The next record; false at the end.
    fn read(
        &mut self,
        source: &Source,
        names: Option<&[String]>,
        record: &mut Record,
    ) -> Result<bool, ReadError> {
        let path = || source.name().to_owned();
        self.reader.get_mut().left = LONGEST;
        let before = self.reader.position().line();
        record.line = before + self.skipped;
        match self.reader.read_byte_record(&mut self.bytes).map_err(csv::Error::into_kind) {
            Ok(true) => record.line = self.begin(before) + self.skipped,
            Ok(false) => return Err(ReadError::OpenQuote { path: path(), line: record.line }),
            Err(csv::ErrorKind::Io(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(ReadError::OpenQuote { path: path(), line: record.line });
            }
            Err(csv::ErrorKind::Io(error)) => return Err(source.io(error)),
            Err(other) => return Err(source.io(io::Error::other(format!("{other:?}")))),
        }
        let last = self.bytes.iter().next_back().unwrap_or_default();
        if self.bytes.len() == 1 && last == END.as_bytes() {
            return Ok(false);
        }
        if last.strip_suffix(b"\n").unwrap_or(last).ends_with(END.as_bytes()) {
            let line = (self.reader.position().line() + self.skipped).saturating_sub(self.line_ends());
            return Err(ReadError::OpenQuote { path: path(), line });
        }
        if source.dialect().trailing
            && last.is_empty()
            && names.is_some_and(|n| n.len() + 1 == self.bytes.len())
        {
            self.bytes.truncate(self.bytes.len() - 1);
        }
        if let Some(names) = names.filter(|names| names.len() != self.bytes.len()) {
            let (expected, found) = (names.len(), self.bytes.len());
            return Err(ReadError::Ragged { path: path(), line: record.line, expected, found });
        }
        self.copy(record).map_err(|(place, bytes)| {
            let column = names.map_or_else(|| (place + 1).to_string(), |names| names[place].clone());
            ReadError::NotUtf8 { path: path(), line: record.line, column, bytes }
        })?;
        Ok(true)
    }

    /// The line at which the record just read begins. The reader stands after it and has skipped blank lines before it, so
    /// lines are counted back from there; of `\r\n` it leaves the second half for its next call.
    fn begin(&mut self, before: u64) -> u64 {
        let after = self.reader.position().line();
        let returns = self.returns.unwrap_or_else(|| after == before + self.line_ends());
        self.returns = Some(returns);
        let end = if returns { after } else { after.saturating_sub(1) };
        if end == before { before } else { end.saturating_sub(self.line_ends()) }
    }

    /// Line ends within the fields of the record just read.
    fn line_ends(&self) -> u64 {
        self.bytes.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64
    }

    /// Copies the fields as text; the place of a field that is not UTF-8 and its first bad bytes.
    fn copy(&self, record: &mut Record) -> Result<(), (usize, String)> {
        record.cells.resize_with(self.bytes.len(), String::new);
        for (place, (cell, text)) in self.bytes.iter().zip(&mut record.cells).enumerate() {
            text.clear();
            let valid = std::str::from_utf8(cell).map_err(|error| {
                let bad = &cell[error.valid_up_to()..];
                let bad = &bad[..error.error_len().unwrap_or(bad.len())];
                (place, bad.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" "))
            })?;
            text.push_str(valid);
        }
        Ok(())
    }
}

/// A text with an end mark after it, and a limit on what is read for one record.
struct Guard {
    inner: Box<dyn Read + Send>,
    left: usize,
    end: Vec<u8>,
    ended: usize,
}

impl Read for Guard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = buffer.len().min(self.left);
        let mut n = if self.ended == 0 { self.inner.read(&mut buffer[..most])? } else { 0 };
        if n == 0 {
            n = most.min(self.end.len() - self.ended);
            buffer[..n].copy_from_slice(&self.end[self.ended..self.ended + n]);
            self.ended += n;
        }
        self.left -= n;
        Ok(n)
    }
}
