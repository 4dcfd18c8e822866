//! A model of images against images it has not seen: the likelihood bound, and samples beside real images.

use pmm_core::Streams;
use pmm_eval::image::ImageScores;
use pmm_net::FeatureNet;

use super::data::Data;
use super::drawing::Drawing;
use super::model::Model;
use super::real::Real;
use super::report::Report;
use super::scored::Scored;
use super::{accuracy, denoising, distances, likelihood, nearest};
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Samples that are drawn if no number is asked for: to look at, and to measure distances.
const COUNT: (u64, u64) = (64, 1000);

/// An evaluation to make.
pub struct Evaluate<'m> {
    model: &'m Model,
    test: Data,
    train: Option<Data>,
    samples: Option<Data>,
    features: Option<&'m FeatureNet>,
    count: Option<u64>,
    drawing: Drawing,
    seed: u64,
}

impl<'m> Evaluate<'m> {
    pub(crate) fn new(model: &'m Model, test: Data) -> Self {
        Self {
            model,
            test,
            train: None,
            samples: None,
            features: None,
            count: None,
            drawing: Drawing::default(),
            seed: 0,
        }
    }

    /// The images that were used to fit; a model that was fitted in a folder keeps them.
    pub fn train(mut self, data: impl Into<Data>) -> Self {
        self.train = Some(data.into());
        self
    }

    /// Scores these images, whoever made them, and nothing else.
    pub fn samples(mut self, data: impl Into<Data>) -> Self {
        self.samples = Some(data.into());
        self
    }

    /// A network in whose features distances are measured.
    pub fn features(mut self, net: &'m FeatureNet) -> Self {
        self.features = Some(net);
        self
    }

    /// How many images are drawn: 64 by default, with features as many as there are to compare with, up to 1000.
    pub fn count(mut self, images: u64) -> Self {
        self.count = Some(images);
        self
    }

    /// How they are drawn.
    pub fn drawing(mut self, drawing: Drawing) -> Self {
        self.drawing = drawing;
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Computes, draws images and compares; a stop ends it without a report.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Report<'m>, Error> {
        let (model, streams) = (self.model, Streams::new(self.seed));
        self.drawing.check(model.config().pair)?;
        start(watcher, "reading")?;
        let mut notes = Vec::new();
        let real = Real::read(model, &self.test, self.train.as_ref(), &streams, &mut notes)?;
        let mut scores = ImageScores::default();
        let drawn = match &self.samples {
            Some(data) => Scored::read(data, model, &mut notes)?,
            None => {
                start(watcher, "likelihood")?;
                scores.bits = Some(likelihood::bits(model, &real, &streams)?);
                let default = match self.features {
                    Some(_) => COUNT.1.min(real.test.len() as u64).max(COUNT.0),
                    None => COUNT.0,
                };
                Scored::draw(model, self.count.unwrap_or(default), self.drawing, self.seed, watcher)?
            }
        };
        let features = match self.features {
            Some(net) => Some(distances::features(net, model, &drawn, &real, &mut notes, watcher)?),
            None => None,
        };
        match &features {
            Some(features) => {
                scores.distances = Some(distances::distances(features, self.seed, &mut notes)?);
                match accuracy::accuracy(features.net, model, &drawn, &real)? {
                    Ok(found) => scores.accuracy = Some(found),
                    Err(reason) => notes.push(format!("no class accuracy: {reason}")),
                }
            }
            None => notes.push(
                "no distance between samples and images: a feature network measures it (a ResNet of CIFAR-10, EfficientNet-Lite0 \
                 or FID's Inception)"
                    .into(),
            ),
        }
        start(watcher, "nearest images")?;
        // Images that stand in for training images cannot have been copied.
        let nearest = match real.is_trained {
            true => Some(nearest::nearest(&drawn, &real, features.as_ref())?),
            false => None,
        };
        scores.nearest = nearest.as_ref().map(|nearest| nearest.score.clone());
        let mut denoising = Vec::new();
        if self.samples.is_none() {
            start(watcher, "denoising")?;
            denoising = denoising::curve(model, &real, &streams)?;
        }
        watcher.notice(Event::Finished);
        Ok(Report {
            model,
            seed: self.seed,
            is_own: self.samples.is_none(),
            scores,
            denoising,
            images: drawn.images,
            nearest,
            notes,
        })
    }
}

/// A part of the job begins, unless it should stop.
fn start(watcher: &mut dyn Watcher, what: &str) -> Result<(), Error> {
    if watcher.wants_stop() {
        return Err(Error::Stopped);
    }
    watcher.notice(Event::Started { what, total: None });
    Ok(())
}
