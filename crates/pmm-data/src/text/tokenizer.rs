//! Text ⇄ tokens.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bpe::Bpe;
use super::bpe_file::Parts;
use super::bpe_load::load;
use super::bpe_train::train;
use super::characters::Characters;
use super::error::{CodeError, TextDataError};
use super::source::{TextSource, short_digest};
use super::stream::Place;

/// A vocabulary, and how text is written in it. Decoding gives back exactly the text that was encoded.
///
/// ```
/// use pmm_data::Tokenizer;
/// let tokenizer = Tokenizer::from_json(r#"{"type":"characters","characters":"abc"}"#)?;
/// assert_eq!(tokenizer.encode(b"cab")?, [2, 0, 1]);
/// assert_eq!(tokenizer.decode(&[2, 0, 1]), b"cab");
/// assert_eq!(Tokenizer::Bytes.encode("é".as_bytes())?, [0xc3, 0xa9]);
/// # Ok::<(), pmm_data::TextDataError>(())
/// ```
#[derive(Debug, Clone)]
pub enum Tokenizer {
    /// A token a character, for those of the data.
    Characters(Characters),
    /// A token a byte.
    Bytes,
    /// Byte-level BPE.
    Bpe(Bpe),
}

/// How those that are not a `tokenizer.json` are stored.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Stored {
    Characters { characters: String },
    Bytes,
}

impl Tokenizer {
    /// The characters of the text, sorted by code point; also the line break, if there are several documents to separate.
    pub fn characters(source: &TextSource) -> Result<Self, TextDataError> {
        Characters::of(source).map(Self::Characters)
    }

    /// Byte-level BPE with GPT-2's words, learnt from the first 64 MB of the text: 256 bytes, merges, and the end of text. It
    /// has fewer than `vocabulary` tokens if the text has too few pairs that occur twice.
    pub fn train_bpe(source: &TextSource, vocabulary: usize) -> Result<Self, TextDataError> {
        train(source, vocabulary).map(Self::Bpe)
    }

    /// Loads a byte-level BPE from a Hugging Face `tokenizer.json`, from GPT-2's `encoder.json` and `vocab.bpe`, or from the
    /// folder of either; or a tokenizer that was stored as [`to_json`](Self::to_json).
    pub fn load(path: &Path) -> Result<Self, TextDataError> {
        load(path)
    }

    /// How many tokens there are: one more than the greatest number.
    pub fn classes(&self) -> usize {
        match self {
            Self::Characters(characters) => characters.characters().len(),
            Self::Bytes => 256,
            Self::Bpe(bpe) => bpe.classes(),
        }
    }

    /// `characters`, `bytes` or `bpe`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Characters(_) => "characters",
            Self::Bytes => "bytes",
            Self::Bpe(_) => "bpe",
        }
    }

    /// The tokens of a text.
    pub fn encode(&self, text: &[u8]) -> Result<Vec<u32>, TextDataError> {
        self.code(text).map_err(|error| error.at(&Place::of_text("the text"), text))
    }

    /// The same, with an error that knows no place.
    pub(super) fn code(&self, text: &[u8]) -> Result<Vec<u32>, CodeError> {
        let characters = || std::str::from_utf8(text).map_err(|error| CodeError::not_utf8(text, error));
        match self {
            Self::Characters(vocabulary) => vocabulary.encode(characters()?),
            Self::Bytes => Ok(text.iter().copied().map(u32::from).collect()),
            Self::Bpe(bpe) => bpe.encode(characters()?),
        }
    }

    /// The text of tokens; numbers without a token have none.
    pub fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        match self {
            Self::Characters(characters) => characters.decode(tokens),
            Self::Bytes => tokens.iter().filter_map(|&token| u8::try_from(token).ok()).collect(),
            Self::Bpe(bpe) => bpe.decode(tokens),
        }
    }

    /// The token between documents: `<|endoftext|>` of BPE if it has that, else the line break if it is a token.
    pub fn end_of_document(&self) -> Option<u32> {
        match self {
            Self::Characters(characters) => characters.token('\n'),
            Self::Bytes => Some(u32::from(b'\n')),
            Self::Bpe(bpe) => bpe.end_of_text(),
        }
    }

    /// The tokenizer as JSON; for BPE a `tokenizer.json` that other programs read.
    pub fn to_json(&self) -> String {
        let stored = match self {
            Self::Characters(characters) => {
                Stored::Characters { characters: characters.characters().iter().collect() }
            }
            Self::Bytes => Stored::Bytes,
            Self::Bpe(bpe) => return bpe.json().to_owned(),
        };
        // A text or nothing: JSON has a form for both.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// The tokenizer that [`to_json`](Self::to_json) wrote.
    pub fn from_json(text: &str) -> Result<Self, TextDataError> {
        Self::parse(text)
            .map_err(|reason| TextDataError::NotTokenizer { path: "the tokenizer".into(), reason })
    }

    /// The same; the error is the reason why not.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if value.get("type").is_none() {
            return Bpe::new(&Parts::from_value(value)?).map(Self::Bpe);
        }
        match Stored::deserialize(value).map_err(|error| error.to_string())? {
            Stored::Bytes => Ok(Self::Bytes),
            Stored::Characters { characters } => Characters::new(characters.chars().collect())
                .map(Self::Characters)
                .ok_or_else(|| "its characters are not sorted, or there are none".into()),
        }
    }

    /// The first 32 hexadecimal digits of BLAKE3 of [`to_json`](Self::to_json).
    pub fn digest(&self) -> String {
        short_digest(&blake3::hash(self.to_json().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::source::tests::spooled;
    use super::*;

    const TEXT: &str = "\u{feff}Zwölf Boxkämpfer 🥊👩‍👩‍👧 jagen\r\nViktor  quer\t\u{0}\u{1b}[0m über  \n\n  den Sylter Deich.\u{85}日本語 日本語\u{301} <|endoftext|> It's 1234! ";

    fn all(text: &str, piece: usize) -> [Tokenizer; 3] {
        let source = spooled("a.txt", text, piece);
        let characters = Tokenizer::characters(&source).unwrap();
        [characters, Tokenizer::Bytes, Tokenizer::train_bpe(&source, 300).unwrap()]
    }

    #[test]
    fn text_comes_back() {
        for tokenizer in all(TEXT, 1 << 20) {
            let tokens = tokenizer.encode(TEXT.as_bytes()).unwrap();
            assert!(tokens.iter().all(|&token| (token as usize) < tokenizer.classes()));
            assert_eq!(tokenizer.decode(&tokens), TEXT.as_bytes(), "{}", tokenizer.name());
            assert_eq!(tokenizer.encode(b"").unwrap(), [0_u32; 0]);
        }
    }

    #[test]
    fn a_tokenizer_comes_back_from_json() {
        for tokenizer in all(TEXT, 16) {
            let again = Tokenizer::from_json(&tokenizer.to_json()).unwrap();
            assert_eq!((again.name(), again.classes()), (tokenizer.name(), tokenizer.classes()));
            assert_eq!((again.to_json(), again.digest()), (tokenizer.to_json(), tokenizer.digest()));
            assert_eq!(again.end_of_document(), tokenizer.end_of_document());
            assert_eq!(again.encode(TEXT.as_bytes()).unwrap(), tokenizer.encode(TEXT.as_bytes()).unwrap());
            assert_eq!(tokenizer.digest().len(), 32);
        }
        assert_eq!(Tokenizer::Bytes.to_json(), r#"{"type":"bytes"}"#);
    }

    #[test]
    fn documents_end_with_a_token() {
        let [characters, bytes, bpe] = all(TEXT, 1 << 20);
        assert_eq!(characters.decode(&[characters.end_of_document().unwrap()]), b"\n");
        assert_eq!(bytes.end_of_document(), Some(10));
        assert_eq!(bpe.decode(&[bpe.end_of_document().unwrap()]), b"<|endoftext|>");
        assert_eq!(all("aaaa", 16)[0].end_of_document(), None);
    }

    #[test]
    fn errors_say_where() {
        let [characters, bytes, bpe] = all(TEXT, 1 << 20);
        let message = characters.encode("Box\nQ".as_bytes()).unwrap_err().to_string();
        assert_eq!(message, "the text, line 2, byte 4: character 'Q' (U+0051) is not in the vocabulary");
        for tokenizer in [characters, bpe] {
            let message = tokenizer.encode(b"e\xff").unwrap_err().to_string();
            assert_eq!(message, "the text, line 1, byte 1: bytes FF are not UTF-8");
        }
        assert_eq!(bytes.encode(b"e\xff").unwrap(), [101, 255]);
        for text in ["", "{}", r#"{"type":"words"}"#, r#"{"type":"characters","characters":"ba"}"#] {
            let error = Tokenizer::from_json(text).unwrap_err();
            assert!(
                error.to_string().starts_with("the tokenizer is not a tokenizer that can be used: "),
                "{error}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_comes_back(text in "(\\PC|[ \\r\\n\\t\\x00-\\x1f]|the |'s|é|🥊){1,80}") {
            for tokenizer in all(&text, 8) {
                let tokens = tokenizer.encode(text.as_bytes()).unwrap();
                prop_assert_eq!(tokenizer.decode(&tokens), text.as_bytes());
            }
        }
    }
}
