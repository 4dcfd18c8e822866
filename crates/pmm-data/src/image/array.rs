//! Images of one size, one after the other in a file.

use std::io::{self, Read};

use super::bytes::Bytes;
use super::decode::MOST;
use super::error::{ImageDataError, name};
use super::picture::Picture;
use super::store::{Item, Look, See, Sink, Store};

/// An array of bytes, image by image.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) bytes: Bytes,
    /// Bytes before the first image.
    pub(super) skip: u64,
    pub(super) count: u64,
    pub(super) height: usize,
    pub(super) width: usize,
    /// 1, 3 or 4.
    pub(super) channels: usize,
    /// Whether channels come before pixels.
    pub(super) planar: bool,
    pub(super) labels: Labels,
}

/// Where the labels of an array are.
#[derive(Debug)]
pub(super) enum Labels {
    None,
    /// Elsewhere; one an image.
    Apart(Vec<u32>),
    /// In a byte before each image, less than this.
    Before(u8),
}

impl Array {
    /// Whether images of this size can be read; the error is the reason why not.
    pub(super) fn check(self) -> Result<Self, ImageDataError> {
        let path = self.bytes.path();
        let sides = [self.height, self.width, self.channels];
        let size = sides.iter().try_fold(1u64, |size, &side| size.checked_mul(side as u64));
        match size {
            _ if self.count == 0 => Err(ImageDataError::NoImages { path: name(path) }),
            Some(0) => Err(ImageDataError::not_array(path, "its images have no pixels")),
            Some(size) if size <= MOST => Ok(self),
            _ => Err(ImageDataError::TooLarge { path: name(path), most: MOST }),
        }
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        let file = name(self.bytes.path());
        let mut reader = self.bytes.reader(self.skip)?;
        let mut samples = vec![0; self.height * self.width * self.channels];
        for index in 0..self.count {
            let label = self.label(index, &mut reader)?;
            reader.read_exact(&mut samples).map_err(|error| self.broken(index, error))?;
            let (height, width, channels) = (self.height, self.width, self.channels);
            let picture = if self.planar {
                Picture::of_planes(height, width, channels, &samples)
            } else {
                Picture::new(height, width, channels, samples.clone())
            };
            sink(Item { file: &file, picture, label })?;
        }
        // At its end a compressed file tells whether it was read as it was written.
        reader.read(&mut [0]).map_err(|error| self.broken(self.count, error)).map(drop)
    }

    fn label(&self, index: u64, reader: &mut dyn Read) -> Result<Option<u32>, ImageDataError> {
        match &self.labels {
            Labels::None => Ok(None),
            Labels::Apart(labels) => Ok(labels.get(index as usize).copied()),
            Labels::Before(classes) => {
                let mut label = [0];
                reader.read_exact(&mut label).map_err(|error| self.broken(index, error))?;
                if label[0] < *classes {
                    return Ok(Some(label[0].into()));
                }
                let reason = format!("image {index} has label {}, not one of 0..{classes}", label[0]);
                Err(ImageDataError::not_array(self.bytes.path(), reason))
            }
        }
    }

    fn broken(&self, index: u64, error: io::Error) -> ImageDataError {
        let path = self.bytes.path();
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = format!("it ends in image {index} of {}", self.count);
                ImageDataError::not_array(path, reason)
            }
            _ => ImageDataError::Io { path: name(path), source: error },
        }
    }
}

/// Arrays, one after the other.
#[derive(Debug)]
pub(super) struct Arrays {
    pub(super) arrays: Vec<Array>,
    pub(super) classes: Vec<String>,
}

impl Store for Arrays {
    fn count(&self) -> u64 {
        self.arrays.iter().map(|array| array.count).sum()
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        self.arrays.iter().try_for_each(|array| {
            let (grey, opacity) = (array.channels == 1, array.channels == 4);
            let look = Look { height: array.height, width: array.width, grey, opacity };
            see(&name(array.bytes.path()), look)
        })
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        self.arrays.iter().try_for_each(|array| array.read(sink))
    }
}
