//! Images coming out of noise: frame by frame, and as a picture that moves.

use pmm_core::{Estimate, Estimates, States, Streams};
use pmm_data::{animated_png, grid_png};
use pmm_eval::base64;
use serde::{Serialize, Serializer};

use super::drawing::{Drawing, bytes, classes};
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Images side by side.
const COLUMNS: usize = 8;
/// Network calls, each a frame.
const CALLS: usize = 40;
/// Pixels of an image's side, at least.
const SIDE: usize = 64;
/// Milliseconds of a frame, and of the last.
const DELAYS: (u16, u16) = (90, 2500);

/// A picture to draw: above the posterior means, below what the network expects.
#[derive(Debug, Clone)]
pub struct Trace<'m> {
    model: &'m Model,
    seed: u64,
}

/// The picture.
#[derive(Debug, Clone)]
pub struct TracePicture {
    png: Vec<u8>,
}

/// The same one by one, for a picture of one's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceFrames {
    /// Images side by side in a frame.
    pub columns: usize,
    /// The information about a pixel at each frame.
    pub readings: Vec<f64>,
    /// Two rows of images as PNG, in base64 where it is serialised: above the posterior means, below what the network expects.
    #[serde(serialize_with = "letters")]
    pub pngs: Vec<Vec<u8>>,
}

/// What is seen at one network call.
struct Seen {
    reading: f64,
    /// The posterior means, then what the network expects.
    images: Vec<Vec<u8>>,
}

impl<'m> Trace<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, seed: 0 }
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Draws images, as a picture that moves.
    pub fn draw(self, watcher: &mut dyn Watcher) -> Result<TracePicture, Error> {
        let shape = self.model.images().shape;
        let seen = self.walk(watcher)?;
        let last = seen.len().saturating_sub(1);
        let frame = |(at, seen): (usize, &Seen)| {
            let delay = if at == last { DELAYS.1 } else { DELAYS.0 };
            Ok((enlarged_png(&seen.images, shape)?, delay))
        };
        let frames = seen.iter().enumerate().map(frame).collect::<Result<Vec<_>, Error>>()?;
        Ok(TracePicture { png: animated_png(&frames)? })
    }

    /// Draws images, frame by frame.
    pub fn frames(self, watcher: &mut dyn Watcher) -> Result<TraceFrames, Error> {
        let shape = self.model.images().shape;
        let seen = self.walk(watcher)?;
        let pngs = seen.iter().map(|seen| grid_png(&seen.images, shape, COLUMNS));
        let pngs = pngs.collect::<Result<_, _>>()?;
        Ok(TraceFrames { columns: COLUMNS, readings: seen.iter().map(|seen| seen.reading).collect(), pngs })
    }

    fn walk(&self, watcher: &mut dyn Watcher) -> Result<Vec<Seen>, Error> {
        let (model, streams) = (self.model, Streams::new(self.seed));
        let (pair, shape) = (model.config().pair, model.images().shape);
        let labels = classes(model.images(), None, 0..COLUMNS as u64, &streams);
        let denoiser = model.denoiser.told(labels, 1.0);
        let states = States::prior(denoiser.net().space(), 0, COLUMNS);
        watcher.notice(Event::Started { what: "drawing", total: Some(CALLS as u64) });
        let mut seen = Vec::new();
        let mut observe = |step: usize, states: &States, estimates: &Estimates| {
            watcher.notice(Event::Progress { done: step as u64 + 1 });
            let Some(Estimate::Mean(x_hat)) = estimates.blocks.first() else { return };
            let both = [states.means(0), x_hat.clone()].concat();
            let images = bytes(pair, &both, shape.iter().product());
            seen.push(Seen { reading: states.clock(0)[0], images });
        };
        let drawing = Drawing { calls: Some(CALLS), ..Drawing::default() };
        drawing.draw(pair, &denoiser, states, &streams, &mut observe)?;
        watcher.notice(Event::Finished);
        Ok(seen)
    }
}

impl TracePicture {
    /// As an animated PNG.
    pub fn png(&self) -> &[u8] {
        &self.png
    }
}

/// Pictures as text, for JSON.
fn letters<S: Serializer>(pngs: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pngs.iter().map(|png| base64(png)))
}

/// Two rows of images, enlarged so that they can be seen.
fn enlarged_png(images: &[Vec<u8>], shape: [usize; 3]) -> Result<Vec<u8>, pmm_data::ImageDataError> {
    let times = SIDE.div_ceil(shape[1]).max(1);
    let large: Vec<Vec<u8>> = images.iter().map(|image| enlarge(image, shape[2], times)).collect();
    grid_png(&large, [shape[0], times * shape[1], times * shape[2]], COLUMNS)
}

/// Every pixel so many times across and down.
fn enlarge(image: &[u8], width: usize, times: usize) -> Vec<u8> {
    let line = |line: &[u8]| -> Vec<u8> {
        let line: Vec<u8> = line.iter().flat_map(|byte| std::iter::repeat_n(*byte, times)).collect();
        line.repeat(times)
    };
    image.chunks(width).flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_grow_in_place() {
        assert_eq!(enlarge(&[1, 2, 3, 4], 2, 2), [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4]);
    }
}
