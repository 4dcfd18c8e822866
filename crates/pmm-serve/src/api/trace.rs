//! See inside: posterior means on their way from the prior to a sample.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use pmm::Model;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ask::Asked;
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

/// A text as it came out of its masks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FramesView {
    /// The text after every network call; `·` is a mask.
    frames: Vec<String>,
}

enum Traced {
    Paths(pmm::table::TracePaths),
    Frames(Vec<String>),
    Picture(Vec<u8>),
}

/// A sample in the making: ways of the columns' expected values (tables), texts after every call (texts), a moving picture (images).
#[utoipa::path(get, path = "/v1/models/{name}/trace",
    params(("name" = String, Path, description = "The model's name."), TraceQuery),
    responses((status = 200, content((Object = "application/json"), (Vec<u8> = "image/png")))))]
pub(crate) async fn trace(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<TraceQuery>,
) -> Result<Response, Problem> {
    let opened = app.open(name).await?;
    let (shared, seed) = (opened.clone(), query.seed);
    let traced = app.workers.run(move |turn| {
        Ok(match &shared.model {
            Model::Table(model) => Traced::Paths(model.trace().seed(seed).paths()?),
            Model::Text(model) => {
                let mut frames = Vec::new();
                model.trace().seed(seed).draw(|lines| frames.push(lines.join("\n")))?;
                Traced::Frames(frames)
            }
            Model::Image(model) => {
                Traced::Picture(model.trace().seed(seed).draw(&mut turn.watcher())?.png().to_vec())
            }
        })
    });
    let mut response = match traced.await? {
        Traced::Paths(paths) => Json(paths).into_response(),
        Traced::Frames(frames) => Json(FramesView { frames }).into_response(),
        Traced::Picture(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
    };
    mark(response.headers_mut(), &opened, Some(seed));
    Ok(response)
}
