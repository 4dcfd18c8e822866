//! What the examples of ten training steps share.

use std::convert::Infallible;

use pmm_train::{Progress, State, Watcher};

pub(crate) const STEPS: u64 = 10;

/// Notes the losses.
#[derive(Default)]
pub(crate) struct Losses(pub(crate) Vec<f64>);

impl Watcher for Losses {
    type Error = Infallible;
    fn step(&mut self, progress: Progress, _: &State) -> Result<(), Infallible> {
        self.0.push(progress.loss);
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}
