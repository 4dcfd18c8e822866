//! Record batches → a file or a stream.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use flate2::Compression;
use flate2::write::GzEncoder;
use pmm_store::WholeFile;

use super::column_type::ColumnType;
use super::error::WriteError;
use super::file_format::FileFormat;
use super::output_column::{OutputColumn, TextFormat};
use super::target;
use super::writer_columnar::ColumnarWriter;

/// Writes record batches to a file or a stream.
///
/// A regular file is written under a temporary name in the same folder and renamed by [`finish`](Self::finish); without it
/// nothing is left behind. Symbolic links are followed; a pipe, a device or another thing that is no regular file is written
/// straight.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch, StringArray};
/// use arrow_schema::DataType;
/// use pmm_data::{OutputColumn, Writer};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("pets.csv");
/// let columns = [OutputColumn::new("name", DataType::Utf8), OutputColumn::new("legs", DataType::Int64)];
/// let mut writer = Writer::create(&path, &columns)?;
/// let names = StringArray::from(vec!["Rex, the dog"]);
/// let batch = RecordBatch::try_new(writer.schema().clone(), vec![Arc::new(names), Arc::new(Int64Array::from(vec![4]))])?;
/// writer.write(&batch)?;
/// assert!(!path.exists());
/// writer.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "name,legs\n\"Rex, the dog\",4\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    sink: Sink,
    schema: SchemaRef,
    formats: Vec<TextFormat>,
    path: String,
    target: Option<WholeFile>,
    /// What went wrong in the output itself, which other errors may be about.
    fault: Fault,
}

enum Sink {
    Delimited(Box<csv::Writer<Output>>),
    Columnar(Box<ColumnarWriter>),
}

impl Writer {
    /// Writes to a path, in the format of its name.
    pub fn create(path: impl AsRef<Path>, columns: &[OutputColumn]) -> Result<Self, WriteError> {
        Self::create_as(&path, FileFormat::of(path.as_ref())?, columns)
    }

    /// Writes to a path in a format, whatever its name.
    pub fn create_as(
        path: impl AsRef<Path>,
        format: FileFormat,
        columns: &[OutputColumn],
    ) -> Result<Self, WriteError> {
        let (target, file) = target::create(path.as_ref())?;
        let mut writer = Self::new(path.as_ref().display().to_string(), Box::new(file), format, columns)?;
        writer.target = Some(target);
        Ok(writer)
    }

    /// Writes to a stream such as standard output.
    pub fn stream(
        output: impl Write + Send + 'static,
        format: FileFormat,
        columns: &[OutputColumn],
    ) -> Result<Self, WriteError> {
        Self::new("output".into(), Box::new(output), format, columns)
    }

    fn new(
        path: String,
        output: Box<dyn Write + Send>,
        format: FileFormat,
        columns: &[OutputColumn],
    ) -> Result<Self, WriteError> {
        let fault = Fault::default();
        let output = BufWriter::with_capacity(1 << 16, Watched { inner: output, fault: fault.clone() });
        let fields: Vec<_> = columns.iter().map(|column| column.field.clone()).collect();
        let schema: SchemaRef = Arc::new(arrow_schema::Schema::new(fields));
        let formats = columns.iter().map(|column| column.text.clone()).collect();
        let delimited = |output, delimiter: char| {
            let delimiter = u8::try_from(delimiter).unwrap_or(b',');
            Sink::Delimited(Box::new(csv::WriterBuilder::new().delimiter(delimiter).from_writer(output)))
        };
        let sink = match format {
            FileFormat::Delimited(delimiter) => delimited(Output::Plain(output), delimiter),
            FileFormat::Gzip(delimiter) => {
                delimited(Output::Gzip(Box::new(GzEncoder::new(output, Compression::default()))), delimiter)
            }
            _ => {
                let columnar = ColumnarWriter::new(output, format, &schema);
                Sink::Columnar(Box::new(columnar.map_err(|error| fault.or(&path, &error))?))
            }
        };
        let mut writer = Self { sink, schema, formats, path, target: None, fault };
        writer.write_names()?;
        Ok(writer)
    }

    /// Names and types of the file.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Writes some rows; their columns must have the types of the file.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let types = |schema: &SchemaRef| -> Vec<DataType> {
            schema.fields().iter().map(|field| field.data_type().clone()).collect()
        };
        if types(&batch.schema()) != types(&self.schema) {
            let (expected, found) = (described(&self.schema), described(&batch.schema()));
            return Err(WriteError::Columns { expected, found });
        }
        match &mut self.sink {
            Sink::Columnar(columnar) => {
                columnar.write(batch).map_err(|error| self.fault.or(&self.path, &error))
            }
            Sink::Delimited(_) => self.write_texts(batch),
        }
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<(), WriteError> {
        let error = |source| WriteError::Io { path: self.path.clone(), source };
        match self.sink {
            Sink::Columnar(columnar) => {
                columnar.finish().map_err(|error| self.fault.or(&self.path, &error))?;
            }
            Sink::Delimited(csv) => {
                let output = csv.into_inner().map_err(|full| error(full.into_error()))?;
                output.finish().map_err(error)?;
            }
        }
        self.target.map_or(Ok(()), |target| target.finish().map_err(error))
    }

    fn write_names(&mut self) -> Result<(), WriteError> {
        let names: Vec<Vec<String>> =
            self.schema.fields().iter().map(|field| vec![field.name().clone()]).collect();
        self.write_rows(1, &names)
    }

    fn write_texts(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let texts = |(column, format): (_, &TextFormat)| format.texts(column);
        let columns = batch.columns().iter().map(AsRef::as_ref).zip(&self.formats).map(texts);
        let columns: Vec<Vec<String>> =
            columns.collect::<Result<_, _>>().map_err(|error| self.fault.or(&self.path, &error))?;
        self.write_rows(batch.num_rows(), &columns)
    }

    /// Rows of text, given by column; nothing where the format is not delimited.
    fn write_rows(&mut self, rows: usize, columns: &[Vec<String>]) -> Result<(), WriteError> {
        let Sink::Delimited(csv) = &mut self.sink else { return Ok(()) };
        for row in 0..rows {
            let record = columns.iter().map(|column| column[row].as_bytes());
            csv.write_record(record).map_err(|error| {
                let source = match error.into_kind() {
                    csv::ErrorKind::Io(source) => source,
                    other => io::Error::other(format!("{other:?}")),
                };
                WriteError::Io { path: self.path.clone(), source }
            })?;
        }
        Ok(())
    }
}

/// `name: type, name: type, …`
fn described(schema: &SchemaRef) -> String {
    let mut texts: Vec<String> = schema
        .fields()
        .iter()
        .take(20)
        .map(|field| format!("{}: {}", field.name(), ColumnType::new(field.data_type().clone())))
        .collect();
    if schema.fields().len() > 20 {
        texts.push("…".into());
    }
    texts.join(", ")
}

/// The first error of an output. Writers of Parquet and Arrow wrap it in texts; a closed pipe must stay one.
#[derive(Clone, Default)]
struct Fault(Arc<Mutex<Option<io::Error>>>);

impl Fault {
    /// The output's own error, or else the writer's.
    fn or(&self, path: &str, error: &arrow_schema::ArrowError) -> WriteError {
        let own = self.0.lock().ok().and_then(|mut own| own.take());
        match own {
            Some(source) => WriteError::Io { path: path.to_owned(), source },
            None => WriteError::Columnar { path: path.to_owned(), reason: error.to_string() },
        }
    }
}

/// An output whose errors are remembered.
pub(crate) struct Watched {
    inner: Box<dyn Write + Send>,
    fault: Fault,
}

impl Watched {
    fn seen<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
            && let Ok(mut own) = self.fault.0.lock()
            && own.is_none()
        {
            *own = Some(io::Error::new(error.kind(), error.to_string()));
        }
        result
    }
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.seen(flushed)
    }
}

/// Plain or compressed bytes.
enum Output {
    Plain(BufWriter<Watched>),
    Gzip(Box<GzEncoder<BufWriter<Watched>>>),
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
