//! Scores of texts: an n-gram model to judge and to compare with, and statistics of samples beside real text.
//!
//! | object | question |
//! |---|---|
//! | [`NGram`] | what does a text cost when only a few tokens back are remembered? |
//! | [`NGram::infill`] | what would such a model put where tokens are hidden? |
//! | [`TextScores`] | do samples look like held-out text? |
//!
//! Texts are tokens: numbers below the size of a vocabulary, whether of characters, bytes or pieces of words.

mod infill;
mod ngram;
mod scores;
mod statistics;
mod trie;
mod words;

pub use infill::Infill;
pub use ngram::NGram;
pub use scores::{Compared, TextScores};
