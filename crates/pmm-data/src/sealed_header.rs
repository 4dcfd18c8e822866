//! The first bytes of a file of tokens or images: what it holds, and whether it is whole.

use std::ops::Range;

/// Length of the header.
pub(crate) const HEADER: usize = 160;
/// Where the two digests of a kind of file are, in hexadecimal digits.
pub(crate) const DIGESTS: [Range<usize>; 2] = [40..72, 72..104];

const VERSION: u32 = 2;
const CONTENTS: Range<usize> = 104..136;
const SEAL: Range<usize> = 136..HEADER;

/// The header that files of tokens and of images share; numbers have the least byte first.
///
/// | bytes | content |
/// |---|---|
/// | 0..8 | the kind of file |
/// | 8..12 | version |
/// | 12..40 | numbers of the kind |
/// | 40..72, 72..104 | digests of the kind, in hexadecimal digits; zeros if there is none |
/// | 104..136 | BLAKE3 of all that follows the header |
/// | 136..160 | the first bytes of BLAKE3 of bytes 0..136 and of what the kind has sealed with them |
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedHeader([u8; HEADER]);

impl SealedHeader {
    /// An empty header of a kind of file.
    pub(crate) fn new(kind: &[u8; 8]) -> Self {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(kind);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        Self(bytes)
    }

    /// Puts bytes at a place.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The bytes, once nothing changes any more: `contents` is the hash of all that follows, `beside` what is sealed with them.
    pub(crate) fn seal(mut self, contents: &blake3::Hash, beside: &[u8]) -> [u8; HEADER] {
        self.put(CONTENTS.start, contents.as_bytes());
        let seal = self.sealed(beside);
        self.put(SEAL.start, &seal);
        self.0
    }

    /// Reads the header of a kind of file; the error is the reason why it is refused. Whether it was altered is told by
    /// [`check`](Self::check).
    pub(crate) fn read(kind: &[u8; 8], file: &[u8]) -> Result<Self, String> {
        if !file.starts_with(kind) {
            return Err("it does not begin as one".into());
        }
        let head =
            Self(*file.first_chunk().ok_or_else(|| format!("it ends within its first {HEADER} bytes"))?);
        match head.u32(8) {
            VERSION => Ok(head),
            version => Err(format!("it has version {version}; this program reads version {VERSION}")),
        }
    }

    /// Whether it is as it was sealed, with what was sealed beside it.
    pub(crate) fn check(&self, beside: &[u8]) -> Result<(), String> {
        if self.0[SEAL] == self.sealed(beside) { Ok(()) } else { Err("its header was altered".into()) }
    }

    /// Whether all that follows the header in a file is as it was written; reads all of it.
    pub(crate) fn check_contents(&self, file: &[u8]) -> Result<(), String> {
        let contents = file.get(HEADER..).unwrap_or_default();
        match blake3::hash(contents).as_bytes()[..] == self.0[CONTENTS] {
            true => Ok(()),
            false => Err("its contents were altered".into()),
        }
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|place| self.0[at + place]))
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|place| self.0[at + place]))
    }

    pub(crate) fn text(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(&self.0[range]).into_owned()
    }

    fn sealed(&self, beside: &[u8]) -> [u8; SEAL.end - SEAL.start] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0[..SEAL.start]).update(beside);
        let hash = hasher.finalize();
        std::array::from_fn(|place| hash.as_bytes()[place])
    }
}

/// Whether a file is as long as its header says; `things` are what it holds.
pub(crate) fn check_length(expected: Option<u64>, found: u64, things: &str) -> Result<(), String> {
    match expected {
        Some(expected) if expected == found => Ok(()),
        Some(expected) => Err(format!("it has {found} bytes instead of {expected}")),
        None => Err(format!("it claims more {things} than any file holds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &[u8; 8] = b"PMMTEST\n";

    fn file() -> Vec<u8> {
        let mut head = SealedHeader::new(KIND);
        head.put(12, &7u32.to_le_bytes());
        head.put(DIGESTS[1].start, &[b'f'; 32]);
        [&head.seal(&blake3::hash(b"contents"), b"names")[..], b"contents"].concat()
    }

    #[test]
    fn a_header_comes_back() {
        let head = SealedHeader::read(KIND, &file()).unwrap();
        assert_eq!((head.u32(12), head.u64(16), head.text(DIGESTS[1].clone())), (7, 0, "f".repeat(32)));
        assert_eq!(head.check(b"names"), Ok(()));
        assert_eq!(head.check_contents(&file()), Ok(()));
    }

    #[test]
    fn whatever_is_altered_is_told() {
        let is_whole = |file: &[u8]| {
            let head = SealedHeader::read(KIND, file)?;
            head.check(b"names").and_then(|()| head.check_contents(file))
        };
        for place in 0..file().len() {
            let mut altered = file();
            altered[place] ^= 1;
            assert!(is_whole(&altered).is_err(), "{place}");
        }
        for length in 0..file().len() {
            assert!(is_whole(&file()[..length]).is_err(), "{length}");
        }
        let head = SealedHeader::read(KIND, &file()).unwrap();
        assert!(head.check(b"name").unwrap_err().contains("altered"));
    }

    #[test]
    fn lengths_are_held_against_the_header() {
        assert_eq!(check_length(Some(8), 8, "tokens"), Ok(()));
        assert!(check_length(Some(8), 7, "tokens").unwrap_err().contains("7 bytes instead of 8"));
        assert!(check_length(None, 7, "tokens").unwrap_err().contains("more tokens than any"));
    }
}
