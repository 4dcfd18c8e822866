//! Parquet and Arrow files, and batches in memory, cut to batches of rows.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_blocks;
use super::batches::{ROWS, RowBatch};
use super::error::ReadError;
use super::ranged::RangedReader;
use super::source::{Format, Source};

/// The batches of a file or of memory, in order.
pub(crate) struct Reader {
    from: Box<dyn RecordBatchReader + Send>,
    /// The batch at hand and how many of its rows were given out.
    batch: Option<(RecordBatch, usize)>,
    rows: u64,
}

/// The schema as the file has it.
pub(crate) fn schema(source: &Source) -> Result<SchemaRef, ReadError> {
    let schema = Reader::open(source)?.from.schema();
    let empty = schema.fields().is_empty();
    if empty { Err(ReadError::Empty { path: source.name().to_owned() }) } else { Ok(schema) }
}

impl Reader {
    pub(crate) fn open(source: &Source) -> Result<Self, ReadError> {
        let file = source.file()?;
        let from = guarded(source, || match (source.format(), file, source.remote()) {
            (Format::Batches, ..) => memory(source),
            (Format::Parquet, Some(file), _) => parquet(file),
            (Format::Parquet, None, Some(remote)) => parquet(remote.clone()),
            (Format::Parquet, None, None) => parquet(source.memory()),
            (Format::ArrowStream, Some(file), _) => stream(std::io::BufReader::new(file)),
            (Format::ArrowStream, None, Some(remote)) => stream(RangedReader::new(remote)),
            (Format::ArrowStream, None, None) => stream(std::io::Cursor::new(source.memory())),
            (_, Some(file), _) => arrow(std::io::BufReader::new(file)),
            (_, None, Some(remote)) => arrow(RangedReader::new(remote)),
            (_, None, None) => arrow(std::io::Cursor::new(source.memory())),
        })?;
        Ok(Self { from, batch: None, rows: 0 })
    }

    /// The next rows, none at the end.
    pub(crate) fn batch(&mut self, source: &Source) -> Result<Option<RowBatch>, ReadError> {
        loop {
            if let Some((batch, given)) = &mut self.batch
                && *given < batch.num_rows()
            {
                let rows = ROWS.min(batch.num_rows() - *given);
                let (slice, first) = (batch.slice(*given, rows), self.rows);
                *given += rows;
                self.rows += rows as u64;
                return Ok(Some(RowBatch { first, lines: None, batch: slice, file: None }));
            }
            let next = guarded(source, || self.from.next().transpose())?;
            let Some(batch) = next else { return Ok(None) };
            // The names of the source are unique, those of the file need not be.
            let batch =
                guarded(source, || RecordBatch::try_new(source.schema().clone(), batch.columns().to_vec()))?;
            self.batch = Some((batch, 0));
        }
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is within a reader of Parquet or Arrow whose panics become errors: a program's panic hook need not tell of them.
pub fn is_reading_guarded() -> bool {
    GUARDED.get()
}

/// Runs a reader on a file that may be damaged. The readers are written to return errors, and mostly do; a user's file
/// must not end the program, so a panic in them becomes an error, too.
fn guarded<T>(source: &Source, read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ReadError> {
    let before = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    match outcome {
        Ok(read) => read.map_err(|error| source.columnar(&error)),
        Err(_) => {
            Err(ReadError::Columnar { path: source.name().into(), reason: "the file is damaged".into() })
        }
    }
}

type Opened = Result<Box<dyn RecordBatchReader + Send>, ArrowError>;

fn parquet(file: impl parquet::file::reader::ChunkReader + 'static) -> Opened {
    Ok(Box::new(ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(ROWS).build()?))
}

fn arrow(mut file: impl std::io::Read + std::io::Seek + Send + 'static) -> Opened {
    arrow_blocks::check(&mut file)?;
    Ok(Box::new(FileReader::try_new(file, None)?))
}

fn stream(file: impl std::io::Read + Send + 'static) -> Opened {
    Ok(Box::new(StreamReader::try_new(file, None)?))
}

fn memory(source: &Source) -> Opened {
    let (schema, batches) = source.batches_in_memory();
    Ok(Box::new(arrow_array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))
}
