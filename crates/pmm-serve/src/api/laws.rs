//! What if: the law of every column, given some.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use pmm::table::{Laws, Shape};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ask::Whole;
use crate::app::Shared;
use crate::given::{Given, give};
use crate::json::Json;
use crate::problem::Problem;
use crate::reply::mark;

/// The quantiles that are told: those of a middle half and of nine tenths.
const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// What is given.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LawsRequest {
    /// By column: a value, a list, or a range.
    #[schema(value_type = Object)]
    given: Given,
    /// Fixes the draws over which laws are taken where lists or ranges are given.
    seed: u64,
}

/// The law of a column.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LawView {
    column: String,
    /// Of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// 5, 25, 50, 75 and 95 % of a number, as the column writes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quantiles: Vec<String>,
    /// How it is spread, on the bins of the data.
    #[schema(value_type = Object)]
    shape: Shape,
}

/// The laws of all columns that are not fixed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LawsView {
    seed: u64,
    laws: Vec<LawView>,
    /// Values from which the model extrapolates.
    notes: Vec<String>,
}

fn view(laws: &Laws<'_>) -> Result<LawView, Problem> {
    let (mut mean, mut quantiles) = (None, Vec::new());
    if laws.is_number() {
        mean = laws.mean()?.first().copied().filter(|mean| mean.is_finite());
        for q in QUANTILES {
            quantiles.extend(laws.quantile(q)?.first().map(|value| laws.text(*value)));
        }
    }
    let shape = laws.shapes()?.into_iter().next();
    let shape = shape.ok_or_else(|| Problem::internal("a law has no shape"))?;
    Ok(LawView { column: laws.column().name.clone(), mean, quantiles, shape })
}

/// What if: given some columns, the law of every other, each by itself.
#[utoipa::path(post, path = "/v1/models/{name}/laws", params(("name" = String, Path, description = "The model's name.")),
    request_body = LawsRequest,
    responses((status = 200, body = LawsView)))]
pub(crate) async fn laws(
    State(app): State<Shared>,
    Path(name): Path<String>,
    body: Whole,
) -> Result<Response, Problem> {
    let request: LawsRequest = body.json()?;
    let opened = app.open(name).await?;
    let (shared, seed) = (opened.clone(), request.seed);
    let found = app.workers.run(move |_| {
        let sample = give(shared.table()?.sample(0).seed(seed), &request.given);
        let notes = sample.notes()?;
        let laws = sample.laws()?.iter().map(view).collect::<Result<Vec<_>, _>>()?;
        Ok(LawsView { seed, laws, notes })
    });
    let mut response = Json(found.await?).into_response();
    mark(response.headers_mut(), &opened, Some(seed));
    Ok(response)
}
