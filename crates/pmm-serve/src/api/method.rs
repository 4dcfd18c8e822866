//! The method itself, where the answer is known: posterior means of the four pairs by their oracles.

use axum::extract::{Path, State};
use pmm::core::Streams;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ask::Asked;
use crate::app::Shared;
use crate::json::Json;
use crate::problem::Problem;

/// Ways that are shown, samples behind the shares, and steps.
const WALK: (usize, usize, usize) = (40, 2000, 160);

/// Which noise.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodQuery {
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

/// A pair at work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MethodView {
    title: &'static str,
    story: &'static str,
    /// The vertical axis; empty where means are points of a triangle.
    axis: &'static str,
    /// The points of the target, with their weights and the shares of samples that ended there.
    labels: Vec<String>,
    points: Vec<f32>,
    weights: Vec<f64>,
    shares: Vec<f64>,
    /// The information at every step.
    readings: Vec<f64>,
    /// `[step][row × numbers of a mean]`.
    means: Vec<Vec<f32>>,
    /// The point at which each row ends.
    ends: Vec<usize>,
}

/// A conjugate pair at work on a known target, by its exact denoiser.
#[utoipa::path(get, path = "/v1/method/{pair}",
    params(("pair" = String, Path, description = "normal, poisson, categorical or gamma."), MethodQuery),
    responses((status = 200, body = MethodView)))]
pub(crate) async fn method(
    State(app): State<Shared>,
    Path(pair): Path<String>,
    Asked(query): Asked<MethodQuery>,
) -> Result<Json<MethodView>, Problem> {
    let view = app.workers.run(move |_| {
        let scene = pmm::method::scenes()?.into_iter().find(|scene| scene.name == pair);
        let scene = scene.ok_or_else(|| {
            Problem::missing(format!("there is no pair {pair:?}"))
                .remedy("normal, poisson, categorical and gamma are there")
        })?;
        let walk = scene.walk(WALK.0, WALK.1, WALK.2, &Streams::new(query.seed))?;
        Ok(MethodView {
            title: scene.title,
            story: scene.story,
            axis: scene.axis,
            points: scene.target.points().reals(0).to_vec(),
            weights: scene.target.weights().to_vec(),
            labels: scene.labels,
            shares: walk.shares,
            readings: walk.readings,
            means: walk.means,
            ends: walk.ends,
        })
    });
    Ok(Json(view.await?))
}
