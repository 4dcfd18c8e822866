//! Reports: a page, figures, and the headlines among them.

use std::path::PathBuf;

use pyo3::prelude::*;

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

/// Runs an evaluation and writes its report where one is asked for; the report.
macro_rules! evaluated {
    ($evaluate:expr, $train:expr, $samples:expr, $evaluating:expr, $watcher:expr) => {{
        let mut evaluate = $evaluate.seed($evaluating.seed);
        if let Some(train) = $train {
            evaluate = evaluate.train(train.0);
        }
        if let Some(samples) = $samples {
            evaluate = evaluate.samples(samples);
        }
        let report = evaluate.run($watcher)?;
        if let Some(out) = $evaluating.out {
            report.write(out)?;
        }
        report
    }};
}
pub(crate) use evaluated;
