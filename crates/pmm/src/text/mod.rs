//! Models of texts: fit, sample, infill, evaluate.

mod data;
mod denoiser;
mod drawing;
mod evaluate;
mod fit;
mod gap_lengths;
mod gaps;
mod gpt2;
mod infill;
mod kind;
mod model;
mod recovery;
mod report;
mod sample;
mod score;
mod task;
mod trace;

pub use data::Data;
pub use drawing::{Drawing, Sampler, TextOrder};
pub use evaluate::Evaluate;
pub use fit::{Fit, PreparedFit};
pub use gap_lengths::GapLength;
pub use gpt2::load_gpt2;
pub use infill::{Completion, Infill};
pub use model::Model;
pub use pmm_data::FASTA_ENDINGS;
pub use pmm_train::text::TextConfig as Config;
pub use recovery::Recovery;
pub use report::Report;
pub use sample::{Sample, SampledTexts, TextStream};
pub use score::{DocumentScore, Score};
pub use trace::{Trace, TraceFrames, TracePicture};
