//! Whether an Arrow file or stream can be what it claims: its reader takes as much memory as is claimed before it looks.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::{CompressionType, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

const MAGIC: &[u8; 6] = b"ARROW1";
/// The length of the footer and the magic bytes.
const TAIL: u64 = 10;
/// What stands before the length of a message, but in the oldest files.
const CONTINUED: [u8; 4] = [0xff; 4];
/// What a byte unpacks to at most: in LZ4 it lengthens a copy by 255, in Zstandard four repeat one of a block of 128 KiB.
const DENSEST_LZ4: u64 = 255;
const DENSEST_ZSTD: u64 = 1 << 15;

/// Refuses a file whose footer names a block that is not within it, or a part that claims to unpack to more than it can hold or
/// fits into memory; leaves the file at its beginning.
pub(crate) fn check(file: &mut (impl Read + Seek)) -> Result<(), ArrowError> {
    let length = file.seek(SeekFrom::End(0))?;
    let footer = footer(file, length)?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0u64, |end, part| end.checked_add(u64::try_from(*part).ok()?));
        if end.is_none_or(|end| end > length) {
            return Err(damaged("a block is not within the file"));
        }
        message(file, block.offset() as u64, length)?;
    }
    Ok(file.rewind()?)
}

/// Refuses a stream with a part that claims to unpack to more than it can hold or fits into memory; leaves it at its beginning. All else is seen by the
/// reader itself.
pub(crate) fn check_stream(file: &mut (impl Read + Seek)) -> Result<(), ArrowError> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut at = 0;
    while let Some(next) = message(file, at, length)? {
        at = next;
    }
    Ok(file.rewind()?)
}

/// Looks at the message that begins at a place; the place after it, none where the stream or the file ends.
fn message(file: &mut (impl Read + Seek), at: u64, length: u64) -> Result<Option<u64>, ArrowError> {
    let mut place = at;
    let mut size = CONTINUED;
    for _ in 0..2 {
        if size != CONTINUED || length.saturating_sub(place) < 4 {
            break;
        }
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(&mut size)?;
        place += 4;
    }
    let size = u64::try_from(i32::from_le_bytes(size)).unwrap_or(0);
    if size == 0 || size > length - place {
        return Ok(None);
    }
    let mut metadata = vec![0; size as usize];
    file.read_exact(&mut metadata)?;
    let body = place + size;
    let message = root_as_message(&metadata).map_err(|error| damaged(&error.to_string()))?;
    let of_dictionary = || message.header_as_dictionary_batch()?.data();
    if let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) {
        check_claims(file, &batch, body, length)?;
    }
    Ok(u64::try_from(message.bodyLength())
        .ok()
        .and_then(|bytes| body.checked_add(bytes))
        .filter(|end| *end < length))
}

/// Looks at what each packed part of a batch claims to unpack to.
fn check_claims(
    file: &mut (impl Read + Seek),
    batch: &RecordBatch<'_>,
    body: u64,
    length: u64,
) -> Result<(), ArrowError> {
    let Some(compression) = batch.compression() else { return Ok(()) };
    let densest = if compression.codec() == CompressionType::LZ4_FRAME { DENSEST_LZ4 } else { DENSEST_ZSTD };
    for part in batch.buffers().into_iter().flatten() {
        let begin = u64::try_from(part.offset()).ok().and_then(|offset| body.checked_add(offset));
        let rest = begin.map_or(0, |begin| length.saturating_sub(begin)).min(part.length().max(0) as u64);
        let (Some(begin), Some(packed)) = (begin, rest.checked_sub(8)) else { continue };
        let mut claim = [0; 8];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(&mut claim)?;
        // A negative one says that nothing is packed.
        let Ok(claim) = usize::try_from(i64::from_le_bytes(claim)) else { continue };
        let beyond = if claim as u64 > densest.saturating_mul(packed) {
            "more than it can hold"
        } else if Vec::<u8>::new().try_reserve_exact(claim).is_err() {
            "more than fits into memory"
        } else {
            continue;
        };
        return Err(damaged(&format!("{packed} bytes of it claim to unpack to {claim}, {beyond}")));
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
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

    use super::*;

    fn rows(values: Vec<i64>) -> RecordBatch {
        RecordBatch::try_from_iter([("x", Arc::new(Int64Array::from(values)) as _)]).unwrap()
    }

    fn file() -> Vec<u8> {
        let rows = rows(vec![1, 2, 3]);
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

    /// Zeros that were packed by either method, as a file and as a stream.
    #[test]
    fn what_claims_to_unpack_to_more_than_it_can_is_refused() {
        const COUNT: usize = 12_345;
        let rows = rows(vec![0; COUNT]);
        for (method, densest) in
            [(CompressionType::LZ4_FRAME, DENSEST_LZ4), (CompressionType::ZSTD, DENSEST_ZSTD)]
        {
            let options = || IpcWriteOptions::default().try_with_compression(Some(method)).unwrap();
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &rows.schema(), options()).unwrap();
            writer.write(&rows).unwrap();
            let file = writer.into_inner().unwrap();
            let mut writer =
                StreamWriter::try_new_with_options(Vec::new(), &rows.schema(), options()).unwrap();
            writer.write(&rows).unwrap();
            writer.write(&rows).unwrap();
            let stream = writer.into_inner().unwrap();
            let lie = |bytes: &[u8], claim: i64| {
                let true_one = (8 * COUNT as i64).to_le_bytes();
                let place = bytes.windows(8).rposition(|eight| eight == true_one).unwrap();
                let mut bytes = bytes.to_vec();
                bytes[place..place + 8].copy_from_slice(&claim.to_le_bytes());
                bytes
            };
            check(&mut Cursor::new(&file)).unwrap();
            check_stream(&mut Cursor::new(&stream)).unwrap();
            // Of fewer bytes than the whole file.
            let much = (densest * file.len() as u64) as i64;
            let said = check(&mut Cursor::new(lie(&file, much))).unwrap_err().to_string();
            assert!(
                said.contains(&format!("bytes of it claim to unpack to {much}, more than it can hold")),
                "{said}"
            );
            let said = check_stream(&mut Cursor::new(lie(&stream, much))).unwrap_err().to_string();
            assert!(
                said.contains(&format!("bytes of it claim to unpack to {much}, more than it can hold")),
                "{said}"
            );
        }
    }
}
