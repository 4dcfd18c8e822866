//! What can go wrong with text and tokens, with file, line, byte and value; `hint` says what to do about it.

use std::io;

use thiserror::Error;

use super::stream::Place;

/// Text that cannot be read or coded, or a tokenizer or file of tokens that is refused.
#[derive(Debug, Error)]
pub enum TextDataError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is no text.
    #[error("{path} is empty")]
    Empty {
        /// The file or folder.
        path: String,
    },
    /// A folder in which no file is read.
    #[error("{path} has no text files")]
    NoTextFiles {
        /// The folder.
        path: String,
    },
    /// A format that is not read.
    #[error("{path} is {what}, which is not read")]
    Unsupported {
        /// The file.
        path: String,
        /// What it seems to be.
        what: &'static str,
    },
    /// Bytes that are not UTF-8.
    #[error("{path}, line {line}, byte {offset}: bytes {bytes} are not UTF-8")]
    NotUtf8 {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// Bytes before it.
        offset: u64,
        /// The offending bytes, in hexadecimal.
        bytes: String,
    },
    /// A sequence before any header, in FASTA.
    #[error("{path}, line {line}: a sequence without a >header")]
    NoHeader {
        /// The file.
        path: String,
        /// The line.
        line: u64,
    },
    /// A character that is no residue, in FASTA.
    #[error("{path}, line {line}: \"{found}\" stands for no residue")]
    NoResidue {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// The character.
        found: String,
    },
    /// A line that is not a JSON object.
    #[error("{path}, line {line} is not a JSON object: {reason}")]
    NotJson {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// What the parser said.
        reason: String,
    },
    /// A JSON object without the field that holds the text.
    #[error("{path}, line {line} has no field {field:?}")]
    NoField {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// The field asked for.
        field: String,
        /// The fields that it has.
        fields: Vec<String>,
    },
    /// A field that does not hold text.
    #[error("{path}, line {line}: field {field:?} is {found}, not text")]
    FieldNotText {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// The field.
        field: String,
        /// What it holds.
        found: &'static str,
    },
    /// A line too long to be an object.
    #[error("{path}, line {line} is longer than {most} bytes")]
    LongLine {
        /// The file.
        path: String,
        /// The line.
        line: u64,
        /// The longest that is read.
        most: u64,
    },
    /// A character that the tokenizer does not know.
    #[error(
        "{path}, line {line}, byte {offset}: character {character:?} (U+{:04X}) is not in the vocabulary",
        u32::from(*.character)
    )]
    UnknownCharacter {
        /// The file, or `the text`.
        path: String,
        /// The line.
        line: u64,
        /// Bytes before it.
        offset: u64,
        /// The character.
        character: char,
    },
    /// A text that comes back changed from its tokens.
    #[error("{path}, line {line}, byte {offset}: the tokenizer does not give this text back unchanged")]
    Inexact {
        /// The file, or `the text`.
        path: String,
        /// The line.
        line: u64,
        /// Bytes before the first that differs.
        offset: u64,
    },
    /// Fewer tokens than every tokenizer of the kind has.
    #[error("a vocabulary of {wanted} tokens is too small: it needs at least {least}")]
    SmallVocabulary {
        /// The number asked for.
        wanted: usize,
        /// The least that there can be.
        least: usize,
    },
    /// A file or text that is not a tokenizer, or not one that gives text back.
    #[error("{path} is not a tokenizer that can be used: {reason}")]
    NotTokenizer {
        /// The file or folder, or `the tokenizer`.
        path: String,
        /// The violated condition.
        reason: String,
    },
    /// One file of a pair.
    #[error("{path} has {found}, but {missing} is missing")]
    MissingPart {
        /// The folder.
        path: String,
        /// The file that is there.
        found: &'static str,
        /// The file that is not.
        missing: &'static str,
    },
    /// A file that is not a whole file of tokens.
    #[error("{path} is not a whole file of tokens: {reason}")]
    NotTokens {
        /// The file.
        path: String,
        /// The violated condition.
        reason: String,
    },
}

impl TextDataError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
                "the compressed file ends too early; copy or download it again".into()
            }
            Self::NoTextFiles { .. } => {
                "files named *.txt, *.text and *.md are read, also with .gz or .xz; name a file of another kind itself; PNG, \
                 JPEG and WebP files would be learned as images"
                    .into()
            }
            Self::Unsupported { .. } => "decompress it first, or use gzip or xz".into(),
            Self::NotUtf8 { path, offset, bytes, .. } => {
                let utf16 = *offset == 0 && (bytes == "FF" || bytes == "FE");
                let from = if utf16 { "utf-16" } else { "latin1" };
                format!(
                    "set tokenizer to bytes to model the bytes as they are; \
                     iconv -f {from} -t utf-8 {path} > utf8.txt converts the file"
                )
            }
            Self::NoHeader { .. } | Self::NoResidue { .. } => {
                "FASTA has a line >name before each sequence, and letters in it; rename the file to .txt to read it as plain text"
                    .into()
            }
            Self::NotJson { .. } => {
                "a .jsonl file has one JSON object a line; rename the file to .txt to read it as plain text".into()
            }
            Self::NoField { fields, .. } if fields.is_empty() => "the object has no fields".into(),
            Self::NoField { fields, .. } => {
                format!("it has {}; set field to the one that holds the text", fields.join(", "))
            }
            Self::FieldNotText { .. } => "set field to the name of the field that holds the text".into(),
            Self::LongLine { .. } => "rename the file to .txt if it is plain text".into(),
            Self::UnknownCharacter { .. } => {
                "leave the character out, or set tokenizer to bytes, which knows every text".into()
            }
            Self::Inexact { .. } => "use a byte-level BPE such as that of GPT-2, or set tokenizer to bytes".into(),
            Self::SmallVocabulary { .. } => {
                "for so few tokens set tokenizer to bytes or characters".into()
            }
            Self::NotTokenizer { .. } => {
                "a byte-level BPE is read, from a tokenizer.json or from encoder.json with vocab.bpe".into()
            }
            Self::MissingPart { missing, .. } => format!("put {missing} beside it: the two belong together"),
            Self::NotTokens { .. } => "delete the file: it is made again from the text".into(),
            Self::Io { .. } | Self::Empty { .. } => return None,
        })
    }
}

/// What is wrong with a text, at a byte of it; the place is added by [`at`](Self::at).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodeError {
    NotUtf8 { offset: usize, bytes: String },
    Unknown { offset: usize, character: char },
    Inexact { offset: usize },
}

impl CodeError {
    /// The bytes at fault, from an attempt to read the text as UTF-8.
    pub(super) fn not_utf8(text: &[u8], error: std::str::Utf8Error) -> Self {
        let offset = error.valid_up_to();
        let end = error.error_len().map_or(text.len(), |length| offset + length);
        let bytes: Vec<_> = text[offset..end].iter().map(|byte| format!("{byte:02X}")).collect();
        Self::NotUtf8 { offset, bytes: bytes.join(" ") }
    }

    /// The error with its place, for a text that begins there.
    pub(super) fn at(self, place: &Place<'_>, text: &[u8]) -> TextDataError {
        let (Self::NotUtf8 { offset, .. } | Self::Unknown { offset, .. } | Self::Inexact { offset }) = self;
        let place = place.after(&text[..offset]);
        let (path, line, offset) = (place.path.to_owned(), place.line, place.offset);
        match self {
            Self::NotUtf8 { bytes, .. } => TextDataError::NotUtf8 { path, line, offset, bytes },
            Self::Unknown { character, .. } => {
                TextDataError::UnknownCharacter { path, line, offset, character }
            }
            Self::Inexact { .. } => TextDataError::Inexact { path, line, offset },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_line_and_byte() {
        let place = Place::of_text("a.txt");
        let error = CodeError::Unknown { offset: 4, character: 'é' }.at(&place, "a\nb\né".as_bytes());
        assert_eq!(
            error.to_string(),
            "a.txt, line 3, byte 4: character 'é' (U+00E9) is not in the vocabulary"
        );
        assert!(error.hint().unwrap().contains("set tokenizer to bytes"));
    }

    #[test]
    fn a_utf_16_file_is_recognised_in_the_hint() {
        let text = &[0xff, 0xfe, b'a', 0][..];
        let error = CodeError::not_utf8(text, std::str::from_utf8(text).unwrap_err());
        let error = error.at(&Place::of_text("a.txt"), text);
        assert_eq!(error.to_string(), "a.txt, line 1, byte 0: bytes FF are not UTF-8");
        assert!(error.hint().unwrap().contains("iconv -f utf-16 -t utf-8 a.txt"));
    }
}
