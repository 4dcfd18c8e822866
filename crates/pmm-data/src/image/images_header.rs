//! The first bytes of a file of images: what it holds, and whether it is whole.

use std::ops::Range;

/// Length of the header.
pub(super) const HEADER: usize = 128;
/// The label of an image that has none.
pub(super) const UNLABELLED: u32 = u32::MAX;

const MAGIC: &[u8; 8] = b"PMMIMG\r\n";
const VERSION: u32 = 1;
const SOURCE: Range<usize> = 40..72;
const RESERVED: Range<usize> = 72..104;
const CHECKSUM: Range<usize> = 104..HEADER;

/// What a file of images holds. Stored in 128 bytes, numbers with the least byte first:
///
/// | bytes | content |
/// |---|---|
/// | 0..8 | `PMMIMG\r\n` |
/// | 8..12, 12..16 | version, channels |
/// | 16..20, 20..24 | height, width |
/// | 24..32, 32..40 | images, bytes of the names of classes (0 without labels) |
/// | 40..72 | digest of the images, in hexadecimal digits |
/// | 72..104 | zeros |
/// | 104..128 | the first bytes of BLAKE3 of bytes 0..104 and the names |
///
/// Then come the pixels; with classes also a label of four bytes for each image, and the names as a list in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) shape: [usize; 3],
    pub(super) count: u64,
    pub(super) classes: Vec<String>,
    pub(super) source: String,
}

impl Header {
    /// The header and the names.
    pub(super) fn to_bytes(&self) -> ([u8; HEADER], Vec<u8>) {
        let names = names(&self.classes);
        let mut out = [0; HEADER];
        out[..8].copy_from_slice(MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        for (side, place) in self.shape.into_iter().zip([12, 16, 20]) {
            // Images are at most a gigabyte large.
            out[place..place + 4].copy_from_slice(&(side as u32).to_le_bytes());
        }
        out[24..32].copy_from_slice(&self.count.to_le_bytes());
        out[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
        out[SOURCE].copy_from_slice(self.source.as_bytes());
        let checksum = checksum(&out, &names);
        out[CHECKSUM].copy_from_slice(&checksum);
        (out, names)
    }

    /// Reads the header of a file; the error is the reason why it is refused.
    pub(super) fn read(file: &[u8]) -> Result<Self, String> {
        if !file.starts_with(MAGIC) {
            return Err("it does not begin as one".into());
        }
        let head = file.first_chunk::<HEADER>().ok_or("it ends within its first 128 bytes")?;
        let version = u32_at(head, 8);
        if version != VERSION {
            return Err(format!("it has version {version}; this program reads version {VERSION}"));
        }
        let shape = [12, 16, 20].map(|place| u32_at(head, place) as usize);
        let (count, length) = (u64_at(head, 24), u64_at(head, 32));
        check_length(shape, count, length, file.len() as u64)?;
        let names = &file[file.len() - length as usize..];
        if head[CHECKSUM] != checksum(head, names) || head[RESERVED].iter().any(|&byte| byte != 0) {
            return Err("its first 128 bytes or the names of its classes were altered".into());
        }
        let classes = if names.is_empty() { Ok(vec![]) } else { serde_json::from_slice(names) };
        let classes = classes.map_err(|error| format!("its classes have no names: {error}"))?;
        let source = String::from_utf8_lossy(&head[SOURCE]).into_owned();
        Ok(Self { shape, count, classes, source })
    }

    /// Bytes an image.
    pub(super) fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The names of classes as they are stored.
pub(super) fn names(classes: &[String]) -> Vec<u8> {
    if classes.is_empty() { vec![] } else { serde_json::Value::from(classes).to_string().into_bytes() }
}

fn check_length(shape: [usize; 3], count: u64, names: u64, found: u64) -> Result<(), String> {
    let size = shape.iter().try_fold(1u64, |size, &side| size.checked_mul(side as u64));
    let size = size.and_then(|size| size.checked_add(if names == 0 { 0 } else { 4 }));
    let expected = size
        .and_then(|size| size.checked_mul(count))
        .and_then(|bytes| bytes.checked_add(HEADER as u64))
        .and_then(|bytes| bytes.checked_add(names));
    match expected {
        Some(expected) if expected == found => Ok(()),
        Some(expected) => Err(format!("it has {found} bytes instead of {expected}")),
        None => Err("it claims more images than any file holds".into()),
    }
}

fn checksum(head: &[u8; HEADER], names: &[u8]) -> [u8; CHECKSUM.end - CHECKSUM.start] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head[..CHECKSUM.start]).update(names);
    let hash = hasher.finalize();
    std::array::from_fn(|place| hash.as_bytes()[place])
}

fn u32_at(head: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|place| head[at + place]))
}

fn u64_at(head: &[u8; HEADER], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|place| head[at + place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(classes: &[&str]) -> Header {
        let classes = classes.iter().map(|name| name.to_string()).collect();
        Header { shape: [3, 2, 1], count: 2, classes, source: "0".repeat(32) }
    }

    fn file(header: &Header) -> Vec<u8> {
        let (head, names) = header.to_bytes();
        let labels = if names.is_empty() { 0 } else { 8 };
        [&head[..], &[7; 12], &vec![0; labels], &names].concat()
    }

    #[test]
    fn a_header_comes_back() {
        for header in [header(&[]), header(&["cat", "dög \"x\"\n"])] {
            assert_eq!(Header::read(&file(&header)), Ok(header.clone()));
            assert_eq!(header.size(), 6);
        }
    }

    #[test]
    fn files_that_are_not_whole_are_refused() {
        let refused = |file: &[u8], reason: &str| {
            let error = Header::read(file).unwrap_err();
            assert!(error.contains(reason), "{error}");
        };
        let whole = file(&header(&["a", "b"]));
        refused(b"PMM", "does not begin");
        refused(&whole[..100], "ends within");
        refused(&whole[..140], "it has 140 bytes instead of 157");
        refused(&[&whole[..], &[0]].concat(), "it has 158 bytes instead of 157");
        for place in (12..HEADER).chain(148..157) {
            let mut altered = whole.clone();
            altered[place] ^= 1;
            assert!(Header::read(&altered).is_err(), "{place}");
        }
        let mut newer = whole.clone();
        newer[8] = 2;
        refused(&newer, "version 2");
        let mut altered = whole.clone();
        altered[50] = b'1';
        refused(&altered, "altered");
        refused(&Header { count: u64::MAX, ..header(&[]) }.to_bytes().0, "more images than any");
    }
}
