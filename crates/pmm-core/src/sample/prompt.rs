//! What a text sampler takes, returns and refuses.

use thiserror::Error;

use crate::denoise::TokenDenoiser;
use crate::pair::MASK;

/// Texts to complete: `[rows, length]` tokens, [`MASK`] where unknown. What is not masked stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The number of the first row in the whole; noise is keyed by it.
    pub first_row: u64,
    /// Tokens or masks.
    pub tokens: Vec<u32>,
}

impl Prompt {
    /// Nothing known: `rows` texts of this length, all masks.
    pub fn empty(first_row: u64, rows: usize, length: usize) -> Self {
        Self { first_row, tokens: vec![MASK; rows * length] }
    }
}

/// Completed texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSamples {
    /// Tokens, `[rows, length]`.
    pub tokens: Vec<u32>,
    /// How often the denoiser was asked about each row.
    pub calls: Vec<usize>,
}

/// What a text sampler refuses.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TextError {
    /// A prompt that does not consist of whole texts.
    #[error("a prompt must hold whole texts of {length} tokens, got {tokens} tokens")]
    Length {
        /// The length of a text.
        length: usize,
        /// The number of tokens given.
        tokens: usize,
    },
    /// A token beyond the vocabulary.
    #[error(
        "row {row}, position {position}: a token must be below the vocabulary size {classes}, got {token}"
    )]
    Token {
        /// The row.
        row: usize,
        /// The position.
        position: usize,
        /// The token.
        token: u32,
        /// The vocabulary size.
        classes: usize,
    },
    /// Logits from which nothing can be drawn.
    #[error("row {row}, position {position}: the denoiser's logits hold {value} or rule out every token")]
    Logits {
        /// The row.
        row: usize,
        /// The position.
        position: usize,
        /// NaN or +∞, if there is one.
        value: f32,
    },
}

/// The number of texts, once all tokens are found to be in the vocabulary (or, where allowed, masks).
pub(crate) fn count_texts(
    denoiser: &dyn TokenDenoiser,
    tokens: &[u32],
    masks: bool,
) -> Result<usize, TextError> {
    count_tokens(denoiser.length(), denoiser.classes(), tokens, masks)
}

/// The same for texts of a length over so many classes.
pub(crate) fn count_tokens(
    length: usize,
    classes: usize,
    tokens: &[u32],
    masks: bool,
) -> Result<usize, TextError> {
    if length == 0 || !tokens.len().is_multiple_of(length) {
        return Err(TextError::Length { length, tokens: tokens.len() });
    }
    match tokens.iter().position(|&token| token as usize >= classes && !(masks && token == MASK)) {
        Some(at) => {
            Err(TextError::Token { row: at / length, position: at % length, token: tokens[at], classes })
        }
        None => Ok(tokens.len() / length),
    }
}
