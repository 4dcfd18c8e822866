//! Models of tables: fit, sample, impute, predict, evaluate.

mod columns;
mod data;
mod evaluate;
mod fit;
mod forecast_score;
mod frames;
mod given;
mod impute;
mod joint;
mod kind;
mod law;
mod laws;
mod laws_table;
mod model;
mod partial;
mod paths;
mod predict;
mod report;
mod row_keys;
mod rows;
mod rules;
mod sample;
mod score;
mod shape;
mod shorter;
mod trace;
mod trees;
mod what_if;

pub use data::Data;
pub use evaluate::Evaluate;
pub use fit::{Fit, PreparedFit};
pub use impute::{Impute, ImputedRows};
pub use joint::Joint;
pub use laws::Laws;
pub use model::Model;
pub use pmm_data::rules::{Evidence, KeptRule, Rule};
pub use pmm_data::{
    Coding, Column, ColumnOverride, FileFormat, Header, Kind, NumberedFiles, OutputColumn, Overrides,
    PairKind, ReadOptions, Schema, WriteError, Writer, is_pattern, is_reading_guarded,
};
pub use pmm_train::table::TableConfig as Config;
pub use predict::{Predict, PredictedLaws};
pub use report::{Report, RuleScore};
pub use rows::Empty;
pub use sample::{Sample, SampledRows};
pub use score::{Score, ScoredCell, ScoredRow, ScoredRows};
pub use shape::Shape;
pub use trace::{Trace, TracePaths, TracePicture, TracedColumn};
