//! A long job: beside the interpreter, which goes on, shows how far it is and hears Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pmm::{Error, Event, Stop, Watcher};
use pyo3::prelude::*;

use crate::errors::{failure, raise};
use crate::threads;

/// How often signals are looked for and progress is shown.
const PULSE: Duration = Duration::from_millis(50);
/// How long a job that was interrupted may take to end.
const PATIENCE: Duration = Duration::from_millis(800);
/// How long a fit that has learned something may take to bring that home: the step that it is in, and what comes after the last.
const PATIENCE_WITH_LEARNED: Duration = Duration::from_secs(120);

/// How a job is run: on how many threads, and a function of Python's that is told how far it is.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Running<'py> {
    threads: Option<usize>,
    hear: Option<Bound<'py, PyAny>>,
}

/// What a job has told and was not passed on yet.
#[derive(Default)]
struct Told {
    part: Option<(String, Option<u64>)>,
    done: Option<(u64, Option<u64>)>,
    losses: (Option<f64>, Option<f64>),
    notes: Vec<String>,
    is_new: bool,
}

/// The watcher that the job sees.
struct Reporter {
    told: Arc<Mutex<Told>>,
    has_learned: Arc<AtomicBool>,
    stop: Stop,
}

impl Watcher for Reporter {
    fn notice(&mut self, event: Event<'_>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.is_new = true;
        match event {
            Event::Started { what, total } => {
                told.part = Some((what.to_owned(), total));
                told.done = None;
            }
            Event::Progress { done } => told.done = Some((done, None)),
            Event::Step { step, steps, loss } => {
                self.has_learned.store(true, Ordering::Relaxed);
                told.done = Some((step, Some(steps)));
                told.losses.0 = Some(loss);
            }
            Event::Validated { step, train_loss, held_out_loss, .. } => {
                told.losses.1 = Some(held_out_loss);
                told.notes.push(format!("step {step}: loss {train_loss:.4}, held out {held_out_loss:.4}"));
            }
            Event::Note(note) => told.notes.push(note.to_owned()),
            _ => {}
        }
    }

    fn wants_stop(&mut self) -> bool {
        self.stop.is_set()
    }
}

type Outcome<T> = std::thread::Result<Result<T, Error>>;

/// What a job came to; and the exception, if it was stopped by one.
pub(crate) type Stopped<T> = (T, Option<PyErr>);

/// Runs a job; an interrupt ends it without a result.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    running: &Running<'_>,
    work: impl FnOnce(&mut dyn Watcher) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    match run_stoppable(py, running, work)? {
        (result, None) => Ok(result),
        (_, Some(interrupt)) => Err(interrupt),
    }
}

/// Runs a job that has something to show when it is stopped.
pub(crate) fn run_stoppable<T: Send + 'static>(
    py: Python<'_>,
    running: &Running<'_>,
    work: impl FnOnce(&mut dyn Watcher) -> Result<T, Error> + Send + 'static,
) -> PyResult<Stopped<T>> {
    let (told, has_learned, stop) = (Arc::new(Mutex::new(Told::default())), Arc::default(), Stop::new());
    let mut watcher =
        Reporter { told: told.clone(), has_learned: Arc::clone(&has_learned), stop: stop.clone() };
    let pool = threads::pool(py, running.threads)?;
    let (sender, mut receiver) = sync_channel(1);
    let job = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&mut watcher))));
        // Whoever has waited may have gone.
        let _ = sender.send(outcome);
    };
    let thread = std::thread::Builder::new().name("pmm".into()).spawn(job);
    thread.map_err(|error| failure(py, &format!("a thread cannot be started: {error}")))?;
    loop {
        let heard;
        (heard, receiver) = wait(py, receiver, PULSE);
        let interrupt = py.check_signals().and_then(|()| pass_on(running, &told)).err();
        match (heard, interrupt) {
            (Ok(outcome), interrupt) => return Ok((result(py, outcome, &interrupt)?, interrupt)),
            (Err(RecvTimeoutError::Timeout), None) => {}
            (Err(RecvTimeoutError::Timeout), Some(interrupt)) => {
                stop.now();
                let has_learned = has_learned.load(Ordering::Relaxed);
                let patience = if has_learned { PATIENCE_WITH_LEARNED } else { PATIENCE };
                return conclude(py, receiver, patience, interrupt);
            }
            (Err(RecvTimeoutError::Disconnected), _) => return Err(failure(py, "the job has vanished")),
        }
    }
}

fn wait<T: Send>(
    py: Python<'_>,
    receiver: Receiver<T>,
    time: Duration,
) -> (Result<T, RecvTimeoutError>, Receiver<T>) {
    py.detach(move || (receiver.recv_timeout(time), receiver))
}

/// What a stopped job brings home in time. One that does not, or that is interrupted again, is left to end by itself.
fn conclude<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Outcome<T>>,
    patience: Duration,
    interrupt: PyErr,
) -> PyResult<Stopped<T>> {
    let begin = Instant::now();
    while begin.elapsed() < patience && py.check_signals().is_ok() {
        let heard;
        (heard, receiver) = wait(py, receiver, PULSE);
        match heard {
            Ok(Ok(Ok(result))) => return Ok((result, Some(interrupt))),
            Err(RecvTimeoutError::Timeout) => {}
            _ => break,
        }
    }
    Err(interrupt)
}

fn result<T>(py: Python<'_>, outcome: Outcome<T>, interrupt: &Option<PyErr>) -> PyResult<T> {
    match outcome {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => {
            Err(interrupt.as_ref().map_or_else(|| raise(py, &error), |error| error.clone_ref(py)))
        }
        Err(_) => Err(failure(py, "this is a mistake in pmm itself: please report it, with what led to it")),
    }
}

/// Tells Python's function what is new.
fn pass_on(running: &Running<'_>, told: &Mutex<Told>) -> PyResult<()> {
    let Some(hear) = &running.hear else { return Ok(()) };
    let new = {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.is_new {
            return Ok(());
        }
        std::mem::take(&mut *told)
    };
    hear.call1((new.part, new.done, new.losses, new.notes)).map(drop)
}
