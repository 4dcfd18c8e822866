//! One fit: what was asked for, how far it is, and who watches.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pmm::Stop;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use utoipa::ToSchema;

use super::history::History;
use super::request::FitRequest;
use crate::problem::Problem;

/// Events that a slow watcher may lag behind.
const LAG: usize = 256;

/// Where a fit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FitState {
    /// It waits for its turn.
    Queued,
    /// It runs.
    Running,
    /// It was stopped, or the server was: it can go on.
    Stopped,
    /// It is done.
    Finished,
    /// It could not be done.
    Failed,
}

/// How far a fit is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FitStatus {
    /// The model's name.
    pub(crate) name: String,
    pub(crate) request: FitRequest,
    pub(crate) state: FitState,
    /// What is done now, such as `reading`.
    pub(crate) what: String,
    /// Steps taken.
    pub(crate) step: u64,
    /// Steps in all, as far as is known.
    pub(crate) steps: u64,
    /// Why it failed.
    pub(crate) problem: Option<Problem>,
    pub(crate) history: History,
}

/// What watchers hear.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum FitEvent {
    State { state: FitState, problem: Option<Problem> },
    Started { what: String },
    Step { step: u64, steps: u64, loss: f64 },
    Validated { step: u64, loss: f64, best: bool },
    Note { text: String },
}

/// A fit.
#[derive(Debug)]
pub(crate) struct Fit {
    status: Mutex<FitStatus>,
    stop: Mutex<Stop>,
    events: broadcast::Sender<FitEvent>,
}

impl Fit {
    pub(crate) fn new(request: FitRequest, state: FitState) -> Self {
        let status = FitStatus {
            name: request.name(),
            request,
            state,
            what: String::new(),
            step: 0,
            steps: 0,
            problem: None,
            history: History::default(),
        };
        Self { status: Mutex::new(status), stop: Mutex::default(), events: broadcast::channel(LAG).0 }
    }

    pub(crate) fn status(&self) -> FitStatus {
        self.lock().clone()
    }

    pub(crate) fn state(&self) -> FitState {
        self.lock().state
    }

    /// How far it is, and all that happens from then on.
    pub(crate) fn watch(&self) -> (FitStatus, broadcast::Receiver<FitEvent>) {
        let status = self.lock();
        (status.clone(), self.events.subscribe())
    }

    /// The switch that stops it.
    pub(crate) fn stop(&self) -> Stop {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn enter(&self, state: FitState, problem: Option<Problem>) {
        let mut status = self.lock();
        if state == FitState::Queued {
            *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Stop::new();
        }
        status.state = state;
        status.problem = problem.clone();
        let _ = self.events.send(FitEvent::State { state, problem });
    }

    /// Something happened: it is kept, and watchers hear of it.
    pub(crate) fn tell(&self, event: FitEvent) {
        let mut status = self.lock();
        match &event {
            FitEvent::State { .. } => {}
            FitEvent::Started { what } => status.what = what.clone(),
            FitEvent::Step { step, steps, loss } => {
                (status.step, status.steps) = (*step, *steps);
                status.history.step(*step, *loss);
            }
            FitEvent::Validated { step, loss, .. } => status.history.validated(*step, *loss),
            FitEvent::Note { text } => status.history.notes.push(text.clone()),
        }
        // Nobody may be watching.
        let _ = self.events.send(event);
    }

    /// Losses of an earlier run of the same fit.
    pub(crate) fn recall(&self, points: &[pmm::TrainingPoint]) {
        let mut status = self.lock();
        status.history = History { notes: std::mem::take(&mut status.history.notes), ..History::default() };
        for point in points {
            status.history.step(point.step, point.train);
            if let Some(loss) = point.valid {
                status.history.validated(point.step, loss);
            }
        }
        status.step = points.last().map_or(0, |point| point.step);
    }

    fn lock(&self) -> MutexGuard<'_, FitStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
