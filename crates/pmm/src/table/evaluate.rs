//! A model against rows it has not seen, each score beside that of real rows.

use pmm_core::{Purpose, Streams};
use pmm_data::rules::Rule;
use pmm_data::{Cells, Schema, Table as CodedTable};
use pmm_eval::Prediction;
use pmm_eval::table::{Frame, TableScores, scores};
use pmm_net::table::{CellCoordinates, FillOptions, Likelihood};

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
    target: Option<String>,
    seed: u64,
}

/// Rows of a file, and the columns of the schema that it does not have.
struct Rows {
    rows: usize,
    columns: Vec<Cells>,
    absent: Vec<usize>,
    name: String,
}

impl<'m> Evaluate<'m> {
    pub(crate) fn new(model: &'m Model, test: Data) -> Self {
        Self { model, test, train: None, target: None, seed: 0 }
    }

    /// The rows that were used to fit, as a baseline; without them half of the test rows stand in, and privacy is not checked.
    pub fn train(mut self, data: impl Into<Data>) -> Self {
        self.train = Some(data.into());
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
        let job = Job { model: self.model, seed: self.seed, streams: Streams::new(self.seed), target };
        let mut report = job.run(&test, train.as_ref(), &mut notes, watcher)?;
        watcher.notice(Event::Finished);
        report.notes = notes;
        Ok(report)
    }

    fn target_column(&self) -> Result<usize, Error> {
        let schema: &Schema = self.model.schema();
        match self.target.as_deref().or(self.model.config().target.as_deref()) {
            Some(name) => find_modelled(schema, name),
            None => {
                Ok(self.model.denoiser.net().coordinates().columns.last().map_or(0, |place| place.column))
            }
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
        if std::ptr::eq(data, &self.test) && source.digest()? == self.model.fitted.identity.data {
            notes
                .push(format!("{name} holds the rows that the model was fitted to: every score flatters it"));
        }
        let absent = found.absent.iter().filter_map(|name| schema.position(name)).collect();
        Ok(Rows { rows: table.rows, columns: table.columns, absent, name })
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
        notes: &mut Vec<String>,
        watcher: &mut dyn Watcher,
    ) -> Result<Report<'m>, Error> {
        // Columns that a file does not have cannot be compared.
        let absent: Vec<usize> =
            test.absent.iter().chain(train.map_or(&[][..], |train| &train.absent)).copied().collect();
        let made = test.rows.clamp(MADE.0, MADE.1);
        start(watcher, "making rows", Some(made as u64))?;
        let made_columns = self.synthesise(made, watcher)?;
        let synth = frame(self.model, &made_columns, &absent)?;
        start(watcher, "computing the likelihood", None)?;
        let likelihood = self.likelihood(test);
        if likelihood.is_none() {
            notes.push("no likelihood: a model with gradual clocks has no exact one".to_owned());
        }
        let (real, base) = self.compared(test, train, &absent, notes)?;
        start(watcher, "comparing made rows with real ones", None)?;
        let scores = self.scores(&real, &synth, &base, &absent, train.is_some())?;
        if scores.two_sample.is_none() {
            let rows = real.rows().min(base.rows());
            notes.push(format!("no classifier test: {rows} rows are too few for it"));
        }
        start(watcher, "looking for rules", None)?;
        let rules = self.rules(test, &made_columns, made);
        let prediction = self.prediction(test, notes, watcher)?;
        Ok(Report {
            rules,
            model: self.model,
            data: test.name.clone(),
            train: train.map(|train| train.name.clone()),
            target: self.model.schema().columns[self.target].name.clone(),
            seed: self.seed,
            rows: test.rows,
            real,
            synth,
            scores,
            prediction,
            likelihood,
            notes: Vec::new(),
        })
    }

    /// New rows, as `sample` would make them.
    fn synthesise(&self, rows: usize, watcher: &mut dyn Watcher) -> Result<Vec<Cells>, Error> {
        let columns = self.model.denoiser.net().coordinates().columns.len();
        let unknown = vec![CellCoordinates::default(); rows * columns];
        let mut done = 0;
        let options = FillOptions::default();
        let filled = self.model.denoiser.fill(&unknown, 0, options, &self.streams, |rows| {
            done += rows as u64;
            watcher.notice(Event::Progress { done });
        })?;
        Ok(self.model.columns_of(&filled, rows))
    }

    /// Rules of the real rows, and how often made rows break them.
    fn rules(&self, test: &Rows, made: &[Cells], rows: usize) -> Vec<RuleScore> {
        let schema = self.model.schema();
        let rules: Vec<Rule> =
            find_rules(schema, &test.columns, test.rows).into_iter().map(|found| found.rule).collect();
        let real = broken(schema, &test.columns, test.rows, &rules);
        let made = broken(schema, made, rows, &rules);
        let scores = rules.iter().zip(real).zip(made).filter_map(|((rule, real), made)| {
            Some(RuleScore { rule: rule.sentence(), real: real?, made: made? })
        });
        scores.collect()
    }

    fn likelihood(&self, test: &Rows) -> Option<Likelihood> {
        let columns = self.model.denoiser.net().coordinates().columns.len().max(1);
        let rows = (LIKELIHOOD_CELLS / columns).max(500).min(test.rows);
        let cells = known(self.model, rows, &test.columns, Empty::Missing);
        self.model.denoiser.likelihood(&cells, &self.streams, |_| ())
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
        real: &Frame,
        synth: &Frame,
        base: &Frame,
        absent: &[usize],
        trained: bool,
    ) -> Result<TableScores, Error> {
        let name = self.model.schema().columns[self.target].name.as_str();
        let targets: &[&str] = if absent.contains(&self.target) { &[] } else { &[name] };
        let mut scores = scores(real, synth, base, targets, self.seed)?;
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
