//! Reports: a page, figures, and the headlines among them.

use std::path::PathBuf;

use pmm::Info;
use pyo3::prelude::*;

use crate::errors::failure;

/// How an evaluation is made.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Evaluating {
    pub(crate) target: Option<String>,
    pub(crate) seed: u64,
    /// A folder for the page.
    pub(crate) out: Option<PathBuf>,
}

/// What a report is made of.
#[derive(IntoPyObject)]
pub(crate) struct ReportParts {
    pub(crate) html: String,
    pub(crate) json: String,
    /// (score, here, baseline, meaning), where the report has such rows.
    pub(crate) rows: Vec<(String, String, String, String)>,
    /// The headlines in words, where it has none.
    pub(crate) words: String,
    pub(crate) notes: Vec<String>,
}

/// Facts about a model as JSON: in words, and all of them.
pub(crate) fn facts(py: Python<'_>, info: &Info) -> PyResult<String> {
    let all = serde_json::to_value(info).map_err(|error| failure(py, &error.to_string()))?;
    Ok(serde_json::json!({ "facts": info.facts(), "info": all }).to_string())
}
