//! `schema.json`: one field a line, long lists of numbers on one line, so that it can be read and edited.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};

use super::error::SchemaError;
use super::schema::{Schema, VERSION};

impl Schema {
    /// The schema as JSON for people.
    pub fn to_json(&self) -> Result<String, SchemaError> {
        let mut bytes = Vec::new();
        self.serialize(&mut Serializer::with_formatter(&mut bytes, Lines::default()))?;
        bytes.push(b'\n');
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads a schema and refuses one whose parts do not fit together.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let schema = Self::unchecked(text)?;
        schema.validate()?;
        Ok(schema)
    }

    /// Reads a schema whose parts need not fit together. One of another version is told from one that is damaged.
    pub(crate) fn unchecked(text: &str) -> Result<Self, SchemaError> {
        serde_json::from_str(text).map_err(|error| match serde_json::from_str(text) {
            Ok(Versioned { version }) if version != VERSION => {
                SchemaError::Version { found: version, known: VERSION }
            }
            _ => error.into(),
        })
    }
}

/// What every version of a schema has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Objects spread over lines, except those that are elements deep inside (levels, specials); lists of numbers do not.
#[derive(Default)]
struct Lines {
    depth: usize,
    /// The next thing written is an element of a list.
    element: bool,
    /// The last thing written was an object.
    object: bool,
}

/// Objects nested deeper than this stay on one line.
const FLAT: usize = 5;

impl Lines {
    fn newline<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        (self.element, self.object) = (false, false);
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.element = false;
        if std::mem::take(&mut self.object) {
            self.newline(writer)?;
        }
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        (self.element, self.object) = (true, false);
        if first { Ok(()) } else { writer.write_all(b",") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if std::mem::take(&mut self.element) {
            self.newline(writer)?;
        }
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.object = true;
        if self.depth < FLAT {
            self.newline(writer)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= FLAT {
            return self.newline(writer);
        }
        if first { Ok(()) } else { writer.write_all(b" ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        (self.element, self.object) = (false, false);
        writer.write_all(b": ")
    }
}
