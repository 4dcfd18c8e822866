//! Boosted trees that say how probable the codes of a cell are, given what is known of its row.
//!
//! A column of K codes (levels, or the bins of a continuum) is told by K − 1 yes-or-no questions, which form a tree of their own
//! ([`Questions`]); each question has a boosted sequence of regression trees for its log-odds, grown on histograms of bins
//! ([`fit`]). A feature is a byte: 0 where the cell is unknown, which every split sends one way or the other.
//!
//! The booster is our own. The crates there are take a matrix of floats a model and bin it anew for each of hundreds of
//! questions, cannot look at all questions of a column when they decide to stop, keep trees as linked boxes and JSON, or are
//! bindings that need a C++ compiler and whose sums depend on threads.

mod boost;
mod column_trees;
mod examples;
mod grow;
mod histogram;
mod number;
mod packed;
mod questions;

pub use boost::{BoostConfig, fit};
pub use column_trees::ColumnTrees;
pub use examples::{Examples, Feature, FeatureKind, MOST_BINS};
pub use number::{NumberLoss, Numbers, fit_number};
pub use packed::{PackedTrees, UnpackError};
pub use questions::{Branch, Questions};
