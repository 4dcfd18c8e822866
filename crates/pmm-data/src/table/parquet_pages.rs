//! What keeps a damaged Parquet file from taking memory and time without end.

use std::io::{self, Read};
use std::sync::Arc;

use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

/// A file beyond whose end nothing can be read: the header of a page ends before the file does, but the reader of headers passes over the
/// billions of items that a damaged one may claim, one by one, also where there are no more bytes.
pub(crate) struct Ended<F>(pub(crate) F);

impl<F: Length> Length for Ended<F> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<F: ChunkReader> ChunkReader for Ended<F> {
    type T = Ended<F::T>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start).map(Ended)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 if !out.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// Refuses a file with a dictionary that claims more values than its bytes can hold: the reader makes room for as many as are claimed
/// before it looks. All else is seen by the reader itself.
pub(crate) fn check(file: impl ChunkReader + 'static, metadata: &ParquetMetaData) -> Result<(), ArrowError> {
    let file = Arc::new(file);
    for group in metadata.row_groups() {
        for column in group.columns() {
            let pages = SerializedPageReader::new(file.clone(), column, group.num_rows() as usize, None);
            let Some((values, bytes)) = pages.ok().and_then(dictionary) else { continue };
            if values.saturating_mul(least_bits(column)) > 8 * bytes {
                return Err(ArrowError::ParquetError(format!(
                    "the file is damaged: a dictionary of {bytes} bytes in column {} claims to hold {values} values",
                    column.column_path().string()
                )));
            }
        }
    }
    Ok(())
}

/// How many values the dictionary of a column claims, and how many bytes it has; none without one.
fn dictionary(mut pages: impl PageReader) -> Option<(u64, u64)> {
    pages.peek_next_page().ok()?.filter(|page| page.is_dict)?;
    match pages.get_next_page().ok()?? {
        Page::DictionaryPage { buf, num_values, .. } => Some((num_values.into(), buf.len() as u64)),
        _ => None,
    }
}

/// What a value takes at least.
fn least_bits(column: &ColumnChunkMetaData) -> u64 {
    match column.column_type() {
        Type::BOOLEAN => 1,
        // A text is its length at least.
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 32,
        Type::INT64 | Type::DOUBLE => 64,
        Type::INT96 => 96,
        Type::FIXED_LEN_BYTE_ARRAY => {
            8 * u64::try_from(column.column_descr().type_length()).unwrap_or(0).max(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;

    use super::*;

    fn checked(bytes: Vec<u8>) -> Result<(), String> {
        let bytes = bytes::Bytes::from(bytes);
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        check(bytes, &metadata).map_err(|error| error.to_string())
    }

    /// Copying is how items are passed over; without the error, as often as a header claims that there are any.
    #[test]
    fn beyond_the_end_is_an_error() {
        let file = Ended(Bytes::from_static(b"four"));
        let copied = |count: u64| io::copy(&mut file.get_read(1).unwrap().take(count), &mut io::sink());
        assert_eq!(copied(3).unwrap(), 3);
        assert_eq!(copied(4).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn dictionaries_that_claim_more_than_they_hold_are_refused() {
        let numbers = || (0..300).map(|row| row % 100);
        let columns: [(ArrayRef, usize); 3] = [
            (Arc::new(Int32Array::from_iter_values(numbers())), 400),
            (Arc::new(Float64Array::from_iter_values(numbers().map(f64::from))), 800),
            (Arc::new(StringArray::from_iter_values(numbers().map(|number| format!("{number:02}")))), 600),
        ];
        for (cells, length) in columns {
            let batch = RecordBatch::try_from_iter([("cell", cells)]).unwrap();
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            let mut bytes = writer.into_inner().unwrap();
            assert_eq!(checked(bytes.clone()), Ok(()));
            // In the header of the dictionary's page: a structure, its first number, which is 100 in two bytes; then 8191.
            let header = [0x4c, 0x15, 0xc8, 0x01];
            let at = bytes.windows(4).position(|four| four == header).unwrap();
            bytes[at + 2..at + 4].copy_from_slice(&[0xfe, 0x7f]);
            let said = format!("a dictionary of {length} bytes in column cell claims to hold 8191 values");
            assert!(checked(bytes).unwrap_err().contains(&said), "{said}");
        }
    }
}
