//! An evaluation as the user sees it: table, JSON, report.

use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, Table as Text};
use pmm_eval::{SummaryRow, TableReport, TrainingPoint};
use pmm_net::table::{ClockKind, Likelihood};
use pmm_train::{Log, Model};

use super::Evaluation;
use crate::cli::EvalArgs;

/// Columns of a terminal.
const WIDTH: u16 = 100;

pub(super) fn report(folder: &Path, args: &EvalArgs, model: &Model, found: &Evaluation) -> TableReport {
    let name = folder.file_stem().map_or_else(|| "table".into(), |name| name.to_string_lossy().into_owned());
    let gradual = model.denoiser.net().clock() == ClockKind::Gradual;
    TableReport {
        title: format!("How good is the model “{name}”?"),
        lead: lead(args, found),
        facts: facts(args, model, found),
        real: Some(found.real.clone()),
        synth: Some(found.synth.clone()),
        scores: found.scores.clone(),
        predictions: found.prediction.clone().into_iter().collect(),
        training: curve(folder),
        loss_unit: if gradual { String::new() } else { "nats per column".to_owned() },
    }
}

fn lead(args: &EvalArgs, found: &Evaluation) -> String {
    let baseline = match &args.train {
        Some(_) => "training rows",
        None => "other real rows",
    };
    let mut lead = format!(
        "{} rows made by the model, held against {} real rows that it has not seen. Every score stands beside a baseline: the same \
         score for {baseline}, which is what a perfect model would get, or for a prediction that does not look at the row.",
        found.synth.rows(),
        found.real.rows(),
    );
    if let Some(likelihood) = &found.likelihood {
        lead += &format!(" {}", sentence(likelihood));
    }
    lead
}

/// What the likelihood means.
fn sentence(found: &Likelihood) -> String {
    format!(
        "To write down an unseen row takes {} bits per column with the model and {} if columns knew nothing of each other: \
         the dependences that it knows save {} ± {} bits per column.",
        signed(found.bits, 2),
        signed(found.independent, 2),
        signed(found.saved, 3),
        signed(found.saved_error, 3),
    )
}

fn signed(value: f64, digits: usize) -> String {
    format!("{value:.digits$}").replace('-', "−")
}

fn facts(args: &EvalArgs, model: &Model, found: &Evaluation) -> Vec<(String, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let net = model.denoiser.net();
    let facts = [
        ("fitted to", format!("{} rows, {} columns", fact("rows"), model.schema.columns.len())),
        ("columns in the model", net.coordinates().columns.len().to_string()),
        ("scored on", format!("{} rows of {}", found.rows, args.data.display())),
        ("weights", net.parts().len().to_string()),
        ("clock", crate::info::clock_name(net.clock()).to_owned()),
        ("steps", format!("{}, the best at {}", fact("steps"), fact("best_step"))),
        ("held-out loss", fact("valid_loss")),
        ("seed", format!("{} (fit), {} (scores)", model.config.seed, args.common.seed)),
        ("version", format!("pmm {}", fact("version"))),
        ("data", format!("BLAKE3 {}", fact("data"))),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The headline figures, with the likelihood.
pub(super) fn summary(report: &TableReport, found: &Evaluation) -> Vec<SummaryRow> {
    let mut rows = report.summary();
    if let Some(likelihood) = &found.likelihood {
        rows.push(SummaryRow {
            name: "bits per column".into(),
            value: format!("{} ± {}", signed(likelihood.bits, 2), signed(likelihood.bits_error, 2)),
            baseline: signed(likelihood.independent, 2),
            meaning: format!(
                "cost of an unseen row, numbers on the scale of their normal scores; baseline: columns on their own. \
                 The difference, {} ± {}, is what dependences save",
                signed(likelihood.saved, 3),
                signed(likelihood.saved_error, 3)
            ),
        });
    }
    rows
}

pub(super) fn text(report: &TableReport, found: &Evaluation) -> String {
    let mut text = Text::new();
    text.load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(["score", "here", "baseline", "meaning"]);
    for row in summary(report, found) {
        text.add_row([row.name, row.value, row.baseline, row.meaning]);
    }
    [1, 2]
        .into_iter()
        .filter_map(|i| text.column_mut(i).map(|c| c.set_cell_alignment(CellAlignment::Right)))
        .for_each(drop);
    format!("{} rows made, {} real rows\n{text}\n", found.synth.rows(), found.real.rows())
}

pub(super) fn json(args: &EvalArgs, model: &Model, found: &Evaluation, notes: &[String]) -> String {
    let value = serde_json::json!({
        "model": args.model,
        "data": args.data,
        "train": args.train,
        "baseline": if args.train.is_some() { "training rows" } else { "half of the rows" },
        "rows": found.rows,
        "rows_compared": found.real.rows(),
        "rows_made": found.synth.rows(),
        "columns": model.denoiser.net().coordinates().columns.len(),
        "target": found.target,
        "seed": args.common.seed,
        "version": env!("CARGO_PKG_VERSION"),
        "scores": found.scores,
        "prediction": found.prediction,
        "likelihood": found.likelihood,
        "notes": notes,
    });
    format!("{value:#}\n")
}

/// The losses of a model's training, by its log.
pub(crate) fn curve(folder: &Path) -> Vec<TrainingPoint> {
    let log = std::fs::read_to_string(folder.join("log.csv")).unwrap_or_default();
    let point = |(step, train, valid): (f64, f64, f64)| TrainingPoint {
        step: step as u64,
        train,
        valid: valid.is_finite().then_some(valid),
    };
    Log::curve(&log).into_iter().map(point).collect()
}
