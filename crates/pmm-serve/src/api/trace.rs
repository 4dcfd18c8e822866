//! See inside: posterior means on their way from the prior to a sample.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use pmm::Model;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ask::Asked;
use super::images::wants_png;
use crate::app::Shared;
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;

/// Which noise.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceQuery {
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

enum Traced {
    Table(pmm::table::TracePaths),
    Text(pmm::text::TraceFrames),
    Image(pmm::image::TraceFrames),
    Moving(Vec<u8>),
}

/// A sample in the making: ways of the columns' expected values (tables), texts after every call (texts), images at every call
/// with the information by then (images; with `Accept: image/png` as a picture that moves).
#[utoipa::path(get, path = "/v1/models/{name}/trace",
    params(("name" = String, Path, description = "The model's name."), TraceQuery),
    responses((status = 200, content((Object = "application/json"), (Vec<u8> = "image/png")))))]
pub(crate) async fn trace(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<TraceQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let opened = app.open(name).await?;
    let (shared, seed) = (opened.clone(), query.seed);
    let moving = wants_png(&headers);
    let traced = app.workers.run(move |turn| {
        Ok(match &shared.model {
            Model::Table(model) => Traced::Table(model.trace().seed(seed).paths()?),
            Model::Text(model) => Traced::Text(model.trace().seed(seed).frames()?),
            Model::Image(model) => {
                let trace = model.trace().seed(seed);
                match moving {
                    true => Traced::Moving(trace.draw(&mut turn.watcher())?.png().to_vec()),
                    false => Traced::Image(trace.frames(&mut turn.watcher())?),
                }
            }
        })
    });
    let mut response = match traced.await? {
        Traced::Table(paths) => Json(paths).into_response(),
        Traced::Text(frames) => Json(frames).into_response(),
        Traced::Image(frames) => Json(frames).into_response(),
        Traced::Moving(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
    };
    mark(response.headers_mut(), &opened, Some(seed));
    Ok(response)
}
