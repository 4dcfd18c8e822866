//! The header of a file of tokens.

use crate::sealed_header::{DIGESTS, HEADER, SealedHeader, check_length};

const KIND: &[u8; 8] = b"PMMTOK\r\n";

/// What a file of tokens holds. Its part of the [`SealedHeader`]:
///
/// | bytes | content |
/// |---|---|
/// | 12..16 | bytes a token |
/// | 16..24, 24..32, 32..40 | tokens, bytes of the text, characters of the text |
/// | 40..72, 72..104 | digests of the text and of the tokenizer |
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
    /// The bytes of the header; `contents` is the hash of the tokens.
    pub(super) fn to_bytes(&self, contents: &blake3::Hash) -> [u8; HEADER] {
        let mut head = SealedHeader::new(KIND);
        head.put(12, &(self.width as u32).to_le_bytes());
        for (place, number) in [(16, self.count), (24, self.bytes), (32, self.characters)] {
            head.put(place, &number.to_le_bytes());
        }
        let [source, tokenizer] = DIGESTS;
        head.put(source.start, self.source.as_bytes());
        head.put(tokenizer.start, self.tokenizer.as_bytes());
        head.seal(contents, &[])
    }

    /// Reads the header of a file; the error is the reason why it is refused.
    pub(super) fn read(file: &[u8]) -> Result<Self, String> {
        let head = SealedHeader::read(KIND, file)?;
        head.check(&[])?;
        let width = match head.u32(12) {
            1 => Width::One,
            2 => Width::Two,
            4 => Width::Four,
            other => return Err(format!("its tokens have {other} bytes")),
        };
        let [source, tokenizer] = DIGESTS.map(|range| head.text(range));
        let (count, bytes, characters) = (head.u64(16), head.u64(24), head.u64(32));
        let tokens = count.checked_mul(width as u64);
        let expected = tokens.and_then(|bytes| bytes.checked_add(HEADER as u64));
        check_length(expected, file.len() as u64, "tokens")?;
        Ok(Self { width, count, bytes, characters, source, tokenizer })
    }

    /// Whether the tokens of a file are as they were written; reads all of it.
    pub(super) fn check_contents(file: &[u8]) -> Result<(), String> {
        SealedHeader::read(KIND, file)?.check_contents(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let (source, tokenizer) = ("0".repeat(32), "f".repeat(32));
        Header { width: Width::Two, count: 3, bytes: 9, characters: 8, source, tokenizer }
    }

    fn file() -> Vec<u8> {
        [&header().to_bytes(&blake3::hash(&[0; 6]))[..], &[0; 6]].concat()
    }

    #[test]
    fn a_header_comes_back() {
        assert_eq!(Header::read(&file()), Ok(header()));
        assert_eq!(Header::check_contents(&file()), Ok(()));
        let mut altered = file();
        altered[HEADER + 5] ^= 1;
        assert!(Header::read(&altered).is_ok(), "the header is");
        assert!(Header::check_contents(&altered).unwrap_err().contains("contents"));
    }

    #[test]
    fn files_that_are_not_whole_are_refused() {
        let refused = |file: &[u8], reason: &str| {
            let error = Header::read(file).unwrap_err();
            assert!(error.contains(reason), "{error}");
        };
        refused(b"PMM", "does not begin");
        refused(&file()[..100], "ends within");
        refused(&file()[..165], "it has 165 bytes instead of 166");
        refused(&[&file()[..], &[0]].concat(), "it has 167 bytes instead of 166");
        for place in 12..HEADER {
            let mut altered = file();
            altered[place] ^= 1;
            refused(&altered, "altered");
        }
        let mut newer = file();
        newer[8] = 3;
        refused(&newer, "version 3");
        let hash = blake3::hash(&[]);
        refused(&Header { count: u64::MAX, ..header() }.to_bytes(&hash), "more tokens than any");
    }

    #[test]
    fn widths_hold_all_tokens() {
        let width = |classes| Width::of(classes) as u32;
        assert_eq!([1, 256, 257, 65_536, 65_537].map(width), [1, 1, 2, 2, 4]);
    }
}
