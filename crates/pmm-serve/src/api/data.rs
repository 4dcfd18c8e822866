//! Data files: what there are, what is in them, new ones.

use std::io::Write;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures_util::StreamExt;
use pmm::table::{self, Schema};
use pmm::{DataKind, image, text};
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::Whole;
use super::models::{ColumnView, columns};
use crate::app::Shared;
use crate::fits::FitRequest;
use crate::json::Json;
use crate::problem::Problem;
use crate::work::blocking;
use crate::workspace::DataEntry;

/// What was found in a file, and what a fit of it would be.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Found {
    /// `table`, `text` or `image`.
    kind: &'static str,
    /// Rows, tokens or images.
    count: u64,
    /// The columns of a table.
    columns: Vec<ColumnView>,
    /// Rules that hold in the rows, in words.
    rules: Vec<String>,
    /// What a person should know.
    notes: Vec<String>,
    /// What it is, in a sentence.
    about: String,
    /// Training steps.
    steps: u64,
    /// Minutes that a fit would take, roughly.
    minutes: f64,
    /// Weights of the network.
    weights: usize,
}

/// The data files and folders.
#[utoipa::path(get, path = "/v1/data", responses((status = 200, body = Vec<DataEntry>)))]
pub(crate) async fn list(State(app): State<Shared>) -> Result<Json<Vec<DataEntry>>, Problem> {
    blocking(move || Ok(Json(app.workspace.data_entries()))).await
}

/// A new data file. Its name says what it is; nothing is replaced. To send the same file again changes nothing.
#[utoipa::path(put, path = "/v1/data/{name}", params(("name" = String, Path, description = "The file's name.")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 201, description = "It is there."), (status = 200, description = "It was there, and is the same.")))]
pub(crate) async fn upload(
    State(app): State<Shared>,
    Path(name): Path<String>,
    body: Body,
) -> Result<StatusCode, Problem> {
    app.check_writable()?;
    let path = app.workspace.new_data(&name)?;
    let failed = |error: std::io::Error| Problem::internal(format!("{name} cannot be written: {error}"));
    // Beside its place, until it is whole.
    let beside = tempfile::Builder::new().prefix(".upload-").tempfile_in(app.workspace.root());
    let mut file = beside.map_err(failed)?;
    let (mut stream, mut bytes) = (body.into_data_stream(), 0u64);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| Problem::bad(format!("the file did not come: {error}")))?;
        bytes += chunk.len() as u64;
        if bytes > app.limits.body {
            return Err(Problem::too_large(format!("a file has {} bytes at most", app.limits.body))
                .remedy("put the file into the folder yourself, or raise --max-body"));
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    if bytes == 0 {
        return Err(Problem::bad(format!("{name} is empty")));
    }
    file.as_file().sync_all().map_err(failed)?;
    blocking(move || match file.persist_noclobber(&path) {
        Ok(_) => Ok(StatusCode::CREATED),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            match same_file(error.file.path(), &path) {
                Ok(true) => Ok(StatusCode::OK),
                _ => Err(Problem::conflict(format!("{name} is there already, and is another file"))
                    .remedy("give it another name, or remove the old one")),
            }
        }
        Err(error) => Err(Problem::internal(format!("{name} cannot be written: {}", error.error))),
    })
    .await
}

/// Whether two files hold the same; one that is a link or no file is not the same as any.
fn same_file(a: &std::path::Path, b: &std::path::Path) -> std::io::Result<bool> {
    let (of_a, of_b) = (std::fs::symlink_metadata(a)?, std::fs::symlink_metadata(b)?);
    if !of_b.is_file() || of_a.len() != of_b.len() {
        return Ok(false);
    }
    let hash = |path| {
        let mut hasher = blake3::Hasher::new();
        std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
        std::io::Result::Ok(hasher.finalize())
    };
    Ok(hash(a)? == hash(b)?)
}

/// What is in a file: columns with reasons, rules, and what a fit would take. Nothing is written.
#[utoipa::path(post, path = "/v1/data/{name}/inspect", params(("name" = String, Path, description = "The file's name.")),
    request_body(content = FitRequest, description = "Wishes about the fit; `data` and `model` are not looked at."),
    responses((status = 200, body = Found)))]
pub(crate) async fn inspect(
    State(app): State<Shared>,
    Path(name): Path<String>,
    body: Whole,
) -> Result<Json<Found>, Problem> {
    let request: FitRequest = body.json()?;
    let shared = app.clone();
    let found = app.workers.run(move |turn| look(&shared, &name, &request, &mut turn.watcher())).await;
    Ok(Json(found.map_err(|problem| problem.within(app.workspace.root()))?))
}

fn look(
    app: &Shared,
    name: &str,
    request: &FitRequest,
    watcher: &mut dyn pmm::Watcher,
) -> Result<Found, Problem> {
    let path = app.workspace.data(name)?;
    let settings = request.settings()?;
    let of = |kind: DataKind, count: u64, about: String, cost: pmm::Cost, steps: u64| Found {
        kind: kind.name(),
        count,
        about,
        steps,
        minutes: cost.minutes,
        weights: cost.weights,
        ..Found::default()
    };
    Ok(match pmm::recognise(&path, request.preset.as_deref())? {
        DataKind::Table => {
            let mut fit = table::Fit::new(table::Data::open(&path)).columns(request.overrides()?);
            if let Some(target) = &request.target {
                fit = fit.target(target);
            }
            let fit = sized(fit.settings(&settings), request.steps, table::Fit::steps).prepare(watcher)?;
            let schema: &Schema = fit.schema();
            let rules = fit.rules().iter().map(|kept| kept.rule.sentence()).collect();
            let about = format!("{} rows, {} columns", schema.rows, schema.columns.len());
            Found {
                columns: columns(schema),
                rules,
                notes: fit.notes().to_vec(),
                ..of(DataKind::Table, schema.rows, about, fit.cost(), fit.config().train.steps)
            }
        }
        DataKind::Text => {
            let fit = text::Fit::new(text::Data::open(&path)).settings(&settings);
            let fit = sized(fit, request.steps, text::Fit::steps).prepare(watcher)?;
            let (tokens, tokenizer) = (fit.tokens(), fit.tokenizer());
            let about = format!(
                "{} characters, {} tokens ({}, {} kinds)",
                tokens.characters(),
                tokens.len(),
                tokenizer.name(),
                tokenizer.classes()
            );
            of(DataKind::Text, tokens.len(), about, fit.cost(), fit.config().train.steps)
        }
        DataKind::Image => {
            let fit = image::Fit::new(image::Data::open(&path)).settings(&settings);
            let fit = sized(fit, request.steps, image::Fit::steps).prepare(watcher)?;
            let images = fit.images();
            let (shape, classes) = (image::shape_words(images.shape), image::class_list(&images.classes));
            let about = format!("{} images of {shape}; classes: {classes}", images.count);
            of(DataKind::Image, images.count, about, fit.cost(), fit.config().train.steps)
        }
    })
}

/// With so many steps, if a number is asked for.
fn sized<F>(fit: F, steps: Option<u64>, set: impl Fn(F, u64) -> F) -> F {
    match steps {
        Some(steps) => set(fit, steps),
        None => fit,
    }
}
