//! Models: what there are, what each is, to take away and to bring.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pmm::table::{Coding, Column, Schema, Shape};
use pmm::{Model, kind_of_model};
use serde::Serialize;
use utoipa::ToSchema;

use super::ask::Whole;
use crate::app::Shared;
use crate::archive;
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;
use crate::shelf::Opened;
use crate::stream::streamed;
use crate::work::blocking;

/// Levels of a category that are listed.
const MOST_LEVELS: usize = 1000;

/// A model of the folder.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelEntry {
    /// Its name.
    name: String,
    /// `table`, `text` or `image`.
    kind: &'static str,
    /// Whether it can be asked: it has weights.
    ready: bool,
}

/// A column of a model or of data.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ColumnView {
    name: String,
    /// What its values are.
    kind: &'static str,
    /// The conjugate pair that models it; `none` if it is left out.
    pair: &'static str,
    /// Why, in one sentence.
    reason: String,
    /// Cells that are missing.
    missing: u64,
    /// The levels of a category, most frequent first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<String>,
    /// How the data are spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    shape: Option<Shape>,
}

/// The columns of a schema, for a client.
pub(crate) fn columns(schema: &Schema) -> Vec<ColumnView> {
    let levels = |column: &Column| match &column.coding {
        Coding::Levels(levels) => {
            levels.levels().iter().take(MOST_LEVELS).map(|level| level.text.clone()).collect()
        }
        _ => Vec::new(),
    };
    let view = |column: &Column| ColumnView {
        name: column.name.clone(),
        kind: column.kind.name(),
        pair: column.pair.name(),
        reason: column.reason.clone(),
        missing: column.missing,
        levels: levels(column),
        shape: Shape::of(column),
    };
    schema.columns.iter().map(view).collect()
}

/// The models of the folder.
#[utoipa::path(get, path = "/v1/models", responses((status = 200, body = Vec<ModelEntry>)))]
pub(crate) async fn list(State(app): State<Shared>) -> Result<Json<Vec<ModelEntry>>, Problem> {
    blocking(move || {
        let entry = |name: String| {
            let path = app.workspace.model(&name).ok()?;
            let kind = kind_of_model(&path)?;
            let ready = path.join("weights.safetensors").is_file();
            Some(ModelEntry { name, kind: kind.name(), ready })
        };
        Ok(Json(app.workspace.models().into_iter().filter_map(entry).collect()))
    })
    .await
}

/// An answer that belongs to a model, or nothing if the client has it already.
fn tagged(headers: &HeaderMap, opened: &Opened, answer: impl IntoResponse) -> Response {
    let tag = format!("\"{}\"", opened.hash);
    let has = |value: &HeaderValue| {
        value.to_str().is_ok_and(|tags| tags.split(',').any(|one| [tag.as_str(), "*"].contains(&one.trim())))
    };
    let mut response = match headers.get_all(header::IF_NONE_MATCH).iter().any(has) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => answer.into_response(),
    };
    mark(response.headers_mut(), opened, None);
    response
}

/// What a model is, how it was trained and how big it is.
#[utoipa::path(get, path = "/v1/models/{name}", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, body = Object), (status = 304, description = "As it was.")))]
pub(crate) async fn info(
    State(app): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let opened = app.open(name).await?;
    let mut info = serde_json::to_value(opened.model.info())
        .map_err(|error| Problem::internal(format!("the facts cannot be told: {error}")))?;
    info["model"] = opened.name.clone().into();
    info["hash"] = opened.hash.clone().into();
    if let Model::Image(model) = &opened.model {
        info["shape"] = serde_json::json!(model.images().shape);
        // An array's labels may leave numbers out.
        let classes = model.images().classes.iter().zip(&model.images().class_counts);
        info["classes"] = classes.filter(|(_, count)| **count > 0).map(|(class, _)| class.clone()).collect();
    }
    Ok(tagged(&headers, &opened, Json(info)))
}

/// The columns of a model of a table, and the rules it keeps.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SchemaView {
    /// Rows of the data.
    rows: u64,
    /// The column whose prediction matters most.
    target: Option<String>,
    columns: Vec<ColumnView>,
    /// Rules, in words.
    rules: Vec<String>,
}

/// The columns of a model of a table.
#[utoipa::path(get, path = "/v1/models/{name}/schema", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, body = SchemaView), (status = 304, description = "As it was.")))]
pub(crate) async fn schema(
    State(app): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let opened = app.open(name).await?;
    let model = opened.table()?;
    let schema = model.schema();
    let view = SchemaView {
        rows: schema.rows,
        target: model.config().target.clone(),
        columns: columns(schema),
        rules: schema.rules.iter().map(|kept| kept.rule.sentence()).collect(),
    };
    Ok(tagged(&headers, &opened, Json(view)))
}

/// The model card, as Markdown.
#[utoipa::path(get, path = "/v1/models/{name}/card", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, content_type = "text/markdown", body = String)))]
pub(crate) async fn card(State(app): State<Shared>, Path(name): Path<String>) -> Result<Response, Problem> {
    file(&app, name, "README.md", "text/markdown; charset=utf-8").await
}

/// The report, if one was made.
#[utoipa::path(get, path = "/v1/models/{name}/report", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, content_type = "text/html", body = String)))]
pub(crate) async fn report(State(app): State<Shared>, Path(name): Path<String>) -> Result<Response, Problem> {
    let mut response = file(&app, name, "report.html", "text/html; charset=utf-8").await?;
    // It may be a stranger's: it can be looked at, and nothing else.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    Ok(response)
}

/// What a fit of images draws so far.
#[utoipa::path(get, path = "/v1/models/{name}/preview", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, content_type = "image/png", body = Vec<u8>)))]
pub(crate) async fn preview(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    file(&app, name, "preview.png", "image/png").await
}

async fn file(
    app: &Shared,
    name: String,
    file: &'static str,
    kind: &'static str,
) -> Result<Response, Problem> {
    let app = app.clone();
    let bytes = blocking(move || {
        let path = app.workspace.model(&name)?.join(file);
        std::fs::read(path).map_err(|_| Problem::missing(format!("{name} has no {file}")))
    });
    Ok(([(header::CONTENT_TYPE, kind)], bytes.await?).into_response())
}

/// The model as one file (tar, gzipped), which another server takes.
#[utoipa::path(get, path = "/v1/models/{name}/archive", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, content_type = "application/gzip", body = Vec<u8>)))]
pub(crate) async fn download(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    // Only what can be opened is handed out.
    let opened = app.open(name.clone()).await?;
    let path = app.workspace.model(&name)?;
    let file = format!("attachment; filename=\"{}.pmm.tar.gz\"", name.replace(['"', '\\'], "_"));
    let body = streamed(&app, move |out, _| {
        archive::pack(&path, &name, out).map_err(|error| Problem::internal(error.to_string()))
    });
    let mut response = Response::new(body.await?);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    if let Ok(file) = HeaderValue::from_str(&file) {
        headers.insert(header::CONTENT_DISPOSITION, file);
    }
    mark(headers, &opened, None);
    Ok(response)
}

/// A model from elsewhere, as a download gives it. It is read whole before it is taken.
#[utoipa::path(put, path = "/v1/models/{name}", params(("name" = String, Path, description = "The model's name.")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 201, description = "It is there.")))]
pub(crate) async fn upload(
    State(app): State<Shared>,
    Path(name): Path<String>,
    body: Whole,
) -> Result<StatusCode, Problem> {
    app.check_writable()?;
    let shared = app.clone();
    app.workers
        .run(move |_| {
            let place = shared.workspace.model_path(&name)?;
            let there = || Problem::conflict(format!("there is a model {name} already"));
            if std::fs::symlink_metadata(&place).is_ok() {
                return Err(there());
            }
            let failed = |error: std::io::Error| Problem::internal(error.to_string());
            let beside = tempfile::Builder::new().prefix(".upload-").tempdir_in(shared.workspace.root());
            let beside = beside.map_err(failed)?;
            archive::unpack(&body.0, beside.path())?;
            pmm::open(beside.path()).map_err(|error| Problem::of(&error).within(beside.path()))?;
            std::fs::rename(beside.path(), &place).map_err(|_| there())?;
            let _ = beside.keep();
            Ok(StatusCode::CREATED)
        })
        .await
}
