//! New rows beside the data: column by column, and the two columns that depend on each other most.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use pmm::table::{Column, Data, Joint, Model, Shape};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ask::Asked;
use crate::app::Shared;
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;

/// Rows that are drawn, at most.
const MOST_ROWS: u64 = 10_000;

/// How many rows are drawn, and what is looked at.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarginalsQuery {
    /// Rows to draw.
    #[serde(default = "default_rows")]
    #[param(maximum = 10000, default = 1000)]
    rows: u64,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
    /// A column to look at together with another.
    first: Option<String>,
    /// The other.
    second: Option<String>,
}

fn default_rows() -> u64 {
    1000
}

/// A column of the data beside the same of new rows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MarginalView {
    column: String,
    /// In the data.
    #[schema(value_type = Object)]
    data: Shape,
    /// In new rows, on the same bins.
    #[schema(value_type = Option<Object>)]
    sample: Option<Shape>,
}

/// New rows, as they are spread.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MarginalsView {
    columns: Vec<MarginalView>,
    /// The two columns that were asked for, together.
    #[schema(value_type = Option<Object>)]
    joint: Option<Joint>,
}

/// How the columns of new rows are spread, beside those of the data; two of them together, if they are named.
#[utoipa::path(get, path = "/v1/models/{name}/marginals",
    params(("name" = String, Path, description = "The model's name."), MarginalsQuery),
    responses((status = 200, body = MarginalsView)))]
pub(crate) async fn marginals(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Asked(query): Asked<MarginalsQuery>,
) -> Result<Response, Problem> {
    app.check_rows(query.rows)?;
    let seed = query.seed;
    let pair = match (query.first, query.second) {
        (Some(first), Some(second)) => Some((first, second)),
        (None, None) => None,
        _ => {
            return Err(
                Problem::bad("one column alone is no pair").remedy("name first and second, or neither")
            );
        }
    };
    let opened = app.open(name).await?;
    let shared = opened.clone();
    let view = app.workers.run(move |_| {
        let model = shared.table()?;
        let Some(rows) = drawn(model, query.rows.min(MOST_ROWS), seed)? else {
            return Ok(MarginalsView { columns: beside(model, None), joint: None });
        };
        let joint = pair.map(|(first, second)| model.joint(rows.clone(), &first, &second)).transpose()?;
        Ok(MarginalsView { columns: beside(model, Some(model.shapes(rows)?)), joint })
    });
    let mut response = Json(view.await?).into_response();
    mark(response.headers_mut(), &opened, Some(seed));
    Ok(response)
}

/// New rows; none if none is wanted.
fn drawn(model: &Model, count: u64, seed: u64) -> Result<Option<Data>, Problem> {
    let batches = model.sample(count).seed(seed).rows()?.collect::<Result<Vec<_>, _>>()?;
    let names = batches.first().map(|batch| batch.schema());
    Ok(names.map(|names| Data::from_batches(names, batches)))
}

fn beside(model: &Model, samples: Option<Vec<Option<Shape>>>) -> Vec<MarginalView> {
    let columns = &model.schema().columns;
    let samples = samples.unwrap_or_else(|| vec![None; columns.len()]);
    let view = |(column, sample): (&Column, Option<Shape>)| {
        Some(MarginalView { column: column.name.clone(), data: Shape::of(column)?, sample })
    };
    columns.iter().zip(samples).filter_map(view).collect()
}

/// The two columns of the data of a fit that depend on each other most, together. Two of which a rule makes the one from the
/// other are not looked at.
#[utoipa::path(get, path = "/v1/fits/{name}/pair", params(("name" = String, Path, description = "The model's name.")),
    responses((status = 200, body = Object)))]
pub(crate) async fn pair(
    State(app): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<Joint>, Problem> {
    let data = app.fits.get(&name)?.status().request.data;
    let opened = app.open(name).await?;
    let shared = app.clone();
    let found = app.workers.run(move |_| {
        let rows = Data::open(shared.workspace.data(&data)?);
        let found = opened.table()?.most_dependent(rows)?;
        found.ok_or_else(|| Problem::missing("there are no two columns that could depend on each other"))
    });
    Ok(Json(found.await.map_err(|problem| problem.within(app.workspace.root()))?))
}
