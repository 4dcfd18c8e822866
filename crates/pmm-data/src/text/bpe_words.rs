//! GPT-2's words, within which byte-level BPE merges.

use std::sync::LazyLock;

use tokenizers::utils::SysRegex;

/// GPT-2's pattern but for its look-ahead, `\s+(?!\S)`: without it the engine is ten times faster, and [`length`] makes up for
/// it. It matches at every character.
static WORD: LazyLock<SysRegex> = LazyLock::new(|| {
    let pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";
    SysRegex::new(pattern).expect("a pattern that a test compiles")
});

/// The words of a text, which make it up: letters, digits or other signs, with the space before them, or whitespace.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (word, after) = rest.split_at(length(rest));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// Bytes of the first word. Of whitespace before a word, the last character is left to that.
fn length(text: &str) -> usize {
    let end = WORD.find_iter(text).next().map_or(text.len(), |(_, end)| end);
    match text[..end].char_indices().next_back() {
        Some((last, character)) if last > 0 && end < text.len() && character.is_whitespace() => last,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

    use super::super::byte_chars::bytes_of;
    use super::super::cut::parts;
    use super::*;

    /// The words by the crate, which looks ahead.
    fn expected(text: &str) -> Vec<Vec<u8>> {
        let mut words = PreTokenizedString::from(text);
        ByteLevel::new(false, true, true).pre_tokenize(&mut words).unwrap();
        let words = words.get_splits(OffsetReferential::Original, OffsetType::None);
        words.into_iter().map(|(word, ..)| bytes_of(word)).filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn words_are_those_of_gpt_2() {
        let found: Vec<_> = words("It's  it, isn't\n\n it 12a \n").collect();
        assert_eq!(found, ["It", "'s", " ", " it", ",", " isn", "'t", "\n\n", " it", " 12", "a", " \n"]);
        assert_eq!(words("").count(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn words_are_those_of_the_crate(text in "(\\PC|[a-z]{1,3}|[ \\n]| |\\r\\n|\\t|\u{a0}|\u{3000}|'(s|re|x)|[0-9]|[!<|>]){0,40}") {
            let found: Vec<_> = words(&text).map(|word| word.as_bytes().to_vec()).collect();
            prop_assert_eq!(found, expected(&text));
        }

        /// Every 18 bytes or fewer there is such a space, and half a part is longer.
        #[test]
        fn a_cut_before_a_space_is_between_words(text in "((é日|[a-z!0-9]{1,4}|\\n|\u{3000}){1,3}[a-z!] {1,2}){4,40}") {
            let whole: Vec<_> = words(&text).collect();
            let cut: Vec<_> = parts(&text, 64).flat_map(words).collect();
            prop_assert_eq!(whole, cut);
        }
    }
}
