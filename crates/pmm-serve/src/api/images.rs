//! Images: new ones, and parts of one that are filled in.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use pmm::image::{Hole, Sample, grid_png};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::Whole;
use super::sample::SampleRequest;
use crate::app::Shared;
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;
use crate::shelf::Opened;
use crate::work::Turn;

/// Images of a request, at most.
const MOST: u64 = 1024;

/// Images that were drawn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImagesView {
    seed: u64,
    /// Channels, height and width.
    shape: [usize; 3],
    /// Bytes of each, channel by channel and line by line.
    images: Vec<Vec<u8>>,
    /// The class of each, where there are classes.
    classes: Vec<Option<String>>,
}

/// An image and which of its pixels are to be filled in.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InpaintRequest {
    /// Bytes, channel by channel and line by line.
    image: Vec<u8>,
    /// For each pixel, line by line, whether it is unknown.
    unknown: Vec<bool>,
    /// How many fillings.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 1024, default = 1)]
    count: u64,
    /// The class.
    class: Option<String>,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

fn one() -> u64 {
    1
}

fn check_count(count: u64) -> Result<(), Problem> {
    match count <= MOST {
        true => Ok(()),
        false => Err(Problem::too_large(format!("more than {MOST} images at a time"))),
    }
}

fn drawn(opened: &Opened, sample: Sample<'_>, seed: u64, turn: &Turn) -> Result<ImagesView, Problem> {
    let facts = opened.image()?.images();
    let mut sample = sample.seed(seed).images()?;
    let (mut images, mut classes, mut watcher) = (Vec::new(), Vec::new(), turn.watcher());
    while let Some(image) = sample.next_watched(&mut watcher) {
        turn.check()?;
        let image = image?;
        classes.push(image.label.and_then(|label| facts.classes.get(label as usize).cloned()));
        images.push(image.pixels);
    }
    turn.count(images.len() as u64);
    Ok(ImagesView { seed, shape: facts.shape, images, classes })
}

/// Whether a client would have a picture rather than JSON.
pub(super) fn wants_png(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("image/png"))
}

/// As one picture, if that is wanted, else as JSON.
fn answer(opened: &Opened, headers: &HeaderMap, view: ImagesView) -> Result<Response, Problem> {
    let seed = view.seed;
    let mut response = if wants_png(headers) {
        let columns = (view.images.len() as f64).sqrt().ceil().max(1.0) as usize;
        let png = grid_png(&view.images, view.shape, columns).map_err(|error| Problem::of(&error.into()))?;
        ([(header::CONTENT_TYPE, "image/png")], png).into_response()
    } else {
        Json(view).into_response()
    };
    mark(response.headers_mut(), opened, Some(seed));
    Ok(response)
}

/// New images.
pub(crate) async fn sample(
    app: &Shared,
    opened: &Arc<Opened>,
    headers: &HeaderMap,
    request: SampleRequest,
) -> Result<Response, Problem> {
    check_count(request.count)?;
    if request.count == 0 {
        return Err(Problem::refused("no image is asked for").remedy("ask for 1 at least"));
    }
    let shared = opened.clone();
    let view = app.workers.run(move |turn| {
        let mut sample = shared.image()?.sample(request.count);
        if let Some(class) = &request.class {
            sample = sample.label(class);
        }
        drawn(&shared, sample, request.seed, turn)
    });
    answer(opened, headers, view.await?)
}

/// An image with its unknown part filled in; all other pixels stay as they are.
#[utoipa::path(post, path = "/v1/models/{name}/inpaint", params(("name" = String, Path, description = "The model's name.")),
    request_body = InpaintRequest,
    responses((status = 200, content((ImagesView = "application/json"), (Vec<u8> = "image/png")))))]
pub(crate) async fn inpaint(
    State(app): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Whole,
) -> Result<Response, Problem> {
    let request: InpaintRequest = body.json()?;
    check_count(request.count)?;
    let opened = app.open(name).await?;
    let shared = opened.clone();
    let view = app.workers.run(move |turn| {
        let hole = Hole { image: request.image, unknown: request.unknown };
        let mut sample = shared.image()?.sample(request.count.max(1)).hole(hole);
        if let Some(class) = &request.class {
            sample = sample.label(class);
        }
        drawn(&shared, sample, request.seed, turn)
    });
    answer(&opened, &headers, view.await?)
}
