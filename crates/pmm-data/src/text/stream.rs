//! Files of text → pieces with their places.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use super::cut::{cut, parts};
use super::error::{CodeError, TextDataError};
use super::fasta::records;
use super::file::{TextFile, TextFormat};
use super::source::{Piece, TextOptions};

/// The longest line of JSON that is read.
const LONGEST: u64 = 256 << 20;

/// Where a piece begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) path: &'a str,
    /// The line of the file, from 1.
    pub(super) line: u64,
    /// Bytes of the document before it.
    pub(super) offset: u64,
    /// Whether the document counts as one line, whatever line breaks it has.
    json: bool,
    /// The name of the document, if it has one of its own.
    pub(super) record: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// The beginning of a plain text.
    pub(super) fn of_text(path: &'a str) -> Self {
        Self { path, line: 1, offset: 0, json: false, record: None }
    }

    /// The place after some bytes.
    pub(super) fn after(self, bytes: &[u8]) -> Self {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let line = if self.json { self.line } else { self.line + lines };
        Self { line, offset: self.offset + bytes.len() as u64, ..self }
    }
}

/// What takes the pieces.
pub(super) type Sink<'a, E> = dyn FnMut(Piece<'_>, &Place<'_>) -> Result<(), E> + 'a;

/// Reads files and hands out pieces of at most `most` bytes (at least 8).
pub(super) struct Stream<'a, 'b, E> {
    pub(super) options: &'a TextOptions,
    pub(super) most: usize,
    pub(super) sink: &'a mut Sink<'b, E>,
    /// Whether there was any text.
    pub(super) any: bool,
}

impl<E: From<TextDataError>> Stream<'_, '_, E> {
    pub(super) fn file(&mut self, file: &TextFile) -> Result<(), E> {
        match file.format {
            TextFormat::Plain => self.plain(file),
            TextFormat::JsonLines => self.json(file),
            TextFormat::Fasta => self.fasta(file),
        }
    }

    /// A document from a file of its own.
    fn plain(&mut self, file: &TextFile) -> Result<(), E> {
        let mut reader = file.reader(self.options.lossy_bytes)?;
        let mut buffer = Vec::with_capacity(self.most);
        let mut place = Place::of_text(&file.name);
        loop {
            let room = (self.most - buffer.len()) as u64;
            reader.by_ref().take(room).read_to_end(&mut buffer).map_err(|error| file.io(error))?;
            let last = buffer.len() < self.most;
            let whole = self.whole(&buffer, last, &place)?;
            // A cut leaves something behind, so the last piece is never empty.
            let end = if last { whole } else { cut(&buffer[..whole]) };
            self.send(&buffer[..end], last, &place)?;
            if last {
                return Ok(());
            }
            place = place.after(&buffer[..end]);
            buffer.drain(..end);
        }
    }

    /// How many bytes are whole characters.
    fn whole(&self, buffer: &[u8], last: bool, place: &Place<'_>) -> Result<usize, TextDataError> {
        if self.options.lossy_bytes {
            return Ok(buffer.len());
        }
        match std::str::from_utf8(buffer) {
            Ok(text) => Ok(text.len()),
            Err(error) if error.error_len().is_none() && !last => Ok(error.valid_up_to()),
            Err(error) => Err(CodeError::not_utf8(buffer, error).at(place, buffer)),
        }
    }

    /// A document a line.
    fn json(&mut self, file: &TextFile) -> Result<(), E> {
        let mut reader = BufReader::new(file.reader(self.options.lossy_bytes)?);
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = reader.by_ref().take(LONGEST + 1).read_until(b'\n', &mut bytes);
            if read.map_err(|error| file.io(error))? == 0 {
                break;
            }
            if bytes.len() as u64 > LONGEST {
                Err(TextDataError::LongLine { path: file.name.clone(), line, most: LONGEST })?;
            }
            let object = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| line == 1).unwrap_or(&bytes);
            if !object.trim_ascii().is_empty() {
                let text = text_of(object, &self.options.field, &file.name, line)?;
                self.document(&text, Place { path: &file.name, line, offset: 0, json: true, record: None })?;
            }
        }
        Ok(())
    }

    /// A document a record.
    fn fasta(&mut self, file: &TextFile) -> Result<(), E> {
        records(file, &mut |record| {
            // The letters of a sequence are ASCII.
            let text = String::from_utf8_lossy(&record.sequence);
            let (line, record) = (record.line, Some(record.name.as_str()));
            self.document(&text, Place { path: &file.name, line, offset: 0, json: true, record })
        })
    }

    /// A document in memory.
    fn document(&mut self, text: &str, mut place: Place<'_>) -> Result<(), E> {
        for part in parts(text, self.most) {
            let last = place.offset as usize + part.len() == text.len();
            self.send(part.as_bytes(), last, &place)?;
            place = place.after(part.as_bytes());
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8], ends_document: bool, place: &Place<'_>) -> Result<(), E> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.any = true;
        (self.sink)(Piece { bytes, ends_document }, place)
    }
}

/// The text in a field of a JSON object.
fn text_of(object: &[u8], field: &str, path: &str, line: u64) -> Result<String, TextDataError> {
    let path = path.to_owned();
    let value = match serde_json::from_slice(object) {
        Ok(value) => value,
        Err(error) => return Err(TextDataError::NotJson { path, line, reason: reason(&error) }),
    };
    let Value::Object(mut fields) = value else {
        return Err(TextDataError::NotJson { path, line, reason: format!("it is {}", kind(&value)) });
    };
    let field = field.to_owned();
    match fields.remove(&field) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(TextDataError::FieldNotText { path, line, field, found: kind(&other) }),
        None => {
            let fields = fields.keys().take(8).cloned().collect();
            Err(TextDataError::NoField { path, line, field, fields })
        }
    }
}

/// What the parser said, without its own count of lines: there is only one.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("{what} at column {}", error.column())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
