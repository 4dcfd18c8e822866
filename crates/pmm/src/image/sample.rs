//! New images, or the unknown part of one.

use pmm_core::{Elements, Estimates, States, Streams, Values};

use super::drawing::{Drawing, bytes, classes};
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Images drawn together.
pub(crate) const CHUNK: u64 = 64;

/// An image of which some pixels are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// Bytes `[channels, height, width]`.
    pub image: Vec<u8>,
    /// Which pixels `[height, width]` are to be filled in.
    pub unknown: Vec<bool>,
}

/// New images to draw. Image number r of a seed is the same whatever is drawn beside it.
#[derive(Debug, Clone)]
pub struct Sample<'m> {
    model: &'m Model,
    images: u64,
    label: Option<String>,
    holes: Vec<Hole>,
    guidance: Option<f64>,
    seed: u64,
    drawing: Drawing,
}

impl<'m> Sample<'m> {
    pub(crate) fn new(model: &'m Model, images: u64) -> Self {
        let drawing = Drawing::default();
        Self { model, images, label: None, holes: Vec::new(), guidance: None, seed: 0, drawing }
    }

    /// The class of all images; by default classes are as frequent as in the data.
    pub fn label(mut self, class: &str) -> Self {
        self.label = Some(class.to_owned());
        self
    }

    /// How strongly the class counts: 1 as learned, more for more typical images.
    pub fn guidance(mut self, weight: f64) -> Self {
        self.guidance = Some(weight);
        self
    }

    /// Fills in the unknown part of an image; all other pixels stay as they are. With several, as many as are asked for are
    /// drawn of each, one image after the other.
    pub fn hole(mut self, hole: Hole) -> Self {
        self.holes.push(hole);
        self
    }

    /// How many are drawn; where parts are filled in, of each image.
    pub fn count(mut self, images: u64) -> Self {
        self.images = images;
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How they are drawn.
    pub fn drawing(mut self, drawing: Drawing) -> Self {
        self.drawing = drawing;
        self
    }

    /// The images, one after the other: bytes `[channels, height, width]` and the class that was asked for or drawn.
    pub fn images(self) -> Result<SampledImages<'m>, Error> {
        self.drawing.check(self.model.config().pair)?;
        let guidance = self.checked_guidance()?;
        let label = self.label.as_deref().map(|name| self.model.class(name)).transpose()?;
        let given = self.holes.iter().map(|hole| given(self.model, hole)).collect::<Result<Vec<_>, _>>()?;
        // The pixels speak for themselves: they are given, no class is, and the network has learned to do without one.
        let needs_no_class = !given.is_empty() && label.is_none() && self.model.config().label_dropout > 0.0;
        Ok(SampledImages {
            model: self.model,
            label,
            needs_no_class,
            given,
            guidance,
            drawing: self.drawing,
            streams: Streams::new(self.seed),
            next: 0,
            each: self.images,
            end: self.images.saturating_mul(self.holes.len().max(1) as u64),
            ready: Vec::new().into_iter(),
        })
    }

    fn checked_guidance(&self) -> Result<f64, Error> {
        let Some(guidance) = self.guidance else { return Ok(1.0) };
        if self.model.images().classes.is_empty() {
            return Err(Error::request(
                "there is nothing to guide by: the images have no classes",
                "ask for no guidance",
            ));
        }
        if self.model.config().label_dropout == 0.0 && guidance != 1.0 {
            return Err(Error::request(
                "this model cannot be guided: it was fitted with label_dropout = 0",
                "ask for no guidance, or fit a model with label_dropout = 0.1",
            ));
        }
        if !(0.0..=1000.0).contains(&guidance) {
            return Err(Error::request(
                format!("a guidance of {guidance} is not between 0 and 1000"),
                "1 is the class as learned, 2 to 4 are usual",
            ));
        }
        Ok(guidance)
    }
}

/// The image in the pair's unit, and which of its values are unknown.
fn given(model: &Model, hole: &Hole) -> Result<(Vec<f32>, Vec<bool>), Error> {
    let net = model.denoiser.net();
    if !net.sees_observed() {
        return Err(Error::request(
            "this model has not learned to fill in images: it was fitted with observed = 0",
            "fit one with observed = 0.2",
        ));
    }
    let [channels, height, width] = net.shape();
    if hole.image.len() != channels * height * width || hole.unknown.len() != height * width {
        return Err(Error::request(
            format!("an image of {} bytes with a mask of {} pixels", hole.image.len(), hole.unknown.len()),
            format!("this model takes {channels}×{height}×{width} bytes and {height}×{width} pixels"),
        ));
    }
    if !hole.unknown.contains(&true) {
        return Err(Error::request(
            "no pixel is unknown, so there is nothing to fill in",
            "say which pixels are unknown",
        ));
    }
    Ok((hole.image.iter().map(|byte| net.pair().value(*byte)).collect(), hole.unknown.clone()))
}

/// An image that was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnImage {
    /// Bytes `[channels, height, width]`.
    pub pixels: Vec<u8>,
    /// Its class, as a place among the model's.
    pub label: Option<u32>,
}

/// Images in the making.
pub struct SampledImages<'m> {
    model: &'m Model,
    label: Option<u32>,
    needs_no_class: bool,
    given: Vec<(Vec<f32>, Vec<bool>)>,
    guidance: f64,
    drawing: Drawing,
    streams: Streams,
    next: u64,
    /// Images drawn of each that is filled in.
    each: u64,
    end: u64,
    ready: std::vec::IntoIter<DrawnImage>,
}

impl SampledImages<'_> {
    /// The next image, while a watcher hears of every network call.
    pub fn next_watched(&mut self, watcher: &mut dyn Watcher) -> Option<Result<DrawnImage, Error>> {
        if let Some(image) = self.ready.next() {
            return Some(Ok(image));
        }
        let rows = CHUNK.min(self.end - self.next);
        if rows == 0 {
            return None;
        }
        if watcher.wants_stop() {
            return Some(Err(Error::Stopped));
        }
        match self.draw(rows, watcher) {
            Ok(images) => self.ready = images.into_iter(),
            Err(error) => return Some(Err(error)),
        }
        self.ready.next().map(Ok)
    }

    fn draw(&mut self, rows: u64, watcher: &mut dyn Watcher) -> Result<Vec<DrawnImage>, Error> {
        let (model, first) = (self.model, self.next);
        self.next += rows;
        let labels = match self.needs_no_class {
            true => vec![None; rows as usize],
            false => classes(model.images(), self.label, first..first + rows, &self.streams),
        };
        let denoiser = model.denoiser.told(labels.clone(), self.guidance);
        let mut states = States::prior(denoiser.net().space(), first, rows as usize);
        if !self.given.is_empty() {
            let of: Vec<&(Vec<f32>, Vec<bool>)> =
                (first..first + rows).map(|row| &self.given[(row / self.each) as usize]).collect();
            let x: Vec<f32> = of.iter().flat_map(|(x, _)| x.iter().copied()).collect();
            let values = Values::new(vec![Elements::from(x)]);
            states.observe(&values, |row, _, c| !of[row].1[c % of[row].1.len()])?;
        }
        let pair = model.config().pair;
        let calls = self.drawing.calls(pair) as u64;
        watcher.notice(Event::Started { what: "drawing", total: Some(calls) });
        let mut observe = |step: usize, _: &States, _: &Estimates| {
            watcher.notice(Event::Progress { done: step as u64 + 1 });
        };
        let values = self.drawing.draw(pair, &denoiser, states, &self.streams, &mut observe)?;
        watcher.notice(Event::Finished);
        let images = bytes(pair, values.reals(0), model.images().shape.iter().product());
        Ok(images.into_iter().zip(labels).map(|(pixels, label)| DrawnImage { pixels, label }).collect())
    }
}

impl Iterator for SampledImages<'_> {
    type Item = Result<DrawnImage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_watched(&mut ())
    }
}
