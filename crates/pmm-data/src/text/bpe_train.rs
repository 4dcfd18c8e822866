//! A byte-level BPE made for a text.

use std::collections::HashMap;

use super::bpe::Bpe;
use super::bpe_file::{Added, END_OF_TEXT, Parts};
use super::bpe_learn::learn;
use super::bpe_words::words;
use super::byte_chars::{bytes_in_order, written};
use super::error::{CodeError, TextDataError};
use super::source::TextSource;

/// Bytes from which merges are learnt: more of them hardly change what is frequent.
const ENOUGH: usize = 64_000_000;
/// All bytes and the end of text.
const LEAST: usize = 257;

/// Learns a vocabulary in the order of GPT-2's: all bytes, merges, the end of text.
pub(super) fn train(source: &TextSource, vocabulary: usize) -> Result<Bpe, TextDataError> {
    if vocabulary < LEAST {
        return Err(TextDataError::SmallVocabulary { wanted: vocabulary, least: LEAST });
    }
    let words = count_words(source)?;
    let learnt = learn(&bytes_in_order(), words, vocabulary - 1);
    let name = |token: u32| written(&learnt.tokens[token as usize]);
    let merges = learnt.merges.iter().map(|&(left, right)| (name(left), name(right))).collect();
    let mut tokens: HashMap<_, _> = learnt.tokens.iter().map(|token| written(token)).zip(0..).collect();
    let end = learnt.tokens.len() as u32;
    tokens.insert(END_OF_TEXT.to_owned(), end);
    let bpe = Parts::new(tokens, merges, vec![Added::end_of_text(end)]).and_then(|parts| Bpe::new(&parts));
    bpe.map_err(|reason| TextDataError::NotTokenizer { path: source.name(), reason })
}

/// Why reading stopped.
enum Stop {
    Enough,
    Error(TextDataError),
}

impl From<TextDataError> for Stop {
    fn from(error: TextDataError) -> Self {
        Self::Error(error)
    }
}

/// How often each of GPT-2's words occurs in the beginning of a text.
fn count_words(source: &TextSource) -> Result<HashMap<Vec<u8>, u64>, TextDataError> {
    let (mut counts, mut left) = (HashMap::<Vec<u8>, u64>::new(), ENOUGH);
    let result = source.pieces::<Stop>(&mut |piece, place| {
        let text = std::str::from_utf8(piece.bytes)
            .map_err(|error| CodeError::not_utf8(piece.bytes, error).at(place, piece.bytes))?;
        let text = &text[..text.floor_char_boundary(left)];
        for word in text.split(END_OF_TEXT).flat_map(words) {
            match counts.get_mut(word.as_bytes()) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.as_bytes().to_vec(), 1)),
            }
        }
        left = left.saturating_sub(piece.bytes.len());
        if left == 0 { Err(Stop::Enough) } else { Ok(()) }
    });
    match result {
        Ok(()) | Err(Stop::Enough) => Ok(counts),
        Err(Stop::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::Tokenizer as Coder;
    use tokenizers::models::TrainerWrapper;
    use tokenizers::models::bpe::{BPE, BpeTrainer};
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    use super::super::source::tests::spooled;
    use super::*;

    const TEXT: &str = "the cat sat on the mat, the rat sat on the cat's mat; where is the other rat? There, on the other mat. ";

    #[test]
    fn words_are_those_of_gpt_2() {
        let counts = count_words(&spooled("a.txt", "It's it  is<|endoftext|> it\n", 1 << 20)).unwrap();
        let mut words: Vec<_> = counts.iter().map(|(word, &count)| (written(word), count)).collect();
        words.sort();
        let expected = [("'s", 1), ("It", 1), ("Ċ", 1), ("Ġ", 1), ("Ġis", 1), ("Ġit", 2)];
        assert_eq!(words, expected.map(|(word, count)| (word.to_owned(), count)));
    }

    #[test]
    fn the_vocabulary_has_the_size_asked_for_if_the_text_allows_it() {
        let source = spooled("a.txt", TEXT, 1 << 20);
        assert_eq!(train(&source, 270).unwrap().classes(), 270);
        let most = train(&source, 100_000).unwrap();
        assert!((270..400).contains(&most.classes()), "{}", most.classes());
        assert_eq!(most.end_of_text(), Some(most.classes() as u32 - 1));
        let error = train(&source, 256).unwrap_err();
        assert_eq!(error.to_string(), "a vocabulary of 256 tokens is too small: it needs at least 257");
    }

    #[test]
    fn pieces_do_not_matter_and_neither_does_the_run() {
        let whole = train(&spooled("a.txt", TEXT, 1 << 20), 300).unwrap();
        assert_eq!(whole.json(), train(&spooled("a.txt", TEXT, 32), 300).unwrap().json());
        let tokens = whole.encode(TEXT).unwrap();
        assert!(tokens.len() < TEXT.len() / 2 && whole.decode(&tokens) == TEXT.as_bytes());
    }

    #[test]
    fn the_merges_are_those_of_the_crate() {
        let mut coder = Coder::new(BPE::default());
        coder.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
        let alphabet = ByteLevel::alphabet().into_iter().collect();
        let trainer = BpeTrainer::builder().vocab_size(299).min_frequency(2).show_progress(false);
        let mut trainer = TrainerWrapper::from(trainer.initial_alphabet(alphabet).build());
        coder.train(&mut trainer, [TEXT].into_iter()).unwrap();
        let ours = train(&spooled("a.txt", TEXT, 1 << 20), 300).unwrap();
        let theirs = coder.encode_fast(TEXT, false).unwrap();
        assert_eq!(ours.encode(TEXT).unwrap(), theirs.get_ids());
        let merges =
            |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap()["model"]["merges"].clone();
        assert_eq!(merges(ours.json()), merges(&coder.to_string(false).unwrap()));
    }
}
