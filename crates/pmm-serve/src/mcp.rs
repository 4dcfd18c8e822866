//! The same verbs for assistants: tools of the Model Context Protocol, over standard input and output.

use std::path::Path;
use std::sync::Arc;

use pmm::arrow::RecordBatch;
use pmm::table::Data;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::sample::SampleRequest;
use crate::api::texts::{InfillRequest, complete};
use crate::arrow_json;
use crate::fits::{FitRequest, Fits};
use crate::given::give;
use crate::problem::Problem;
use crate::server::StartError;
use crate::shelf::{Opened, Shelf};
use crate::table_body::TableBody;
use crate::work::blocking;
use crate::workspace::Workspace;

/// Rows that are given to an assistant at a time.
const MOST_ROWS: u64 = 10_000;

/// The tools of one folder.
#[derive(Debug, Clone)]
pub struct Assistant {
    place: Arc<Place>,
}

#[derive(Debug)]
struct Place {
    workspace: Workspace,
    shelf: Shelf,
    fits: Fits,
    read_only: bool,
}

/// A model by name.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct ModelName {
    /// The model's name, without .pmm.
    model: String,
}

/// A fit by name.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct FitName {
    /// The name of the model that is fitted.
    name: String,
}

/// What to draw from a model.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct SampleParams {
    /// The model's name.
    model: String,
    /// How many, with which seed, given what.
    #[serde(default)]
    request: SampleRequest,
}

/// Rows for a model of a table.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RowsParams {
    /// The model's name.
    model: String,
    /// The rows.
    table: TableBody,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

/// Rows of which a column is predicted.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct PredictParams {
    /// The model's name.
    model: String,
    /// The column to predict; the model's target by default.
    target: Option<String>,
    /// The rows.
    table: TableBody,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

/// A text with gaps.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct InfillParams {
    /// The model's name.
    model: String,
    /// The text and how it is completed.
    request: InfillRequest,
}

/// What an assistant reads: JSON, or a problem.
type Answer = Result<String, String>;

impl Assistant {
    /// The tools of a folder.
    pub fn new(folder: impl AsRef<Path>, read_only: bool) -> Result<Self, StartError> {
        let folder = folder.as_ref();
        let workspace =
            Workspace::open(folder).map_err(|source| StartError::Folder { folder: folder.into(), source })?;
        let fits = Fits::open(&workspace).map_err(StartError::System)?;
        Ok(Self { place: Arc::new(Place { workspace, shelf: Shelf::default(), fits, read_only }) })
    }

    /// Stops the fits; what they have learned is kept.
    pub fn close(&self) {
        self.place.fits.close();
    }

    async fn run<T: Serialize>(
        &self,
        work: impl FnOnce(&Place) -> Result<T, Problem> + Send + 'static,
    ) -> Answer {
        let place = self.place.clone();
        let found = blocking(move || {
            let found = work(&place).map_err(|problem| problem.within(place.workspace.root()))?;
            serde_json::to_string(&found).map_err(|error| Problem::internal(error.to_string()))
        });
        found.await.map_err(|problem| serde_json::to_string(&problem).unwrap_or_else(|_| problem.to_string()))
    }
}

impl Place {
    fn open(&self, name: &str) -> Result<Arc<Opened>, Problem> {
        self.shelf.open(&self.workspace, name)
    }

    fn check_writable(&self) -> Result<(), Problem> {
        if self.read_only { Err(Problem::forbidden("fits are not allowed here")) } else { Ok(()) }
    }
}

/// Rows as JSON.
fn table(batches: impl Iterator<Item = Result<RecordBatch, pmm::Error>>) -> Result<Value, Problem> {
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    for batch in batches {
        let batch = batch?;
        columns = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        rows.extend(arrow_json::rows(&batch)?);
    }
    Ok(json!({ "columns": columns, "rows": rows }))
}

#[tool_router]
impl Assistant {
    /// The models, data files and fits of the folder.
    #[tool(description = "List the models, data files and fits of the folder.")]
    async fn list(&self) -> Answer {
        self.run(|place| {
            let fits: Vec<Value> = place.fits.list().iter().map(|fit| json!({ "name": fit.name, "state": fit.state })).collect();
            Ok(json!({ "models": place.workspace.models(), "data": place.workspace.data_entries(), "fits": fits }))
        })
        .await
    }

    /// What a model is.
    #[tool(description = "Describe a model: its columns with kinds and reasons, how it was trained, how big it is.")]
    async fn describe(&self, Parameters(params): Parameters<ModelName>) -> Answer {
        self.run(move |place| Ok(place.open(&params.model)?.model.info())).await
    }

    /// Begins a fit.
    #[tool(description = "Fit a model to a data file of the folder (a table, a text, or images). It runs on; ask fit_status how far it is.")]
    async fn fit(&self, Parameters(request): Parameters<FitRequest>) -> Answer {
        self.run(move |place| {
            place.check_writable()?;
            Ok(place.fits.begin(request)?.status())
        })
        .await
    }

    /// How far a fit is.
    #[tool(description = "How far a fit is: its state, step, and losses.")]
    async fn fit_status(&self, Parameters(params): Parameters<FitName>) -> Answer {
        self.run(move |place| Ok(place.fits.get(&params.name)?.status())).await
    }

    /// Stops a fit.
    #[tool(description = "Stop a fit; what it has learned is kept, and resume_fit goes on with it.")]
    async fn stop_fit(&self, Parameters(params): Parameters<FitName>) -> Answer {
        self.run(move |place| Ok(place.fits.stop(&params.name)?.status())).await
    }

    /// Goes on with a fit.
    #[tool(description = "Go on with a fit that was stopped.")]
    async fn resume_fit(&self, Parameters(params): Parameters<FitName>) -> Answer {
        self.run(move |place| {
            place.check_writable()?;
            Ok(place.fits.resume(&params.name)?.status())
        })
        .await
    }

    /// New rows or texts.
    #[tool(description = "Draw new rows (of a table) or texts from a model; rows may be given values, lists or ranges of columns.")]
    async fn sample(&self, Parameters(params): Parameters<SampleParams>) -> Answer {
        self.run(move |place| {
            let (opened, request) = (place.open(&params.model)?, params.request);
            request.check(opened.model.kind().name())?;
            if request.count > MOST_ROWS {
                return Err(Problem::too_large(format!("more than {MOST_ROWS} at a time")));
            }
            if let pmm::Model::Text(model) = &opened.model {
                let sample = model.sample(request.count).seed(request.seed).given(&request.beginning);
                let sample = match request.tokens {
                    Some(tokens) => sample.tokens(tokens),
                    None => sample,
                };
                let texts = sample.texts()?.map(|text| Ok(String::from_utf8_lossy(&text?).into_owned()));
                return Ok(json!({ "texts": texts.collect::<Result<Vec<_>, Problem>>()? }));
            }
            let sample = opened.table()?.sample(request.count).seed(request.seed).first_row(request.first_row);
            table(give(sample, &request.given).rows()?)
        })
        .await
    }

    /// Predicts a column.
    #[tool(description = "Predict a column of rows: mean and quantiles of a number, probabilities of levels.")]
    async fn predict(&self, Parameters(params): Parameters<PredictParams>) -> Answer {
        self.run(move |place| {
            let (opened, data) = (place.open(&params.model)?, params.table.data()?);
            let model = opened.table()?;
            let Some(target) = params.target.or_else(|| model.config().target.clone()) else {
                return Err(Problem::bad("no target").remedy("say which column to predict"));
            };
            let laws = model.predictions(data, &target)?.seed(params.seed).laws()?;
            table(laws.map(|laws| Ok(laws?.table(0)?.1)))
        })
        .await
    }

    /// Fills gaps.
    #[tool(description = "Fill the missing cells (null) of rows by draws from their law given the rest of the row.")]
    async fn impute(&self, Parameters(params): Parameters<RowsParams>) -> Answer {
        self.rows(params, |model, data, seed| table(model.impute(data).seed(seed).typed().rows()?)).await
    }

    /// Scores rows.
    #[tool(description = "Score rows: how likely each is, which of its cells surprise, which rules it breaks.")]
    async fn score(&self, Parameters(params): Parameters<RowsParams>) -> Answer {
        self.rows(params, |model, data, seed| {
            let mut row = 0;
            table(model.score(data).seed(seed).batches()?.map(|batch| {
                let batch = batch?;
                let scored = model.score_table(row, &batch);
                row += batch.len() as u64;
                scored
            }))
        })
        .await
    }

    /// Fills the gaps of a text.
    #[tool(description = "Complete the gaps of a text, written ____, [MASK:12] or [MASK].")]
    async fn infill(&self, Parameters(params): Parameters<InfillParams>) -> Answer {
        self.run(move |place| complete(place.open(&params.model)?.text()?, &params.request, &mut ())).await
    }

    async fn rows(
        &self,
        params: RowsParams,
        work: impl FnOnce(&pmm::table::Model, Data, u64) -> Result<Value, Problem> + Send + 'static,
    ) -> Answer {
        self.run(move |place| {
            let opened = place.open(&params.model)?;
            work(opened.table()?, params.table.data()?, params.seed)
        })
        .await
    }
}

#[tool_handler(
    name = "pmm",
    instructions = "Generative models of the data in a folder on this machine: fit one to a table, text or images; sample, predict, impute, score, infill."
)]
impl ServerHandler for Assistant {}

/// Serves an assistant over standard input and output, until it goes.
pub async fn serve_assistant(assistant: Assistant) -> Result<(), String> {
    let running = assistant.clone().serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
    let ended = running.waiting().await.map(drop).map_err(|error| error.to_string());
    let _ = tokio::task::spawn_blocking(move || assistant.close()).await;
    ended
}
