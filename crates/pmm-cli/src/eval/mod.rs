//! `pmm eval`: a model against rows it has not seen, each score beside that of real rows.

mod forecast;
pub(crate) mod frames;
mod show;

pub(crate) use show::curve;

use std::path::Path;

use anyhow::Context;
use indicatif::ProgressBar;
use pmm_core::{Purpose, Streams};
use pmm_data::Table;
use pmm_eval::table::{Frame, TableScores, scores};
use pmm_eval::{Prediction, TableReport};
use pmm_net::table::{Cell, ClockKind, Likelihood, Plan};
use pmm_train::Model;

use crate::cli::EvalArgs;
use crate::output::{self, Advice};
use crate::predict::Predictor;
use crate::{columns, image, rows, sample, text};
use frames::Coded;

/// Rows of a file that are looked at; a larger file is sampled.
const MOST_ROWS: usize = 10_000;
const MOST_TRAINING_ROWS: usize = 20_000;
/// With fewer rows every score would be noise.
const FEWEST_ROWS: usize = 10;
/// Rows that are made: as many as there are real ones, but within these.
const MADE: (usize, usize) = (200, 10_000);
/// Cells whose likelihood is computed, at most.
const LIKELIHOOD_CELLS: usize = 200_000;

/// What a model was found to be worth.
pub(crate) struct Evaluation {
    pub(crate) target: String,
    pub(crate) rows: usize,
    pub(crate) real: Frame,
    pub(crate) synth: Frame,
    pub(crate) scores: TableScores,
    pub(crate) prediction: Option<Prediction>,
    pub(crate) likelihood: Option<Likelihood>,
    pub(crate) notes: Vec<String>,
}

/// Rows of a file, and the columns of the schema that it does not have.
pub(crate) struct Rows {
    coded: Coded,
    absent: Vec<usize>,
}

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    if pmm_train::is_image_model(&args.model) {
        return image::eval::run(args);
    }
    if args.is_of_images() {
        anyhow::bail!(Advice::new("--features, -n and --steps are for images".into(), "leave them out"));
    }
    if pmm_train::is_text_model(&args.model) {
        return text::eval::run(args);
    }
    if args.samples.is_some() || args.judge.is_some() {
        anyhow::bail!(Advice::new("--samples and --judge are not for tables".into(), "leave them out"));
    }
    let model = output::load(&args.model)?;
    let target = target(&model, args.target.as_deref())?;
    let bar = output::spinner("reading", args.common.quiet);
    let mut notes = Vec::new();
    let test = read(&args.data, &model, MOST_ROWS, args.common.seed, &mut notes)?;
    let train = match &args.train {
        Some(path) => Some(read(path, &model, MOST_TRAINING_ROWS, args.common.seed, &mut notes)?),
        None => None,
    };
    let (model, mut found) = evaluate(model, &test, train.as_ref(), target, args.common.seed, &bar)?;
    bar.set_message("drawing");
    notes.append(&mut found.notes);
    let report = show::report(&args.model, args, &model, &found);
    let folder = args.out.as_deref().unwrap_or(&args.model);
    let page = write(&report, folder)?;
    bar.finish_and_clear();
    if !args.common.quiet {
        notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    let text = if args.json { show::json(args, &model, &found, &notes) } else { show::text(&report, &found) };
    output::print(text.as_bytes())?;
    if !args.common.quiet {
        eprintln!("report: open {}", page.display());
    }
    Ok(())
}

/// The coded rows of a file, or some of them.
fn read(path: &Path, model: &Model, most: usize, seed: u64, notes: &mut Vec<String>) -> anyhow::Result<Rows> {
    let source = rows::open(path, &model.schema)?;
    let modelled = model.denoiser.net().coordinates().columns.len();
    let (table, found) = Table::read(&source, &model.schema, most * modelled, &Streams::new(seed))?;
    let name = source.name().to_owned();
    notes.extend(source.notes().iter().chain(&found.messages()).map(|note| format!("{name}: {note}")));
    if table.rows < FEWEST_ROWS {
        anyhow::bail!(Advice::new(
            format!("{name} has {} rows, too few for a score", table.rows),
            format!("give at least {FEWEST_ROWS} rows; from 40 on, a classifier can be asked, too")
        ));
    }
    let absent = found.absent.iter().filter_map(|name| model.schema.position(name)).collect();
    Ok(Rows { coded: frames::coded(&table), absent })
}

/// The column to predict: as asked, or the model's, or the last.
fn target(model: &Model, asked: Option<&str>) -> anyhow::Result<usize> {
    match asked.or(model.config.target.as_deref()) {
        Some(name) => columns::find_modelled(&model.schema, name),
        None => {
            let last = model.denoiser.net().coordinates().columns.last();
            Ok(last.context("the model has no column")?.column)
        }
    }
}

/// Scores a model on coded rows of its schema; gives it back.
pub(crate) fn evaluate(
    model: Model,
    test: &Rows,
    train: Option<&Rows>,
    target: usize,
    seed: u64,
    bar: &ProgressBar,
) -> anyhow::Result<(Model, Evaluation)> {
    let streams = Streams::new(seed);
    let mut notes = Vec::new();
    let name = model.schema.columns[target].name.clone();
    // Columns that a file does not have cannot be compared.
    let absent: Vec<usize> =
        test.absent.iter().chain(train.map_or(&[][..], |t| &t.absent)).copied().collect();
    let synth = synthesise(&model, test.coded.len().clamp(MADE.0, MADE.1), &absent, &streams, bar)?;
    bar.set_message("computing the likelihood");
    let likelihood = likelihood(&model, test, &streams);
    if model.denoiser.net().clock() == ClockKind::Gradual {
        notes.push("no likelihood: a model with clock=gradual has no exact one".to_owned());
    }
    let frame = |rows: &Coded| frames::frame(&model, rows, &absent);
    let (real, base) = match train {
        Some(train) => (frame(&test.coded)?, frame(&train.coded)?),
        None => {
            notes.push(
                "half of the rows stand in for training rows as a baseline, and privacy is not checked: --train FILE would give them"
                    .to_owned(),
            );
            let (first, second) = halves(&test.coded, &streams);
            (frame(&second)?, frame(&first)?)
        }
    };
    bar.set_message("comparing made rows with real ones");
    let targets: &[&str] = if absent.contains(&target) { &[] } else { &[&name] };
    let mut scores = scores(&real, &synth, &base, targets, seed)?;
    if train.is_none() {
        scores.privacy = None;
    }
    if scores.two_sample.is_none() {
        notes.push(format!("no classifier test: {} rows are too few for it", real.rows().min(base.rows())));
    }
    let predictor = Predictor::new(model, target);
    let mut predicted = 0;
    let prediction = forecast::score(&predictor, target, &test.coded, seed, |rows| {
        predicted += rows;
        bar.set_message(format!("predicting {name}: {predicted} rows"));
    })?;
    if prediction.is_none() {
        notes.push(format!("no prediction score: no row has a value of {name}"));
    }
    let mut model = predictor.model;
    model.denoiser = model.denoiser.complete(false);
    let rows = test.coded.len();
    Ok((model, Evaluation { target: name, rows, real, synth, scores, prediction, likelihood, notes }))
}

/// New rows, as the verb `sample` would make them.
fn synthesise(
    model: &Model,
    count: usize,
    absent: &[usize],
    streams: &Streams,
    bar: &ProgressBar,
) -> anyhow::Result<Frame> {
    let unknown = vec![Cell::default(); count * model.denoiser.net().coordinates().columns.len()];
    let mut done = 0;
    let plan: Plan = sample::plan(None, false);
    let cells = model.denoiser.fill(&unknown, 0, plan, streams, |rows| {
        done += rows;
        bar.set_message(format!("making rows: {done} of {count}"));
    })?;
    Ok(frames::made(model, &cells, absent)?)
}

fn likelihood(model: &Model, test: &Rows, streams: &Streams) -> Option<Likelihood> {
    let places = &model.denoiser.net().coordinates().columns;
    let most = (LIKELIHOOD_CELLS / places.len().max(1)).max(500).min(test.coded.len());
    let mut cells = rows::cells(model, &test.coded[..most], false);
    // A column that the file does not have is not a row of missing cells.
    for (at, _) in places.iter().enumerate().filter(|(_, place)| test.absent.contains(&place.column)) {
        cells.iter_mut().skip(at).step_by(places.len()).for_each(|cell| *cell = Cell::default());
    }
    model.denoiser.likelihood(&cells, streams, |_| ())
}

/// Two halves of rows, the same for the same seed.
fn halves(rows: &Coded, streams: &Streams) -> (Coded, Coded) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    streams.stream(Purpose::HALVES, 0, 0).shuffle(&mut order);
    let (first, second) = order.split_at(rows.len() / 2);
    let take = |places: &[usize]| places.iter().map(|&row| rows[row].clone()).collect();
    (take(first), take(second))
}

/// Writes page and pictures; returns the page.
fn write(report: &TableReport, folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    crate::files::make_folder(folder)?;
    for picture in report.pictures() {
        let path = folder.join(format!("{}.png", picture.name));
        crate::files::write(&path, &picture.figure.png(2.0)?)?;
    }
    let page = folder.join("report.html");
    crate::files::write(&page, report.html().as_bytes())?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_share_nothing_and_lose_nothing() {
        let rows: Coded = (0..11).map(|i| vec![(i, 0.0)]).collect();
        let (first, second) = halves(&rows, &Streams::new(0));
        let mut all: Vec<u32> = first.iter().chain(&second).map(|row| row[0].0).collect();
        all.sort_unstable();
        assert_eq!((first.len(), second.len()), (5, 6));
        assert_eq!(all, (0..11).collect::<Vec<u32>>());
        assert_eq!(halves(&rows, &Streams::new(0)).0, first);
    }
}
