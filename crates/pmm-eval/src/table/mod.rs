//! Scores of synthetic tables, each beside the same score of real rows, so that a number has a meaning.
//!
//! Three tables take part: `train`, the rows a model learnt from; `test`, real rows it never saw; `synth`, rows it made.
//! A baseline puts training rows in the place of the synthetic ones: what a perfect model would get.
//!
//! | score | question | best |
//! |---|---|---|
//! | [`marginals`] | does each column have the right values? | the baseline |
//! | [`dependence`] | do columns move together as they should? | the baseline |
//! | [`two_sample`] | can a strong classifier tell the rows apart? | AUC ½ |
//! | [`two_sample_related`] | can it, if it also sees differences, sums and parts of dates? | AUC ½ |
//! | [`usefulness`] | does a predictor trained on synthetic rows work on real ones? | the baseline |
//! | [`privacy`] | are synthetic rows copies of training rows? | no closer than test rows |
//! | [`calibration`], [`class_calibration`] | are predictions as sure as they may be? | coverage as named |
//!
//! All are functions of their arguments and a seed: threads do not matter.

mod boost;
mod calibration;
mod classes;
mod dependence;
mod frame;
mod linear;
mod marginal;
mod privacy;
mod rank;
mod relations;
mod scores;
mod two_sample;
mod usefulness;

pub use boost::bins;
pub use calibration::{Calibration, calibration};
pub use classes::{ClassCalibration, ReliabilityBin, class_calibration};
pub use dependence::{Dependence, associations, dependence};
pub use frame::{ColumnData, Frame, FrameColumn, MISSING, TableError};
pub use marginal::{MarginalScore, Measure, marginals};
pub use privacy::{Closeness, Privacy, privacy};
pub use relations::KnownRelations;
pub use scores::{TableScores, scores, scores_with};
pub use two_sample::{TwoSample, two_sample, two_sample_related};
pub use usefulness::{Usefulness, UsefulnessMeasure, usefulness};

pub(crate) use rank::{quantile, sorted};
