//! The real images: those given to score with, and those that the model has learned from.

use std::path::Path;

use anyhow::bail;
use pmm_core::{Elements, Purpose, Streams, Values};
use pmm_data::{ImageOptions, ImageSource, Images};
use pmm_train::{ImageModel, split_images};

use super::super::info::shape;
use crate::cli::EvalArgs;
use crate::output::Advice;

/// With fewer images a score would be noise.
const FEWEST: usize = 8;
/// Images that are compared with, at most.
const MOST: usize = 10_000;

/// Some images of a file.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) images: Images,
    pub(super) rows: Vec<usize>,
}

/// Images to score with, and images to compare with.
#[derive(Debug)]
pub(super) struct Real {
    /// Those given, in random order; they share no image with the reference.
    pub(super) test: Set,
    /// Training images; or, where they are not at hand, half of those given.
    pub(super) reference: Set,
    /// Whether the reference are training images.
    pub(super) is_trained: bool,
}

impl Set {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The first images.
    pub(super) fn pixels(&self, most: usize) -> Vec<&[u8]> {
        self.rows.iter().take(most).map(|&row| self.images.pixels(row)).collect()
    }

    /// Images in the pair's unit.
    pub(super) fn values(&self, model: &ImageModel, rows: &[usize]) -> Values {
        let bytes = rows.iter().flat_map(|&row| self.images.pixels(row));
        Values::new(vec![Elements::from(
            bytes.map(|&byte| model.config.pair.value(byte)).collect::<Vec<f32>>(),
        )])
    }

    /// The images' classes as the model numbers them; a class that it does not know is not told.
    pub(super) fn labels(&self, model: &ImageModel, rows: &[usize]) -> Vec<Option<u32>> {
        let known = |label: u32| {
            let name = self.images.classes().get(label as usize)?;
            model.images.classes.iter().position(|class| class == name).map(|class| class as u32)
        };
        rows.iter().map(|&row| self.images.label(row).and_then(known)).collect()
    }
}

impl Real {
    pub(super) fn read(
        args: &EvalArgs,
        model: &ImageModel,
        scratch: &Path,
        streams: &Streams,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Self> {
        let images = read(&args.data, model, &scratch.join("images"))?;
        if images.len() < FEWEST {
            bail!(Advice::new(
                format!("{} has {} images, too few for a score", args.data.display(), images.len()),
                format!("give {FEWEST} at least")
            ));
        }
        let mut order: Vec<usize> = (0..images.len()).collect();
        streams.stream(Purpose::SCORED_IMAGES, 0, 0).shuffle(&mut order);
        let kept = args.model.join("state/images.bin");
        let reference = match &args.train {
            Some(path) => {
                let images = read(path, model, &scratch.join("train"))?;
                let rows = (0..images.len().min(MOST)).collect();
                Some(Set { images, rows })
            }
            None if kept.exists() => Some(learned(Images::open(&kept)?, model)),
            None => None,
        };
        if let Some(reference) = reference {
            if reference.images.source_digest() == images.source_digest() {
                notes.push(format!(
                    "{} holds the images that were learned from: every score flatters the model",
                    args.data.display()
                ));
            }
            return Ok(Self { test: Set { images, rows: order }, reference, is_trained: true });
        }
        notes.push(
            "half of the images stand in for training images, which are not at hand: --train FILE would give them".into(),
        );
        let others = order.split_off(order.len().div_ceil(2)).into_iter().take(MOST).collect();
        let again = Images::open(&scratch.join("images"))?;
        Ok(Self {
            test: Set { images, rows: order },
            reference: Set { images: again, rows: others },
            is_trained: false,
        })
    }
}

/// Those of a model's images that it has learned from, or some of them.
fn learned(images: Images, model: &ImageModel) -> Set {
    let (mut rows, _) = split_images(images.len(), model.config.valid, &Streams::new(model.config.seed));
    rows.truncate(MOST);
    Set { images, rows: rows.into_iter().map(|row| row as usize).collect() }
}

/// A file's images, as the model takes them.
pub(super) fn read(path: &Path, model: &ImageModel, to: &Path) -> anyhow::Result<Images> {
    let size = model.config.size.map(|size| (size, size));
    let source = ImageSource::open(path, &ImageOptions { size, grey: Some(model.images.shape[0] == 1) })?;
    if source.shape() != model.images.shape {
        bail!(Advice::new(
            format!(
                "{} holds images of {}, the model takes {}",
                source.name(),
                shape(source.shape()),
                shape(model.images.shape)
            ),
            "give images like those that were fitted"
        ));
    }
    Images::write(&source, to, &mut |_| ())?;
    Ok(Images::open(to)?)
}
