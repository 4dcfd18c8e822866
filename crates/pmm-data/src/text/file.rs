//! One file of text: where it is, how it is packed, and which files of a folder are text.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use tempfile::NamedTempFile;

use super::error::TextDataError;
use crate::unpacked::Unpacked;

/// A file of text.
#[derive(Debug)]
pub(super) struct TextFile {
    /// For messages.
    pub(super) name: String,
    store: Store,
    /// How documents are written in it.
    pub(super) format: TextFormat,
}

/// How files of FASTA are named.
pub const FASTA_ENDINGS: [&str; 8] = ["fasta", "fa", "faa", "fna", "ffn", "frn", "fas", "afa"];

/// How documents are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// All of it is one.
    Plain,
    /// A JSON object a line.
    JsonLines,
    /// Records of sequences.
    Fasta,
}

/// Where the bytes are.
#[derive(Debug)]
enum Store {
    Path(PathBuf),
    /// What came through a pipe, kept so that it can be read twice; gone with the source.
    Spool(NamedTempFile),
    Memory(Arc<[u8]>),
}

impl TextFile {
    /// A file that can be read as often as wanted.
    pub(super) fn at(path: PathBuf) -> Self {
        let (name, format) = (path.display().to_string(), format(&path));
        Self { name, store: Store::Path(path), format }
    }

    /// A document in memory, as it is.
    pub(super) fn memory(name: String, text: Vec<u8>) -> Self {
        Self { name, store: Store::Memory(text.into()), format: TextFormat::Plain }
    }

    /// What can be read only once, copied to a temporary file.
    pub(super) fn spool(name: &str, from: &mut dyn Read) -> Result<Self, TextDataError> {
        let file = in_file(name, || {
            let mut file = NamedTempFile::new()?;
            io::copy(from, &mut file)?;
            Ok(file)
        })?;
        Ok(Self { name: name.to_owned(), store: Store::Spool(file), format: format(Path::new(name)) })
    }

    /// The text from its beginning, decompressed. Only the first bytes tell whether it is compressed.
    pub(super) fn reader(&self, any_bytes: bool) -> Result<Box<dyn Read>, TextDataError> {
        if let Store::Memory(bytes) = &self.store {
            return Ok(Box::new(Cursor::new(bytes.clone())));
        }
        let mut file = in_file(&self.name, || match &self.store {
            Store::Path(path) => File::open(path),
            Store::Spool(file) => file.reopen(),
            Store::Memory(_) => Err(io::Error::other("in memory")),
        })?;
        let length = in_file(&self.name, || file.metadata())?.len();
        let mut head = Vec::new();
        in_file(&self.name, || file.by_ref().take(10).read_to_end(&mut head))?;
        let raw = BufReader::with_capacity(1 << 16, Cursor::new(head.clone()).chain(file));
        let what = match head.as_slice() {
            [0x1f, 0x8b, ..] => return Ok(Box::new(Unpacked::new(MultiGzDecoder::new(raw), length))),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
                return Ok(Box::new(Unpacked::new(XzDecoder::new_multi_decoder(raw), length)));
            }
            _ if any_bytes => return Ok(Box::new(raw)),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed with zstd",
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => "compressed with bzip2",
            [b'P', b'K', 3, 4, ..] => "a zip archive",
            _ => return Ok(Box::new(raw)),
        };
        Err(TextDataError::Unsupported { path: self.name.clone(), what })
    }

    pub(super) fn io(&self, source: io::Error) -> TextDataError {
        TextDataError::Io { path: self.name.clone(), source }
    }
}

/// The text files of a folder and of the folders in it, by path. Hidden ones are passed over.
pub(super) fn text_files(folder: &Path) -> Result<Vec<PathBuf>, TextDataError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let list = || fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>();
        for entry in in_file(&folder.display().to_string(), list)? {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // Links to folders may lead round in circles; links to files may not.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !hidden {
                folders.push(path);
            } else if !hidden && is_text(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The result of an operation on a file, with its name in the error.
pub(super) fn in_file<T>(path: &str, run: impl FnOnce() -> io::Result<T>) -> Result<T, TextDataError> {
    run().map_err(|source| TextDataError::Io { path: path.to_owned(), source })
}

/// How documents are written in a file, by its name.
fn format(path: &Path) -> TextFormat {
    match extension(path).as_str() {
        "jsonl" | "ndjson" => TextFormat::JsonLines,
        extension if FASTA_ENDINGS.contains(&extension) => TextFormat::Fasta,
        _ => TextFormat::Plain,
    }
}

fn is_text(path: &Path) -> bool {
    ["txt", "text", "md"].contains(&extension(path).as_str())
}

/// The extension in lower case, but for that of compression.
fn extension(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(&name);
    name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        fs::create_dir_all(at(".git")).unwrap();
        let names = ["z.txt", "a.TXT.gz", "b/c/x.md", "b/a.text.xz", "b/d.jpg", ".git/x.md", ".a.txt", "txt"];
        for name in names {
            fs::write(at(name), "x").unwrap();
        }
        let found = text_files(folder.path()).unwrap();
        assert_eq!(found, [at("a.TXT.gz"), at("b/a.text.xz"), at("b/c/x.md"), at("z.txt")]);
    }

    #[test]
    fn formats_go_by_the_name() {
        let is = |name: &str, expected: TextFormat| assert_eq!(format(Path::new(name)), expected, "{name}");
        is("a/b.jsonl", TextFormat::JsonLines);
        is("b.NDJSON.xz", TextFormat::JsonLines);
        is("b.json", TextFormat::Plain);
        is("jsonl", TextFormat::Plain);
        is("b.FASTA.gz", TextFormat::Fasta);
        is("b.faa", TextFormat::Fasta);
    }

    #[test]
    fn other_compressions_are_refused_unless_bytes_are_wanted() {
        let file = TextFile::spool("a.zst", &mut &b"\x28\xb5\x2f\xfdxxx"[..]).unwrap();
        let error = file.reader(false).err().unwrap();
        assert_eq!(error.to_string(), "a.zst is compressed with zstd, which is not read");
        assert!(file.reader(true).is_ok());
    }
}
