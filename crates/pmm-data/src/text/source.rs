//! Text in files: documents, read in pieces as often as wanted.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::error::TextDataError;
use super::fasta::{SequenceSummary, summary};
use super::file::{TextFile, TextFormat, in_file, text_files};
use super::stream::{Sink, Stream};

/// The longest piece.
const PIECE: usize = 1 << 20;

/// How to read text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// The field that holds the text, in files of JSON lines.
    pub field: String,
    /// Whether bytes that are not UTF-8 are accepted.
    pub lossy_bytes: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { field: "text".into(), lossy_bytes: false }
    }
}

/// A part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text: UTF-8, unless [`lossy_bytes`](TextOptions::lossy_bytes) is set. Never empty.
    pub bytes: &'a [u8],
    /// Whether the document ends here.
    pub ends_document: bool,
}

/// A whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its name, where it has one: that of a record of FASTA, or of a file of several.
    pub name: Option<String>,
    /// Its text, as [`Piece::bytes`].
    pub bytes: Vec<u8>,
}

/// Text in a file (plain, or compressed with gzip or xz), in the text files of a folder, in a field of JSON lines, or in records of FASTA (`.fasta`,
/// `.fa`, `.faa`, …). A plain file is one document, a JSON line is one, a sequence is one; documents without text are passed over.
///
/// ```
/// use pmm_data::{TextDataError, TextOptions, TextSource};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("tales.jsonl");
/// std::fs::write(&path, "{\"text\": \"Once upon\\na time\"}\n{\"text\": \"The end\"}\n")?;
/// let source = TextSource::open(&path, &TextOptions::default())?;
/// let mut tales = Vec::new();
/// source.read::<TextDataError>(&mut |piece| {
///     tales.push((piece.bytes.to_vec(), piece.ends_document));
///     Ok(())
/// })?;
/// assert_eq!(tales, [(b"Once upon\na time".to_vec(), true), (b"The end".to_vec(), true)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextSource {
    name: String,
    files: Vec<TextFile>,
    options: TextOptions,
    piece: usize,
}

impl TextSource {
    /// Opens a file, a folder (its `*.txt`, `*.text` and `*.md`, also compressed, by path), or standard input for `-`.
    pub fn open(path: &Path, options: &TextOptions) -> Result<Self, TextDataError> {
        if path == Path::new("-") {
            return Self::spool("standard input", &mut io::stdin().lock(), options);
        }
        let name = path.display().to_string();
        let metadata = in_file(&name, || fs::metadata(path))?;
        if metadata.is_dir() {
            let files: Vec<_> = text_files(path)?.into_iter().map(TextFile::at).collect();
            if files.is_empty() {
                return Err(TextDataError::NoTextFiles { path: name });
            }
            return Ok(Self { name, files, options: options.clone(), piece: PIECE });
        }
        if metadata.is_file() {
            return Self::of_file(TextFile::at(path.to_owned()), options);
        }
        // A named pipe can be read only once.
        Self::spool(&name, &mut in_file(&name, || File::open(path))?, options)
    }

    /// Documents in memory.
    pub fn from_documents(
        documents: impl IntoIterator<Item = impl Into<Vec<u8>>>,
        options: &TextOptions,
    ) -> Self {
        let files: Vec<TextFile> = (1..)
            .zip(documents)
            .map(|(n, text)| TextFile::memory(format!("document {n}"), text.into()))
            .collect();
        let name = match files.len() {
            1 => "text".to_owned(),
            n => format!("{n} documents"),
        };
        Self { name, files, options: options.clone(), piece: PIECE }
    }

    fn spool(name: &str, from: &mut dyn Read, options: &TextOptions) -> Result<Self, TextDataError> {
        Self::of_file(TextFile::spool(name, from)?, options)
    }

    fn of_file(file: TextFile, options: &TextOptions) -> Result<Self, TextDataError> {
        let mut first = [0];
        let mut reader = file.reader(options.lossy_bytes)?;
        if reader.read(&mut first).map_err(|error| file.io(error))? == 0 {
            return Err(TextDataError::Empty { path: file.name });
        }
        Ok(Self { name: file.name.clone(), files: vec![file], options: options.clone(), piece: PIECE })
    }

    /// The file's or folder's name, for messages.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// What the sequences are, if all files are FASTA.
    pub fn sequences(&self) -> Result<Option<SequenceSummary>, TextDataError> {
        if self.files.iter().any(|file| file.format != TextFormat::Fasta) {
            return Ok(None);
        }
        summary(&self.files).map(Some)
    }

    /// All documents, with their names.
    pub fn documents(&self) -> Result<Vec<Document>, TextDataError> {
        let (mut all, mut bytes) = (Vec::new(), Vec::new());
        let several = self.files.len() > 1;
        self.pieces::<TextDataError>(&mut |piece, place| {
            bytes.extend_from_slice(piece.bytes);
            if piece.ends_document {
                let name = place.record.or(several.then_some(place.path)).map(str::to_owned);
                all.push(Document { name, bytes: std::mem::take(&mut bytes) });
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Hands out the text in pieces of at most 1 MiB. They are cut between characters (with
    /// [`lossy_bytes`](TextOptions::lossy_bytes) between bytes if need be), and before a space if there is one.
    pub fn read<E: From<TextDataError>>(
        &self,
        sink: &mut dyn FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pieces(&mut |piece, _| sink(piece))
    }

    /// BLAKE3 of the text, in 32 hexadecimal digits; what [`Tokens::source_digest`](crate::Tokens::source_digest) gives for
    /// tokens of this text.
    pub fn digest(&self) -> Result<String, TextDataError> {
        let mut content = Content::default();
        self.read::<TextDataError>(&mut |piece| {
            content.add(&piece);
            Ok(())
        })?;
        Ok(content.digest())
    }

    /// The pieces with their places.
    pub(super) fn pieces<E: From<TextDataError>>(&self, sink: &mut Sink<'_, E>) -> Result<(), E> {
        let mut stream = Stream { options: &self.options, most: self.piece, sink, any: false };
        for file in &self.files {
            stream.file(file)?;
        }
        if !stream.any {
            Err(TextDataError::Empty { path: self.name() })?;
        }
        Ok(())
    }
}

/// What a text is recognised by: BLAKE3 of its documents, with a byte between them that no text has.
#[derive(Debug, Default)]
pub(super) struct Content {
    hasher: blake3::Hasher,
    between: bool,
}

impl Content {
    pub(super) fn add(&mut self, piece: &Piece<'_>) {
        if self.between {
            self.hasher.update(&[0xff]);
        }
        self.hasher.update(piece.bytes);
        self.between = piece.ends_document;
    }

    pub(super) fn digest(&self) -> String {
        short_digest(&self.hasher.finalize())
    }
}

/// The first 32 hexadecimal digits.
pub(super) fn short_digest(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    /// A source from a text, cut into pieces of at most `piece` bytes.
    pub(in crate::text) fn spooled(name: &str, text: impl AsRef<[u8]>, piece: usize) -> TextSource {
        let options =
            TextOptions { lossy_bytes: std::str::from_utf8(text.as_ref()).is_err(), ..Default::default() };
        let source = TextSource::spool(name, &mut text.as_ref(), &options).unwrap();
        TextSource { piece, ..source }
    }

    fn documents(source: &TextSource) -> Result<Vec<Vec<u8>>, TextDataError> {
        let (mut all, mut current) = (vec![], vec![]);
        source.read::<TextDataError>(&mut |piece| {
            assert!(!piece.bytes.is_empty() && piece.bytes.len() <= source.piece);
            current.extend_from_slice(piece.bytes);
            if piece.ends_document {
                all.push(std::mem::take(&mut current));
            }
            Ok(())
        })?;
        assert!(current.is_empty(), "the last document ends");
        Ok(all)
    }

    fn failure(name: &str, text: &[u8]) -> TextDataError {
        let source = TextSource::spool(name, &mut &text[..], &TextOptions::default());
        source.and_then(|source| documents(&TextSource { piece: 16, ..source })).unwrap_err()
    }

    const TEXT: &str =
        "\u{feff}Zwölf Boxkämpfer 🥊 jagen\r\nViktor\tquer über den Sylter Deich.\0\u{7f}日本語日本語日本語 ";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(vec![], 1);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn pieces_make_up_the_text_whatever_their_size() {
        for piece in (8..40).chain([TEXT.len() - 1, TEXT.len(), TEXT.len() + 1, PIECE]) {
            let source = spooled("a.txt", TEXT, piece);
            assert_eq!(documents(&source).unwrap(), [TEXT.as_bytes()], "{piece}");
            assert_eq!(source.digest().unwrap(), short_digest(&blake3::hash(TEXT.as_bytes())));
            source
                .read::<TextDataError>(&mut |piece| {
                    assert!(std::str::from_utf8(piece.bytes).is_ok());
                    Ok(())
                })
                .unwrap();
        }
    }

    #[test]
    fn compressed_text_is_read_as_plain_text_is() {
        let twice = [gzip(TEXT.as_bytes()), gzip(TEXT.as_bytes())].concat();
        assert_eq!(documents(&spooled("a", twice, 16)).unwrap(), [TEXT.repeat(2).into_bytes()]);
        let twice = [xz(TEXT.as_bytes()), xz(TEXT.as_bytes())].concat();
        assert_eq!(documents(&spooled("a", twice, 16)).unwrap(), [TEXT.repeat(2).into_bytes()]);
        let lines = gzip(b"{\"text\":\"a\"}\n{\"text\":\"b\"}");
        assert_eq!(documents(&spooled("a.jsonl.gz", lines, 16)).unwrap(), [b"a", b"b"]);
    }

    #[test]
    fn a_compressed_file_that_ends_early_is_refused() {
        for whole in [gzip(&TEXT.repeat(100).into_bytes()), xz(&TEXT.repeat(100).into_bytes())] {
            let error = failure("a.gz", &whole[..whole.len() - 20]);
            assert!(error.to_string().starts_with("a.gz: "), "{error}");
            assert!(error.hint().unwrap().contains("ends too early"), "{error:?}");
        }
    }

    #[test]
    fn a_folder_is_read_by_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("c.txt"), "third").unwrap();
        fs::write(folder.path().join("b/x.md.gz"), gzip(b"second")).unwrap();
        fs::write(folder.path().join("a.txt"), "first").unwrap();
        fs::write(folder.path().join("empty.txt"), "").unwrap();
        let source = TextSource::open(folder.path(), &TextOptions::default()).unwrap();
        assert_eq!(
            documents(&source).unwrap(),
            ["first", "second", "third"].map(|text| text.as_bytes().to_vec())
        );
    }

    #[test]
    fn a_folder_without_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let open = || TextSource::open(folder.path(), &TextOptions::default());
        let error = open().unwrap_err();
        assert!(
            matches!(error, TextDataError::NoTextFiles { .. }) && error.hint().unwrap().contains("*.txt")
        );
        fs::write(folder.path().join("empty.txt"), "").unwrap();
        assert!(matches!(documents(&open().unwrap()), Err(TextDataError::Empty { .. })));
    }

    #[test]
    fn a_missing_or_empty_file_is_named() {
        let error = TextSource::open(Path::new("/no/such.txt"), &TextOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("/no/such.txt: No such file"), "{error}");
        assert_eq!(failure("a.txt", b"").to_string(), "a.txt is empty");
        assert_eq!(failure("a.txt.gz", &gzip(b"")).to_string(), "a.txt.gz is empty");
        assert_eq!(failure("a.jsonl", b"\n\n").to_string(), "a.jsonl is empty");
        assert_eq!(documents(&spooled("a.txt", " \n", 16)).unwrap(), [b" \n"]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_named() {
        let error = failure("a.txt", b"one line\nand another one\ncaf\xe9 noir\n");
        assert_eq!(error.to_string(), "a.txt, line 3, byte 28: bytes E9 are not UTF-8");
        assert!(error.hint().unwrap().starts_with("set tokenizer to bytes"), "{:?}", error.hint());
        let error = failure("a.txt", b"sixteen bytes at 2\xe2\x82");
        assert_eq!(error.to_string(), "a.txt, line 1, byte 18: bytes E2 82 are not UTF-8");
    }

    #[test]
    fn any_bytes_are_read_if_wanted() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        assert_eq!(documents(&spooled("a.bin", &bytes, 16)).unwrap(), [bytes]);
    }

    #[test]
    fn json_lines_are_documents() {
        let text = "\u{feff}{\"text\":\"one\\nline \\ud83e\\udd4a\",\"id\":1}\r\n\n{\"id\":2,\"text\":\"\"}\n{\"text\":\"two\"}";
        let source = spooled("a.jsonl", text, 8);
        assert_eq!(documents(&source).unwrap(), ["one\nline 🥊", "two"].map(|text| text.as_bytes().to_vec()));
        let options = TextOptions { field: "body".into(), ..Default::default() };
        let source = TextSource::spool("a.ndjson", &mut &b"{\"body\":\"b\"}"[..], &options).unwrap();
        assert_eq!(documents(&source).unwrap(), [b"b"]);
    }

    #[test]
    fn records_of_fasta_are_documents() {
        let source = spooled("a.faa.gz", gzip(b">one x\nMKV\naa\n>two\nWW\n"), 8);
        assert_eq!(documents(&source).unwrap(), [b"MKVAA".to_vec(), b"WW".to_vec()]);
        let names: Vec<_> = source.documents().unwrap().into_iter().map(|document| document.name).collect();
        assert_eq!(names, [Some("one".to_owned()), Some("two".to_owned())]);
        assert_eq!(source.sequences().unwrap().unwrap().records, 2);
        assert_eq!(spooled("a.txt", "MKV", 16).sequences().unwrap(), None);
    }

    #[test]
    fn json_lines_that_are_none_are_named() {
        let error = failure("a.jsonl", b"{\"text\":\"x\"}\n{\"body\":\"y\",\"id\":1}\n");
        assert_eq!(error.to_string(), "a.jsonl, line 2 has no field \"text\"");
        assert!(error.hint().unwrap().starts_with("it has body, id"));
        let error = failure("a.jsonl", b"{\"text\":1}\n");
        assert_eq!(error.to_string(), "a.jsonl, line 1: field \"text\" is a number, not text");
        let error = failure("a.jsonl", b"{\"text\":\"x\"}\nplain text\n");
        assert_eq!(error.to_string(), "a.jsonl, line 2 is not a JSON object: expected value at column 1");
        let error = failure("a.jsonl", b"[1]\n");
        assert_eq!(error.to_string(), "a.jsonl, line 1 is not a JSON object: it is a list");
    }

    #[test]
    fn documents_matter_to_the_digest() {
        let digest = |text: &str| spooled("a.jsonl", text, 16).digest().unwrap();
        let one = digest("{\"text\":\"ab\"}\n{\"text\":\"c\"}");
        assert_ne!(one, digest("{\"text\":\"a\"}\n{\"text\":\"bc\"}"));
        assert_eq!(one, digest("{\"text\":\"ab\",\"id\":1}\n\n{\"text\":\"c\"}\n"));
    }

    #[test]
    fn reading_can_be_stopped() {
        let mut pieces = 0;
        let source = spooled("a.txt", TEXT, 16);
        let result = source.pieces::<Box<dyn std::error::Error>>(&mut |_, _| {
            pieces += 1;
            Err("enough".into())
        });
        assert!(result.is_err() && pieces == 1);
    }
}
