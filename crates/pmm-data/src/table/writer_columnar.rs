//! Records of text → Parquet and Arrow columns with types.

use std::io::{BufWriter, Write};
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::error::WriteError;
use super::writer::{CellType, Field, FileFormat};

/// Rows written at a time.
const ROWS: usize = 8_192;

type Output = BufWriter<Box<dyn Write + Send>>;

/// Columns of a file in the making.
pub(crate) struct Columns {
    path: String,
    schema: SchemaRef,
    names: Vec<String>,
    columns: Vec<Cells>,
    rows: usize,
    sink: Sink,
}

enum Sink {
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(Box<FileWriter<Output>>),
}

enum Cells {
    Text(StringBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
}

impl Columns {
    pub(crate) fn new(
        path: String,
        output: Output,
        format: FileFormat,
        fields: &[Field],
    ) -> Result<Self, WriteError> {
        let arrow = |field: &Field| arrow_schema::Field::new(&field.name, data_type(field.cell_type), true);
        let schema: SchemaRef =
            Arc::new(arrow_schema::Schema::new(fields.iter().map(arrow).collect::<Vec<_>>()));
        let sink = match format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                ArrowWriter::try_new(output, schema.clone(), Some(properties))
                    .map(|writer| Sink::Parquet(Box::new(writer)))
                    .map_err(ArrowError::from)
            }
            _ => FileWriter::try_new(output, &schema).map(|writer| Sink::Arrow(Box::new(writer))),
        };
        let sink = sink.map_err(|error| refusal(&path, &error))?;
        let names = fields.iter().map(|field| field.name.clone()).collect();
        let columns = fields.iter().map(|field| Cells::new(field.cell_type)).collect();
        Ok(Self { path, schema, names, columns, rows: 0, sink })
    }

    pub(crate) fn write<T: AsRef<str>>(&mut self, cells: &[T]) -> Result<(), WriteError> {
        for ((column, cell), name) in self.columns.iter_mut().zip(cells).zip(&self.names) {
            column.push(cell.as_ref()).map_err(|cell_type| WriteError::Cell {
                column: name.clone(),
                value: cell.as_ref().to_owned(),
                cell_type,
            })?;
        }
        self.rows += 1;
        if self.rows == ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(Cells::array).collect();
        let written =
            RecordBatch::try_new(self.schema.clone(), arrays).and_then(|batch| match &mut self.sink {
                Sink::Parquet(writer) => writer.write(&batch).map_err(ArrowError::from),
                Sink::Arrow(writer) => writer.write(&batch),
            });
        written.map_err(|error| refusal(&self.path, &error))
    }

    pub(crate) fn finish(mut self) -> Result<(), WriteError> {
        self.flush()?;
        let output = match self.sink {
            Sink::Parquet(writer) => writer.into_inner().map_err(ArrowError::from),
            Sink::Arrow(writer) => writer.into_inner(),
        };
        let flushed = output.and_then(|mut output| output.flush().map_err(ArrowError::from));
        flushed.map_err(|error| refusal(&self.path, &error))
    }
}

fn refusal(path: &str, error: &ArrowError) -> WriteError {
    WriteError::Columnar { path: path.to_owned(), reason: error.to_string() }
}

fn data_type(cell_type: CellType) -> DataType {
    match cell_type {
        CellType::Text => DataType::Utf8,
        CellType::Integer => DataType::Int64,
        CellType::Float => DataType::Float64,
        CellType::Boolean => DataType::Boolean,
    }
}

impl Cells {
    fn new(cell_type: CellType) -> Self {
        match cell_type {
            CellType::Text => Self::Text(StringBuilder::new()),
            CellType::Integer => Self::Integer(Int64Builder::new()),
            CellType::Float => Self::Float(Float64Builder::new()),
            CellType::Boolean => Self::Boolean(BooleanBuilder::new()),
        }
    }

    /// Appends a cell; the type's name if the text is not of that type.
    fn push(&mut self, text: &str) -> Result<(), &'static str> {
        let cell = (!text.is_empty()).then_some(text);
        match self {
            Self::Text(cells) => cells.append_option(cell),
            Self::Integer(cells) => cells.append_option(cell.map(integer).transpose()?),
            Self::Float(cells) => {
                cells.append_option(cell.map(|text| text.parse().map_err(|_| "a number")).transpose()?);
            }
            Self::Boolean(cells) => {
                let parse = |text: &str| text.to_lowercase().parse().map_err(|_| "true or false");
                cells.append_option(cell.map(parse).transpose()?);
            }
        }
        Ok(())
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Self::Text(cells) => ArrayBuilder::finish(cells),
            Self::Integer(cells) => ArrayBuilder::finish(cells),
            Self::Float(cells) => ArrayBuilder::finish(cells),
            Self::Boolean(cells) => ArrayBuilder::finish(cells),
        }
    }
}

fn integer(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "an integer")
}
