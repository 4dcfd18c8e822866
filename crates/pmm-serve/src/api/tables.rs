//! Rows that a client sends: filled, predicted, scored.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use pmm::arrow::{DataType, Field, Float64Array, RecordBatch, Schema};
use pmm::table::{Empty, Model, OutputColumn, ScoredRow};
use serde::Deserialize;
use utoipa::IntoParams;

use super::ask::{Asked, Whole};
use crate::app::Shared;
use crate::problem::Problem;
use crate::reply;
use crate::table_body::{self, TableBody};

/// Draws of a prediction or completed tables, at most.
const MOST_DRAWS: u64 = 1000;

/// How rows are filled.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImputeQuery {
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
    /// So many completed tables, numbered in a first column `draw`.
    #[param(minimum = 1, maximum = 1000)]
    draws: Option<u64>,
    /// The number of the first row.
    #[serde(default)]
    first_row: u64,
}

/// How rows are predicted or scored.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct PredictQuery {
    /// The column to predict; the model's target by default.
    target: Option<String>,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
    /// Adds so many draws from the law of a number.
    #[serde(default)]
    #[param(maximum = 1000)]
    draws: u64,
    /// What an empty cell says: `missing` (that there is nothing) or `unknown` (nothing).
    #[serde(default)]
    #[param(inline)]
    empty: EmptyCell,
    /// The number of the first row.
    #[serde(default)]
    first_row: u64,
}

/// How rows are scored.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScoreQuery {
    /// Fixes the orders of the columns.
    #[serde(default)]
    seed: u64,
    /// What an empty cell says: `missing` (that there is nothing) or `unknown` (nothing).
    #[serde(default)]
    #[param(inline)]
    empty: EmptyCell,
    /// The number of the first row.
    #[serde(default)]
    first_row: u64,
    /// Adds the surprise of every cell, in columns `surprise: NAME`.
    #[serde(default)]
    cells: bool,
}

/// What an empty cell says.
#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmptyCell {
    /// That there is nothing.
    #[default]
    Missing,
    /// Nothing.
    Unknown,
}

impl From<EmptyCell> for Empty {
    fn from(empty: EmptyCell) -> Self {
        match empty {
            EmptyCell::Missing => Self::Missing,
            EmptyCell::Unknown => Self::Unknown,
        }
    }
}

fn check_draws(draws: u64) -> Result<(), Problem> {
    match draws <= MOST_DRAWS {
        true => Ok(()),
        false => Err(Problem::too_large(format!("{draws} draws are more than {MOST_DRAWS}"))),
    }
}

/// Rows whose missing cells are filled by draws from their law given the rest of the row. All else stays as it is.
#[utoipa::path(post, path = "/v1/models/{name}/impute",
    params(("name" = String, Path, description = "The model's name."), ImputeQuery),
    request_body(content((TableBody = "application/json"), (String = "text/csv"))),
    responses((status = 200, description = "The rows: {\"seed\", \"columns\", \"rows\"}.", content((Object = "application/json"), (String = "text/csv"),
                (Vec<u8> = "application/vnd.apache.arrow.stream"), (Vec<u8> = "application/vnd.apache.parquet")))))]
pub(crate) async fn impute(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<ImputeQuery>,
    headers: HeaderMap,
    body: Whole,
) -> Result<Response, Problem> {
    check_draws(query.draws.unwrap_or(0))?;
    let opened = app.open(name).await?;
    let data = table_body::data(&headers, body.0, opened.table()?.schema())?;
    reply::rows(&app, &opened, &headers, query.seed, move |model, out| {
        let mut impute = model.impute(data).seed(query.seed).first_row(query.first_row);
        if let Some(draws) = query.draws {
            impute = impute.draws(draws);
        }
        if !out.is_text() {
            impute = impute.typed();
        }
        let rows = impute.rows()?;
        let columns = rows.columns();
        for batch in rows {
            out.write(&columns, &batch?)?;
        }
        Ok(columns)
    })
    .await
}

/// The law of one column given the rest of each row: mean and quantiles of a number, probabilities of levels.
#[utoipa::path(post, path = "/v1/models/{name}/predict",
    params(("name" = String, Path, description = "The model's name."), PredictQuery),
    request_body(content((TableBody = "application/json"), (String = "text/csv"))),
    responses((status = 200, description = "A row for each: {\"seed\", \"columns\", \"rows\"}.", content((Object = "application/json"), (String = "text/csv"),
                (Vec<u8> = "application/vnd.apache.arrow.stream"), (Vec<u8> = "application/vnd.apache.parquet")))))]
pub(crate) async fn predict(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<PredictQuery>,
    headers: HeaderMap,
    body: Whole,
) -> Result<Response, Problem> {
    check_draws(query.draws)?;
    let opened = app.open(name).await?;
    let model = opened.table()?;
    let target = query.target.clone().or_else(|| model.config().target.clone());
    let Some(target) = target else {
        return Err(Problem::bad("no target").remedy("say which column to predict: ?target=COLUMN"));
    };
    let data = table_body::data(&headers, body.0, model.schema())?;
    reply::rows(&app, &opened, &headers, query.seed, move |model, out| {
        let predict = model.predictions(data, &target)?.seed(query.seed).first_row(query.first_row);
        let mut columns = Vec::new();
        for laws in predict.empty(query.empty.into()).laws()? {
            let (found, batch) = laws?.table(query.draws as usize)?;
            columns = found;
            out.write(&columns, &batch)?;
        }
        Ok(columns)
    })
    .await
}

/// How likely each row is, which of its cells are not, and which rules it breaks.
#[utoipa::path(post, path = "/v1/models/{name}/score",
    params(("name" = String, Path, description = "The model's name."), ScoreQuery),
    request_body(content((TableBody = "application/json"), (String = "text/csv"))),
    responses((status = 200, description = "A row for each: {\"seed\", \"columns\", \"rows\"}.", content((Object = "application/json"), (String = "text/csv"),
                (Vec<u8> = "application/vnd.apache.arrow.stream"), (Vec<u8> = "application/vnd.apache.parquet")))))]
pub(crate) async fn score(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<ScoreQuery>,
    headers: HeaderMap,
    body: Whole,
) -> Result<Response, Problem> {
    let opened = app.open(name).await?;
    let data = table_body::data(&headers, body.0, opened.table()?.schema())?;
    reply::rows(&app, &opened, &headers, query.seed, move |model, out| {
        let score = model.score(data).seed(query.seed).first_row(query.first_row).empty(query.empty.into());
        let mut columns = Model::score_columns();
        if query.cells {
            let names = model.schema().columns.iter().map(|column| format!("surprise: {}", column.name));
            columns.extend(names.map(|name| OutputColumn::new(name, DataType::Float64)));
        }
        let mut row = query.first_row;
        for batch in score.batches()? {
            let batch = batch?;
            let mut table = model.score_table(row, &batch)?;
            if query.cells {
                table = with_cells(&table, &batch, &columns)?;
            }
            out.write(&columns, &table)?;
            row += batch.len() as u64;
        }
        Ok(columns)
    })
    .await
}

/// Scores with the surprise of every cell beside them.
fn with_cells(
    table: &RecordBatch,
    rows: &[ScoredRow],
    columns: &[OutputColumn],
) -> Result<RecordBatch, Problem> {
    let mut arrays = table.columns().to_vec();
    for at in 0..columns.len() - table.num_columns() {
        let surprise = |row: &ScoredRow| row.cells.get(at)?.as_ref().map(|cell| cell.surprise);
        arrays.push(Arc::new(rows.iter().map(surprise).collect::<Float64Array>()));
    }
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| Problem::internal(format!("the scores cannot be put together: {error}")))
}
