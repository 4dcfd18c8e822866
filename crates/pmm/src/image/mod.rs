//! Models of images: fit, sample, inpaint, evaluate.

mod accuracy;
mod cost;
mod data;
mod denoising;
mod distances;
mod drawing;
mod evaluate;
mod fit;
mod kind;
mod likelihood;
mod model;
mod nearest;
mod preview;
mod real;
mod report;
mod sample;
mod scored;
mod terminal;
mod trace;

pub use data::Data;
pub use drawing::{Drawing, Ending, Sampler};
pub use evaluate::Evaluate;
pub use fit::{Fit, PreparedFit};
pub use kind::{class_list, shape_words};
pub use model::Model;
pub use pmm_data::{ImageArray, grid_png, image_count, read_image};
pub use pmm_train::image::{ImageConfig as Config, ImageFacts};
pub use report::Report;
pub use sample::{DrawnImage, Hole, Sample, SampledImages};
pub use trace::{Trace, TraceFrames, TracePicture};
