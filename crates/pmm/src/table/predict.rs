//! Prediction: the law of one column given the others.

use std::sync::Arc;

use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, Coding, Column};
use pmm_net::table::{
    CellCoordinates, CellLaw, ClockKind, ColumnPlace, Conditions, FillOptions, TableDenoiser,
};
use rayon::prelude::*;

use super::columns::find_modelled;
use super::data::Data;
use super::law::NumberLaw;
use super::laws::{Laws, RowLaw};
use super::model::Model;
use super::row_keys::{Numbering, RowKeys, by_runs};
use super::rows::{Empty, Reader, known};
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Completions of a row over which its law is taken, where other cells than the target are unknown.
const COMPLETIONS: u64 = 64;
/// Draws of a row with gradual clocks, which have no law in closed form.
const DRAWS: u64 = 128;

/// Predictions to make, in batches. What the rows say of the target is not looked at.
///
/// A column that the rows do not have, and a level never seen, are unknown: the law is taken over what they may be.
pub struct Predict<'m> {
    target: Target<'m>,
    data: Data,
    seed: u64,
    keys: RowKeys,
    empty: Empty,
}

impl<'m> Predict<'m> {
    pub(crate) fn new(model: &'m Model, data: Data, target: &str) -> Result<Self, Error> {
        let target = Target::new(model, find_modelled(model.schema(), target)?);
        Ok(Self { target, data, seed: 0, keys: RowKeys::default(), empty: Empty::default() })
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The number of the first row: draws are keyed by it, so that pieces of a table are predicted as the whole would be.
    pub fn first_row(mut self, row: u64) -> Self {
        self.keys.first_row = row;
        self
    }

    /// A column whose cells name the rows, in place of their numbers: whatever order rows come in, and in whatever pieces, one with the
    /// same key is predicted alike. A key that is empty, or that comes twice, is refused.
    pub fn key(mut self, column: &str) -> Self {
        self.keys.column = Some(column.to_owned());
        self
    }

    /// What an empty cell says; by default that there is nothing.
    pub fn empty(mut self, empty: Empty) -> Self {
        self.empty = empty;
        self
    }

    /// The laws, batch by batch.
    pub fn laws(self) -> Result<PredictedLaws<'m>, Error> {
        let reader = Reader::open(&self.data, self.target.model.schema())?;
        let numbering = self.keys.open(&reader)?;
        let streams = Streams::new(self.seed);
        Ok(PredictedLaws { target: self.target, reader, streams, numbering, empty: self.empty })
    }

    /// The laws of all rows.
    pub fn all(self) -> Result<Laws<'m>, Error> {
        self.all_watched(&mut ())
    }

    /// The laws of all rows, while a watcher hears how many there are and what is noticed; a stop ends it without them.
    pub fn all_watched(self, watcher: &mut dyn Watcher) -> Result<Laws<'m>, Error> {
        let (column, streams) = (self.target.column(), Streams::new(self.seed));
        let mut all = Laws::new(column, Vec::new(), streams, Vec::new());
        let mut batches = self.laws()?;
        watcher.notice(Event::Started { what: "predicting", total: None });
        for laws in batches.by_ref() {
            all.append(laws?);
            watcher.notice(Event::Progress { done: all.len() as u64 });
            if watcher.wants_stop() {
                return Err(Error::Stopped);
            }
        }
        watcher.notice(Event::Finished);
        batches.notes().iter().for_each(|note| watcher.notice(Event::Note(note)));
        Ok(all)
    }
}

/// Laws in the making.
pub struct PredictedLaws<'m> {
    target: Target<'m>,
    reader: Reader,
    streams: Streams,
    numbering: Numbering,
    empty: Empty,
}

impl<'m> PredictedLaws<'m> {
    /// The column that is predicted.
    pub fn column(&self) -> &'m Column {
        self.target.column()
    }

    /// What separates fields in the file of the rows.
    pub fn delimiter(&self) -> char {
        self.reader.source().delimiter()
    }

    /// What was noticed so far.
    pub fn notes(&self) -> Vec<String> {
        self.reader.notes_without(&self.target.column().name)
    }
}

impl<'m> Iterator for PredictedLaws<'m> {
    type Item = Result<Laws<'m>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (batch, cells) = match self.reader.next().transpose()? {
            Ok(rows) => rows,
            Err(error) => return Some(Err(error)),
        };
        let laws = self.numbering.numbers(&batch).and_then(|numbers| {
            let laws = self.target.laws(&cells, self.empty, &numbers, &self.streams)?;
            Ok(Laws::new(self.target.column(), numbers, self.streams, laws))
        });
        Some(laws)
    }
}

/// A model that is asked for one column.
pub(crate) struct Target<'m> {
    pub(crate) model: &'m Model,
    /// Never says "missing": a prediction is of a value.
    denoiser: Arc<TableDenoiser>,
    /// The column's place in the schema, and among the modelled columns.
    index: usize,
    pub(crate) at: usize,
}

impl<'m> Target<'m> {
    pub(crate) fn new(model: &'m Model, index: usize) -> Self {
        let denoiser = Arc::new(model.denoiser.clone().complete(true));
        let at = denoiser.net().coordinates().columns.iter().position(|place| place.column == index);
        Self { model, denoiser, index, at: at.unwrap_or(0) }
    }

    pub(crate) fn column(&self) -> &'m Column {
        &self.model.schema().columns[self.index]
    }

    fn place(&self) -> &ColumnPlace {
        &self.denoiser.net().coordinates().columns[self.at]
    }

    /// The laws of rows: each depends on its own row, its number and the seed alone.
    pub(crate) fn laws(
        &self,
        cells: &[Cells],
        empty: Empty,
        numbers: &[u64],
        streams: &Streams,
    ) -> Result<Vec<RowLaw>, Error> {
        let rows = numbers.len();
        let columns = self.denoiser.net().coordinates().columns.len();
        let mut known = known(self.model, rows, cells, empty);
        known.iter_mut().skip(self.at).step_by(columns).for_each(|cell| *cell = None);
        if self.denoiser.net().clock() == ClockKind::Gradual {
            return self.by_draws(&known, numbers, streams);
        }
        let seen = self.denoiser.seen(&known);
        let derived = |column: usize| self.denoiser.net().keeper().is_derived(column);
        let others_known = |row: &[CellCoordinates]| {
            let open = |(column, cell): (usize, &CellCoordinates)| {
                column != self.at && !derived(column) && cell.is_unknown()
            };
            !row.iter().enumerate().any(open)
        };
        let (whole, gapped): (Vec<usize>, Vec<usize>) =
            (0..rows).partition(|row| others_known(&seen[row * columns..][..columns]));
        let mut laws = vec![RowLaw::Levels(Vec::new()); rows];
        let chosen: Vec<Option<Cell>> =
            whole.iter().flat_map(|row| known[row * columns..][..columns].iter().copied()).collect();
        for (row, cases) in
            whole.iter().zip(self.denoiser.cell_laws(&chosen, self.at, &Conditions::default()))
        {
            laws[*row] = self.settle(&cases);
        }
        for row in gapped {
            let row_known = &known[row * columns..][..columns];
            laws[row] = self.over_completions(row_known, numbers[row], streams)?;
        }
        Ok(laws)
    }

    /// The law of a row over what its unknown cells may be.
    fn over_completions(&self, known: &[Option<Cell>], row: u64, streams: &Streams) -> Result<RowLaw, Error> {
        let columns = known.len();
        let streams = streams.child(Purpose::FORECAST_GAPS, row);
        let many = known.repeat(COMPLETIONS as usize);
        let conditions = Conditions::default();
        let filled =
            self.model.denoiser.fill(&many, &conditions, 0, FillOptions::default(), &streams, |_| ())?;
        let keeper = self.denoiser.net().keeper();
        // What is derived from the target is as unknown as the target.
        let kept = |(i, cell): (usize, Cell)| {
            let column = i % columns;
            (column != self.at && !keeper.is_derived(column)).then_some(cell)
        };
        let complete: Vec<Option<Cell>> = filled.into_iter().enumerate().map(kept).collect();
        Ok(self.over(&complete))
    }

    /// The law over rows, each as likely as the others. What is known of the column itself is not looked at; what is not known of
    /// others counts as such.
    fn over(&self, known: &[Option<Cell>]) -> RowLaw {
        self.mixture(self.denoiser.cell_laws(known, self.at, &Conditions::default()))
    }

    /// The law over rows with the cases of each, each row as likely as the others.
    pub(crate) fn mixture(&self, rows: Vec<Vec<(f64, CellLaw)>>) -> RowLaw {
        let share = 1.0 / rows.len().max(1) as f64;
        let cases = rows.into_iter().flatten().map(|(weight, law)| (share * weight, law));
        self.settle(&cases.collect::<Vec<_>>())
    }

    /// The mixture of cases, in the unit of the column.
    fn settle(&self, cases: &[(f64, CellLaw)]) -> RowLaw {
        let column = self.column();
        if let Coding::Numbers(_) = &column.coding {
            return RowLaw::Number(NumberLaw::mixture(cases, self.place(), column));
        }
        let mut shares = vec![0.0; column.n_codes()];
        for (weight, case) in cases {
            match case {
                CellLaw::Cell(Cell::Level(code)) => shares[*code as usize] += weight,
                CellLaw::Cell(_) => {}
                CellLaw::Open { codes, .. } => {
                    shares.iter_mut().zip(codes).for_each(|(share, p)| *share += weight * p);
                }
            }
        }
        RowLaw::Levels(shares)
    }

    /// By completed rows, where there is no law to ask for.
    fn by_draws(
        &self,
        known: &[Option<Cell>],
        numbers: &[u64],
        streams: &Streams,
    ) -> Result<Vec<RowLaw>, Error> {
        let columns = self.denoiser.net().coordinates().columns.len();
        let rows = numbers.len();
        let mut drawn: Vec<Vec<Cell>> = vec![Vec::with_capacity(DRAWS as usize); rows];
        for draw in 0..DRAWS {
            let streams = streams.child(Purpose::FORECAST_GAPS, draw);
            let (conditions, options) = (Conditions::default(), FillOptions::default());
            let full = by_runs(numbers, |run, first| {
                let known = &known[run.start * columns..run.end * columns];
                Ok(self.denoiser.fill(known, &conditions, first, options, &streams, |_| ())?)
            })?;
            drawn.iter_mut().enumerate().for_each(|(row, drawn)| drawn.push(full[row * columns + self.at]));
        }
        Ok(drawn.into_par_iter().map(|drawn| self.of_draws(&drawn)).collect())
    }

    /// The law of draws, each as likely as the others.
    pub(crate) fn of_draws(&self, drawn: &[Cell]) -> RowLaw {
        let column = self.column();
        if let Coding::Numbers(_) = &column.coding {
            return RowLaw::Number(NumberLaw::of_draws(drawn.iter().filter_map(|cell| column.number(*cell))));
        }
        // One more of each: a level that was not drawn is not impossible.
        let n_codes = column.n_codes();
        let mut shares = vec![1.0 / n_codes as f64; n_codes];
        for cell in drawn {
            if let Cell::Level(code) = cell {
                shares[*code as usize] += 1.0;
            }
        }
        let total = drawn.len() as f64 + 1.0;
        RowLaw::Levels(shares.into_iter().map(|share| share / total).collect())
    }
}
