//! Oracles: exact denoisers for targets that are known, so that everything else can be tested without training.

mod finite;
mod markov;

pub use finite::{FiniteTarget, TargetError};
pub(crate) use finite::{PointTable, RowPosterior};
pub use markov::MarkovChain;
