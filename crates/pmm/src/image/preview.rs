//! A few images after every validation, always of the same noise: `preview.png`.

use std::path::PathBuf;
use std::sync::Arc;

use pmm_core::{States, Streams};
use pmm_net::image::{ImageDenoiser, ImageNet};
use pmm_train::image::ImageFacts;

use super::drawing::{Drawing, bytes, classes};
use super::kind::Image;
use crate::error::Error;
use crate::fitting::Prepared;
use crate::folder;

/// Images of a preview, and network calls for each.
const PREVIEW: (usize, usize) = (16, 12);

/// Draws what a network can do so far.
pub(crate) struct Previewer {
    net: Arc<ImageNet>,
    facts: Arc<ImageFacts>,
    path: PathBuf,
}

impl Previewer {
    /// In the folder of a fit, if it has one.
    pub(crate) fn new(prepared: &Prepared<Image>) -> Result<Option<Self>, Error> {
        let Some(folder) = prepared.folder() else { return Ok(None) };
        let (net, facts) = (prepared.net.clone(), prepared.description.clone());
        Ok(Some(Self { net, facts, path: folder.join("preview.png") }))
    }

    pub(crate) fn draw(&self, weights: &[f32]) -> Result<(), Error> {
        let (streams, pair) = (Streams::new(0), self.net.pair());
        let labels = classes(&self.facts, None, 0..PREVIEW.0 as u64, &streams);
        let denoiser = ImageDenoiser::new(self.net.clone(), weights).told(labels, 1.0);
        let states = States::prior(self.net.space(), 0, PREVIEW.0);
        let drawing = Drawing { calls: Some(PREVIEW.1), ..Drawing::default() };
        let values = drawing.draw(pair, &denoiser, states, &streams, &mut ())?;
        let images = bytes(pair, values.reals(0), self.facts.shape.iter().product());
        folder::write(&self.path, &pmm_data::grid_png(&images, self.facts.shape, 4)?)
    }
}
