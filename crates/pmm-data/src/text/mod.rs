//! Text: files ⇄ pieces of text ⇄ tokens.

mod bpe;
mod bpe_file;
mod bpe_learn;
mod bpe_load;
mod bpe_train;
mod bpe_words;
mod byte_chars;
mod characters;
mod cut;
mod error;
mod fasta;
mod file;
mod source;
mod stream;
mod tokenizer;
mod tokens;
mod tokens_header;
mod tokens_write;

pub use bpe::Bpe;
pub use characters::Characters;
pub use error::TextDataError;
pub use fasta::{Alphabet, SequenceSummary};
pub use file::FASTA_ENDINGS;
pub use source::{Document, Piece, TextOptions, TextSource};
pub use tokenizer::Tokenizer;
pub use tokens::Tokens;
