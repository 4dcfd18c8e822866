//! Fitting a model to images.

use std::path::PathBuf;
use std::sync::Arc;

use pmm_core::Streams;
use pmm_data::{ImageOptions, ImageSize, ImageSource, Images};
use pmm_net::Device;
use pmm_train::image::{IMAGE_PRESETS, ImageConfig, ImageFacts, ImageTask, split};

use super::cost::cost;
use super::data::Data;
use super::kind::{Image, NoFacts};
use super::model::Model;
use super::preview::Previewer;
use crate::error::Error;
use crate::fitted::load_settings;
use crate::fitting::{Options, Prepared, check_data, fit_options};
use crate::folder::WorkFolder;
use crate::room::check_room;
use crate::settings::Settings;
use crate::watch::{Event, Watcher};
use crate::{Cost, DataKind};

/// The largest side of images for which no size is given: more takes hours without a graphics card.
const MOST: usize = 64;

/// Where a folder keeps the images.
pub(crate) const IMAGES: &str = "state/images.bin";

/// A fit of images, with its settings.
#[derive(Debug, Clone)]
pub struct Fit {
    data: Data,
    options: Options,
}

/// What a fit would be: images, settings, size and time. [`run`](Self::run) begins it.
pub struct PreparedFit {
    prepared: Prepared<Image>,
    images: Arc<Images>,
    given: Settings,
    minutes: Option<f64>,
    name: String,
}

impl Fit {
    /// A fit of images.
    pub fn new(data: impl Into<Data>) -> Self {
        Self { data: data.into(), options: Options::default() }
    }

    fit_options!();

    /// Fits, and leaves a model. A watcher that stops it early gets the best model so far.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        self.prepare(watcher)?.run(watcher)
    }

    /// Reads the images and settles everything, without training.
    pub fn prepare(mut self, watcher: &mut dyn Watcher) -> Result<PreparedFit, Error> {
        self.options.check()?;
        self.options = self.options.of_rank()?;
        let work = match &self.options.place {
            Some(place) => Some(place.take()?),
            None => None,
        };
        let stored = match work.as_ref().filter(|_| self.options.is_resumed()) {
            Some(work) => Some(load_settings::<Image>(&work.path)?.0),
            None => None,
        };
        let given = self.options.given()?;
        let base = self.preset_config()?;
        let reading: ImageConfig =
            given.over(stored.as_ref().or(base.as_ref()).unwrap_or(&ImageConfig::default()))?;
        watcher.notice(Event::Started { what: "looking", total: None });
        let source = self.open(&reading)?;
        let side = source.shape()[1];
        let chosen = reading.size.or(source.fits().then_some(side));
        source.notes().iter().for_each(|note| watcher.notice(Event::Note(note)));
        let shaped = |config: ImageConfig| {
            ImageConfig { size: chosen, ..config }.for_shape(source.shape(), source.classes().len())
        };
        let config = match (&stored, base) {
            (Some(config), _) => self.options.resolve_stored(config, &given)?,
            (None, Some(base)) => self.resolve(shaped(base), &given, &shaped)?,
            (None, None) => {
                let sized = ImageConfig::for_images(source.count(), source.shape());
                self.resolve(shaped(sized), &given, &shaped)?
            }
        };
        let images = self.images(&source, work.as_ref(), watcher)?;
        watcher.notice(Event::Finished);
        let facts = ImageFacts::of(&images, config.pair);
        let digest = images.source_digest().to_owned();
        Ok(PreparedFit {
            prepared: Prepared::new(work, &self.options, config, Arc::new(facts), &digest)?,
            images: Arc::new(images),
            given,
            minutes: self.options.minutes.filter(|_| stored.is_none()),
            name: source.name(),
        })
    }

    /// What is given may change what the network's shape depends on.
    fn resolve(
        &self,
        recommended: ImageConfig,
        given: &Settings,
        shaped: &dyn Fn(ImageConfig) -> ImageConfig,
    ) -> Result<ImageConfig, Error> {
        let sized = match self.options.steps {
            Some(steps) => recommended.with_steps(steps),
            None => recommended,
        };
        let config = shaped(given.over(&sized)?);
        config.check()?;
        Ok(config)
    }

    fn preset_config(&self) -> Result<Option<ImageConfig>, Error> {
        let Some(name) = self.options.preset.as_ref().filter(|_| !self.options.is_resumed()) else {
            return Ok(None);
        };
        let unknown = || Error::UnknownPreset {
            name: name.clone(),
            kind: DataKind::Image,
            known: IMAGE_PRESETS.to_vec(),
        };
        ImageConfig::preset(name).ok_or_else(unknown).map(Some)
    }

    /// The images as squares, all of one size.
    fn open(&self, config: &ImageConfig) -> Result<ImageSource, Error> {
        let size = config.size.map_or(ImageSize::Square(MOST), |size| ImageSize::Fixed((size, size)));
        self.data.source(&ImageOptions { size, grey: config.grey })
    }

    /// The images: in memory, or kept beside the model. Those of a fit that goes on are never written over by others.
    fn images(
        &self,
        source: &ImageSource,
        work: Option<&WorkFolder>,
        watcher: &mut dyn Watcher,
    ) -> Result<Images, Error> {
        if let Some(work) = work.filter(|_| self.options.follows()) {
            let images = Images::open(&work.path.join(IMAGES))?;
            check_data(work, &work.path, images.source_digest())?;
            return Ok(images);
        }
        check_room(&source.name(), source.count(), source.shape(), work.map(|work| work.path.as_path()))?;
        watcher.notice(Event::Started { what: "reading", total: Some(source.count()) });
        let mut progress = |images: u64| watcher.notice(Event::Progress { done: images });
        let Some(work) = work else { return Ok(Images::read(source, &mut progress)?) };
        let path = work.path.join(IMAGES);
        let Some(place) = self.options.place.as_ref().filter(|_| self.options.is_resumed()) else {
            Images::write(source, &path, &mut progress)?;
            return Ok(Images::open(&path)?);
        };
        // Beside those that are there, until they are known to be the same.
        let beside = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(work.path.join("state"));
        let beside = beside.map_err(|source| Error::Io { path: work.path.clone(), source })?.into_temp_path();
        Images::write(source, &beside, &mut progress)?;
        check_data(work, &place.folder, Images::open(&beside)?.source_digest())?;
        beside.persist(&path).map_err(|error| Error::Io { path: path.clone(), source: error.error })?;
        Ok(Images::open(&path)?)
    }
}

impl PreparedFit {
    /// The settings.
    pub fn config(&self) -> &ImageConfig {
        &self.prepared.config
    }

    /// What the images are.
    pub fn images(&self) -> &ImageFacts {
        &self.prepared.description
    }

    /// The name of the data.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many images are learned, and how many are held out; 0 if none are.
    pub fn split(&self) -> (usize, usize) {
        let config = &self.prepared.config;
        let (learned, held_out) = split(self.images.len(), config.valid, &Streams::new(config.seed));
        if learned.len() == self.images.len() { (learned.len(), 0) } else { (learned.len(), held_out.len()) }
    }

    /// What it would take.
    pub fn cost(&self) -> Cost {
        cost(&self.prepared.config, &self.prepared.net)
    }

    /// What the ranks of this job would gain, by a few steps that all of them take; none where there is one.
    pub fn gain(&self, ranks: crate::AllRanks) -> Result<Option<crate::Gain>, Error> {
        Ok(pmm_train::measure_gain(&self.task(None).task, &self.prepared.config.train, ranks)?)
    }

    /// Trains, and leaves a model. In a folder, `preview.png` shows what the network draws so far.
    pub fn run(mut self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        if self.split().1 == 0 {
            watcher.notice(Event::Note("no image is held out: validation looks at what is learned"));
        }
        if let Some(minutes) = self.minutes {
            let task = self.task(None);
            self.prepared.set_minutes(minutes, &task.task, &self.given)?;
        }
        let previewer = Previewer::new(&self.prepared)?;
        let task = self.task(previewer);
        let finish = |weights: &[f32]| (weights.to_vec(), NoFacts {});
        Ok(Model::new(self.prepared.run(&task, &finish, watcher)?))
    }

    fn task(&self, previewer: Option<Previewer>) -> PreviewedTask {
        let Prepared { config, net, .. } = &self.prepared;
        PreviewedTask { task: ImageTask::new(net.clone(), self.images.clone(), config.clone()), previewer }
    }
}

/// A task that draws a preview whenever it is validated.
struct PreviewedTask {
    task: ImageTask,
    previewer: Option<Previewer>,
}

impl pmm_train::Task for PreviewedTask {
    type Batch = <ImageTask as pmm_train::Task>::Batch;

    fn batch(&self, step: u64, shard: pmm_train::Shard) -> Self::Batch {
        self.task.batch(step, shard)
    }
    fn batch_rows(&self) -> usize {
        self.task.batch_rows()
    }
    fn gradient(&self, weights: &[f32], batch: Self::Batch, gradient: &mut [f32]) -> f64 {
        self.task.gradient(weights, batch, gradient)
    }
    fn initial(&self) -> Vec<f32> {
        self.task.initial()
    }
    fn pieces(&self) -> usize {
        self.task.pieces()
    }
    fn losses(&self, weights: &[f32], pieces: std::ops::Range<usize>) -> Vec<f64> {
        if let Some(previewer) = &self.previewer {
            // A picture on the way: a fit does not fail for it.
            let _ = previewer.draw(weights);
        }
        self.task.losses(weights, pieces)
    }
    fn decayed(&self) -> Vec<f32> {
        self.task.decayed()
    }
    fn rules(&self) -> pmm_train::Rules {
        self.task.rules()
    }
}
