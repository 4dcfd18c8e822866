//! A model of any kind, as a folder holds it.

use std::path::Path;

use pmm_net::Device;

use crate::error::Error;
use crate::folder;
use crate::info::Info;
use crate::kind::DataKind;
use crate::{image, table, text};

/// A model, whatever it is of.
#[derive(Debug)]
pub enum Model {
    /// Of a table.
    Table(table::Model),
    /// Of texts.
    Text(text::Model),
    /// Of images.
    Image(image::Model),
}

/// Reads a model, whole and unaltered, to compute on the processor.
pub fn open(folder: impl AsRef<Path>) -> Result<Model, Error> {
    open_on(folder, &Device::flex())
}

/// Reads a model, to compute on a device.
pub fn open_on(path: impl AsRef<Path>, device: &Device) -> Result<Model, Error> {
    let path = path.as_ref();
    // Says what is wrong with the folder, if it is no model at all.
    folder::read_text(path, folder::CONFIG)?;
    Ok(match folder::kind_of(path) {
        Some(DataKind::Text) => Model::Text(text::Model::open(path, device)?),
        Some(DataKind::Image) => Model::Image(image::Model::open(path, device)?),
        _ => Model::Table(table::Model::open(path, device)?),
    })
}

impl Model {
    /// Of what kind it is.
    pub fn kind(&self) -> DataKind {
        match self {
            Self::Table(_) => DataKind::Table,
            Self::Text(_) => DataKind::Text,
            Self::Image(_) => DataKind::Image,
        }
    }

    /// What it is, how it was trained and how big it is.
    pub fn info(&self) -> Info {
        match self {
            Self::Table(model) => model.info(),
            Self::Text(model) => model.info(),
            Self::Image(model) => model.info(),
        }
    }

    /// The model of a table, or an error that says what it is.
    pub fn into_table(self) -> Result<table::Model, Error> {
        match self {
            Self::Table(model) => Ok(model),
            other => Err(other.stranger(DataKind::Table)),
        }
    }

    /// The model of texts, or an error that says what it is.
    pub fn into_text(self) -> Result<text::Model, Error> {
        match self {
            Self::Text(model) => Ok(model),
            other => Err(other.stranger(DataKind::Text)),
        }
    }

    /// The model of images, or an error that says what it is.
    pub fn into_image(self) -> Result<image::Model, Error> {
        match self {
            Self::Image(model) => Ok(model),
            other => Err(other.stranger(DataKind::Image)),
        }
    }

    fn stranger(&self, wanted: DataKind) -> Error {
        let folder = self.info().model.unwrap_or_default();
        Error::OtherKind { folder, found: self.kind(), wanted }
    }
}
