//! What a byte-level BPE is made of, read from and written as a Hugging Face `tokenizer.json`.

use std::collections::HashMap;

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

/// The token that ends a document.
pub(super) const END_OF_TEXT: &str = "<|endoftext|>";

/// The parts of a byte-level BPE that decide how text is coded. What would change the text (a normaliser, a space put before
/// it, whitespace stripped around special tokens) is left out, so that decoding is exact; so are truncation and padding.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// Tokens by number, bytes written as characters; numbers may be left out.
    pub(super) tokens: Vec<Option<String>>,
    pub(super) merges: Vec<(String, String)>,
    /// Tokens that are looked for in the text itself.
    pub(super) added: Vec<Added>,
    pub(super) pre_tokenizer: PreTokenizerWrapper,
    /// Whether a word that is a token is coded so without regard to merges.
    pub(super) ignore_merges: bool,
}

/// A token that is looked for in the text itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Added {
    pub(super) id: u32,
    pub(super) content: String,
    #[serde(default)]
    pub(super) single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
    #[serde(default)]
    pub(super) special: bool,
}

impl Added {
    pub(super) fn end_of_text(id: u32) -> Self {
        let content = END_OF_TEXT.to_owned();
        Self {
            id,
            content,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true,
        }
    }
}

/// The model in a `tokenizer.json`.
#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    merges: Vec<Merge>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    ignore_merges: bool,
}

/// A merge as it is written today, or as it used to be.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Line(String),
}

impl Parts {
    /// From a `tokenizer.json`; the error is the reason why not.
    pub(super) fn from_value(mut file: Value) -> Result<Self, String> {
        let mut take = |key: &str| file.get_mut(key).map(Value::take).unwrap_or_default();
        let (model, added, pre_tokenizer) = (take("model"), take("added_tokens"), take("pre_tokenizer"));
        if !model.is_object() {
            return Err("it has no model".into());
        }
        if let Some(kind) = model.get("type").and_then(Value::as_str).filter(|&kind| kind != "BPE") {
            return Err(format!("its model is {kind}, not BPE"));
        }
        let added =
            Option::<Vec<Added>>::deserialize(added).map_err(|error| format!("added_tokens: {error}"))?;
        let pre_tokenizer = byte_level(pre_tokenizer)?;
        let model = Model::deserialize(model).map_err(|error| format!("model: {error}"))?;
        let affixes = [&model.continuing_subword_prefix, &model.end_of_word_suffix];
        if affixes.into_iter().flatten().any(|affix| !affix.is_empty()) {
            return Err("its tokens carry marks for the beginning or end of words".into());
        }
        let merges = model.merges.into_iter().map(Merge::pair).collect::<Result<_, _>>()?;
        let mut parts = Self::new(model.vocab, merges, added.unwrap_or_default())?;
        parts.pre_tokenizer = pre_tokenizer;
        parts.ignore_merges = model.ignore_merges;
        Ok(parts)
    }

    /// From a vocabulary and merges, with GPT-2's words.
    pub(super) fn new(
        vocabulary: HashMap<String, u32>,
        merges: Vec<(String, String)>,
        added: Vec<Added>,
    ) -> Result<Self, String> {
        let known = |token: &str| vocabulary.contains_key(token);
        for (left, right) in &merges {
            if !(known(left) && known(right) && known(&format!("{left}{right}"))) {
                return Err(format!("it merges {left:?} and {right:?}, which are not all in its vocabulary"));
            }
        }
        let count = vocabulary.len() + added.len();
        let added = added.into_iter().filter(|added| !added.content.is_empty());
        let mut added: Vec<_> = added.map(Added::plain).collect();
        added.sort_by_key(|added| added.id);
        let mut vocabulary = vocabulary;
        for token in &added {
            let id = *vocabulary.entry(token.content.clone()).or_insert(token.id);
            if id != token.id {
                return Err(format!("{:?} has the numbers {id} and {}", token.content, token.id));
            }
        }
        let tokens = by_number(vocabulary, count)?;
        let pre_tokenizer = PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, true, true));
        Ok(Self { tokens, merges, added, pre_tokenizer, ignore_merges: false })
    }

    /// As a `tokenizer.json` that is read back the same, byte for byte.
    pub(super) fn to_json(&self) -> String {
        let file = Written {
            version: "1.0",
            truncation: (),
            padding: (),
            added_tokens: &self.added,
            normalizer: (),
            pre_tokenizer: &self.pre_tokenizer,
            post_processor: (),
            decoder: ByteLevel::new(false, true, true),
            model: WrittenModel {
                kind: "BPE",
                dropout: (),
                unk_token: (),
                continuing_subword_prefix: (),
                end_of_word_suffix: (),
                fuse_unk: false,
                byte_fallback: false,
                ignore_merges: self.ignore_merges,
                vocab: &self.tokens,
                merges: &self.merges,
            },
        };
        // Texts, numbers and lists of them: nothing that JSON has no form for.
        serde_json::to_string(&file).unwrap_or_default()
    }
}

impl Added {
    /// Without what would change the text.
    fn plain(self) -> Self {
        Self { lstrip: false, rstrip: false, normalized: false, ..self }
    }
}

impl Merge {
    fn pair(self) -> Result<(String, String), String> {
        match self {
            Self::Pair(left, right) => Ok((left, right)),
            Self::Line(line) => merge_line(&line).ok_or_else(|| format!("{line:?} is not a merge")),
        }
    }
}

/// A merge on a line: two tokens and a space between them.
pub(super) fn merge_line(line: &str) -> Option<(String, String)> {
    let (left, right) = line.split_once(' ')?;
    let whole = !left.is_empty() && !right.is_empty() && !right.contains(' ');
    whole.then(|| (left.to_owned(), right.to_owned()))
}

/// The way a file splits text into words, if it ends in bytes; without a space put before the text.
fn byte_level(value: Value) -> Result<PreTokenizerWrapper, String> {
    let other = "it does not code bytes (its pre_tokenizer is not ByteLevel)";
    if value.is_null() {
        return Err(other.into());
    }
    let mut wrapper =
        PreTokenizerWrapper::deserialize(value).map_err(|error| format!("pre_tokenizer: {error}"))?;
    if without_prefix(&mut wrapper) { Ok(wrapper) } else { Err(other.into()) }
}

/// Whether there is a byte-level step.
fn without_prefix(wrapper: &mut PreTokenizerWrapper) -> bool {
    match wrapper {
        PreTokenizerWrapper::ByteLevel(step) => {
            step.add_prefix_space = false;
            true
        }
        PreTokenizerWrapper::Sequence(steps) => {
            // Every step is changed, not only the first that needs it.
            steps.as_mut().iter_mut().filter_map(|step| without_prefix(step).then_some(())).count() > 0
        }
        _ => false,
    }
}

/// Tokens by number. Numbers may be left out, but not so many that tables by number become absurd.
fn by_number(vocabulary: HashMap<String, u32>, count: usize) -> Result<Vec<Option<String>>, String> {
    let last = vocabulary.values().max().copied().ok_or("its vocabulary is empty")? as usize;
    if last > 4 * count + 1024 {
        return Err(format!("it has {count} tokens, with numbers up to {last}"));
    }
    let mut tokens = vec![None; last + 1];
    for (token, id) in vocabulary {
        if let Some(other) = tokens[id as usize].replace(token) {
            return Err(format!("the number {id} belongs to {other:?} and to another token"));
        }
    }
    Ok(tokens)
}

#[derive(Serialize)]
struct Written<'a> {
    version: &'a str,
    truncation: (),
    padding: (),
    added_tokens: &'a [Added],
    normalizer: (),
    pre_tokenizer: &'a PreTokenizerWrapper,
    post_processor: (),
    decoder: ByteLevel,
    model: WrittenModel<'a>,
}

#[derive(Serialize)]
struct WrittenModel<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    dropout: (),
    unk_token: (),
    continuing_subword_prefix: (),
    end_of_word_suffix: (),
    fuse_unk: bool,
    byte_fallback: bool,
    ignore_merges: bool,
    #[serde(serialize_with = "numbered")]
    vocab: &'a [Option<String>],
    merges: &'a [(String, String)],
}

/// Tokens with their numbers, by number.
fn numbered<S: Serializer>(tokens: &[Option<String>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tokens.iter().zip(0_u32..).filter_map(|(token, id)| Some((token.as_ref()?, id))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reason(file: Value) -> String {
        Parts::from_value(file).unwrap_err()
    }

    fn file(model: Value) -> Value {
        json!({"model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}})
    }

    #[test]
    fn what_would_change_the_text_is_left_out() {
        let file = json!({
            "added_tokens": [{"id": 5, "content": "<mask>", "lstrip": true, "rstrip": false, "normalized": true,
                              "single_word": false, "special": true}],
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Digits", "individual_digits": true},
                {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": false}]},
            "model": {"type": "BPE", "dropout": 0.1, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
        });
        let parts = Parts::from_value(file).unwrap();
        assert_eq!(parts.tokens.len(), 6);
        let json = parts.to_json();
        assert!(json.contains(r#""lstrip":false"#) && json.contains(r#""add_prefix_space":false"#), "{json}");
        assert!(json.contains(r#""vocab":{"a":0,"b":1,"ab":2,"<mask>":5},"merges":[["a","b"]]"#), "{json}");
        let again = Parts::from_value(serde_json::from_str(&json).unwrap()).unwrap();
        assert_eq!(again.to_json(), json);
        assert!(json.parse::<tokenizers::Tokenizer>().is_ok(), "others can read it");
    }

    #[test]
    fn files_of_another_kind_are_refused_with_the_reason() {
        assert_eq!(reason(json!({"a": 1})), "it has no model");
        assert_eq!(reason(file(json!({"type": "Unigram"}))), "its model is Unigram, not BPE");
        let bpe = json!({"vocab": {"a": 0}, "merges": []});
        assert!(reason(json!({"model": bpe})).starts_with("it does not code bytes"));
        let metaspace =
            json!({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": true});
        assert!(
            reason(json!({"model": bpe, "pre_tokenizer": metaspace})).starts_with("it does not code bytes")
        );
        let marked = json!({"vocab": {"a": 0}, "merges": [], "end_of_word_suffix": "</w>"});
        assert!(reason(file(marked)).contains("marks"));
        assert_eq!(reason(file(json!({"vocab": {}, "merges": []}))), "its vocabulary is empty");
    }

    #[test]
    fn vocabularies_that_cannot_be_are_refused() {
        // The crate would panic at this one: the merged token is longer than all others.
        let longer = json!({"vocab": {"a": 0, "b": 1}, "merges": ["a b"]});
        assert_eq!(reason(file(longer)), "it merges \"a\" and \"b\", which are not all in its vocabulary");
        let line = json!({"vocab": {"a": 0}, "merges": ["a"]});
        assert_eq!(reason(file(line)), "\"a\" is not a merge");
        let twice = json!({"vocab": {"a": 0, "b": 0}, "merges": []});
        assert!(reason(file(twice)).starts_with("the number 0 belongs to"));
        let far = json!({"vocab": {"a": 4_000_000_000_u32}, "merges": []});
        assert_eq!(reason(file(far)), "it has 1 tokens, with numbers up to 4000000000");
    }
}
