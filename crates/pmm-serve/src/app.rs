//! What all requests share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::fits::Fits;
use crate::guard::Guard;
use crate::metrics::Metrics;
use crate::options::Limits;
use crate::problem::Problem;
use crate::shelf::{Opened, Shelf};
use crate::work::{Workers, blocking};
use crate::workspace::Workspace;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) workspace: Workspace,
    pub(crate) shelf: Shelf,
    pub(crate) workers: Workers,
    pub(crate) fits: Fits,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) read_only: bool,
    /// True once the server is being shut down.
    pub(crate) closing: watch::Sender<bool>,
    /// Hears of every address that a browser may open.
    pub(crate) links: watch::Sender<String>,
}

pub(crate) type Shared = Arc<App>;

impl App {
    /// A model of the folder.
    pub(crate) async fn open(self: &Arc<Self>, name: String) -> Result<Arc<Opened>, Problem> {
        let app = self.clone();
        blocking(move || app.shelf.open(&app.workspace, &name)).await
    }

    /// Refuses to write, where that is not allowed.
    pub(crate) fn check_writable(&self) -> Result<(), Problem> {
        match self.read_only {
            true => Err(Problem::forbidden("this server only reads").remedy("start it without --read-only")),
            false => Ok(()),
        }
    }

    /// Refuses more rows than are given out at a time.
    pub(crate) fn check_rows(&self, rows: u64) -> Result<(), Problem> {
        match rows <= self.limits.rows {
            true => Ok(()),
            false => Err(Problem::too_large(format!("{rows} at a time are more than {}", self.limits.rows))
                .remedy("ask for fewer at a time, or raise --max-rows")),
        }
    }
}
