//! Fits as jobs: one after the other, watched, stopped, gone on with; also by another server after this one has died.

mod fit;
mod history;
mod queue;
mod request;
mod run;

pub(crate) use fit::{Fit, FitEvent, FitState, FitStatus};
pub(crate) use queue::Fits;
pub(crate) use request::FitRequest;
