//! Images coming out of noise, as a picture that moves.

use pmm_core::{Estimate, Estimates, States, Streams};
use pmm_data::{animated_png, grid_png};

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

impl<'m> Trace<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, seed: 0 }
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Draws images, frame by frame.
    pub fn draw(self, watcher: &mut dyn Watcher) -> Result<TracePicture, Error> {
        let (model, streams) = (self.model, Streams::new(self.seed));
        let (pair, shape) = (model.config().pair, model.images().shape);
        let labels = classes(model.images(), None, 0..COLUMNS as u64, &streams);
        let denoiser = model.denoiser.told(labels, 1.0);
        let states = States::prior(denoiser.net().space(), 0, COLUMNS);
        watcher.notice(Event::Started { what: "drawing", total: Some(CALLS as u64) });
        let (mut frames, mut failure) = (Vec::new(), None);
        let mut observe = |step: usize, states: &States, estimates: &Estimates| {
            watcher.notice(Event::Progress { done: step as u64 + 1 });
            let Some(Estimate::Mean(x_hat)) = estimates.blocks.first() else { return };
            let both = [states.means(0), x_hat.clone()].concat();
            let images = bytes(pair, &both, shape.iter().product());
            match frame(&images, shape) {
                Ok(png) => frames.push((png, DELAYS.0)),
                Err(error) => failure = Some(error),
            }
        };
        let drawing = Drawing { calls: Some(CALLS), ..Drawing::default() };
        drawing.draw(pair, &denoiser, states, &streams, &mut observe)?;
        watcher.notice(Event::Finished);
        if let Some(error) = failure {
            return Err(error.into());
        }
        if let Some(last) = frames.last_mut() {
            last.1 = DELAYS.1;
        }
        Ok(TracePicture { png: animated_png(&frames)? })
    }
}

impl TracePicture {
    /// As an animated PNG.
    pub fn png(&self) -> &[u8] {
        &self.png
    }
}

/// Two rows of images, enlarged so that they can be seen.
fn frame(images: &[Vec<u8>], shape: [usize; 3]) -> Result<Vec<u8>, pmm_data::ImageDataError> {
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
