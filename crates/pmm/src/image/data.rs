//! Images that are read: files, or arrays in memory.

use std::path::{Path, PathBuf};

use pmm_data::{ImageArray, ImageOptions, ImageSource};

use crate::error::Error;

/// Images, wherever they lie.
#[derive(Debug, Clone)]
pub struct Data(DataPlace);

#[derive(Debug, Clone)]
enum DataPlace {
    Path(PathBuf),
    Array(ImageArray),
}

impl Data {
    /// A folder of PNG, JPEG or WebP files (folders in it are classes, or `labels.csv` says them, as samples have it), IDX, CIFAR-10 in binary, mosaics, npy, npz or a zip of pictures.
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self(DataPlace::Path(path.as_ref().to_owned()))
    }

    /// Images in memory.
    pub fn from_array(array: ImageArray) -> Self {
        Self(DataPlace::Array(array))
    }

    pub(crate) fn source(&self, options: &ImageOptions) -> Result<ImageSource, Error> {
        Ok(match &self.0 {
            DataPlace::Path(path) => ImageSource::open(path, options)?,
            DataPlace::Array(array) => ImageSource::from_array(array.clone(), options)?,
        })
    }
}

impl From<&Path> for Data {
    fn from(path: &Path) -> Self {
        Self::open(path)
    }
}

impl From<ImageArray> for Data {
    fn from(array: ImageArray) -> Self {
        Self::from_array(array)
    }
}
