//! Work off the threads that talk to clients: so many requests at a time, the others wait for their turn, too many are refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pmm::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::metrics::Metrics;
use crate::options::Limits;
use crate::problem::Problem;

/// Gives requests their turn.
#[derive(Debug)]
pub(crate) struct Workers {
    turns: Arc<Semaphore>,
    limits: Limits,
    metrics: Arc<Metrics>,
}

/// A turn to compute; the next request has its own when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
    ends: Instant,
    gone: Stop,
}

impl Workers {
    pub(crate) fn new(limits: Limits, metrics: Arc<Metrics>) -> Self {
        Self { turns: Arc::new(Semaphore::new(limits.workers)), limits, metrics }
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self) -> Result<Turn, Problem> {
        let waiting = &self.metrics.waiting;
        if waiting.fetch_add(1, Ordering::Relaxed) >= self.limits.waiting as u64 {
            waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Problem::busy());
        }
        let counted = Counted(self.metrics.clone());
        let permit = self.turns.clone().acquire_owned().await;
        drop(counted);
        let permit = permit.map_err(|_| Problem::stopped("the server is being shut down"))?;
        self.metrics.working.fetch_add(1, Ordering::Relaxed);
        Ok(Turn {
            _permit: permit,
            metrics: self.metrics.clone(),
            ends: Instant::now() + Duration::from_secs(self.limits.seconds),
            gone: Stop::new(),
        })
    }

    /// Computes something, whole.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turn().await?;
        // If the client goes, this future is dropped; the work notices when it next asks.
        let _gone = StopOnDrop(turn.gone.clone());
        blocking(move || work(&turn)).await
    }
}

/// Runs on a thread that may take its time; a panic becomes a problem.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(Problem::internal("this is a bug: the work ended in a panic")),
    }
}

/// Counts a request that waits, until it does no more, whatever the reason.
struct Counted(Arc<Metrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.now();
    }
}

impl Turn {
    /// Whether its time is over or its client gone.
    pub(crate) fn is_over(&self) -> bool {
        self.gone.is_set() || Instant::now() >= self.ends
    }

    /// Refuses to go on when its time is over.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.is_over() {
            true => Err(Problem::stopped("it took longer than is allowed").remedy("ask for less at a time")),
            false => Ok(()),
        }
    }

    /// A watcher that stops a job of the library in time.
    pub(crate) fn watcher(&self) -> impl pmm::Watcher + use<> {
        let left = self.ends.saturating_duration_since(Instant::now());
        (self.gone.clone(), pmm::Deadline::after(left))
    }

    pub(crate) fn count(&self, rows: u64) {
        self.metrics.rows.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.metrics.working.fetch_sub(1, Ordering::Relaxed);
    }
}
