//! Text → a file of tokens that appears whole or not at all.

use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use pmm_store::WholeFile;

use super::error::TextDataError;
use super::file::in_file;
use super::source::{Content, Piece, TextSource};
use super::stream::Place;
use super::tokenizer::Tokenizer;
use super::tokens_header::{Header, Width};
use crate::sealed_header::HEADER;

/// Writes the tokens of a text; see [`Tokens::write`](super::Tokens::write).
pub(super) fn write(
    source: &TextSource,
    tokenizer: &Tokenizer,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), TextDataError> {
    let name = path.display().to_string();
    let file = in_file(&name, || WholeFile::create(path))?;
    let output = BufWriter::with_capacity(1 << 16, in_file(&name, || file.handle())?);
    write_to(output, &name, source, tokenizer, progress)?;
    in_file(&name, || file.finish())
}

/// The bytes of such a file, in memory.
pub(super) fn read(
    source: &TextSource,
    tokenizer: &Tokenizer,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<u8>, TextDataError> {
    let mut output = io::Cursor::new(Vec::new());
    write_to(&mut output, "memory", source, tokenizer, progress)?;
    Ok(output.into_inner())
}

fn write_to<W: Write + Seek>(
    output: W,
    name: &str,
    source: &TextSource,
    tokenizer: &Tokenizer,
    progress: &mut dyn FnMut(u64),
) -> Result<(), TextDataError> {
    let mut writing = Writing::new(tokenizer, output);
    in_file(name, || writing.output.write_all(&[0; HEADER]))?;
    let mut read = 0;
    source.pieces::<TextDataError>(&mut |piece, place| {
        let tokens = writing.tokens(&piece, place)?;
        in_file(name, || writing.put(&tokens))?;
        read += piece.bytes.len() as u64;
        progress(read);
        Ok(())
    })?;
    let header = writing.header().to_bytes(&writing.contents.finalize());
    in_file(name, || {
        writing.output.flush()?;
        writing.output.rewind()?;
        writing.output.write_all(&header)?;
        writing.output.flush()
    })
}

/// A file in the making.
struct Writing<'a, W> {
    tokenizer: &'a Tokenizer,
    output: W,
    width: Width,
    content: Content,
    /// The hash of the tokens.
    contents: blake3::Hasher,
    /// Whether a document has ended, and another may follow.
    between: bool,
    count: u64,
    bytes: u64,
    characters: u64,
}

impl<'a, W: Write> Writing<'a, W> {
    fn new(tokenizer: &'a Tokenizer, output: W) -> Self {
        let (width, content) = (Width::of(tokenizer.classes()), Content::default());
        let contents = blake3::Hasher::new();
        Self {
            tokenizer,
            output,
            width,
            content,
            contents,
            between: false,
            count: 0,
            bytes: 0,
            characters: 0,
        }
    }

    /// The tokens of a piece, after the token between documents if it begins one. That counts as text if it is a line break.
    fn tokens(&mut self, piece: &Piece<'_>, place: &Place<'_>) -> Result<Vec<u32>, TextDataError> {
        let between = self.tokenizer.end_of_document().filter(|_| self.between);
        if between.is_some() && !matches!(self.tokenizer, Tokenizer::Bpe(_)) {
            self.bytes += 1;
            self.characters += 1;
        }
        let mut tokens = self.tokenizer.code(piece.bytes).map_err(|error| error.at(place, piece.bytes))?;
        if let Some(token) = between {
            tokens.insert(0, token);
        }
        self.content.add(piece);
        self.between = piece.ends_document;
        self.bytes += piece.bytes.len() as u64;
        // All bytes but those that continue a character.
        self.characters += piece.bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
        self.count += tokens.len() as u64;
        Ok(tokens)
    }

    fn put(&mut self, tokens: &[u32]) -> io::Result<()> {
        let width = self.width as usize;
        let mut bytes = Vec::with_capacity(tokens.len() * width);
        tokens.iter().for_each(|token| bytes.extend_from_slice(&token.to_le_bytes()[..width]));
        self.contents.update(&bytes);
        self.output.write_all(&bytes)
    }

    fn header(&self) -> Header {
        Header {
            width: self.width,
            count: self.count,
            bytes: self.bytes,
            characters: self.characters,
            source: self.content.digest(),
            tokenizer: self.tokenizer.digest(),
        }
    }
}
