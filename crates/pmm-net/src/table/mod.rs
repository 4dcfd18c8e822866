//! Tables: columns ⇄ coordinates ⇄ features and outputs of one network.

mod asking;
mod atoms;
mod batch;
mod calibrate;
mod cell_law;
mod coordinates;
mod denoise;
mod features;
mod generate;
mod head;
mod likelihood;
mod net;
mod ordered_batch;
mod restricted;
mod score;
mod trees;
mod trim;
mod walk;

pub use atoms::Atoms;
pub use batch::{Batch, BatchRows, Shown};
pub use cell_law::{CellLaw, ScorePart};
pub use coordinates::{CellCoordinates, ClockKind, ColumnPlace, Coordinates, Scale, TokenPlace, ValuePlace};
pub use denoise::TableDenoiser;
pub use features::View;
pub use generate::{FillOptions, GenerateError};
pub use head::{Law, Target};
pub use likelihood::Likelihood;
pub use net::TableNet;
pub use ordered_batch::OrderedBatch;
pub use score::{CellScore, RowScore};
pub use trees::{Answers, RowsOf, Shares, TableTrees, TreesConfig, TreesOfColumn};
pub use walk::Conditions;
