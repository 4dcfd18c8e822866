//! How a fit is run: the library does it, and tells a watcher.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pmm::{DataKind, Error, Event, FitOutcome, Stop, Watcher, image, table, text};

use super::fit::{Fit, FitEvent, FitState};
use super::request::FitRequest;
use crate::problem::Problem;
use crate::workspace::Workspace;

/// How often watchers hear of steps, at most.
const PACE: Duration = Duration::from_millis(120);
/// Seconds between checkpoints: watchers see samples of them, and a server that dies loses no more.
const CHECKPOINT: f64 = 5.0;

/// Where a fit goes, and what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing may be there.
    New,
    /// What is there is replaced.
    Replace,
    /// What was begun goes on.
    Resume,
}

/// Runs a fit until it is done, fails or is stopped. `begun` hears when there is something to go on with.
pub(super) fn run(
    fit: &Fit,
    workspace: &Workspace,
    place: Place,
    begun: &dyn Fn(),
) -> Result<FitState, Problem> {
    let request = fit.status().request;
    let data = workspace.data(&request.data)?;
    let folder = workspace.model_path(&request.name())?;
    let job = Job { request: &request, data, folder, place };
    let outcome = job.run(&mut Telling::new(fit, begun))?;
    match outcome {
        Ok(FitOutcome::Stopped) | Err(Error::Stopped) => Ok(FitState::Stopped),
        Ok(_) => Ok(FitState::Finished),
        Err(error) => Err(Problem::of(&error).within(workspace.root())),
    }
}

struct Job<'a> {
    request: &'a FitRequest,
    data: PathBuf,
    folder: PathBuf,
    place: Place,
}

/// Applies what all kinds of fits take.
macro_rules! configured {
    ($fit:expr, $job:expr) => {{
        let mut settings = $job.request.settings()?;
        if !settings.has("train.checkpoint_seconds") {
            settings.set("train.checkpoint_seconds", CHECKPOINT)?;
        }
        let mut fit = $fit.settings(&settings);
        if let Some(seed) = $job.request.seed {
            fit = fit.seed(seed);
        }
        if let Some(steps) = $job.request.steps {
            fit = fit.steps(steps);
        }
        if let Some(minutes) = $job.request.minutes {
            fit = fit.minutes(minutes);
        }
        if let Some(preset) = &$job.request.preset {
            fit = fit.preset(preset);
        }
        match $job.place {
            Place::New => fit.at(&$job.folder),
            Place::Replace => fit.replace(&$job.folder),
            Place::Resume => fit.resume(&$job.folder),
        }
    }};
}

impl Job<'_> {
    /// How the fit ended; a request that makes no sense is a problem of its own.
    fn run(&self, watcher: &mut dyn Watcher) -> Result<Result<FitOutcome, Error>, Problem> {
        let request = self.request;
        Ok(match pmm::recognise(&self.data, request.preset.as_deref())? {
            DataKind::Table => {
                let mut fit = table::Fit::new(table::Data::open(&self.data)).columns(request.overrides()?);
                if let Some(target) = &request.target {
                    fit = fit.target(target);
                }
                configured!(fit, self).run(watcher).map(|model| model.summary().outcome)
            }
            DataKind::Text => {
                let fit = text::Fit::new(text::Data::open(&self.data));
                configured!(fit, self).run(watcher).map(|model| model.summary().outcome)
            }
            DataKind::Image => {
                let fit = image::Fit::new(image::Data::open(&self.data));
                configured!(fit, self).run(watcher).map(|model| model.summary().outcome)
            }
        })
    }
}

/// Tells those who watch a fit.
struct Telling<'a> {
    fit: &'a Fit,
    begun: &'a dyn Fn(),
    stop: Stop,
    told: Option<Instant>,
    loss: Option<f64>,
}

impl<'a> Telling<'a> {
    fn new(fit: &'a Fit, begun: &'a dyn Fn()) -> Self {
        Self { fit, begun, stop: fit.stop(), told: None, loss: None }
    }

    fn step(&mut self, step: u64, steps: u64, loss: f64) {
        if loss.is_finite() {
            self.loss = Some(self.loss.map_or(loss, |mean| 0.95 * mean + 0.05 * loss));
        }
        if self.told.is_some_and(|told| told.elapsed() < PACE) && step < steps {
            return;
        }
        self.told = Some(Instant::now());
        if let Some(loss) = self.loss {
            self.fit.tell(FitEvent::Step { step, steps, loss });
        }
    }
}

impl Watcher for Telling<'_> {
    fn notice(&mut self, event: Event<'_>) {
        match event {
            Event::Started { what, .. } => {
                if what == "fitting" {
                    (self.begun)();
                }
                self.fit.tell(FitEvent::Started { what: what.to_owned() });
            }
            Event::Step { step, steps, loss } => self.step(step, steps, loss),
            Event::Validated { step, held_out_loss, is_best, .. } if held_out_loss.is_finite() => {
                self.fit.tell(FitEvent::Validated { step, loss: held_out_loss, best: is_best });
            }
            Event::Note(note) => self.fit.tell(FitEvent::Note { text: note.to_owned() }),
            _ => {}
        }
    }

    fn wants_stop(&mut self) -> bool {
        self.stop.is_set()
    }
}

/// Whether a fit was begun there that can go on.
pub(super) fn is_begun(folder: &Path) -> bool {
    folder.join("state/checkpoint.safetensors").is_file()
}
