//! Scores and pictures for Posterior Mean Matching.

pub mod chart;
mod page;
mod report;
pub mod table;

pub use page::Page;
pub use report::{Picture, Prediction, PredictionScore, SummaryRow, TableReport, TrainingPoint};
