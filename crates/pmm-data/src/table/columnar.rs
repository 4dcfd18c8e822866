//! Parquet and Arrow files, and batches in memory, cut to batches of rows.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

use super::arrow_blocks;
use super::batches::{ROWS, RowBatch};
use super::column_type::ColumnType;
use super::error::{CellError, Place, ReadError};
use super::parquet_pages::{self, Ended};
use super::ranged::RangedReader;
use super::raw::range;
use super::source::{Format, Source};
use super::view::{BEYOND, View};

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
            (Format::Parquet, Some(file), _) => parquet(file.try_clone()?, file),
            (Format::Parquet, None, Some(remote)) => parquet(remote.clone(), remote.clone()),
            (Format::Parquet, None, None) => parquet(source.memory(), source.memory()),
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
            self.check_types(source, &batch)?;
            self.batch = Some((batch, 0));
        }
    }

    /// Refuses cells that are no values of their type, which the readers let pass.
    fn check_types(&self, source: &Source, batch: &RecordBatch) -> Result<(), ReadError> {
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if !is_wider(field.data_type()) {
                continue;
            }
            let View::Raws(_, cells) = View::of(array) else { continue };
            let (low, high) = range(field.data_type());
            let beyond =
                |cell: &Option<i128>| cell.filter(|raw| *raw != BEYOND && !(low..=high).contains(raw));
            let Some((row, raw)) =
                cells.iter().enumerate().find_map(|(row, cell)| Some((row, beyond(cell)?)))
            else {
                continue;
            };
            let cell_type = ColumnType::new(field.data_type().clone()).to_string();
            return Err(ReadError::Cell {
                path: source.name().into(),
                place: Place::Row(self.rows + 1 + row as u64),
                column: field.name().clone(),
                cell: Box::new(CellError::BeyondType {
                    text: raw.to_string(),
                    cell_type,
                    limits: Box::new((low, high)),
                }),
            });
        }
        Ok(())
    }
}

/// Whether arrays of a type can hold integers that are none of its values.
fn is_wider(data_type: &DataType) -> bool {
    match data_type {
        DataType::Time32(_) | DataType::Time64(_) => true,
        DataType::Dictionary(_, values) => is_wider(values),
        data_type => data_type.is_decimal(),
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

/// Of a file that is given twice: to be looked at, and to be read.
fn parquet<F: ChunkReader + 'static>(looked_at: F, file: F) -> Opened {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Ended(file))?;
    parquet_pages::check(Ended(looked_at), reader.metadata())?;
    Ok(Box::new(reader.with_batch_size(ROWS).build()?))
}

fn arrow(mut file: impl std::io::Read + std::io::Seek + Send + 'static) -> Opened {
    arrow_blocks::check(&mut file)?;
    Ok(Box::new(FileReader::try_new(file, None)?))
}

fn stream(mut file: impl std::io::Read + std::io::Seek + Send + 'static) -> Opened {
    arrow_blocks::check_stream(&mut file)?;
    Ok(Box::new(StreamReader::try_new(file, None)?))
}

fn memory(source: &Source) -> Opened {
    let (schema, batches) = source.batches_in_memory();
    Ok(Box::new(arrow_array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, Decimal128Array, DictionaryArray, Int8Array, Time32SecondArray};

    use super::*;

    /// Rows of a column of which every batch is these cells, or why it is refused.
    fn read(cells: ArrayRef, batches: usize) -> Result<usize, String> {
        let batch = RecordBatch::try_from_iter([("cell", cells)]).unwrap();
        let source = Source::from_batches("rows", batch.schema(), vec![batch; batches]);
        let batches = source.and_then(|source| source.batches()?.collect::<Result<Vec<_>, _>>());
        Ok(batches.map_err(|error| error.to_string())?.iter().map(|rows| rows.rows()).sum())
    }

    #[test]
    fn cells_beyond_their_type_are_refused_with_their_place() {
        let times = |second: i32| Arc::new(Time32SecondArray::from(vec![Some(0), None, Some(second)]));
        assert_eq!(read(times(86_399), 2), Ok(6));
        assert_eq!(
            read(times(86_400), 1).unwrap_err(),
            "rows, row 3, column cell: 86400 is beyond what time32[s] holds (0 to 86399)"
        );
        assert!(read(times(-1), 1).unwrap_err().contains("row 3"));
        let keys = || Int8Array::from(vec![0, 2, 0]);
        let packed = |second| Arc::new(DictionaryArray::<Int8Type>::new(keys(), times(second)));
        assert_eq!(read(packed(5), 1), Ok(3));
        assert!(read(packed(-5), 1).unwrap_err().contains("row 2, column cell: -5 is beyond"));
        let money = |cents: i128| {
            let cells = Decimal128Array::from(vec![1, cents]).with_precision_and_scale(3, 2);
            Arc::new(cells.unwrap())
        };
        assert_eq!(read(money(-999), 2), Ok(4));
        assert!(
            read(money(1_000), 2)
                .unwrap_err()
                .contains("row 2, column cell: 1000 is beyond what decimal128(3, 2)")
        );
    }
}
