//! Scores and pictures for Posterior Mean Matching.

pub mod chart;
mod page;

pub use page::Page;
