//! Whether the blocks of an Arrow file lie within it: its reader takes as much memory as a block claims to need.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::root_as_footer;
use arrow_schema::ArrowError;

const MAGIC: &[u8; 6] = b"ARROW1";
/// The length of the footer and the magic bytes.
const TAIL: u64 = 10;

/// Refuses a file whose footer names a block that is not within it; leaves the file at its beginning.
pub(crate) fn check(file: &mut (impl Read + Seek)) -> Result<(), ArrowError> {
    let length = file.seek(SeekFrom::End(0))?;
    let footer = footer(file, length)?;
    file.rewind()?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0u64, |end, part| end.checked_add(u64::try_from(*part).ok()?));
        if end.is_none_or(|end| end > length) {
            return Err(damaged("a block is not within the file"));
        }
    }
    Ok(())
}

/// The bytes of the footer.
fn footer(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<u8>, ArrowError> {
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(length.checked_sub(TAIL).ok_or_else(|| damaged("it is too short"))?))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let size = u64::try_from(i32::from_le_bytes([a, b, c, d])).ok();
    let start = size.filter(|_| magic == *MAGIC).and_then(|size| (length - TAIL).checked_sub(size));
    let start = start.ok_or_else(|| damaged("it has no footer"))?;
    let mut footer = vec![0; (length - TAIL - start) as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    Ok(footer)
}

fn damaged(why: &str) -> ArrowError {
    ArrowError::IpcError(format!("the file is damaged: {why}"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatch};
    use arrow_ipc::writer::FileWriter;

    use super::*;

    fn file() -> Vec<u8> {
        let rows =
            RecordBatch::try_from_iter([("x", Arc::new(Int64Array::from(vec![1, 2, 3])) as _)]).unwrap();
        let mut writer = FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
        writer.write(&rows).unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn blocks_beyond_the_end_are_refused_before_they_are_read() {
        assert!(check(&mut Cursor::new(file())).is_ok());
        // The length of the one block's body, wherever the footer has it: 128 bytes or so, as eight.
        let whole = file();
        let mut refused = 0;
        for place in whole.len() - 200..whole.len() - 10 {
            let mut altered = whole.clone();
            altered[place] = altered[place].wrapping_add(0x7f);
            refused += usize::from(check(&mut Cursor::new(altered)).is_err());
        }
        assert!(refused > 8, "{refused}");
        for length in [0, 5, 9, 20] {
            assert!(check(&mut Cursor::new(&whole[whole.len() - length..])).is_err(), "{length}");
        }
    }
}
