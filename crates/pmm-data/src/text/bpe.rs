//! Byte-level BPE: words split into the tokens of a vocabulary that can write every byte.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{AddedToken, Model, Tokenizer as Coder};

use super::bpe_file::{END_OF_TEXT, Parts};
use super::bpe_words::words;
use super::byte_chars::{byte_char, bytes_of, written};
use super::cut;
use super::error::CodeError;

/// Bytes that are coded at once: the crate keeps tables of a hundred times their size meanwhile, and codes several in parallel.
const PART: usize = 1 << 15;

/// A byte-level BPE, such as that of GPT-2.
#[derive(Clone)]
pub struct Bpe(Arc<Inner>);

struct Inner {
    coder: Coder,
    /// Whether its words are GPT-2's and nothing but the end of text is looked for in the text.
    like_gpt_2: bool,
    /// The bytes of each token; none for numbers left out.
    bytes: Vec<Box<[u8]>>,
    /// The bytes that the vocabulary can write.
    alphabet: [bool; 256],
    end_of_text: Option<u32>,
    json: String,
}

impl std::fmt::Debug for Bpe {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Bpe").field("classes", &self.classes()).finish_non_exhaustive()
    }
}

impl Bpe {
    /// From its parts; the error is the reason why not.
    pub(super) fn new(parts: &Parts) -> Result<Self, String> {
        let named = || parts.tokens.iter().zip(0_u32..).filter_map(|(token, id)| Some((token.as_ref()?, id)));
        let vocabulary: Vocab = named().map(|(token, id)| (token.clone(), id)).collect();
        let mut alphabet = [false; 256];
        for (byte, known) in (0..=255).zip(&mut alphabet) {
            *known = vocabulary.contains_key(byte_char(byte).encode_utf8(&mut [0; 4]) as &str);
        }
        let end_of_text = vocabulary.get(END_OF_TEXT).copied();
        let model = BPE::builder()
            .vocab_and_merges(vocabulary, parts.merges.clone())
            .ignore_merges(parts.ignore_merges)
            .build()
            .map_err(|error| error.to_string())?;
        let mut coder = Coder::new(model);
        coder.with_pre_tokenizer(Some(parts.pre_tokenizer.clone()));
        let added = parts.added.iter().map(|added| {
            AddedToken::from(added.content.clone(), added.special)
                .single_word(added.single_word)
                .normalized(false)
        });
        coder.add_tokens(added).map_err(|error| error.to_string())?;
        let mut bytes = vec![Box::default(); parts.tokens.len()];
        for (token, id) in named() {
            bytes[id as usize] = bytes_of(token).into();
        }
        for added in &parts.added {
            bytes[added.id as usize] = added.content.as_bytes().into();
        }
        let like_gpt_2 = matches!(&parts.pre_tokenizer, PreTokenizerWrapper::ByteLevel(step) if step.use_regex)
            && matches!(&parts.added[..], [only] if only.content == END_OF_TEXT && !only.single_word);
        Ok(Self(Arc::new(Inner { coder, like_gpt_2, bytes, alphabet, end_of_text, json: parts.to_json() })))
    }

    pub(super) fn classes(&self) -> usize {
        self.0.bytes.len()
    }

    pub(super) fn end_of_text(&self) -> Option<u32> {
        self.0.end_of_text
    }

    pub(super) fn json(&self) -> &str {
        &self.0.json
    }

    /// The tokens of a text, which is cut into parts where words begin.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, CodeError> {
        let tokens = if self.0.like_gpt_2 { self.encode_words(text) } else { self.encode_parts(text) };
        // The crate has no reason to fail at words that it splits itself.
        let tokens = tokens.map_err(|_| CodeError::Inexact { offset: 0 })?;
        self.check(text, &tokens)?;
        Ok(tokens)
    }

    /// By the crate alone.
    fn encode_parts(&self, text: &str) -> tokenizers::Result<Vec<u32>> {
        let parts: Vec<_> = cut::parts(text, PART).collect();
        let coded = self.0.coder.encode_batch_fast(parts, false)?;
        Ok(coded.iter().flat_map(|part| part.get_ids()).copied().collect())
    }

    /// The same tokens ten times faster: most words have come before.
    fn encode_words(&self, text: &str) -> tokenizers::Result<Vec<u32>> {
        let mut tokens = Vec::with_capacity(text.len() / 2);
        let mut known: HashMap<&str, Range<usize>> = HashMap::new();
        for (place, text) in text.split(END_OF_TEXT).enumerate() {
            tokens.extend(self.0.end_of_text.filter(|_| place > 0));
            for word in words(text) {
                if let Some(before) = known.get(word) {
                    tokens.extend_from_within(before.clone());
                    continue;
                }
                let start = tokens.len();
                tokens.extend(
                    self.0
                        .coder
                        .get_model()
                        .tokenize(&written(word.as_bytes()))?
                        .iter()
                        .map(|token| token.id),
                );
                known.insert(word, start..tokens.len());
            }
        }
        Ok(tokens)
    }

    pub(super) fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        let bytes = tokens.iter().filter_map(|&token| self.0.bytes.get(token as usize));
        bytes.flat_map(|bytes| bytes.iter().copied()).collect()
    }

    /// Whether the tokens give the text back. A byte that the vocabulary cannot write is the first to differ: the crate drops
    /// it, and no token can stand in its place.
    fn check(&self, text: &str, tokens: &[u32]) -> Result<(), CodeError> {
        let back = self.decode(tokens);
        if back == text.as_bytes() {
            return Ok(());
        }
        let same = text.bytes().zip(&back).take_while(|(a, b)| a == *b).count();
        let offset = text.floor_char_boundary(same);
        let known = |character: char| {
            character.encode_utf8(&mut [0; 4]).bytes().all(|byte| self.0.alphabet[usize::from(byte)])
        };
        match text[offset..].chars().next() {
            Some(character) if !known(character) => Err(CodeError::Unknown { offset, character }),
            _ => Err(CodeError::Inexact { offset }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::bpe_train::train;
    use super::super::source::tests::spooled;
    use super::*;

    fn bpe(vocab: Value, merges: Value, pre_tokenizer: Value) -> Bpe {
        let added = json!([{"id": 9, "content": END_OF_TEXT, "special": true}]);
        let model = json!({"vocab": vocab, "merges": merges});
        let file = json!({"added_tokens": added, "pre_tokenizer": pre_tokenizer, "model": model});
        Bpe::new(&Parts::from_value(file).unwrap()).unwrap()
    }

    fn small() -> Bpe {
        let vocab = json!({"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "Ã": 5});
        bpe(
            vocab,
            json!(["a b", "Ġ ab"]),
            json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}),
        )
    }

    #[test]
    fn merges_are_applied_within_words() {
        let bpe = small();
        assert_eq!((bpe.classes(), bpe.end_of_text()), (10, Some(9)));
        let tokens = bpe.encode("abba ab<|endoftext|>a b").unwrap();
        assert_eq!(tokens, [3, 1, 0, 4, 9, 0, 2, 1]);
        assert_eq!(bpe.decode(&tokens), b"abba ab<|endoftext|>a b");
        assert_eq!(bpe.decode(&[7, 3, 1000]), b"ab", "numbers without a token have no bytes");
        assert_eq!(bpe.encode("").unwrap(), [0_u32; 0]);
    }

    #[test]
    fn both_ways_give_the_same_tokens() {
        let source = spooled(
            "a.txt",
            "it's the cat that sat on the mat, and the other cat's mat; it's 1234 ",
            1 << 20,
        );
        let bpe = train(&source, 290).unwrap();
        assert!(bpe.0.like_gpt_2);
        let text = "the  mat\n\n it's<|endoftext|><|endoftext|> 123 cats\u{3000}🥊<|endof  ".repeat(3);
        assert_eq!(bpe.encode_words(&text).unwrap(), bpe.encode_parts(&text).unwrap());
    }

    #[test]
    fn bytes_that_the_vocabulary_cannot_write_are_named() {
        let bpe = small();
        assert_eq!(bpe.encode("ab cab"), Err(CodeError::Unknown { offset: 3, character: 'c' }));
        assert_eq!(bpe.encode("abé"), Err(CodeError::Unknown { offset: 2, character: 'é' }));
    }

    #[test]
    fn text_that_does_not_come_back_is_refused() {
        // WhitespaceSplit drops the spaces.
        let steps = json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]});
        let bpe = bpe(json!({"a": 0, "Ġ": 1}), json!([]), steps);
        assert_eq!(bpe.encode("a a"), Err(CodeError::Inexact { offset: 1 }));
    }
}
