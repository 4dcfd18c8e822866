//! Numbers about the server itself, as Prometheus reads them.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Responses by the hundreds of their status.
    responses: [AtomicU64; 5],
    /// Rows, texts and images that were sent.
    pub(crate) rows: AtomicU64,
    /// Requests that compute now.
    pub(crate) working: AtomicU64,
    /// Requests that wait for their turn now.
    pub(crate) waiting: AtomicU64,
}

impl Metrics {
    pub(crate) fn response(&self, status: u16) {
        if let Some(counter) = self.responses.get(usize::from(status / 100).wrapping_sub(1)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self, running: usize, queued: usize, models: usize) -> String {
        let mut text = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let responses = self
            .responses
            .iter()
            .enumerate()
            .map(|(i, counter)| (format!("{{status=\"{}xx\"}}", i + 1), counter.load(Ordering::Relaxed)));
        metric("pmm_responses_total", "counter", "Responses by status.", &responses.collect::<Vec<_>>());
        let one = |value: u64| [(String::new(), value)];
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        metric("pmm_rows_total", "counter", "Rows, texts and images sent.", &one(load(&self.rows)));
        metric("pmm_working", "gauge", "Requests that compute.", &one(load(&self.working)));
        metric("pmm_waiting", "gauge", "Requests that wait for their turn.", &one(load(&self.waiting)));
        metric("pmm_fits_running", "gauge", "Fits that run.", &one(running as u64));
        metric("pmm_fits_queued", "gauge", "Fits that wait for their turn.", &one(queued as u64));
        metric("pmm_models", "gauge", "Models in the folder.", &one(models as u64));
        text
    }
}
