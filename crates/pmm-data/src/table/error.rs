//! What can go wrong with a table, with file, line, column and value; `hint` says what to do about it.

use std::fmt;
use std::io;

use thiserror::Error;

use super::file_format::FileFormat;
use super::near::listed;

/// Where a cell is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The line at which the row begins, from 1: delimited text.
    Line(u64),
    /// The number of the row, from 1: Parquet, Arrow and batches in memory.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A file that cannot be read as a table.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file has no content.
    #[error("{path} is empty")]
    Empty {
        /// The file.
        path: String,
    },
    /// There is a header line and nothing else.
    #[error("{path} has a header and no rows")]
    NoRows {
        /// The file.
        path: String,
    },
    /// A format that is not read.
    #[error("{path} is {what}, which is not read")]
    Unsupported {
        /// The file.
        path: String,
        /// What it seems to be.
        what: &'static str,
        /// What to do with it.
        advice: &'static str,
    },
    /// One column only, whose cells seem to be several.
    #[error("{path}: no comma, tab, semicolon or bar separates its fields; {separator:?} may")]
    NoDelimiter {
        /// The file.
        path: String,
        /// What cuts every line alike.
        separator: char,
    },
    /// A delimiter that cannot separate fields.
    #[error("{0:?} cannot be a delimiter")]
    Delimiter(char),
    /// A line with too few or too many fields.
    #[error("{path}, line {line}: expected {expected} fields, found {found}")]
    Ragged {
        /// The file.
        path: String,
        /// The line at which the record begins.
        line: u64,
        /// Fields of the other lines.
        expected: usize,
        /// Fields of this one.
        found: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("{path}, line {line}, column {column}: bytes {bytes} are not UTF-8")]
    NotUtf8 {
        /// The file.
        path: String,
        /// The line at which the record begins.
        line: u64,
        /// The column's name or number.
        column: String,
        /// The offending bytes, in hexadecimal.
        bytes: String,
    },
    /// A quoted field that does not end, or ends absurdly late.
    #[error("{path}: the record that begins at line {line} has a quoted field that is never closed")]
    OpenQuote {
        /// The file.
        path: String,
        /// The line at which the record begins.
        line: u64,
    },
    /// An infinite number.
    #[error("{path}, {place}, column {column}: {value} is not a finite number")]
    Infinite {
        /// The file.
        path: String,
        /// The line or row.
        place: Place,
        /// The column's name.
        column: String,
        /// The text of the cell.
        value: String,
    },
    /// A cell that does not fit its column.
    #[error("{path}, {place}, column {column}: {cell}")]
    Cell {
        /// The file.
        path: String,
        /// The line or row.
        place: Place,
        /// The column's name.
        column: String,
        /// What is wrong with it.
        cell: Box<CellError>,
    },
    /// A Parquet or Arrow file that its reader refuses.
    #[error("{path}: {reason}")]
    Columnar {
        /// The file.
        path: String,
        /// What the reader said.
        reason: String,
    },
    /// A database that does not answer as it should.
    #[error("{uri}: {reason}")]
    Database {
        /// The database, without a password.
        uri: String,
        /// What is wrong.
        reason: String,
    },
    /// A driver that is not there.
    #[error("the database driver {name} cannot be loaded: {reason}")]
    NoDriver {
        /// Its name.
        name: String,
        /// What its loader said.
        reason: String,
    },
    /// A database without a query.
    #[error("{uri} is a database, and it is not said which of its rows are meant")]
    NoQuery {
        /// The database.
        uri: String,
    },
    /// An address in a store that this build cannot reach.
    #[error("{address} is in a store, and this build of pmm reads none")]
    NoStore {
        /// The address.
        address: String,
    },
    /// A folder or pattern without a file that could be a table.
    #[error("{path}: there is no file that could be a table")]
    NoFiles {
        /// The folder or pattern.
        path: String,
    },
    /// A file that is no part of the table that the first file of a folder begins.
    #[error("{path} does not go with {first}: {what}")]
    OtherPart {
        /// The file.
        path: String,
        /// The first file.
        first: String,
        /// What differs.
        what: String,
    },
    /// A file without header whose lines have another length than the schema.
    #[error("{path} has {found} columns and no header; the schema has {expected} columns")]
    ColumnCount {
        /// The file.
        path: String,
        /// Columns of the schema.
        expected: usize,
        /// Columns of the file.
        found: usize,
    },
    /// A file that shares no column name with the schema.
    #[error("{path} has none of the columns {}", listed(.expected))]
    NoCommonColumn {
        /// The file.
        path: String,
        /// Names in the schema.
        expected: Vec<String>,
    },
    /// An override that does not apply.
    #[error(transparent)]
    Override(#[from] OverrideError),
}

impl ReadError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
                "the compressed file ends too early; copy or download it again".into()
            }
            Self::Unsupported { advice, .. } => (*advice).into(),
            Self::NoDelimiter { separator: ' ', .. } => {
                "set the delimiter to a blank if there is one between fields; else write commas: tr -s ' ' ',' < FILE > table.csv".into()
            }
            Self::NoDelimiter { separator, .. } => format!("set the delimiter to {separator:?}, or to a comma if it is one column"),
            Self::Delimiter(_) => "use one ASCII character such as , ; | or a tab".into(),
            Self::Ragged { .. } => {
                "put quotes around fields that contain the delimiter, or name the delimiter if it was guessed wrongly".into()
            }
            Self::NotUtf8 { path, bytes, .. } => {
                let from = if bytes == "FF FE" || bytes == "FE FF" { "utf-16" } else { "latin1" };
                format!("convert the file: iconv -f {from} -t utf-8 {path} > utf8.csv")
            }
            Self::OpenQuote { .. } => "close the quote, or double it (\"\") if it belongs to the text".into(),
            Self::Infinite { column, value, place: Place::Row(_), .. } => {
                format!("set columns.{column}.specials to {value} to keep it as a special value")
            }
            Self::Infinite { column, value, .. } => format!(
                "set columns.{column}.specials to {value} to keep it as a special value; \
                 set missing to NA;{value} to make it missing (and replace the built-in markers)"
            ),
            Self::Cell { cell, .. } => return cell.hint(),
            Self::ColumnCount { .. } => "add a header line: columns are then matched by name".into(),
            Self::NoCommonColumn { .. } => "check that the file belongs to this model and has a header line".into(),
            Self::NoDriver { name, .. } => {
                let package = name.replace('_', "-");
                format!("install it (pip install {package}), and name the folder of its lib{name}.so in the variable ADBC_DRIVER_PATH")
            }
            Self::NoStore { .. } => "build pmm with the feature s3, or copy the files".into(),
            Self::NoQuery { .. } => "give a query, such as select * from TABLE".into(),
            Self::NoFiles { .. } => format!("tables are known by how their names end ({})", FileFormat::ENDINGS),
            Self::OtherPart { .. } => {
                "all files of a table have the same columns of the same types: name those that belong together by a pattern, such as data/part-*.parquet"
                    .into()
            }
            Self::Override(error) => return error.hint(),
            Self::Io { .. } | Self::Empty { .. } | Self::NoRows { .. } | Self::Columnar { .. } | Self::Database { .. } => {
                return None;
            }
        })
    }
}

/// A text that is no cell of its column.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CellError {
    /// A level that the column never had.
    #[error("{text:?} is not one of its {count} levels")]
    UnknownLevel {
        /// The text.
        text: String,
        /// How many levels there are.
        count: usize,
        /// The nearest or the most frequent ones.
        levels: Vec<String>,
    },
    /// Not a finite number.
    #[error("{text:?} is not a number")]
    NotANumber {
        /// The text.
        text: String,
        /// The least and greatest value seen, as text.
        range: (String, String),
    },
    /// Not a date in the column's format.
    #[error("{text:?} is not a date like {example}")]
    NotADate {
        /// The text.
        text: String,
        /// A date that is one.
        example: String,
    },
    /// A value that the column cannot hold: too fine for its grid, or too large for its type.
    #[error("{text:?} is not among the values that it can have; the nearest is {nearest}")]
    OffGrid {
        /// The text.
        text: String,
        /// The nearest value that it can have.
        nearest: String,
    },
    /// NaN or an infinity, which the column never had.
    #[error("{0} is not a finite number")]
    NotFinite(String),
    /// A time beyond a day, or a decimal of too many digits, in a file whose type has none such.
    #[error("{text} is beyond what {cell_type} holds ({} to {})", limits.0, limits.1)]
    BeyondType {
        /// The integer that is stored.
        text: String,
        /// Its type.
        cell_type: String,
        /// The least and the greatest integer of the type.
        limits: Box<(i128, i128)>,
    },
    /// A value of a type that has no cells: a list, a structure, bytes, ….
    #[error("a value of the type {0} is no cell of a table")]
    NotACell(String),
    /// The column is kept out of the model.
    #[error("the column is kept out of the model")]
    NotModelled,
}

impl CellError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownLevel { levels, .. } => Some(format!("its levels include {}", listed(levels))),
            Self::NotANumber { range, .. } => {
                Some(format!("its values lie between {} and {}", range.0, range.1))
            }
            Self::NotFinite(_) => {
                Some("of typed data only null is missing: make it null, or a number".into())
            }
            Self::BeyondType { .. } => {
                Some("make it null, or store the column as integers or durations".into())
            }
            Self::NotADate { .. } | Self::OffGrid { .. } | Self::NotACell(_) | Self::NotModelled => None,
        }
    }
}

/// A `key=value` that does not apply to the table.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OverrideError {
    /// A key that is none of the known ones.
    #[error("unknown setting {0:?}")]
    UnknownKey(String),
    /// A value that is none of the known ones.
    #[error("{key} cannot be {value:?}")]
    UnknownValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What it can be.
        allowed: &'static str,
    },
    /// No such column.
    #[error("there is no column {name:?}")]
    UnknownColumn {
        /// The name.
        name: String,
        /// Names like it, or all if there are few.
        near: Vec<String>,
    },
    /// The data of the column do not allow it.
    #[error("column {column:?} cannot be {wanted}: {reason}")]
    Unfit {
        /// The column's name.
        column: String,
        /// The kind or pair asked for.
        wanted: String,
        /// Why not.
        reason: String,
    },
}

impl OverrideError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey(_) => Some(
                "columns.NAME.pair, columns.NAME.kind, columns.NAME.specials and missing can be set".into(),
            ),
            Self::UnknownValue { allowed, .. } => Some(format!("it can be {allowed}")),
            Self::UnknownColumn { near, .. } => Some(format!("columns: {}", listed(near))),
            Self::Unfit { .. } => None,
        }
    }
}

/// A schema that is refused.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// Not JSON, or not the JSON of a schema.
    #[error("the schema cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A version of the format that this program does not know.
    #[error("the schema has version {found}; this program reads version {known}")]
    Version {
        /// The version found.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// A rule that its columns cannot keep.
    #[error("its rules do not fit its columns: {0}")]
    Rule(#[source] crate::rules::RuleError),
    /// No columns.
    #[error("the schema has no columns")]
    NoColumns,
    /// Two columns of one name.
    #[error("the schema names column {0:?} twice")]
    Duplicate(String),
    /// Kind, pair and coding of a column disagree.
    #[error("column {column:?} of the schema: kind {kind} with pair {pair} is not coded as {coding}")]
    Disagree {
        /// The column's name.
        column: String,
        /// Its kind.
        kind: String,
        /// Its pair.
        pair: String,
        /// Its coding.
        coding: &'static str,
    },
    /// A detail of a column that cannot be.
    #[error("column {column:?} of the schema: {reason}")]
    Column {
        /// The column's name.
        column: String,
        /// The violated condition.
        reason: &'static str,
    },
}

impl SchemaError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Version { found, known } if found < known => Some(
                "it was written by an older program: fit the model again, or use the program that wrote it"
                    .into(),
            ),
            Self::Version { .. } => Some("it was written by a newer program: use that one".into()),
            _ => None,
        }
    }
}

/// A table that cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A file name whose ending names no format that is written.
    #[error("{path}: files that end in .{ending} are not written")]
    UnknownFormat {
        /// The file.
        path: String,
        /// The ending.
        ending: String,
    },
    /// A name without a place for the numbers of files.
    #[error("{path} has no *, for which the numbers of files would stand")]
    NoNumber {
        /// The name.
        path: String,
    },
    /// Rows that begin within a file, which somebody else may write.
    #[error("row {first_row} does not begin a file of {rows_per_file} rows")]
    InsideFile {
        /// The number of the row.
        first_row: u64,
        /// Rows of a file.
        rows_per_file: u64,
    },
    /// The folder of the file does not exist.
    #[error("{path}: there is no folder {folder}")]
    NoFolder {
        /// The file.
        path: String,
        /// The folder.
        folder: String,
    },
    /// The file cannot be written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A Parquet or Arrow writer refused.
    #[error("{path}: {reason}")]
    Columnar {
        /// The file.
        path: String,
        /// What the writer said.
        reason: String,
    },
    /// A batch of other columns or types than the file.
    #[error("the columns of a batch are {found}, those of the file {expected}")]
    Columns {
        /// Names and types of the file.
        expected: String,
        /// Names and types of the batch.
        found: String,
    },
    /// A value that its column's type cannot hold.
    #[error("column {column}: {value:?} is no cell of the type {cell_type}")]
    Cell {
        /// The column's name.
        column: String,
        /// Its text.
        value: String,
        /// The type.
        cell_type: String,
    },
    /// Arrays that do not go together.
    #[error("column {column}: {reason}")]
    Array {
        /// The column's name.
        column: String,
        /// What is wrong.
        reason: String,
    },
}

impl WriteError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFormat { .. } => Some(FileFormat::ENDINGS.into()),
            Self::NoFolder { folder, .. } => Some(format!("make it: mkdir -p {folder}")),
            Self::NoNumber { .. } => Some("name the files part-*.parquet, or the like".into()),
            Self::InsideFile { rows_per_file, .. } => {
                Some(format!("begin at a multiple of {rows_per_file}: another job would write the same file"))
            }
            Self::Cell { .. } => Some("write delimited text, or leave the cell out".into()),
            _ => None,
        }
    }

    /// Whether the reader of a pipe has gone away: no failure of the writer.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}
