//! A model against rows it has not seen, each score beside that of real rows.

use pmm_core::{Purpose, Streams};
use pmm_data::rules::Rule;
use pmm_data::{Cell, Cells, Coding, Column, Schema, Table as CodedTable, UniqueCells};
use pmm_eval::Prediction;
use pmm_eval::table::{Frame, KnownRelations, TableScores, bins, scores_with};
use pmm_net::table::{Conditions, FillOptions, Likelihood};

use super::columns::find_modelled;
use super::data::Data;
use super::forecast_score;
use super::frames::frame;
use super::model::Model;
use super::predict::Target;
use super::report::{Report, RuleScore};
use super::rows::{Empty, known};
use super::rules::{broken, find_rules};
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Rows of a file that are looked at; a larger file is sampled.
const MOST_ROWS: usize = 10_000;
const MOST_TRAINING_ROWS: usize = 20_000;
/// With fewer rows every score would be noise.
const FEWEST_ROWS: usize = 10;
/// Rows that are made: as many as there are real ones, but within these.
const MADE: (usize, usize) = (200, 10_000);
/// Cells whose likelihood is computed, at most.
const LIKELIHOOD_CELLS: usize = 200_000;

/// An evaluation to make.
#[derive(Debug, Clone)]
pub struct Evaluate<'m> {
    model: &'m Model,
    test: Data,
    train: Option<Data>,
    samples: Option<Data>,
    target: Option<String>,
    seed: u64,
}

/// Rows of a file, and the columns of the schema that it does not have.
struct Rows {
    rows: usize,
    columns: Vec<Cells>,
    absent: Vec<usize>,
    name: String,
    digest: String,
}

impl<'m> Evaluate<'m> {
    pub(crate) fn new(model: &'m Model, test: Data) -> Self {
        Self { model, test, train: None, samples: None, target: None, seed: 0 }
    }

    /// The rows that were used to fit, as a baseline; without them half of the test rows stand in, and privacy is not checked.
    pub fn train(mut self, data: impl Into<Data>) -> Self {
        self.train = Some(data.into());
        self
    }

    /// Rows from anywhere, to be scored in place of rows that the model makes; its own likelihood and predictions are left out.
    pub fn samples(mut self, data: impl Into<Data>) -> Self {
        self.samples = Some(data.into());
        self
    }

    /// The column whose prediction is scored: by default the model's target, or the last column.
    pub fn target(mut self, column: &str) -> Self {
        self.target = Some(column.to_owned());
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes rows, compares, predicts; a stop ends it without a report.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Report<'m>, Error> {
        let target = self.target_column()?;
        let mut notes = Vec::new();
        start(watcher, "reading", None)?;
        let test = self.read(&self.test, MOST_ROWS, &mut notes)?;
        let train = match &self.train {
            Some(data) => Some(self.read(data, MOST_TRAINING_ROWS, &mut notes)?),
            None => None,
        };
        let samples = match &self.samples {
            Some(data) => Some(self.read(data, MADE.1, &mut notes)?),
            None => None,
        };
        let job = Job { model: self.model, seed: self.seed, streams: Streams::new(self.seed), target };
        let mut report = job.run(&test, train.as_ref(), samples.as_ref(), &mut notes, watcher)?;
        watcher.notice(Event::Finished);
        report.warnings = self.warnings(&test, train.as_ref(), samples.as_ref());
        report.test_was_fitted = self.model.fitted.identity.data.split('+').next() == Some(&*test.digest);
        report.notes = report.warnings.iter().cloned().chain(notes).collect();
        Ok(report)
    }

    /// What makes scores mean less than they seem to: rows that the model knows, or the same rows twice.
    fn warnings(&self, test: &Rows, train: Option<&Rows>, samples: Option<&Rows>) -> Vec<String> {
        let mut fitted = self.model.fitted.identity.data.split('+');
        let mut warnings = Vec::new();
        let name = &test.name;
        if fitted.next() == Some(&*test.digest) {
            warnings
                .push(format!("{name} holds the rows that the model was fitted to: every score flatters it"));
        } else if fitted.next() == Some(&*test.digest) {
            warnings.push(format!(
                "{name} holds the rows by which the best of the fit was chosen: scores flatter the model a little"
            ));
        }
        if train.is_some_and(|train| train.digest == test.digest) {
            warnings.push(format!("{name} is both the test and the training rows: baselines are too good"));
        }
        if let Some(samples) = samples.filter(|samples| samples.digest == test.digest) {
            warnings.push(format!("the samples of {} are the test rows themselves", samples.name));
        }
        warnings
    }

    fn target_column(&self) -> Result<usize, Error> {
        let schema: &Schema = self.model.schema();
        match self.target.as_deref().or(self.model.config().target.as_deref()) {
            Some(name) => find_modelled(schema, name),
            None => Ok(self.model.places().last().map_or(0, |place| place.column)),
        }
    }

    /// The coded rows of a file, or some of them.
    fn read(&self, data: &Data, most: usize, notes: &mut Vec<String>) -> Result<Rows, Error> {
        let schema = self.model.schema();
        let source = data.source_like(schema)?;
        let modelled = self.model.denoiser.net().coordinates().columns.len();
        let (table, found) = CodedTable::read(&source, schema, most * modelled, &Streams::new(self.seed))?;
        let name = source.name().to_owned();
        notes.extend(source.notes().iter().chain(&found.messages()).map(|note| format!("{name}: {note}")));
        if table.rows < FEWEST_ROWS {
            let needed = FEWEST_ROWS as u64;
            return Err(Error::TooFew { data: name, found: table.rows as u64, unit: "rows", needed });
        }
        let absent = found.absent.iter().filter_map(|name| schema.position(name)).collect();
        let digest = source.digest()?.to_owned();
        Ok(Rows { rows: table.rows, columns: table.columns, absent, name, digest })
    }
}

/// One evaluation.
struct Job<'m> {
    model: &'m Model,
    seed: u64,
    streams: Streams,
    target: usize,
}

impl<'m> Job<'m> {
    fn run(
        &self,
        test: &Rows,
        train: Option<&Rows>,
        samples: Option<&Rows>,
        notes: &mut Vec<String>,
        watcher: &mut dyn Watcher,
    ) -> Result<Report<'m>, Error> {
        // Columns that a file does not have cannot be compared.
        let files = [Some(test), train, samples];
        let absent: Vec<usize> = files.into_iter().flatten().flat_map(|file| &file.absent).copied().collect();
        let (made, made_columns) = self.made(test, samples, watcher)?;
        let synth = frame(self.model, &made_columns, &absent)?;
        let likelihood = self.likelihood_unless(samples.is_some(), test, notes, watcher)?;
        let (real, base) = self.compared(test, train, &absent, notes)?;
        start(watcher, "looking for rules", None)?;
        let found: Vec<Rule> = find_rules(self.model.schema(), &test.columns, test.rows)
            .into_iter()
            .map(|found| found.rule)
            .collect();
        let rules = self.rules(&found, test, &made_columns, made);
        start(watcher, "comparing made rows with real ones", None)?;
        let known = self.relations(&found);
        let scores = self.scores([&real, &synth, &base], &absent, &known, train.is_some())?;
        let (columns, few) = (real.columns.len(), bins(real.columns.len()));
        if few < bins(1) {
            notes.push(format!(
                "classifiers see each of the {columns} columns in {few} steps, not {}, so that they end in time",
                bins(1)
            ));
        }
        if scores.two_sample.is_none() {
            let rows = real.rows().min(base.rows());
            notes.push(format!("no classifier test: {rows} rows are too few for it"));
        }
        let prediction = match samples {
            Some(_) => None,
            None => self.prediction(test, notes, watcher)?,
        };
        Ok(Report {
            rules,
            model: self.model,
            data: test.name.clone(),
            train: train.map(|train| train.name.clone()),
            samples: samples.map(|samples| samples.name.clone()),
            target: self.model.schema().columns[self.target].name.clone(),
            seed: self.seed,
            rows: test.rows,
            real,
            synth,
            scores,
            prediction,
            likelihood,
            test_was_fitted: false,
            warnings: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The rows that are scored: those of a file, or new ones.
    fn made(
        &self,
        test: &Rows,
        samples: Option<&Rows>,
        watcher: &mut dyn Watcher,
    ) -> Result<(usize, Vec<Cells>), Error> {
        if let Some(samples) = samples {
            return Ok((samples.rows, samples.columns.clone()));
        }
        let made = test.rows.clamp(MADE.0, MADE.1);
        start(watcher, "making rows", Some(made as u64))?;
        let columns = self.synthesise(made, watcher)?;
        let schema = self.model.schema();
        Ok((made, schema.columns.iter().zip(columns).map(|(column, cells)| written(column, cells)).collect()))
    }

    fn likelihood_unless(
        &self,
        left_out: bool,
        test: &Rows,
        notes: &mut Vec<String>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Likelihood>, Error> {
        if left_out {
            return Ok(None);
        }
        start(watcher, "computing the likelihood", None)?;
        let likelihood = self.likelihood(test);
        if likelihood.is_none() {
            notes.push("no likelihood: a model with gradual clocks has no exact one".to_owned());
        }
        Ok(likelihood)
    }

    /// What a classifier is shown beside the columns: dates, and columns of one rule.
    fn relations(&self, rules: &[Rule]) -> KnownRelations {
        let dates = self.model.schema().columns.iter().filter_map(|column| match &column.coding {
            Coding::Numbers(numbers) if numbers.date.is_some() => {
                Some((column.name.clone(), if numbers.counts_days() { 86_400.0 } else { 1.0 }))
            }
            _ => None,
        });
        let pairs = rules.iter().flat_map(|rule| {
            let mut columns = rule.columns();
            let last = columns.pop().unwrap_or_default().to_owned();
            columns.into_iter().map(move |column| (column.to_owned(), last.clone())).collect::<Vec<_>>()
        });
        KnownRelations { dates: dates.collect(), pairs: pairs.collect() }
    }

    /// New rows, as `sample` would make them.
    fn synthesise(&self, rows: usize, watcher: &mut dyn Watcher) -> Result<Vec<Cells>, Error> {
        let columns = self.model.denoiser.net().coordinates().columns.len();
        let mut known = vec![None; rows * columns];
        let unique = UniqueCells::new(self.model.schema(), &self.streams);
        self.model.set_unique(&unique, 0, &mut known);
        let mut done = 0;
        let options = FillOptions::default();
        let filled =
            self.model.denoiser.fill(&known, &Conditions::default(), 0, options, &self.streams, |rows| {
                done += rows as u64;
                watcher.notice(Event::Progress { done });
            })?;
        Ok(self.model.columns_of(&filled, rows))
    }

    /// Rules of the real rows, and how often made rows break them.
    fn rules(&self, rules: &[Rule], test: &Rows, made: &[Cells], rows: usize) -> Vec<RuleScore> {
        let schema = self.model.schema();
        let real = broken(schema, &test.columns, test.rows, rules);
        let made = broken(schema, made, rows, rules);
        let scores = rules.iter().zip(real).zip(made).filter_map(|((rule, real), made)| {
            Some(RuleScore { rule: rule.sentence(), real: real?, made: made? })
        });
        scores.collect()
    }

    fn likelihood(&self, test: &Rows) -> Option<Likelihood> {
        let columns = self.model.denoiser.net().coordinates().columns.len().max(1);
        let rows = (LIKELIHOOD_CELLS / columns).max(500).min(test.rows);
        let cells = known(self.model, rows, &test.columns, Empty::Missing);
        self.model.denoiser.whole().likelihood(&cells, &self.streams, |_| ())
    }

    /// Rows to compare with, and the baseline: training rows, or half of those given.
    fn compared(
        &self,
        test: &Rows,
        train: Option<&Rows>,
        absent: &[usize],
        notes: &mut Vec<String>,
    ) -> Result<(Frame, Frame), Error> {
        if let Some(train) = train {
            return Ok((
                frame(self.model, &test.columns, absent)?,
                frame(self.model, &train.columns, absent)?,
            ));
        }
        notes.push(
            "half of the rows stand in for training rows as a baseline, and privacy is not checked: give the training rows for both"
                .to_owned(),
        );
        let (first, second) = halves(test.rows, &self.streams);
        let some = |rows: &[usize]| -> Result<Frame, Error> {
            let select = |cells: &Cells| if cells.is_empty() { Cells::new() } else { cells.select(rows) };
            Ok(frame(self.model, &test.columns.iter().map(select).collect::<Vec<_>>(), absent)?)
        };
        Ok((some(&second)?, some(&first)?))
    }

    fn scores(
        &self,
        [real, synth, base]: [&Frame; 3],
        absent: &[usize],
        known: &KnownRelations,
        trained: bool,
    ) -> Result<TableScores, Error> {
        let name = self.model.schema().columns[self.target].name.as_str();
        let targets: &[&str] = if absent.contains(&self.target) { &[] } else { &[name] };
        let mut scores = scores_with(real, synth, base, targets, known, self.seed)?;
        if !trained {
            scores.privacy = None;
        }
        Ok(scores)
    }

    fn prediction(
        &self,
        test: &Rows,
        notes: &mut Vec<String>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Prediction>, Error> {
        let name = &self.model.schema().columns[self.target].name;
        start(watcher, &format!("predicting {name}"), Some(test.rows as u64))?;
        let target = Target::new(self.model, self.target);
        let found =
            forecast_score::score(&target, self.target, test.rows, &test.columns, self.seed, |done| {
                watcher.notice(Event::Progress { done: done as u64 });
            })?;
        if found.is_none() {
            notes.push(format!("no prediction score: no row has a value of {name}"));
        }
        Ok(found)
    }
}

/// Cells as they are written: numbers on the grid of their column.
fn written(column: &Column, cells: Cells) -> Cells {
    let Coding::Numbers(numbers) = &column.coding else { return cells };
    let on_grid = |cell| match cell {
        Cell::Value(value) => Cell::Value(numbers.on_grid(value)),
        cell => cell,
    };
    cells.iter().map(on_grid).collect()
}

/// A part of the job begins, unless it should stop.
fn start(watcher: &mut dyn Watcher, what: &str, total: Option<u64>) -> Result<(), Error> {
    if watcher.wants_stop() {
        return Err(Error::Stopped);
    }
    watcher.notice(Event::Started { what, total });
    Ok(())
}

/// Two halves of rows, the same for the same seed.
fn halves(rows: usize, streams: &Streams) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..rows).collect();
    streams.stream(Purpose::HALVES, 0, 0).shuffle(&mut order);
    let second = order.split_off(rows / 2);
    (order, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_share_nothing_and_lose_nothing() {
        let (first, second) = halves(11, &Streams::new(0));
        let mut all: Vec<usize> = first.iter().chain(&second).copied().collect();
        all.sort_unstable();
        assert_eq!((first.len(), second.len()), (5, 6));
        assert_eq!(all, (0..11).collect::<Vec<usize>>());
        assert_eq!(halves(11, &Streams::new(0)).0, first);
    }
}
