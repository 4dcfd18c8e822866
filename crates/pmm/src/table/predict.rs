//! Prediction: the law of one column given the others.

use std::sync::Arc;

use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, Coding, Column};
use pmm_net::table::{CellCoordinates, ClockKind, ColumnPlace, FillOptions, Law, TableDenoiser, View};
use rayon::prelude::*;

use super::columns::find_modelled;
use super::data::Data;
use super::law::NumberLaw;
use super::laws::{Laws, RowLaw};
use super::model::Model;
use super::rows::{Empty, Reader, known};
use crate::error::Error;

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
    first_row: u64,
    empty: Empty,
}

impl<'m> Predict<'m> {
    pub(crate) fn new(model: &'m Model, data: Data, target: &str) -> Result<Self, Error> {
        let target = Target::new(model, find_modelled(model.schema(), target)?);
        Ok(Self { target, data, seed: 0, first_row: 0, empty: Empty::default() })
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The number of the first row: draws are keyed by it, so that pieces of a table are predicted as the whole would be.
    pub fn first_row(mut self, row: u64) -> Self {
        self.first_row = row;
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
        let streams = Streams::new(self.seed);
        Ok(PredictedLaws {
            target: self.target,
            reader,
            streams,
            first_row: self.first_row,
            empty: self.empty,
        })
    }

    /// The laws of all rows.
    pub fn all(self) -> Result<Laws<'m>, Error> {
        let (column, streams, first) = (self.target.column(), Streams::new(self.seed), self.first_row);
        let mut all = Laws::new(column, first, streams, Vec::new());
        for laws in self.laws()? {
            all.append(laws?);
        }
        Ok(all)
    }
}

/// Laws in the making.
pub struct PredictedLaws<'m> {
    target: Target<'m>,
    reader: Reader,
    streams: Streams,
    first_row: u64,
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
        self.reader.notes()
    }
}

impl<'m> Iterator for PredictedLaws<'m> {
    type Item = Result<Laws<'m>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (batch, cells) = match self.reader.next().transpose()? {
            Ok(rows) => rows,
            Err(error) => return Some(Err(error)),
        };
        let first = self.first_row + batch.first;
        let laws = self.target.laws(batch.rows(), &cells, self.empty, first, &self.streams);
        Some(laws.map(|laws| Laws::new(self.target.column(), first, self.streams, laws)))
    }
}

/// A model that is asked for one column.
pub(crate) struct Target<'m> {
    pub(crate) model: &'m Model,
    /// Never says "missing": a prediction is of a value.
    denoiser: Arc<TableDenoiser>,
    /// The column's place in the schema, and among the modelled columns.
    index: usize,
    at: usize,
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
        rows: usize,
        cells: &[Cells],
        empty: Empty,
        first: u64,
        streams: &Streams,
    ) -> Result<Vec<RowLaw>, Error> {
        let columns = self.denoiser.net().coordinates().columns.len();
        let mut known = known(self.model, rows, cells, empty);
        known.iter_mut().skip(self.at).step_by(columns).for_each(|cell| *cell = CellCoordinates::default());
        if self.denoiser.net().clock() == ClockKind::Gradual {
            return self.by_draws(&known, first, streams);
        }
        let others_known = |row: &[CellCoordinates]| {
            row.iter().enumerate().all(|(column, cell)| column == self.at || !cell.is_unknown())
        };
        let (whole, gapped): (Vec<usize>, Vec<usize>) =
            (0..rows).partition(|row| others_known(&known[row * columns..][..columns]));
        let mut laws = vec![RowLaw::Levels(Vec::new()); rows];
        let direct = self.direct(&known, &whole);
        for (row, law) in whole.iter().zip(direct.iter().map(|law| self.settle(std::slice::from_ref(law)))) {
            laws[*row] = law;
        }
        for row in gapped {
            let row_known = &known[row * columns..][..columns];
            laws[row] = self.over_completions(row_known, first + row as u64, streams)?;
        }
        Ok(laws)
    }

    /// What the network says of the target in some rows.
    fn direct(&self, known: &[CellCoordinates], rows: &[usize]) -> Vec<Law> {
        let columns = self.denoiser.net().coordinates().columns.len();
        let view = |row: usize, column: usize| View::of(&known[rows[row] * columns + column]);
        self.denoiser.laws(rows.len(), view, self.at)
    }

    /// The law of a row over what its unknown cells may be.
    fn over_completions(
        &self,
        known: &[CellCoordinates],
        row: u64,
        streams: &Streams,
    ) -> Result<RowLaw, Error> {
        let places = &self.denoiser.net().coordinates().columns;
        let streams = streams.child(Purpose::FORECAST_GAPS, row);
        let many = known.repeat(COMPLETIONS as usize);
        let filled = self.model.denoiser.fill(&many, 0, FillOptions::default(), &streams, |_| ())?;
        let schema = self.model.schema();
        let mut complete: Vec<CellCoordinates> = filled
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                let place = &places[i % places.len()];
                place.coordinates(&schema.columns[place.column], *cell)
            })
            .collect();
        complete
            .iter_mut()
            .skip(self.at)
            .step_by(places.len())
            .for_each(|cell| *cell = CellCoordinates::default());
        let rows: Vec<usize> = (0..COMPLETIONS as usize).collect();
        Ok(self.settle(&self.direct(&complete, &rows)))
    }

    /// The even mixture of laws, in the unit of the column.
    fn settle(&self, laws: &[Law]) -> RowLaw {
        match &self.column().coding {
            Coding::Numbers(numbers) => RowLaw::Number(NumberLaw::mixture(laws, self.place(), numbers)),
            _ => {
                let mut shares = vec![0.0; self.column().n_codes()];
                for law in laws {
                    let scale = 1.0 / laws.len() as f64;
                    shares.iter_mut().zip(&law.codes).for_each(|(share, p)| *share += scale * p);
                }
                RowLaw::Levels(shares)
            }
        }
    }

    /// By completed rows, where there is no law to ask for.
    fn by_draws(
        &self,
        known: &[CellCoordinates],
        first: u64,
        streams: &Streams,
    ) -> Result<Vec<RowLaw>, Error> {
        let columns = self.denoiser.net().coordinates().columns.len();
        let rows = known.len() / columns;
        let mut drawn: Vec<Vec<Cell>> = vec![Vec::with_capacity(DRAWS as usize); rows];
        for draw in 0..DRAWS {
            let streams = streams.child(Purpose::FORECAST_GAPS, draw);
            let full = self.denoiser.fill(known, first, FillOptions::default(), &streams, |_| ())?;
            drawn.iter_mut().enumerate().for_each(|(row, drawn)| drawn.push(full[row * columns + self.at]));
        }
        let column = self.column();
        let n_codes = column.n_codes();
        let law = |drawn: Vec<Cell>| match &column.coding {
            Coding::Numbers(_) => {
                RowLaw::Number(NumberLaw::of_draws(drawn.into_iter().filter_map(|cell| column.number(cell))))
            }
            _ => {
                // One more of each: a level that was not drawn is not impossible.
                let mut shares = vec![1.0 / n_codes as f64; n_codes];
                for cell in drawn {
                    if let Cell::Level(code) = cell {
                        shares[code as usize] += 1.0;
                    }
                }
                let total = DRAWS as f64 + 1.0;
                RowLaw::Levels(shares.into_iter().map(|share| share / total).collect())
            }
        };
        Ok(drawn.into_par_iter().map(law).collect())
    }
}
