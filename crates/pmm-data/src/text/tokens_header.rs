//! The first bytes of a file of tokens: what it holds, and whether it is whole.

use std::ops::Range;

/// Length of the header.
pub(super) const HEADER: usize = 128;

const MAGIC: &[u8; 8] = b"PMMTOK\r\n";
const VERSION: u32 = 1;
const SOURCE: Range<usize> = 40..72;
const TOKENIZER: Range<usize> = 72..104;
const CHECKSUM: Range<usize> = 104..HEADER;

/// What a file of tokens holds. Stored in 128 bytes, numbers with the least byte first:
///
/// | bytes | content |
/// |---|---|
/// | 0..8 | `PMMTOK\r\n` |
/// | 8..12, 12..16 | version, bytes a token |
/// | 16..24, 24..32, 32..40 | tokens, bytes of the text, characters of the text |
/// | 40..72, 72..104 | digests of the text and of the tokenizer, in hexadecimal digits |
/// | 104..128 | the first bytes of BLAKE3 of bytes 0..104 |
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: Width,
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) characters: u64,
    pub(super) source: String,
    pub(super) tokenizer: String,
}

/// Bytes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    One = 1,
    Two = 2,
    Four = 4,
}

impl Width {
    /// The least that holds all tokens.
    pub(super) fn of(classes: usize) -> Self {
        match classes {
            0..=0x100 => Self::One,
            0x101..=0x1_0000 => Self::Two,
            _ => Self::Four,
        }
    }
}

impl Header {
    pub(super) fn to_bytes(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..8].copy_from_slice(MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&(self.width as u32).to_le_bytes());
        out[16..24].copy_from_slice(&self.count.to_le_bytes());
        out[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        out[32..40].copy_from_slice(&self.characters.to_le_bytes());
        out[SOURCE].copy_from_slice(self.source.as_bytes());
        out[TOKENIZER].copy_from_slice(self.tokenizer.as_bytes());
        let checksum = checksum(&out);
        out[CHECKSUM].copy_from_slice(&checksum);
        out
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
        if head[CHECKSUM] != checksum(head) {
            return Err("its first 128 bytes were altered".into());
        }
        let width = match u32_at(head, 12) {
            1 => Width::One,
            2 => Width::Two,
            4 => Width::Four,
            other => return Err(format!("its tokens have {other} bytes")),
        };
        let text = |range: Range<usize>| String::from_utf8_lossy(&head[range]).into_owned();
        let header = Self {
            width,
            count: u64_at(head, 16),
            bytes: u64_at(head, 24),
            characters: u64_at(head, 32),
            source: text(SOURCE),
            tokenizer: text(TOKENIZER),
        };
        header.check_length(file.len() as u64).map(|()| header)
    }

    fn check_length(&self, found: u64) -> Result<(), String> {
        let tokens = self.count.checked_mul(self.width as u64);
        match tokens.and_then(|bytes| bytes.checked_add(HEADER as u64)) {
            Some(expected) if expected == found => Ok(()),
            Some(expected) => Err(format!("it has {found} bytes instead of {expected}")),
            None => Err("it claims more tokens than any file holds".into()),
        }
    }
}

fn checksum(head: &[u8; HEADER]) -> [u8; CHECKSUM.end - CHECKSUM.start] {
    let mut out = [0; CHECKSUM.end - CHECKSUM.start];
    let hash = blake3::hash(&head[..CHECKSUM.start]);
    out.copy_from_slice(&hash.as_bytes()[..CHECKSUM.end - CHECKSUM.start]);
    out
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

    fn header() -> Header {
        let (source, tokenizer) = ("0".repeat(32), "f".repeat(32));
        Header { width: Width::Two, count: 3, bytes: 9, characters: 8, source, tokenizer }
    }

    fn file() -> Vec<u8> {
        [&header().to_bytes()[..], &[0; 6]].concat()
    }

    #[test]
    fn a_header_comes_back() {
        assert_eq!(Header::read(&file()), Ok(header()));
    }

    #[test]
    fn files_that_are_not_whole_are_refused() {
        let refused = |file: &[u8], reason: &str| {
            let error = Header::read(file).unwrap_err();
            assert!(error.contains(reason), "{error}");
        };
        refused(b"PMM", "does not begin");
        refused(&file()[..100], "ends within");
        refused(&file()[..133], "it has 133 bytes instead of 134");
        refused(&[&file()[..], &[0]].concat(), "it has 135 bytes instead of 134");
        for place in 12..HEADER {
            let mut altered = file();
            altered[place] ^= 1;
            refused(&altered, "altered");
        }
        let mut newer = file();
        newer[8] = 2;
        refused(&newer, "version 2");
        refused(&Header { count: u64::MAX, ..header() }.to_bytes(), "more tokens than any");
    }

    #[test]
    fn widths_hold_all_tokens() {
        let width = |classes| Width::of(classes) as u32;
        assert_eq!([1, 256, 257, 65_536, 65_537].map(width), [1, 1, 2, 2, 4]);
    }
}
