//! GPT-2's way to write any byte as a visible character, in which byte-level vocabularies are stored.

/// The character for a byte: the byte's own if that is visible, else one from U+0100 on.
pub(super) fn byte_char(byte: u8) -> char {
    let code = match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => u32::from(byte),
        0..=0x20 => 0x100 + u32::from(byte),
        0x7f..=0xa0 => 0x121 + u32::from(byte - 0x7f),
        0xad => 0x143,
    };
    char::from_u32(code).unwrap_or('\0')
}

/// The byte for a character, if it stands for one.
pub(super) fn char_byte(character: char) -> Option<u8> {
    let code = u32::from(character);
    let byte = match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => code,
        0x100..=0x120 => code - 0x100,
        0x121..=0x142 => code - 0x121 + 0x7f,
        0x143 => 0xad,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// All bytes in the order of their characters, which is that of GPT-2's vocabulary.
pub(super) fn bytes_in_order() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.sort_by_key(|&byte| byte_char(byte));
    bytes
}

/// Bytes as characters.
pub(super) fn written(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| byte_char(byte)).collect()
}

/// The bytes of a token: those its characters stand for, or itself if some stand for none.
pub(super) fn bytes_of(token: &str) -> Vec<u8> {
    token.chars().map(char_byte).collect::<Option<_>>().unwrap_or_else(|| token.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    use super::*;

    #[test]
    fn the_characters_are_those_of_gpt_2() {
        assert_eq!(written(b" a\n\xad"), "ĠaĊŃ");
        let ours: HashSet<char> = (0..=255).map(byte_char).collect();
        assert_eq!(ours, ByteLevel::alphabet().into_iter().collect());
    }

    #[test]
    fn bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of(&written(&all)), all);
        assert_eq!(bytes_of("日"), "日".as_bytes());
        let order = bytes_in_order();
        assert_eq!((order[0], order[93], order[188], order[255]), (b'!', b'~', 0, 0xad));
    }
}
