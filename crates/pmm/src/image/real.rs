//! The real images: those given to score with, and those that the model has learned from.

use std::sync::Arc;

use pmm_core::{Elements, Purpose, Streams, Values};
use pmm_data::{ImageOptions, ImageSize, Images};
use pmm_train::image::split;

use super::data::Data;
use super::fit::IMAGES;
use super::kind::shape_words;
use super::model::Model;
use crate::error::Error;
use crate::room::check_room;

/// With fewer images a score would be noise.
const FEWEST: usize = 8;
/// Images that are compared with, at most.
const MOST: usize = 10_000;

/// Some images of a file.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) images: Arc<Images>,
    pub(crate) rows: Vec<usize>,
}

/// Images to score with, and images to compare with.
#[derive(Debug)]
pub(crate) struct Real {
    /// Those given, in random order; they share no image with the reference.
    pub(crate) test: Set,
    /// Training images; or, where they are not at hand, half of those given.
    pub(crate) reference: Set,
    /// Whether the reference are training images.
    pub(crate) is_trained: bool,
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The first images.
    pub(crate) fn pixels(&self, most: usize) -> Vec<&[u8]> {
        self.rows.iter().take(most).map(|&row| self.images.pixels(row)).collect()
    }

    /// Images in the pair's unit.
    pub(crate) fn values(&self, model: &Model, rows: &[usize]) -> Values {
        let bytes = rows.iter().flat_map(|&row| self.images.pixels(row));
        Values::new(vec![Elements::from(
            bytes.map(|&byte| model.config().pair.value(byte)).collect::<Vec<f32>>(),
        )])
    }

    /// The images' classes as the model numbers them; a class that it does not know is not told.
    pub(crate) fn labels(&self, model: &Model, rows: &[usize]) -> Vec<Option<u32>> {
        let known = |label: u32| {
            let name = self.images.classes().get(label as usize)?;
            model.images().classes.iter().position(|class| class == name).map(|class| class as u32)
        };
        rows.iter().map(|&row| self.images.label(row).and_then(known)).collect()
    }
}

impl Real {
    pub(crate) fn read(
        model: &Model,
        test: &Data,
        train: Option<&Data>,
        streams: &Streams,
        notes: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let images = read(test, model, notes)?;
        if images.len() < FEWEST {
            let (found, needed) = (images.len() as u64, FEWEST as u64);
            return Err(Error::TooFew { data: "the data".into(), found, unit: "images", needed });
        }
        let mut order: Vec<usize> = (0..images.len()).collect();
        streams.stream(Purpose::SCORED_IMAGES, 0, 0).shuffle(&mut order);
        if let Some(reference) = reference(model, train, notes)? {
            if reference.images.source_digest() == images.source_digest() {
                notes.push(
                    "these are the images that were learned from: every score flatters the model".into(),
                );
            }
            return Ok(Self { test: Set { images, rows: order }, reference, is_trained: true });
        }
        notes.push("half of the images stand in for training images, which are not at hand".into());
        let others = order.split_off(order.len().div_ceil(2)).into_iter().take(MOST).collect();
        let reference = Set { images: images.clone(), rows: others };
        Ok(Self { test: Set { images, rows: order }, reference, is_trained: false })
    }
}

/// Training images: as given, or as the model's folder keeps them.
fn reference(model: &Model, train: Option<&Data>, notes: &mut Vec<String>) -> Result<Option<Set>, Error> {
    if let Some(train) = train {
        let images = read(train, model, notes)?;
        let rows = (0..images.len().min(MOST)).collect();
        return Ok(Some(Set { images, rows }));
    }
    let Some(path) = model.folder().map(|folder| folder.join(IMAGES)).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let images = Images::open(&path)?;
    if images.source_digest() != model.fitted.identity.data {
        let why = "it holds other images than the model was fitted to".to_owned();
        return Err(Error::DamagedModel { path, why });
    }
    images.check_contents()?;
    Ok(Some(learned(images, model)))
}

/// Those of a model's images that it has learned from, or some of them.
fn learned(images: Images, model: &Model) -> Set {
    let config = model.config();
    let (mut rows, _) = split(images.len(), config.valid, &Streams::new(config.seed));
    rows.truncate(MOST);
    Set { images: Arc::new(images), rows: rows.into_iter().map(|row| row as usize).collect() }
}

/// Images, as the model takes them; notes what a person should know of them.
pub(crate) fn read(data: &Data, model: &Model, notes: &mut Vec<String>) -> Result<Arc<Images>, Error> {
    let shape = model.images().shape;
    let size = model.config().size.map_or(ImageSize::Same, |size| ImageSize::Fixed((size, size)));
    let source = data.source(&ImageOptions { size, grey: Some(shape[0] == 1) })?;
    if source.shape() != shape {
        let (found, wanted) = (shape_words(source.shape()), shape_words(shape));
        let what = format!("{} holds images of {found}, the model takes {wanted}", source.name());
        return Err(Error::request(what, "give images like those that were fitted"));
    }
    notes.extend_from_slice(source.notes());
    check_room(&source.name(), source.count(), shape, None)?;
    Ok(Arc::new(Images::read(&source, &mut |_| ())?))
}
