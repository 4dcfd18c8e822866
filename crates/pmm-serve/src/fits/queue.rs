//! The fits of a folder: one runs, the others wait. What must survive the server is written down.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

use super::fit::{Fit, FitState, FitStatus};
use super::request::FitRequest;
use super::run::{self, Place};
use crate::problem::Problem;
use crate::workspace::Workspace;

/// Fits that may wait.
const MOST_QUEUED: usize = 64;

/// What is written down of a fit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    request: FitRequest,
    state: FitState,
    /// Whether there is something to go on with.
    begun: bool,
}

/// A fit in the queue, with the place it takes.
type Waiting = (Arc<Fit>, Place);

/// The fits of a folder.
#[derive(Debug)]
pub(crate) struct Fits {
    inner: Arc<Inner>,
    queue: Mutex<Option<mpsc::Sender<Waiting>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Inner {
    workspace: Workspace,
    fits: Mutex<BTreeMap<String, Arc<Fit>>>,
}

impl Fits {
    /// The fits that were written down, and a thread that runs those that are asked for.
    pub(crate) fn open(workspace: &Workspace) -> std::io::Result<Self> {
        let fits = Mutex::new(recorded(workspace));
        let inner = Arc::new(Inner { workspace: workspace.clone(), fits });
        let (queue, waiting) = mpsc::channel::<Waiting>();
        let worker = inner.clone();
        let thread = std::thread::Builder::new().name("fits".into()).spawn(move || {
            while let Ok((fit, place)) = waiting.recv() {
                worker.run(&fit, place);
            }
        })?;
        Ok(Self { inner, queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn list(&self) -> Vec<FitStatus> {
        self.inner.lock().values().map(|fit| fit.status()).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Result<Arc<Fit>, Problem> {
        let found = self.inner.lock().get(name).cloned();
        found.ok_or_else(|| Problem::missing(format!("there is no fit {name}")))
    }

    /// How many run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let fits = self.inner.lock();
        let of = |state: FitState| fits.values().filter(|fit| fit.state() == state).count();
        (of(FitState::Running), of(FitState::Queued))
    }

    /// Begins a fit, when it is its turn. What makes no sense is refused now.
    pub(crate) fn begin(&self, request: FitRequest) -> Result<Arc<Fit>, Problem> {
        let (name, workspace) = (request.name(), &self.inner.workspace);
        workspace.data(&request.data)?;
        let folder = workspace.model_path(&name)?;
        request.overrides()?;
        request.settings()?;
        let mut fits = self.inner.lock();
        check_idle(fits.get(&name))?;
        let waiting = fits.values().filter(|fit| fit.state() == FitState::Queued).count();
        if waiting >= MOST_QUEUED {
            return Err(Problem::busy());
        }
        if std::fs::symlink_metadata(&folder).is_ok() && !request.replace {
            return Err(Problem::conflict(format!("there is a model {name} already"))
                .remedy("resume it, allow it to be replaced, or choose another name"));
        }
        let place = if request.replace { Place::Replace } else { Place::New };
        let fit = Arc::new(Fit::new(request, FitState::Queued));
        self.inner.write(&fit, false)?;
        fits.insert(name, fit.clone());
        drop(fits);
        self.enqueue(fit.clone(), place)?;
        Ok(fit)
    }

    /// Goes on with a fit that was stopped, or whose server was.
    pub(crate) fn resume(&self, name: &str) -> Result<Arc<Fit>, Problem> {
        let fit = self.get(name)?;
        check_idle(Some(&fit))?;
        if fit.state() == FitState::Finished {
            return Err(Problem::conflict(format!("the fit {name} is done")));
        }
        let begun = self.inner.is_begun(&fit);
        let place = match (begun, fit.status().request.replace) {
            (true, _) => Place::Resume,
            (false, true) => Place::Replace,
            (false, false) => Place::New,
        };
        fit.enter(FitState::Queued, None);
        self.inner.write(&fit, begun)?;
        self.enqueue(fit.clone(), place)?;
        Ok(fit)
    }

    /// Stops a fit; what is done is kept.
    pub(crate) fn stop(&self, name: &str) -> Result<Arc<Fit>, Problem> {
        let fit = self.get(name)?;
        fit.stop().now();
        if fit.state() == FitState::Queued {
            fit.enter(FitState::Stopped, None);
            self.inner.write(&fit, self.inner.is_begun(&fit))?;
        }
        Ok(fit)
    }

    /// Stops all, and waits until what they did is safe.
    pub(crate) fn close(&self) {
        for fit in self.inner.lock().values() {
            fit.stop().now();
        }
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    fn enqueue(&self, fit: Arc<Fit>, place: Place) -> Result<(), Problem> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = queue.as_ref().is_some_and(|queue| queue.send((fit, place)).is_ok());
        if sent { Ok(()) } else { Err(Problem::stopped("the server is being shut down")) }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Fit>>> {
        self.fits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, fit: &Arc<Fit>, place: Place) {
        // Stopped while it waited, or asked for anew.
        if fit.state() != FitState::Queued || fit.stop().is_set() {
            if fit.state() == FitState::Queued {
                fit.enter(FitState::Stopped, None);
                let _ = self.write(fit, self.is_begun(fit));
            }
            return;
        }
        fit.enter(FitState::Running, None);
        let _ = self.write(fit, place == Place::Resume);
        let begun = || {
            let _ = self.write(fit, true);
        };
        let work = AssertUnwindSafe(|| run::run(fit, &self.workspace, place, &begun));
        let result = catch_unwind(work)
            .unwrap_or_else(|_| Err(Problem::internal("this is a bug: the fit ended in a panic")));
        match result {
            Ok(state) => fit.enter(state, None),
            Err(problem) => fit.enter(FitState::Failed, Some(problem)),
        }
        let _ = self.write(fit, self.is_begun(fit));
    }

    /// Whether there is something to go on with: it was written down, and it is there.
    fn is_begun(&self, fit: &Fit) -> bool {
        let name = fit.status().name;
        let noted = std::fs::read(self.workspace.record(&name)).ok();
        let noted = noted.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
        let Ok(folder) = self.workspace.model_path(&name) else { return false };
        let beside = folder.with_file_name(format!(".{name}.pmm.next"));
        noted.is_some_and(|record| record.begun) && (run::is_begun(&folder) || run::is_begun(&beside))
    }

    fn write(&self, fit: &Fit, begun: bool) -> Result<(), Problem> {
        let status = fit.status();
        let record = Record { request: status.request, state: status.state, begun };
        let bytes = serde_json::to_vec_pretty(&record).unwrap_or_default();
        let written = std::fs::create_dir_all(self.workspace.records())
            .and_then(|()| pmm::write_file(&self.workspace.record(&status.name), &bytes));
        written.map_err(|error| Problem::internal(format!("the fit cannot be written down: {error}")))
    }
}

fn check_idle(fit: Option<&Arc<Fit>>) -> Result<(), Problem> {
    match fit.map(|fit| fit.state()) {
        Some(FitState::Queued | FitState::Running) => {
            Err(Problem::conflict("this fit is not over yet").remedy("stop it first"))
        }
        _ => Ok(()),
    }
}

/// The fits that were written down. Those that ran when their server died can go on.
fn recorded(workspace: &Workspace) -> BTreeMap<String, Arc<Fit>> {
    let entries = std::fs::read_dir(workspace.records()).into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?.strip_suffix(".json")?.to_owned();
        let record: Record = serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()?;
        if record.request.name() != name {
            return None;
        }
        let state = match record.state {
            FitState::Queued | FitState::Running => FitState::Stopped,
            state => state,
        };
        let fit = Fit::new(record.request, state);
        if let Ok(folder) = workspace.model(&name) {
            fit.recall(&pmm::learning_curve(&folder));
        }
        Some((name, Arc::new(fit)))
    };
    entries.filter_map(read).collect()
}
