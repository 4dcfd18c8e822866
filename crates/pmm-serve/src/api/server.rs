//! The server itself: whether it lives, what it is, its numbers, its description.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

use crate::app::Shared;
use crate::document::Document;
use crate::json::Json;

/// What the server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerFacts {
    /// The version of pmm.
    version: &'static str,
    /// The name of the folder.
    folder: String,
    /// Whether it only reads.
    read_only: bool,
    /// Rows that a request may ask for.
    max_rows: u64,
    /// Bytes that a request may send.
    max_body: u64,
}

/// Whether the server lives.
#[utoipa::path(get, path = "/healthz", responses((status = 200, description = "It does.", body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// What the server is.
#[utoipa::path(get, path = "/v1", responses((status = 200, body = ServerFacts)))]
pub(crate) async fn facts(State(app): State<Shared>) -> Json<ServerFacts> {
    let folder = app.workspace.root().file_name().map(|name| name.to_string_lossy().into_owned());
    Json(ServerFacts {
        version: env!("CARGO_PKG_VERSION"),
        folder: folder.unwrap_or_default(),
        read_only: app.read_only,
        max_rows: app.limits.rows,
        max_body: app.limits.body,
    })
}

/// Numbers about the server, as Prometheus reads them.
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(State(app): State<Shared>) -> impl IntoResponse {
    let (running, queued) = app.fits.counts();
    let models = app.workspace.models().len();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text(running, queued, models))
}

/// The description of the API.
#[utoipa::path(get, path = "/openapi.json", responses((status = 200, description = "An OpenAPI document.", body = Object)))]
pub(crate) async fn openapi() -> impl IntoResponse {
    Json(Document::openapi())
}
