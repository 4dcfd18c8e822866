//! The tools: each parses its arguments, calls the library and tells.

use std::sync::Arc;

use pmm::arrow::RecordBatch;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Assistant;
use super::schema::schema;
use crate::api::sample::SampleRequest;
use crate::api::texts::{InfillRequest, complete};
use crate::arrow_json;
use crate::fits::FitRequest;
use crate::given::give;
use crate::problem::Problem;
use crate::shelf::Opened;
use crate::table_body::TableBody;

/// Rows that are given to an assistant at a time.
const MOST_ROWS: u64 = 10_000;

/// A tool.
#[derive(Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    what: &'static str,
    arguments: fn() -> Value,
    pub(super) run: fn(&Assistant, Value) -> Result<Value, Problem>,
}

impl Tool {
    /// As an assistant reads it.
    pub(super) fn description(self) -> Value {
        json!({ "name": self.name, "description": self.what, "inputSchema": (self.arguments)() })
    }
}

/// All tools.
pub(super) const TOOLS: [Tool; 11] = [
    Tool {
        name: "list",
        what: "List the models, data files and fits of the folder.",
        arguments: schema::<Nothing>,
        run: list,
    },
    Tool {
        name: "describe",
        what: "Describe a model: its columns with kinds and reasons, how it was trained, how big it is.",
        arguments: schema::<ModelName>,
        run: describe,
    },
    Tool {
        name: "fit",
        what: "Fit a model to a data file of the folder (a table, a text, or images). It runs on; fit_status says how far it is.",
        arguments: schema::<FitRequest>,
        run: fit,
    },
    Tool {
        name: "fit_status",
        what: "How far a fit is: its state, step and losses.",
        arguments: schema::<ModelName>,
        run: fit_status,
    },
    Tool {
        name: "stop_fit",
        what: "Stop a fit; what it has learned is kept, and resume_fit goes on with it.",
        arguments: schema::<ModelName>,
        run: stop_fit,
    },
    Tool {
        name: "resume_fit",
        what: "Go on with a fit that was stopped.",
        arguments: schema::<ModelName>,
        run: resume_fit,
    },
    Tool {
        name: "sample",
        what: "Draw new rows or texts from a model; columns of rows may be given as values, lists or ranges.",
        arguments: schema::<SampleArguments>,
        run: sample,
    },
    Tool {
        name: "predict",
        what: "Predict a column of rows: mean and quantiles of a number, probabilities of levels.",
        arguments: schema::<RowsArguments>,
        run: predict,
    },
    Tool {
        name: "impute",
        what: "Fill the missing cells (null) of rows by draws from their law given the rest of the row.",
        arguments: schema::<RowsArguments>,
        run: impute,
    },
    Tool {
        name: "score",
        what: "Score rows: how likely each is, which of its cells surprise, which rules it breaks.",
        arguments: schema::<RowsArguments>,
        run: score,
    },
    Tool {
        name: "infill",
        what: "Complete the gaps of a text, written ____, [MASK:12] or [MASK].",
        arguments: schema::<InfillArguments>,
        run: infill,
    },
];

/// No arguments.
#[derive(Debug, Deserialize, ToSchema)]
struct Nothing {}

/// A model by name.
#[derive(Debug, Deserialize, ToSchema)]
struct ModelName {
    /// The model's name, without .pmm.
    model: String,
}

/// What to draw from a model.
#[derive(Debug, Deserialize, ToSchema)]
struct SampleArguments {
    /// The model's name.
    model: String,
    /// How many, with which seed, given what.
    #[serde(default)]
    request: SampleRequest,
}

/// Rows for a model of a table.
#[derive(Debug, Deserialize, ToSchema)]
struct RowsArguments {
    /// The model's name.
    model: String,
    /// The rows.
    table: TableBody,
    /// The column to predict; the model's target by default.
    target: Option<String>,
    /// Fixes every random number.
    #[serde(default)]
    seed: u64,
}

/// A text with gaps.
#[derive(Debug, Deserialize, ToSchema)]
struct InfillArguments {
    /// The model's name.
    model: String,
    /// The text, and how it is completed.
    request: InfillRequest,
}

fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, Problem> {
    serde_json::from_value(arguments)
        .map_err(|error| Problem::bad(format!("the arguments are not understood: {error}")))
}

fn told(value: impl serde::Serialize) -> Result<Value, Problem> {
    serde_json::to_value(value).map_err(|error| Problem::internal(error.to_string()))
}

impl Assistant {
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

fn list(assistant: &Assistant, _: Value) -> Result<Value, Problem> {
    let workspace = &assistant.workspace;
    let fits = assistant.fits.list().into_iter().map(|fit| json!({ "model": fit.name, "state": fit.state }));
    let fits: Vec<Value> = fits.collect();
    Ok(json!({ "models": workspace.models(), "data": workspace.data_entries(), "fits": fits }))
}

fn describe(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: ModelName = parsed(arguments)?;
    let mut info = told(assistant.open(&arguments.model)?.model.info())?;
    info["model"] = arguments.model.into();
    Ok(info)
}

fn fit(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    assistant.check_writable()?;
    told(assistant.fits.begin(parsed(arguments)?)?.status())
}

fn fit_status(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: ModelName = parsed(arguments)?;
    told(assistant.fits.get(&arguments.model)?.status())
}

fn stop_fit(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: ModelName = parsed(arguments)?;
    told(assistant.fits.stop(&arguments.model)?.status())
}

fn resume_fit(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    assistant.check_writable()?;
    let arguments: ModelName = parsed(arguments)?;
    told(assistant.fits.resume(&arguments.model)?.status())
}

fn sample(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let SampleArguments { model, request } = parsed(arguments)?;
    let opened = assistant.open(&model)?;
    request.check(opened.model.kind().name())?;
    if request.count > MOST_ROWS {
        return Err(Problem::too_large(format!("more than {MOST_ROWS} at a time")));
    }
    if let pmm::Model::Text(_) = &opened.model {
        let texts = crate::api::texts::prepared(&opened, &request)?.texts()?;
        let texts = texts.map(|text| Ok(String::from_utf8_lossy(&text?).into_owned()));
        return Ok(json!({ "texts": texts.collect::<Result<Vec<_>, Problem>>()? }));
    }
    let sample = opened.table()?.sample(request.count).seed(request.seed).first_row(request.first_row);
    table(give(sample, &request.given).rows()?)
}

fn predict(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: RowsArguments = parsed(arguments)?;
    let opened = assistant.open(&arguments.model)?;
    let model = opened.table()?;
    let Some(target) = arguments.target.or_else(|| model.config().target.clone()) else {
        return Err(Problem::bad("no target").remedy("say which column to predict"));
    };
    let laws = model.predictions(arguments.table.data()?, &target)?.seed(arguments.seed).laws()?;
    table(laws.map(|laws| Ok(laws?.table(0)?.1)))
}

fn impute(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: RowsArguments = parsed(arguments)?;
    let opened = assistant.open(&arguments.model)?;
    table(opened.table()?.impute(arguments.table.data()?).seed(arguments.seed).typed().rows()?)
}

fn score(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: RowsArguments = parsed(arguments)?;
    let opened = assistant.open(&arguments.model)?;
    let (model, mut row) = (opened.table()?, 0);
    table(model.score(arguments.table.data()?).seed(arguments.seed).batches()?.map(|batch| {
        let batch = batch?;
        let scored = model.score_table(row, &batch);
        row += batch.len() as u64;
        scored
    }))
}

fn infill(assistant: &Assistant, arguments: Value) -> Result<Value, Problem> {
    let arguments: InfillArguments = parsed(arguments)?;
    told(complete(assistant.open(&arguments.model)?.text()?, &arguments.request, &mut ())?)
}
