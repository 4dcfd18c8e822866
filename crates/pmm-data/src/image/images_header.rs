//! The header of a file of images.

use crate::sealed_header::{DIGESTS, HEADER, SealedHeader, check_length};

/// The label of an image that has none.
pub(super) const UNLABELLED: u32 = u32::MAX;

const KIND: &[u8; 8] = b"PMMIMG\r\n";

/// What a file of images holds. Its part of the [`SealedHeader`], with which the names of classes are sealed:
///
/// | bytes | content |
/// |---|---|
/// | 12..16, 16..20, 20..24 | channels, height, width |
/// | 24..32, 32..40 | images, bytes of the names of classes (0 without labels) |
/// | 40..72 | digest of the images |
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
    /// The bytes of the header; `contents` is the hash of pixels, labels and [`names`].
    pub(super) fn to_bytes(&self, contents: &blake3::Hash) -> [u8; HEADER] {
        let names = names(&self.classes);
        let mut head = SealedHeader::new(KIND);
        for (side, place) in self.shape.into_iter().zip([12, 16, 20]) {
            // Images are at most a gigabyte large.
            head.put(place, &(side as u32).to_le_bytes());
        }
        head.put(24, &self.count.to_le_bytes());
        head.put(32, &(names.len() as u64).to_le_bytes());
        head.put(DIGESTS[0].start, self.source.as_bytes());
        head.seal(contents, &names)
    }

    /// Reads the header of a file; the error is the reason why it is refused.
    pub(super) fn read(file: &[u8]) -> Result<Self, String> {
        let head = SealedHeader::read(KIND, file)?;
        let shape = [12, 16, 20].map(|place| head.u32(place) as usize);
        let (count, length) = (head.u64(24), head.u64(32));
        check_length(expected_length(shape, count, length), file.len() as u64, "images")?;
        let names = &file[file.len() - length as usize..];
        head.check(names)?;
        let classes = if names.is_empty() { Ok(vec![]) } else { serde_json::from_slice(names) };
        let classes = classes.map_err(|error| format!("its classes have no names: {error}"))?;
        Ok(Self { shape, count, classes, source: head.text(DIGESTS[0].clone()) })
    }

    /// Whether the images of a file are as they were written; reads all of it.
    pub(super) fn check_contents(file: &[u8]) -> Result<(), String> {
        SealedHeader::read(KIND, file)?.check_contents(file)
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

fn expected_length(shape: [usize; 3], count: u64, names: u64) -> Option<u64> {
    let size = shape.iter().try_fold(1u64, |size, &side| size.checked_mul(side as u64))?;
    let size = size.checked_add(if names == 0 { 0 } else { 4 })?;
    size.checked_mul(count)?.checked_add(HEADER as u64)?.checked_add(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(classes: &[&str]) -> Header {
        let classes = classes.iter().map(|name| name.to_string()).collect();
        Header { shape: [3, 2, 1], count: 2, classes, source: "0".repeat(32) }
    }

    fn file(header: &Header) -> Vec<u8> {
        let names = names(&header.classes);
        let labels = if names.is_empty() { 0 } else { 8 };
        let contents = [&[7; 12][..], &vec![0; labels], &names].concat();
        [&header.to_bytes(&blake3::hash(&contents))[..], &contents].concat()
    }

    #[test]
    fn a_header_comes_back() {
        for header in [header(&[]), header(&["cat", "dög \"x\"\n"])] {
            assert_eq!(Header::read(&file(&header)), Ok(header.clone()));
            assert_eq!(header.size(), 6);
            assert_eq!(Header::check_contents(&file(&header)), Ok(()));
            let mut altered = file(&header);
            altered[HEADER + 11] ^= 1;
            assert!(Header::read(&altered).is_ok() && Header::check_contents(&altered).is_err());
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
        refused(&whole[..172], "it has 172 bytes instead of 189");
        refused(&[&whole[..], &[0]].concat(), "it has 190 bytes instead of 189");
        for place in (12..HEADER).chain(180..189) {
            let mut altered = whole.clone();
            altered[place] ^= 1;
            assert!(Header::read(&altered).is_err(), "{place}");
        }
        let mut newer = whole.clone();
        newer[8] = 3;
        refused(&newer, "version 3");
        let mut altered = whole.clone();
        altered[50] = b'1';
        refused(&altered, "altered");
        let hash = blake3::hash(&[]);
        refused(&Header { count: u64::MAX, ..header(&[]) }.to_bytes(&hash), "more images than any");
    }
}
