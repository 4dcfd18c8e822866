//! Images in memory: bytes side by side, as a program has them.

use super::error::ImageDataError;
use super::picture::Picture;
use super::store::{Item, Look, See, Sink, Store};
use super::words::image_count;

/// Bytes `[count, channels, height, width]` of images, with classes where they have some.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImageArray {
    /// Channels (1: grey, 3: colour), height and width.
    pub shape: [usize; 3],
    /// The pixels.
    pub pixels: Vec<u8>,
    /// The class of each image, as a place in `classes`; empty where images have none.
    pub labels: Vec<u32>,
    /// The names of the classes.
    pub classes: Vec<String>,
}

impl ImageArray {
    /// How many images there are.
    pub fn count(&self) -> usize {
        self.pixels.len() / self.size().max(1)
    }

    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Refuses what is no whole number of images, or labels that name no class.
    pub(super) fn check(&self) -> Result<(), ImageDataError> {
        let refused = |reason: String| Err(ImageDataError::Array { reason });
        if ![1, 3].contains(&self.shape[0]) || self.size() == 0 {
            return refused(format!("images of shape {:?} have neither one channel nor three", self.shape));
        }
        if !self.pixels.len().is_multiple_of(self.size()) || self.pixels.is_empty() {
            let (found, size) = (self.pixels.len(), self.size());
            return refused(format!("{found} bytes are no whole number of images of {size} bytes"));
        }
        if !self.labels.is_empty() && self.labels.len() != self.count() {
            return refused(format!("{} labels for {}", self.labels.len(), image_count(self.count() as u64)));
        }
        match self.labels.iter().find(|label| **label as usize >= self.classes.len()) {
            Some(label) => refused(format!("label {label} of {} classes", self.classes.len())),
            None => Ok(()),
        }
    }
}

impl Store for ImageArray {
    fn count(&self) -> u64 {
        ImageArray::count(self) as u64
    }

    fn classes(&self) -> &[String] {
        if self.labels.is_empty() { &[] } else { &self.classes }
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        let [channels, height, width] = self.shape;
        see("memory", Look { height, width, grey: channels == 1, opacity: false })
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        let [channels, height, width] = self.shape;
        for (index, planes) in self.pixels.chunks_exact(self.size()).enumerate() {
            let picture = Picture::of_planes(height, width, channels, planes);
            sink(Item { file: "memory", picture, label: self.labels.get(index).copied() })?;
        }
        Ok(())
    }
}
