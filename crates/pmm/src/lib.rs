//! Generative models of your data by Posterior Mean Matching (Salazar, Kucer, Wang, Casleton, Blei, 2025): tables, texts and
//! images, on a processor, in minutes.
//!
//! [`table`], [`text`] and [`image`] have the same shape: a `Fit` of `Data` leaves a `Model`, which samples, fills gaps, predicts,
//! scores and shows itself. A model lives in memory, or in a folder that [`open`] reads again. Long jobs take a [`Watcher`], which
//! hears how far they are and says when to stop; `()` watches in silence. Every result is a function of model, seed and row number
//! alone. [`core`] is the mathematics: conjugate pairs, clocks, samplers, bounds, oracles.

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use pmm_core as core;

/// The Arrow types that rows come in and go out with.
pub mod arrow {
    pub use arrow_array::*;
    pub use arrow_schema::{DataType, Field, Schema, SchemaRef};
}

mod error;
mod fitted;
mod fitting;
mod folder;
pub mod image;
mod info;
mod kind;
mod log;
pub mod method;
mod model;
mod recognise;
mod room;
mod settings;
pub mod table;
pub mod text;
mod watch;

pub use error::Error;
pub use fitted::{FitOutcome, FitSummary};
pub use fitting::Cost;
pub use folder::kind_of as kind_of_model;
pub use info::Info;
pub use kind::DataKind;
pub use log::learning_curve;
pub use model::{Model, open, open_on};
pub use pmm_data::{ImageDataError, ReadError, TextDataError};
pub use pmm_eval::TrainingPoint;
pub use pmm_net::{DEVICES, Device, DeviceError, FeatureNet, SettingError, device};
pub use pmm_store::write_whole as write_file;
pub use pmm_train::ranks::{abort as abort_ranks, finish as finish_ranks, start as ranks};
pub use pmm_train::{AllRanks, Gain, RanksError, Threads, TrainConfig};
pub use recognise::recognise;
pub use settings::{Changed, Settings};
pub use watch::{Deadline, Event, Stop, Watcher, listen};
