//! Tokenizers in files: a `tokenizer.json`, or a vocabulary and its merges in two files; any of them may be compressed.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bpe::Bpe;
use super::bpe_file::{Added, END_OF_TEXT, Parts, merge_line};
use super::error::TextDataError;
use super::file::{TextFile, in_file};
use super::tokenizer::Tokenizer;

/// Vocabulary and merges, as GPT-2 and as Hugging Face call them.
const PAIRS: [(&str, &str); 2] = [("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")];
const WHOLE: &str = "tokenizer.json";

/// Loads from a file, or from the folder in which its files are.
pub(super) fn load(path: &Path) -> Result<Tokenizer, TextDataError> {
    if path.is_dir() {
        return from_folder(path);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(name);
    if let Some(&pair) = PAIRS.iter().find(|pair| name == pair.0 || name == pair.1) {
        // What is missing is the other one, unless the one named is.
        in_file(&path.display().to_string(), || fs::metadata(path))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return from_pair(folder.unwrap_or(Path::new(".")), pair);
    }
    let text = read(path)?;
    Tokenizer::parse(&text).map_err(|reason| not_one(path, reason))
}

fn from_folder(folder: &Path) -> Result<Tokenizer, TextDataError> {
    if let Some(whole) = find(folder, WHOLE) {
        return load(&whole);
    }
    let has = |name: &str| find(folder, name).is_some();
    match PAIRS.iter().find(|pair| has(pair.0) || has(pair.1)) {
        Some(&pair) => from_pair(folder, pair),
        None => Err(not_one(folder, format!("it has neither {WHOLE} nor encoder.json and vocab.bpe"))),
    }
}

fn from_pair(
    folder: &Path,
    (vocabulary, merges): (&'static str, &'static str),
) -> Result<Tokenizer, TextDataError> {
    let missing = |found, missing| {
        let path = folder.display().to_string();
        TextDataError::MissingPart { path, found, missing }
    };
    let (first, second) = (vocabulary, merges);
    let vocabulary = find(folder, first).ok_or_else(|| missing(second, first))?;
    let merges = find(folder, second).ok_or_else(|| missing(first, second))?;
    let tokens: HashMap<String, u32> = serde_json::from_str(&read(&vocabulary)?)
        .map_err(|error| not_one(&vocabulary, format!("a vocabulary gives each token a number: {error}")))?;
    let pairs = read_merges(&read(&merges)?).map_err(|reason| not_one(&merges, reason))?;
    let added = tokens.get(END_OF_TEXT).map(|&id| Added::end_of_text(id)).into_iter().collect();
    let bpe = Parts::new(tokens, pairs, added).and_then(|parts| Bpe::new(&parts));
    bpe.map(Tokenizer::Bpe).map_err(|reason| not_one(folder, reason))
}

/// A merge a line, after a line with the version.
fn read_merges(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut merges = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if !line.is_empty() && !line.starts_with("#version") {
            merges.push(merge_line(line).ok_or_else(|| format!("line {number}, {line:?}, is not a merge"))?);
        }
    }
    Ok(merges)
}

/// A file of a folder, plain or compressed.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    ["", ".gz", ".xz"].iter().map(|packed| folder.join(format!("{name}{packed}"))).find(|path| path.exists())
}

fn read(path: &Path) -> Result<String, TextDataError> {
    let file = TextFile::at(path.to_owned());
    let mut text = String::new();
    file.reader(false)?.read_to_string(&mut text).map_err(|error| file.io(error))?;
    Ok(text)
}

fn not_one(path: &Path, reason: String) -> TextDataError {
    TextDataError::NotTokenizer { path: path.display().to_string(), reason }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const VOCABULARY: &str = r#"{"l": 0, "o": 1, "w": 2, "Ġ": 3, "lo": 4, "Ġlo": 5, "<|endoftext|>": 6}"#;
    const MERGES: &str = "#version: 0.2\nl o\nĠ lo\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn a_pair_is_loaded_from_its_folder_or_by_either_name() {
        for (vocabulary, merges) in PAIRS {
            let folder = folder(&[(vocabulary, VOCABULARY), (merges, MERGES)]);
            let paths =
                [folder.path().to_owned(), folder.path().join(vocabulary), folder.path().join(merges)];
            for path in paths {
                let tokenizer = Tokenizer::load(&path).unwrap();
                assert_eq!((tokenizer.classes(), tokenizer.end_of_document()), (7, Some(6)));
                let tokens = tokenizer.encode(b"low low<|endoftext|>").unwrap();
                assert_eq!(tokens, [4, 2, 5, 2, 6]);
                assert_eq!(tokenizer.decode(&tokens), b"low low<|endoftext|>");
            }
        }
    }

    #[test]
    fn a_pair_may_be_compressed() {
        let folder = folder(&[("vocab.bpe", MERGES)]);
        let path = folder.path().join("encoder.json.gz");
        let mut packed = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), Default::default());
        packed.write_all(VOCABULARY.as_bytes()).unwrap();
        packed.finish().unwrap();
        for path in [folder.path(), &path] {
            assert_eq!(Tokenizer::load(path).unwrap().encode(b" low").unwrap(), [5, 2]);
        }
    }

    #[test]
    fn a_whole_file_is_loaded_alone_or_from_its_folder() {
        let pair = folder(&[("encoder.json", VOCABULARY), ("vocab.bpe", MERGES)]);
        let json = Tokenizer::load(pair.path()).unwrap().to_json();
        let whole = folder(&[(WHOLE, &json), ("other.json", &json)]);
        for path in [whole.path().to_owned(), whole.path().join(WHOLE), whole.path().join("other.json")] {
            assert_eq!(Tokenizer::load(&path).unwrap().to_json(), json);
        }
    }

    fn failure(files: &[(&str, &str)], name: &str) -> String {
        let folder = folder(files);
        let error = Tokenizer::load(&folder.path().join(name)).unwrap_err();
        error.to_string().replace(&folder.path().display().to_string(), "DIR")
    }

    #[test]
    fn half_a_pair_is_refused() {
        let message = "DIR has encoder.json, but vocab.bpe is missing";
        assert_eq!(failure(&[("encoder.json", VOCABULARY)], "encoder.json"), message);
        assert_eq!(failure(&[("encoder.json", VOCABULARY)], "").replace("DIR/", "DIR"), message);
        assert_eq!(
            failure(&[("vocab.bpe", MERGES)], "vocab.bpe"),
            "DIR has vocab.bpe, but encoder.json is missing"
        );
        assert!(
            failure(&[("vocab.bpe", MERGES)], "encoder.json").starts_with("DIR/encoder.json: No such file")
        );
    }

    #[test]
    fn files_that_are_no_tokenizer_are_refused() {
        let refused = |files: &[(&str, &str)], name: &str, reason: &str| {
            let message = failure(files, name);
            assert!(
                message.contains("is not a tokenizer that can be used: ") && message.contains(reason),
                "{message}"
            );
        };
        refused(&[(WHOLE, "{}")], WHOLE, "it has no model");
        refused(&[(WHOLE, "hello")], WHOLE, "expected value");
        refused(&[], "", "it has neither tokenizer.json nor encoder.json and vocab.bpe");
        refused(&[("encoder.json", "[]"), ("vocab.bpe", MERGES)], "", "encoder.json is not");
        refused(
            &[("encoder.json", VOCABULARY), ("vocab.bpe", "l o\nlow\n")],
            "",
            "line 2, \"low\", is not a merge",
        );
        refused(&[("encoder.json", VOCABULARY), ("vocab.bpe", "o w\n")], "", "it merges \"o\" and \"w\"");
        assert!(failure(&[], "none.json").starts_with("DIR/none.json: No such file"));
    }
}
