//! Texts: new ones, and gaps that are filled.

use std::io::Write;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use pmm::text::Drawing;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::Whole;
use super::sample::SampleRequest;
use crate::app::Shared;
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;
use crate::shelf::Opened;
use crate::stream::streamed;

/// Completions and candidates, at most.
const MOST: usize = 256;

/// Texts that were drawn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TextsView {
    seed: u64,
    texts: Vec<String>,
}

/// New texts; a single one as it is made, if plain text is wanted.
pub(crate) async fn sample(
    app: &Shared,
    opened: &Arc<Opened>,
    headers: &HeaderMap,
    request: SampleRequest,
) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    let (shared, seed) = (opened.clone(), request.seed);
    let mut response = if accept.starts_with("text/plain") && request.count == 1 {
        let body = streamed(app, move |mut out, turn| {
            let gone = |error: std::io::Error| Problem::stopped(error.to_string());
            for piece in prepared(&shared, &request)?.stream()? {
                turn.check()?;
                out.write_all(&piece?).and_then(|()| out.flush()).map_err(gone)?;
            }
            turn.count(1);
            Ok(())
        });
        let mut response = Response::new(body.await?);
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    } else {
        let texts = app.workers.run(move |turn| {
            let mut sample = prepared(&shared, &request)?.texts()?;
            let (mut texts, mut watcher) = (Vec::new(), turn.watcher());
            while let Some(text) = sample.next_watched(&mut watcher) {
                texts.push(String::from_utf8_lossy(&text?).into_owned());
            }
            turn.count(texts.len() as u64);
            Ok(texts)
        });
        Json(TextsView { seed, texts: texts.await? }).into_response()
    };
    mark(response.headers_mut(), opened, Some(seed));
    Ok(response)
}

/// What to draw, as the library takes it.
pub(crate) fn prepared<'m>(
    opened: &'m Opened,
    request: &SampleRequest,
) -> Result<pmm::text::Sample<'m>, Problem> {
    let drawing = Drawing { temperature: request.temperature, ..Drawing::default() };
    let sample = opened.text()?.sample(request.count).seed(request.seed).given(&request.beginning);
    let sample = sample.drawing(drawing);
    Ok(match request.tokens {
        Some(tokens) => sample.tokens(tokens),
        None => sample,
    })
}

/// A text whose gaps are to be filled.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InfillRequest {
    /// The text; gaps are `____` (three or more, one token each), `[MASK:12]`, or `[MASK]` for a gap of any length.
    pub(crate) text: String,
    /// How many completions.
    #[serde(default = "one")]
    #[schema(minimum = 1, maximum = 256, default = 1)]
    pub(crate) count: usize,
    /// Draws so many, and gives the likeliest of them.
    #[schema(minimum = 1, maximum = 256)]
    pub(crate) candidates: Option<usize>,
    /// Words beside a gap stay as they are.
    #[serde(default)]
    pub(crate) whole_words: bool,
    /// Fixes every random number.
    #[serde(default)]
    pub(crate) seed: u64,
}

fn one() -> usize {
    1
}

/// A completed text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionView {
    text: String,
    /// −log₂ p of the whole, where completions were ranked.
    bits: Option<f64>,
}

/// Completed texts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionsView {
    seed: u64,
    completions: Vec<CompletionView>,
}

/// Completes the gaps of a text.
pub(crate) fn complete(
    model: &pmm::text::Model,
    request: &InfillRequest,
    watcher: &mut dyn pmm::Watcher,
) -> Result<CompletionsView, Problem> {
    if request.count > MOST || request.candidates.is_some_and(|candidates| candidates > MOST) {
        return Err(Problem::too_large(format!("more than {MOST} completions at a time")));
    }
    let mut infill = model.infill(&request.text).completions(request.count).seed(request.seed);
    if let Some(candidates) = request.candidates {
        infill = infill.candidates(candidates);
    }
    if request.whole_words {
        infill = infill.whole_words();
    }
    let completions = infill.ranked(watcher)?.into_iter().map(|completion| CompletionView {
        text: String::from_utf8_lossy(&completion.text).into_owned(),
        bits: completion.bits,
    });
    Ok(CompletionsView { seed: request.seed, completions: completions.collect() })
}

/// A text with its gaps filled; all else is kept to the byte.
#[utoipa::path(post, path = "/v1/models/{name}/infill", params(("name" = String, Path, description = "The model's name.")),
    request_body = InfillRequest,
    responses((status = 200, body = CompletionsView)))]
pub(crate) async fn infill(
    State(app): State<Shared>,
    Path(name): Path<String>,
    body: Whole,
) -> Result<Response, Problem> {
    let request: InfillRequest = body.json()?;
    let opened = app.open(name).await?;
    let (shared, seed) = (opened.clone(), request.seed);
    let found = app.workers.run(move |turn| complete(shared.text()?, &request, &mut turn.watcher()));
    let mut response = Json(found.await?).into_response();
    mark(response.headers_mut(), &opened, Some(seed));
    Ok(response)
}
