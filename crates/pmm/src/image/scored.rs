//! Images that are scored: drawn from the model, or read from anywhere.

use super::data::Data;
use super::drawing::Drawing;
use super::model::Model;
use super::real::{Set, read};
use crate::error::Error;
use crate::watch::Watcher;

/// Images, with the classes that were asked for, as the model numbers them.
#[derive(Debug)]
pub(crate) struct Scored {
    pub(crate) images: Vec<Vec<u8>>,
    pub(crate) labels: Vec<Option<u32>>,
}

impl Scored {
    /// Draws so many.
    pub(crate) fn draw(
        model: &Model,
        count: u64,
        drawing: Drawing,
        seed: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Self, Error> {
        let mut sample = model.sample(count).seed(seed).drawing(drawing).images()?;
        let mut scored = Self { images: Vec::new(), labels: Vec::new() };
        while let Some(image) = sample.next_watched(watcher) {
            let image = image?;
            scored.images.push(image.pixels);
            scored.labels.push(image.label);
        }
        Ok(scored)
    }

    /// Images of somebody else.
    pub(crate) fn read(data: &Data, model: &Model, notes: &mut Vec<String>) -> Result<Self, Error> {
        let images = read(data, model, notes)?;
        let set = Set { rows: (0..images.len()).collect(), images };
        let labels = set.labels(model, &set.rows);
        Ok(Self { images: set.pixels(usize::MAX).into_iter().map(<[u8]>::to_vec).collect(), labels })
    }

    pub(crate) fn pixels(&self, most: usize) -> Vec<&[u8]> {
        self.images.iter().take(most).map(Vec::as_slice).collect()
    }
}
