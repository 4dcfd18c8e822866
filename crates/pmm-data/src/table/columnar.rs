//! Parquet and Arrow files as records of text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::error::ReadError;
use super::records::Record;
use super::source::{Format, Source};

/// Rows turned to text at a time.
const ROWS: usize = 1024;

/// The records of a Parquet or Arrow file.
pub(crate) struct Batches {
    reader: Box<dyn RecordBatchReader + Send>,
    /// Texts of the present batch by column, in reverse order of rows.
    texts: Vec<Vec<String>>,
    row: u64,
}

/// The columns' names.
pub(crate) fn names(source: &Source) -> Result<Vec<String>, ReadError> {
    let batches = Batches::open(source)?;
    let names: Vec<String> =
        batches.reader.schema().fields().iter().map(|field| field.name().trim().to_owned()).collect();
    if names.is_empty() { Err(ReadError::Empty { path: source.name().to_owned() }) } else { Ok(names) }
}

impl Batches {
    pub(crate) fn open(source: &Source) -> Result<Self, ReadError> {
        let file = source.file()?;
        let reader = guarded(source, || match (source.format(), file) {
            (Format::Parquet, Some(file)) => parquet(file),
            (Format::Parquet, None) => parquet(source.memory()),
            (_, Some(file)) => arrow(std::io::BufReader::new(file)),
            (_, None) => arrow(std::io::Cursor::new(source.memory())),
        })?;
        Ok(Self { reader, texts: Vec::new(), row: 0 })
    }

    /// The next row; false at the end.
    pub(crate) fn read(&mut self, source: &Source, record: &mut Record) -> Result<bool, ReadError> {
        while self.texts.first().is_none_or(Vec::is_empty) {
            let next = guarded(source, || self.reader.next().transpose())?;
            let Some(batch) = next else { return Ok(false) };
            self.texts = guarded(source, || texts(&batch))?;
        }
        self.row += 1;
        record.line = self.row;
        record.cells.clear();
        record.cells.extend(self.texts.iter_mut().map(|column| column.pop().unwrap_or_default()));
        Ok(true)
    }
}

/// Runs a reader on a file that may be damaged. The readers are written to return errors, and mostly do; a user's file
/// must not end the program, so a panic in them becomes an error, too.
fn guarded<T>(source: &Source, read: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ReadError> {
    let path = || source.name().to_owned();
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(ReadError::Columnar { path: path(), reason: error.to_string() }),
        Err(_) => Err(ReadError::Columnar { path: path(), reason: "the file is damaged".into() }),
    }
}

fn parquet(
    file: impl parquet::file::reader::ChunkReader + 'static,
) -> Result<Box<dyn RecordBatchReader + Send>, ArrowError> {
    Ok(Box::new(ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(ROWS).build()?))
}

fn arrow(
    file: impl std::io::Read + std::io::Seek + Send + 'static,
) -> Result<Box<dyn RecordBatchReader + Send>, ArrowError> {
    Ok(Box::new(FileReader::try_new(file, None)?))
}

/// A batch as text, the last row first.
fn texts(batch: &RecordBatch) -> Result<Vec<Vec<String>>, ArrowError> {
    batch.columns().iter().map(column_texts).collect()
}

fn column_texts(array: &ArrayRef) -> Result<Vec<String>, ArrowError> {
    // Instants are stored in UTC; the zone's name beside them would only be used for showing, and needs a database.
    let (array, zone) = match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => {
            let data = array.to_data().into_builder().data_type(DataType::Timestamp(*unit, None));
            (make_array(data.build()?), "Z")
        }
        _ => (array.clone(), ""),
    };
    let options = FormatOptions::default().with_null("");
    let formatter = ArrayFormatter::try_new(&array, &options)?;
    let text = |row: usize| -> Result<String, ArrowError> {
        if array.is_null(row) {
            return Ok(String::new());
        }
        Ok(formatter.value(row).try_to_string()? + zone)
    };
    (0..array.len()).rev().map(text).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, TimestampMicrosecondArray,
        TimestampSecondArray,
    };

    use super::*;

    fn texts_of(array: impl Array + 'static) -> Vec<String> {
        let array: ArrayRef = Arc::new(array);
        let mut texts = column_texts(&array).unwrap();
        texts.reverse();
        texts
    }

    #[test]
    fn types_become_texts() {
        assert_eq!(
            texts_of(Float64Array::from(vec![Some(1.0), None, Some(0.1), Some(1e-9)])),
            ["1.0", "", "0.1", "1e-9"]
        );
        assert_eq!(texts_of(Float32Array::from(vec![0.1])), ["0.1"]);
        assert_eq!(texts_of(BooleanArray::from(vec![true, false])), ["true", "false"]);
        assert_eq!(texts_of(Date32Array::from(vec![0, 18_262])), ["1970-01-01", "2020-01-01"]);
        let words: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("b")].into_iter().collect();
        assert_eq!(texts_of(words), ["a", "", "b"]);
        assert_eq!(texts_of(TimestampSecondArray::from(vec![0])), ["1970-01-01T00:00:00"]);
        let paris = TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("Europe/Paris");
        assert_eq!(texts_of(paris), ["1970-01-01T00:00:01.500Z"]);
    }
}
