//! Delimited text as batches of rows, with exact complaints.

use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use csv::ByteRecord;

use super::batches::{ROWS, RowBatch};
use super::error::ReadError;
use super::source::Source;

/// Bytes of text in a batch, beyond which no more rows are added.
const BYTES: usize = 16 << 20;

/// No record is longer than this: what seems longer is a quote that is never closed.
const LONGEST: usize = 64 << 20;

/// Ends every text, so that an open quote shows: it swallows the mark. No text has such a line of its own.
const END: &str = "\0\u{1}end of text\u{1}\0";

/// Lines of text, cut to fields.
pub(crate) struct Lines {
    reader: csv::Reader<Guard>,
    bytes: ByteRecord,
    /// Whether lines end with a carriage return, as the first one shows.
    returns: Option<bool>,
    /// Lines before the first record.
    skipped: u64,
    rows: u64,
    ended: bool,
}

impl Lines {
    /// From the first record on, a header included; comments and the like before it are skipped.
    pub(crate) fn open(source: &Source, gzip: bool) -> Result<Self, ReadError> {
        let skip = source.dialect().skip;
        let mut inner = source.text(gzip)?;
        io::copy(&mut inner.by_ref().take(skip.bytes as u64), &mut io::sink())
            .map_err(|error| source.io(error))?;
        let guard = Guard { inner, left: LONGEST, end: format!("\n{END}\n").into_bytes(), ended: 0 };
        let reader = source.dialect().reader().buffer_capacity(1 << 16).from_reader(guard);
        let (bytes, skipped) = (ByteRecord::new(), skip.lines);
        Ok(Self { reader, bytes, returns: None, skipped, rows: 0, ended: false })
    }

    /// The next record's fields, whatever their number; none at the end.
    pub(crate) fn record(&mut self, source: &Source) -> Result<Option<Vec<String>>, ReadError> {
        let Some(line) = self.read(source)? else { return Ok(None) };
        let text = |(place, cell)| self.text(source, None, line, place, cell).map(str::to_owned);
        self.bytes.iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// The next rows, each with a cell for every name; none at the end.
    pub(crate) fn batch(&mut self, source: &Source) -> Result<Option<RowBatch>, ReadError> {
        let names = source.names();
        let mut columns: Vec<StringBuilder> = names.iter().map(|_| StringBuilder::new()).collect();
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < ROWS && bytes < BYTES {
            let Some(line) = self.read(source)? else { break };
            self.drop_trailing(source);
            let (expected, found) = (names.len(), self.bytes.len());
            if expected != found {
                return Err(ReadError::Ragged { path: source.name().into(), line, expected, found });
            }
            for (place, (cell, column)) in self.bytes.iter().zip(&mut columns).enumerate() {
                column.append_value(self.text(source, Some(names), line, place, cell)?);
            }
            lines.push(line);
            bytes += self.bytes.as_slice().len();
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let arrays = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let batch =
            RecordBatch::try_new(source.schema().clone(), arrays).map_err(|error| source.columnar(&error))?;
        let first = self.rows;
        self.rows += lines.len() as u64;
        Ok(Some(RowBatch { first, lines: Some(lines), batch, file: None }))
    }

    /// Takes out the empty cell after a delimiter at the line's end, where that separates nothing.
    fn drop_trailing(&mut self, source: &Source) {
        let (names, fields) = (source.names().len(), self.bytes.len());
        let empty = self.bytes.iter().next_back().is_some_and(<[u8]>::is_empty);
        if source.dialect().trailing && empty && fields == names + 1 {
            self.bytes.truncate(names);
        }
    }

    /// Reads a record into `bytes`; the line at which it begins, none at the end.
    fn read(&mut self, source: &Source) -> Result<Option<u64>, ReadError> {
        let path = || source.name().to_owned();
        if self.ended {
            return Ok(None);
        }
        self.reader.get_mut().left = LONGEST;
        let before = self.reader.position().line();
        let open = before + self.skipped;
        let line = match self.reader.read_byte_record(&mut self.bytes).map_err(csv::Error::into_kind) {
            Ok(true) => self.begin(before) + self.skipped,
            Ok(false) => return Err(ReadError::OpenQuote { path: path(), line: open }),
            Err(csv::ErrorKind::Io(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(ReadError::OpenQuote { path: path(), line: open });
            }
            Err(csv::ErrorKind::Io(error)) => return Err(source.io(error)),
            Err(other) => return Err(source.io(io::Error::other(format!("{other:?}")))),
        };
        let last = self.bytes.iter().next_back().unwrap_or_default();
        if self.bytes.len() == 1 && last == END.as_bytes() {
            self.ended = true;
            return Ok(None);
        }
        if last.strip_suffix(b"\n").unwrap_or(last).ends_with(END.as_bytes()) {
            let line = (self.reader.position().line() + self.skipped).saturating_sub(self.line_ends());
            return Err(ReadError::OpenQuote { path: path(), line });
        }
        Ok(Some(line))
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

    /// A field as text; what is not UTF-8 is refused with its place and its first bad bytes.
    fn text<'b>(
        &self,
        source: &Source,
        names: Option<&[String]>,
        line: u64,
        place: usize,
        cell: &'b [u8],
    ) -> Result<&'b str, ReadError> {
        std::str::from_utf8(cell).map_err(|error| {
            let bad = &cell[error.valid_up_to()..];
            let bad = &bad[..error.error_len().unwrap_or(bad.len())];
            let bytes = bad.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ");
            let column = names.map_or_else(|| (place + 1).to_string(), |names| names[place].clone());
            ReadError::NotUtf8 { path: source.name().to_owned(), line, column, bytes }
        })
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
