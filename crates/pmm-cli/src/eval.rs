//! `pmm eval`: a model against data it has not seen, each score beside that of real data.

use std::path::{Path, PathBuf};

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use pmm::{Device, FeatureNet, Model, image, table, text};

use crate::cli::EvalArgs;
use crate::output::{prepare, print, refuse, say, say_notes};
use crate::terminal::watcher;

/// Columns of a terminal.
const WIDTH: u16 = 100;

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    match pmm::open_on(&args.model, &device)? {
        Model::Table(model) => of_table(args, &model),
        Model::Text(model) => of_text(args, &model),
        Model::Image(model) => of_images(args, &model, &device),
    }
}

fn of_table(args: &EvalArgs, model: &table::Model) -> anyhow::Result<()> {
    if args.is_of_images() || args.judge.is_some() {
        return refuse("--features, -n, --steps and --judge are not for tables", "leave them out");
    }
    let mut eval = model.evaluate(table::Data::open(&args.data)).seed(args.common.seed());
    if let Some(path) = &args.train {
        eval = eval.train(table::Data::open(path));
    }
    if let Some(path) = &args.samples {
        eval = eval.samples(table::Data::open(path));
    }
    if let Some(target) = &args.target {
        eval = eval.target(target);
    }
    let report = eval.run(&mut watcher(args.common.quiet))?;
    // The model's folder keeps the report on its own rows.
    let page = match args.samples.is_none() || args.out.is_some() {
        true => Some(report.write(folder(args))?),
        false => None,
    };
    say_notes(&report.notes, args.common.quiet);
    show(args, report.to_json(), || Ok(summary(&report)), page)
}

fn of_text(args: &EvalArgs, model: &text::Model) -> anyhow::Result<()> {
    if args.target.is_some() || args.is_of_images() {
        return refuse("--target, --features, -n and --steps are not for texts", "leave them out");
    }
    let mut eval = model.evaluate(text::Data::open(&args.data)).seed(args.common.seed());
    if let Some(path) = &args.train {
        eval = eval.train(text::Data::open(path));
    }
    if let Some(path) = &args.samples {
        eval = eval.samples(read_texts(path)?);
    }
    if let Some(folder) = &args.judge {
        eval = eval.judge(folder);
    }
    let report = eval.run(&mut watcher(args.common.quiet))?;
    let page = if args.samples.is_none() { Some(report.write(folder(args))?) } else { None };
    say_notes(&report.notes, args.common.quiet);
    show(args, report.to_json(), || Ok(report.summary()), page)
}

fn of_images(args: &EvalArgs, model: &image::Model, device: &Device) -> anyhow::Result<()> {
    if args.target.is_some() || args.judge.is_some() {
        return refuse("--target and --judge are not for images", "leave them out");
    }
    if args.samples.is_some() && (args.n.is_some() || args.steps.is_some()) {
        return refuse("with --samples none are drawn", "leave out -n and --steps");
    }
    // What cannot be read is refused before anything is drawn.
    let net = match &args.features {
        Some(path) => Some(FeatureNet::load(path, device).map_err(pmm::Error::from)?),
        None => None,
    };
    let drawing = image::Drawing { calls: args.steps.map(|n| n.get()), ..image::Drawing::default() };
    let mut eval = model.evaluate(image::Data::open(&args.data)).seed(args.common.seed()).drawing(drawing);
    if let Some(net) = &net {
        eval = eval.features(net);
    }
    if let Some(path) = &args.train {
        eval = eval.train(image::Data::open(path));
    }
    if let Some(path) = &args.samples {
        eval = eval.samples(image::Data::open(path));
    }
    if let Some(n) = args.n {
        eval = eval.count(n.get() as u64);
    }
    let report = eval.run(&mut watcher(args.common.quiet))?;
    let page = if args.samples.is_none() { Some(report.write(folder(args))?) } else { None };
    say_notes(&report.notes, args.common.quiet);
    show(args, report.to_json(), || Ok(report.summary()?), page)
}

fn folder(args: &EvalArgs) -> &Path {
    args.out.as_deref().unwrap_or(&args.model)
}

/// The scores on standard output, where the page is on standard error.
fn show(
    args: &EvalArgs,
    json: serde_json::Value,
    words: impl FnOnce() -> anyhow::Result<String>,
    page: Option<PathBuf>,
) -> anyhow::Result<()> {
    let text = if args.json { format!("{json:#}\n") } else { words()? };
    print(text.as_bytes())?;
    if let Some(page) = page.filter(|_| !args.common.quiet) {
        say(format!("report: open {}", page.display()));
    }
    Ok(())
}

/// The headline figures of a table.
fn summary(report: &table::Report<'_>) -> String {
    let mut text = Table::new();
    text.load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(["score", "here", "baseline", "meaning"]);
    for row in report.summary() {
        text.add_row([row.name, row.value, row.baseline, row.meaning]);
    }
    for column in [1, 2] {
        if let Some(column) = text.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let verdict: String = report.verdict().iter().map(|sentence| format!("{sentence}\n")).collect();
    format!("{} rows made, {} real rows\n{text}\n\n{verdict}", report.synth.rows(), report.real.rows())
}

/// Texts of JSON lines.
fn read_texts(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let sample = |(line, text): (usize, &str)| {
        let place = || format!("{}, line {}", path.display(), line + 1);
        let value: serde_json::Value = serde_json::from_str(text).with_context(place)?;
        let text = value["text"].as_str().with_context(|| format!("{} has no field \"text\"", place()))?;
        Ok(text.to_owned())
    };
    text.lines().enumerate().map(sample).collect()
}
