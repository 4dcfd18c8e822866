//! New rows, texts or images.

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use pmm::Model;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ask::Whole;
use super::{images, texts};
use crate::app::Shared;
use crate::given::{Given, give};
use crate::problem::Problem;
use crate::reply;

/// What to draw. What is not for the kind of model is refused.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SampleRequest {
    /// How many rows, texts or images.
    #[schema(minimum = 0, default = 10)]
    pub(crate) count: u64,
    /// Fixes every random number.
    pub(crate) seed: u64,
    /// The number of the first row in the endless sample of the seed (tables).
    pub(crate) first_row: u64,
    /// What is given of the rows, by column: a value, a list, or a range {"from": …, "to": …} (tables).
    #[schema(value_type = Object)]
    pub(crate) given: Given,
    /// The beginning of every text (texts).
    pub(crate) beginning: String,
    /// Tokens of a text (texts).
    pub(crate) tokens: Option<usize>,
    /// How boldly tokens are drawn; 1 as learned (texts).
    pub(crate) temperature: Option<f64>,
    /// The class of all images (images).
    pub(crate) class: Option<String>,
}

impl Default for SampleRequest {
    fn default() -> Self {
        Self {
            count: 10,
            seed: 0,
            first_row: 0,
            given: Given::new(),
            beginning: String::new(),
            tokens: None,
            temperature: None,
            class: None,
        }
    }
}

impl SampleRequest {
    /// Refuses what is not for the kind of model.
    pub(crate) fn check(&self, kind: &str) -> Result<(), Problem> {
        let of_tables = !self.given.is_empty() || self.first_row > 0;
        let of_texts = !self.beginning.is_empty() || self.tokens.is_some() || self.temperature.is_some();
        let wrong = match kind {
            "table" => of_texts || self.class.is_some(),
            "text" => of_tables || self.class.is_some(),
            _ => of_tables || of_texts,
        };
        match wrong {
            true => Err(Problem::refused(format!("the request asks for something that is not for {kind}s"))
                .remedy("given and first_row are for tables; beginning, tokens and temperature for texts; class for images")),
            false => Ok(()),
        }
    }
}

/// New rows, texts or images. Rows come as JSON, CSV, Parquet or an Arrow stream, by `Accept`; a single text also as it is made
/// (`text/plain`); images also as one picture (`image/png`).
#[utoipa::path(post, path = "/v1/models/{name}/sample", params(("name" = String, Path, description = "The model's name.")),
    request_body = SampleRequest,
    responses((status = 200, description = "Rows as they are drawn: {\"seed\", \"columns\", \"rows\"}; texts; images.", content(
                (Object = "application/json"), (String = "text/csv"), (Vec<u8> = "application/vnd.apache.arrow.stream"),
                (Vec<u8> = "application/vnd.apache.parquet"), (String = "text/plain"), (Vec<u8> = "image/png")))))]
pub(crate) async fn sample(
    State(app): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Whole,
) -> Result<Response, Problem> {
    let request: SampleRequest = body.json()?;
    app.check_rows(request.count)?;
    let opened = app.open(name).await?;
    request.check(opened.model.kind().name())?;
    match &opened.model {
        Model::Text(_) => return texts::sample(&app, &opened, &headers, request).await,
        Model::Image(_) => return images::sample(&app, &opened, &headers, request).await,
        Model::Table(_) => {}
    }
    let seed = request.seed;
    reply::rows(&app, &opened, &headers, seed, move |model, out| {
        let sample = model.sample(request.count).seed(seed).first_row(request.first_row);
        let sample = give(sample, &request.given);
        let columns = sample.columns();
        for batch in sample.rows()? {
            out.write(&columns, &batch?)?;
        }
        Ok(columns)
    })
    .await
}
