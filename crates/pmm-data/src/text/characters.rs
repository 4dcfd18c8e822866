//! Characters as tokens.

use std::sync::Arc;

use super::error::{CodeError, TextDataError};
use super::source::TextSource;

/// No token.
const NONE: u32 = u32::MAX;

/// A vocabulary of characters, sorted by code point; a character's token is its place there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Characters {
    characters: Arc<[char]>,
    /// Tokens by code point, up to the greatest.
    tokens: Arc<[u32]>,
}

impl Characters {
    /// The characters of a text, and the line break if there is more than one document for it to separate.
    pub(super) fn of(source: &TextSource) -> Result<Self, TextDataError> {
        let mut seen = vec![false; char::MAX as usize + 1];
        let mut documents = 0_u64;
        source.pieces::<TextDataError>(&mut |piece, place| {
            let text = std::str::from_utf8(piece.bytes)
                .map_err(|error| CodeError::not_utf8(piece.bytes, error).at(place, piece.bytes))?;
            text.chars().for_each(|character| seen[character as usize] = true);
            documents += u64::from(piece.ends_document);
            Ok(())
        })?;
        seen['\n' as usize] |= documents > 1;
        let characters = ('\0'..=char::MAX).filter(|&character| seen[character as usize]).collect();
        Ok(Self::sorted(characters))
    }

    /// From a list, if it is sorted and has something in it.
    pub(super) fn new(characters: Vec<char>) -> Option<Self> {
        let sorted = characters.is_sorted_by(|a, b| a < b);
        (sorted && !characters.is_empty()).then(|| Self::sorted(characters))
    }

    fn sorted(characters: Vec<char>) -> Self {
        let mut tokens = vec![NONE; characters.last().map_or(0, |&last| last as usize + 1)];
        for (token, &character) in (0..).zip(&characters) {
            tokens[character as usize] = token;
        }
        Self { characters: characters.into(), tokens: tokens.into() }
    }

    /// The characters, by token.
    pub fn characters(&self) -> &[char] {
        &self.characters
    }

    /// The token of a character.
    pub fn token(&self, character: char) -> Option<u32> {
        self.tokens.get(character as usize).copied().filter(|&token| token != NONE)
    }

    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, CodeError> {
        let mut tokens = Vec::with_capacity(text.len());
        for (offset, character) in text.char_indices() {
            tokens.push(self.token(character).ok_or(CodeError::Unknown { offset, character })?);
        }
        Ok(tokens)
    }

    pub(super) fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        let text: String = tokens.iter().filter_map(|&token| self.characters.get(token as usize)).collect();
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::spooled;
    use super::*;

    #[test]
    fn the_vocabulary_is_sorted_by_code_point() {
        let characters = Characters::of(&spooled("a.txt", "b🥊a\r\nöb", 8)).unwrap();
        assert_eq!(characters.characters(), ['\n', '\r', 'a', 'b', 'ö', '🥊']);
        assert_eq!(characters.encode("bö").unwrap(), [3, 4]);
        assert_eq!(characters.decode(&[5, 2, 99]), "🥊a".as_bytes());
    }

    #[test]
    fn an_unknown_character_is_named() {
        let characters = Characters::of(&spooled("a.txt", "aaaa", 8)).unwrap();
        assert_eq!(characters.characters(), ['a']);
        assert_eq!(characters.encode("aaéa"), Err(CodeError::Unknown { offset: 2, character: 'é' }));
    }

    #[test]
    fn documents_are_separated_by_a_line_break() {
        let characters =
            Characters::of(&spooled("a.jsonl", "{\"text\":\"b\"}\n{\"text\":\"a\"}", 8)).unwrap();
        assert_eq!(characters.characters(), ['\n', 'a', 'b']);
    }

    #[test]
    fn bytes_that_are_no_characters_are_refused() {
        let error = Characters::of(&spooled("a.bin", b"ab\xff", 8)).unwrap_err();
        assert_eq!(error.to_string(), "a.bin, line 1, byte 2: bytes FF are not UTF-8");
    }

    #[test]
    fn only_sorted_lists_are_vocabularies() {
        assert!(Characters::new(vec!['a', 'b']).is_some());
        assert!(Characters::new(vec!['b', 'a']).is_none() && Characters::new(vec![]).is_none());
        assert!(Characters::new(vec!['a', 'a']).is_none());
    }
}
