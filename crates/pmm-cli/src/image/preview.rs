//! Keeps a fit of images safe, and draws a few after every validation: `preview.png`, always of the same noise.

use std::path::PathBuf;
use std::sync::Arc;

use pmm_core::{States, Streams};
use pmm_net::image::{ImageDenoiser, ImageNet};
use pmm_train::{Facts, ImageFacts, Progress, State, Watcher};

use super::plan::{Plan, bytes, classes};
use super::write::grid;
use crate::files;
use crate::keeper::Keeper;

/// Images of a preview, and network calls for each.
const PREVIEW: (usize, usize) = (16, 12);

pub(super) struct Previewer<'a> {
    pub(super) keeper: Keeper<'a>,
    pub(super) net: &'a Arc<ImageNet>,
    pub(super) facts: &'a ImageFacts,
    pub(super) path: PathBuf,
}

impl Previewer<'_> {
    fn draw(&self, weights: &[f32]) -> anyhow::Result<()> {
        let (streams, pair) = (Streams::new(0), self.net.pair());
        let labels = classes(self.facts, None, 0..PREVIEW.0 as u64, &streams);
        let denoiser = ImageDenoiser::new(self.net.clone(), weights).told(labels, 1.0);
        let states = States::prior(self.net.space(), 0, PREVIEW.0);
        let values = Plan::of(pair).with_calls(PREVIEW.1).draw(&denoiser, states, &streams, &mut ())?;
        let images = bytes(pair, values.reals(0), self.facts.shape.iter().product());
        files::write(&self.path, &grid(&images, self.facts.shape)?)
    }

    /// Saves the state; returns what is known of the fit.
    pub(super) fn finish(self, state: &State) -> anyhow::Result<Facts> {
        self.keeper.finish(state)
    }
}

impl Watcher for Previewer<'_> {
    type Error = anyhow::Error;

    fn step(&mut self, progress: Progress, state: &State) -> anyhow::Result<()> {
        self.keeper.step(progress, state)
    }

    fn validated(&mut self, state: &State, train_loss: f64, valid_loss: f64) -> anyhow::Result<()> {
        self.keeper.validated(state, train_loss, valid_loss)?;
        self.draw(&state.average)
    }
}
