//! Scores and pictures for Posterior Mean Matching.

pub mod chart;
pub mod image;
mod page;
mod report;
pub mod table;
pub mod text;

pub use page::{Page, base64};
pub use report::{
    AnyOrderLine, BoundLine, DenoisingPoint, ImageReport, Picture, Prediction, PredictionScore, Raster,
    RuleLine, SummaryRow, TableReport, TextReport, TrainingPoint,
};
