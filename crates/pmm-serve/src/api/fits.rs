//! Fits: begun, watched, stopped, gone on with.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::ask::Whole;
use crate::app::Shared;
use crate::fits::{Fit, FitEvent, FitRequest, FitState, FitStatus};
use crate::json::Json;
use crate::problem::Problem;
use crate::work::blocking;

/// All fits of the folder.
#[utoipa::path(get, path = "/v1/fits", responses((status = 200, body = Vec<FitStatus>)))]
pub(crate) async fn list(State(app): State<Shared>) -> Json<Vec<FitStatus>> {
    Json(app.fits.list())
}

/// Begins a fit, when it is its turn.
#[utoipa::path(post, path = "/v1/fits", request_body = FitRequest,
    responses((status = 202, body = FitStatus)))]
pub(crate) async fn begin(
    State(app): State<Shared>,
    body: Whole,
) -> Result<(StatusCode, Json<FitStatus>), Problem> {
    app.check_writable()?;
    let request: FitRequest = body.json()?;
    let shared = app.clone();
    let fit = blocking(move || shared.fits.begin(request)).await;
    let fit = fit.map_err(|problem| problem.within(app.workspace.root()))?;
    Ok((StatusCode::ACCEPTED, Json(fit.status())))
}

/// How far a fit is.
#[utoipa::path(get, path = "/v1/fits/{name}", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, body = FitStatus)))]
pub(crate) async fn status(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<FitStatus>, Problem> {
    Ok(Json(app.fits.get(&name)?.status()))
}

/// Stops a fit; what it has learned is kept, and it can go on.
#[utoipa::path(post, path = "/v1/fits/{name}/stop", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 202, body = FitStatus)))]
pub(crate) async fn stop(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<FitStatus>), Problem> {
    app.check_writable()?;
    Ok((StatusCode::ACCEPTED, Json(app.fits.stop(&name)?.status())))
}

/// Goes on with a fit that was stopped, or whose server was, as if it had never been.
#[utoipa::path(post, path = "/v1/fits/{name}/resume", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 202, body = FitStatus)))]
pub(crate) async fn resume(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<FitStatus>), Problem> {
    app.check_writable()?;
    let fit = blocking(move || app.fits.resume(&name)).await?;
    Ok((StatusCode::ACCEPTED, Json(fit.status())))
}

/// A fit as it goes: server-sent events. The first, `status`, says how far it is; the last is `state` with an end.
#[utoipa::path(get, path = "/v1/fits/{name}/events", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn events(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let fit = app.fits.get(&name)?;
    let watching = Watching { fit, events: None, is_over: false, closing: app.closing.subscribe() };
    let events = stream::unfold(watching, Watching::next);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))))
}

/// Somebody who watches a fit.
struct Watching {
    fit: Arc<Fit>,
    events: Option<Receiver<FitEvent>>,
    is_over: bool,
    closing: watch::Receiver<bool>,
}

impl Watching {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        if self.is_over || *self.closing.borrow() {
            return None;
        }
        let Some(events) = &mut self.events else { return Some(self.first()) };
        let heard = tokio::select! {
            heard = events.recv() => heard,
            _ = self.closing.changed() => return None,
        };
        match heard {
            Ok(event) => {
                if let FitEvent::State { state, .. } = &event {
                    self.is_over = is_end(*state);
                }
                Some((Ok(sent("message", &event)), self))
            }
            // Too slow: from the beginning again.
            Err(RecvError::Lagged(_)) => Some(self.first()),
            Err(RecvError::Closed) => None,
        }
    }

    fn first(mut self) -> (Result<Event, Infallible>, Self) {
        let (status, events) = self.fit.watch();
        self.events = Some(events);
        self.is_over = is_end(status.state);
        (Ok(sent("status", &status)), self)
    }
}

fn is_end(state: FitState) -> bool {
    !matches!(state, FitState::Queued | FitState::Running)
}

fn sent(name: &str, value: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(value).unwrap_or_default())
}
