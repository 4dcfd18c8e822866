//! Where a text may be cut without changing its words.

/// A place to cut: before the last space that follows a visible character, or else before the last such line break, or else
/// before the last character. Always between 1 and `bytes.len() - 1`, for two bytes or more.
///
/// The patterns by which byte-level BPE splits text into words (of GPT-2 and its successors) put whitespace only at the
/// beginning of a word, so such a space begins a word whatever precedes it, and tokens on both sides are those of the whole
/// text. Only the latter half is searched, so that pieces are not small.
pub(super) fn cut(bytes: &[u8]) -> usize {
    let half = (bytes.len() / 2).max(1);
    let before = |wanted: &[u8]| {
        (half..bytes.len()).rev().find(|&at| wanted.contains(&bytes[at]) && ends_visibly(&bytes[..at]))
    };
    before(b" ").or_else(|| before(b"\r\n")).unwrap_or_else(|| last_character(bytes))
}

/// The text in parts of at most `most` bytes (at least 8), cut so.
pub(super) fn parts(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.len() {
            0 => return None,
            length if length <= most => length,
            _ => cut(&rest.as_bytes()[..rest.floor_char_boundary(most)]),
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// Whether the last character is there and is not whitespace.
fn ends_visibly(bytes: &[u8]) -> bool {
    let Some(start) = last_start(bytes) else { return false };
    let last = std::str::from_utf8(&bytes[start..]).ok().and_then(|text| text.chars().next_back());
    last.is_some_and(|character| !character.is_whitespace())
}

/// Where the last character begins, or the last byte if there is none or it is the only one.
fn last_character(bytes: &[u8]) -> usize {
    last_start(bytes).filter(|&start| start > 0).unwrap_or(bytes.len().saturating_sub(1))
}

/// The last of the last four bytes that does not continue a character.
fn last_start(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).rev().take(4).find(|&at| bytes[at] & 0xc0 != 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_before_a_space_that_follows_a_word() {
        assert_eq!(cut(b"one two  three   "), 14);
        assert_eq!(cut(b"one two  \n   "), 7);
        assert_eq!(cut("日本\u{3000} 語語".as_bytes()), 13, "no visible character before the space");
        assert_eq!(cut("é é".as_bytes()), 2);
    }

    #[test]
    fn cuts_before_a_line_break_or_a_character_if_there_is_no_space() {
        assert_eq!(cut("日本語。\r\n日本".as_bytes()), 12);
        assert_eq!(cut("日本語".as_bytes()), 6);
        assert_eq!(cut(b"ab"), 1);
        assert_eq!(cut(&[0x80; 9]), 8);
    }

    #[test]
    fn parts_are_short_and_make_up_the_text() {
        let text = "日本語 and some words, ".repeat(40);
        let cut: Vec<_> = parts(&text, 16).collect();
        assert!(cut.iter().all(|part| !part.is_empty() && part.len() <= 16));
        assert_eq!(cut.concat(), text);
        assert_eq!(parts("", 16).count(), 0);
    }
}
