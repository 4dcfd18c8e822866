//! Tokens in a file, read where they lie.

use std::fs::File;
use std::path::Path;

use super::error::TextDataError;
use super::file::in_file;
use super::source::TextSource;
use super::tokenizer::Tokenizer;
use super::tokens_header::{Header, Width};
use super::tokens_write;
use crate::map::Map;
use crate::sealed_header::HEADER;

/// The tokens of a text in a file that is read where it lies if it is large, so that texts larger than memory can be sampled from anywhere.
///
/// ```
/// use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
/// let folder = tempfile::tempdir()?;
/// let (text, file) = (folder.path().join("a.txt"), folder.path().join("tokens"));
/// std::fs::write(&text, "abracadabra")?;
/// let source = TextSource::open(&text, &TextOptions::default())?;
/// let tokenizer = Tokenizer::characters(&source)?;
/// Tokens::write(&source, &tokenizer, &file, &mut |_| ())?;
/// let tokens = Tokens::open(&file)?;
/// let mut window = [0; 4];
/// tokens.copy(2, &mut window);
/// assert_eq!((tokens.len(), tokenizer.decode(&window)), (11, b"raca".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tokens {
    map: Map,
    header: Header,
    /// For messages.
    name: String,
}

impl Tokens {
    /// Writes the tokens of a text to a file, under a temporary name until it is whole. Between documents stands
    /// [`end_of_document`](Tokenizer::end_of_document). `progress` gets the bytes of text read so far.
    pub fn write(
        source: &TextSource,
        tokenizer: &Tokenizer,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), TextDataError> {
        tokens_write::write(source, tokenizer, path, progress)
    }

    /// The tokens of a text, in memory.
    pub fn read(
        source: &TextSource,
        tokenizer: &Tokenizer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, TextDataError> {
        Self::of(Map::Memory(tokens_write::read(source, tokenizer, progress)?), &source.name())
    }

    /// Opens a file of tokens; one that is of another kind, cut short or altered in its header is refused.
    pub fn open(path: &Path) -> Result<Self, TextDataError> {
        let name = path.display().to_string();
        let refused = |reason| TextDataError::NotTokens { path: name.clone(), reason };
        let map = in_file(&name, || {
            // A pipe in place of a file would be waited for.
            if std::fs::metadata(path)?.is_file() { Map::open(File::open(path)?) } else { Ok(None) }
        })?;
        Self::of(map.ok_or_else(|| refused("it is not a file with content".into()))?, &name)
    }

    /// Whether every token is as it was written, which [`open`](Self::open) does not ask; reads all of the file.
    pub fn check_contents(&self) -> Result<(), TextDataError> {
        let refused = |reason| TextDataError::NotTokens { path: self.name.clone(), reason };
        Header::check_contents(self.map.bytes()).map_err(refused)
    }

    fn of(map: Map, name: &str) -> Result<Self, TextDataError> {
        let refused = |reason| TextDataError::NotTokens { path: name.to_owned(), reason };
        let header = Header::read(map.bytes()).map_err(refused)?;
        Ok(Self { map, header, name: name.to_owned() })
    }

    /// How many tokens there are.
    pub fn len(&self) -> u64 {
        self.header.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies tokens from `start` on.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn copy(&self, start: u64, out: &mut [u32]) {
        let end = start.saturating_add(out.len() as u64);
        assert!(end <= self.len(), "tokens {start}..{end} of {}", self.len());
        let width = self.header.width as usize;
        // The file has a byte for each, so the product is in range.
        let bytes = &self.map.bytes()[HEADER + start as usize * width..];
        let put = |(to, from): (&mut u32, u32)| *to = from;
        match self.header.width {
            Width::One => out.iter_mut().zip(bytes.iter().map(|&byte| u32::from(byte))).for_each(put),
            Width::Two => {
                let (pairs, _) = bytes.as_chunks::<2>();
                out.iter_mut()
                    .zip(pairs.iter().map(|&pair| u32::from(u16::from_le_bytes(pair))))
                    .for_each(put);
            }
            Width::Four => {
                let (fours, _) = bytes.as_chunks::<4>();
                out.iter_mut().zip(fours.iter().map(|&four| u32::from_le_bytes(four))).for_each(put);
            }
        }
    }

    /// BLAKE3 of the text, in 32 hexadecimal digits, as by [`TextSource::digest`].
    pub fn source_digest(&self) -> &str {
        &self.header.source
    }

    /// [`Tokenizer::digest`] of the tokenizer.
    pub fn tokenizer_digest(&self) -> &str {
        &self.header.tokenizer
    }

    /// Bytes of text per token. A line break between documents counts as text, `<|endoftext|>` does not.
    pub fn bytes_per_token(&self) -> f64 {
        self.header.bytes as f64 / self.header.count.max(1) as f64
    }

    /// Characters of the text, counted likewise.
    pub fn characters(&self) -> u64 {
        self.header.characters
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::source::tests::spooled;
    use super::*;

    const TEXT: &str =
        "\u{feff}Zwölf Boxkämpfer 🥊 jagen\r\nViktor  quer über den Sylter Deich.\0 It's 日本語日本語日本語 ";

    fn written(source: &TextSource, tokenizer: &Tokenizer) -> Result<(Tokens, Vec<u32>), TextDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let mut read = 0;
        let result = Tokens::write(source, tokenizer, &path, &mut |bytes| {
            assert!(bytes > read);
            read = bytes;
        });
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, usize::from(result.is_ok()), "nothing is left behind");
        result?;
        let tokens = Tokens::open(&path)?;
        let mut all = vec![0; tokens.len() as usize];
        tokens.copy(0, &mut all);
        Ok((tokens, all))
    }

    fn lines(documents: &[&str]) -> TextSource {
        let lines = documents.iter().map(|text| serde_json::json!({ "text": text }).to_string());
        spooled("a.jsonl", lines.collect::<Vec<_>>().join("\n"), 16)
    }

    #[test]
    fn pieces_do_not_matter() {
        let whole = spooled("a.txt", TEXT, 1 << 20);
        let bpe = Tokenizer::train_bpe(&whole, 280).unwrap();
        for tokenizer in [Tokenizer::characters(&whole).unwrap(), Tokenizer::Bytes, bpe] {
            let expected = tokenizer.encode(TEXT.as_bytes()).unwrap();
            for piece in [24, 64, 1 << 20] {
                let source = spooled("a.txt", TEXT, piece);
                let (tokens, all) = written(&source, &tokenizer).unwrap();
                assert_eq!(tokenizer.decode(&all), TEXT.as_bytes());
                if tokenizer.name() != "bpe" || piece > 24 {
                    assert_eq!(all, expected, "{} in pieces of {piece}", tokenizer.name());
                }
                assert_eq!(tokens.source_digest(), source.digest().unwrap());
                assert_eq!(tokens.tokenizer_digest(), tokenizer.digest());
                assert_eq!(tokens.characters(), TEXT.chars().count() as u64);
                assert_eq!(tokens.bytes_per_token() * all.len() as f64, TEXT.len() as f64);
            }
        }
    }

    #[test]
    fn every_width_is_read_as_written() {
        let few = spooled("a.txt", "abcab", 16);
        let many: String = ('\u{4e00}'..).take(300).collect();
        let most: String = ('\u{10000}'..).take(70_000).collect();
        for (source, width) in [(few, 1), (spooled("b", many, 64), 2), (spooled("c", most, 1 << 16), 4)] {
            let tokenizer = Tokenizer::characters(&source).unwrap();
            let (tokens, all) = written(&source, &tokenizer).unwrap();
            assert_eq!(tokens.header.width as usize, width);
            assert_eq!(tokens.characters(), tokens.len());
            assert!(all.iter().all(|&token| (token as usize) < tokenizer.classes()));
            let mut window = [0; 3];
            tokens.copy(tokens.len() - 3, &mut window);
            assert_eq!(window, all[all.len() - 3..]);
            assert_eq!(Some(all[1]), all[0].checked_add(1));
        }
    }

    #[test]
    #[should_panic(expected = "tokens 3..6 of 5")]
    fn there_is_nothing_after_the_end() {
        let (tokens, _) = written(&spooled("a.txt", "abcab", 16), &Tokenizer::Bytes).unwrap();
        tokens.copy(3, &mut [0; 3]);
    }

    #[test]
    fn documents_are_separated() {
        let source = lines(&["one", "two, which is longer", "three"]);
        let joined = "one\ntwo, which is longer\nthree";
        for tokenizer in [Tokenizer::characters(&source).unwrap(), Tokenizer::Bytes] {
            let (tokens, all) = written(&source, &tokenizer).unwrap();
            assert_eq!(tokenizer.decode(&all), joined.as_bytes());
            assert_eq!((tokens.characters(), tokens.bytes_per_token()), (joined.len() as u64, 1.));
        }
        let bpe = Tokenizer::train_bpe(&source, 257).unwrap();
        let (tokens, all) = written(&source, &bpe).unwrap();
        assert_eq!(bpe.decode(&all), joined.replace('\n', "<|endoftext|>").as_bytes());
        assert_eq!((tokens.characters(), tokens.len()), (joined.len() as u64 - 2, joined.len() as u64));
    }

    #[test]
    fn any_bytes_are_written_as_bytes() {
        let bytes: Vec<u8> = (0..=255).rev().cycle().take(1000).collect();
        let source = spooled("a.bin", &bytes, 16);
        let (_, all) = written(&source, &Tokenizer::Bytes).unwrap();
        assert_eq!(Tokenizer::Bytes.decode(&all), bytes);
    }

    #[test]
    fn what_cannot_be_coded_is_named() {
        let tokenizer = Tokenizer::characters(&spooled("a.txt", "abc \n", 16)).unwrap();
        let error = written(&spooled("b.txt", "abc abc\nabc abc\nabc adc", 16), &tokenizer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.txt, line 3, byte 21: character 'd' (U+0064) is not in the vocabulary"
        );
        let error = written(&lines(&["abc", "abc\nabc abc abc abc abd"]), &tokenizer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.jsonl, line 2, byte 22: character 'd' (U+0064) is not in the vocabulary"
        );
        let error = written(&spooled("c.txt", b"abc\nab\xff", 16), &tokenizer).unwrap_err();
        assert_eq!(error.to_string(), "c.txt, line 2, byte 6: bytes FF are not UTF-8");
    }

    #[test]
    fn files_that_are_not_whole_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let refused = |content: &[u8], reason: &str| {
            fs::write(&path, content).unwrap();
            let error = Tokens::open(&path).unwrap_err();
            let message = error.to_string();
            assert!(
                message.starts_with(&path.display().to_string()) && message.contains(reason),
                "{message}"
            );
            assert!(error.hint().is_some());
        };
        let source = spooled("a.txt", TEXT, 1 << 20);
        Tokens::write(&source, &Tokenizer::Bytes, &path, &mut |_| ()).unwrap();
        let whole = fs::read(&path).unwrap();
        refused(b"", "not a file with content");
        refused(b"some text", "does not begin");
        refused(&whole[..60], "ends within");
        refused(&whole[..whole.len() - 1], "instead of");
        refused(&[&whole[..], b"x"].concat(), "instead of");
        let missing = Tokens::open(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none: No such file"), "{missing}");
    }
}
