//! New cells: rows with unknown cells are filled by a sampler.

use pmm_core::{
    Finish, Observer, ParameterError, SpaceError, States, Streams, TimeGrid, Values, online, reveal,
};

use pmm_data::Cell;

use super::coordinates::{CellCoordinates, ClockKind};
use super::denoise::TableDenoiser;

/// Why no cells came.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A number of steps that no grid has.
    #[error(transparent)]
    Grid(#[from] ParameterError),
    /// The network's answer could not be used.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// How cells are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillOptions {
    /// Network calls of the gradual clock; revealing takes one per unknown column.
    pub steps: usize,
    /// Keep to values that were seen, in columns whose values repeat.
    pub snap: bool,
}

impl Default for FillOptions {
    fn default() -> Self {
        Self { steps: 100, snap: true }
    }
}

/// Rows that go through the network together: a result does not depend on it.
const CHUNK: usize = 512;

impl TableDenoiser {
    /// Fills the unknown cells of rows, `[rows, columns]` of the modelled columns; returns all of them. The first row is
    /// number `first_row` of the whole: its draws are keyed by that.
    pub fn fill(
        &self,
        cells: &[CellCoordinates],
        first_row: u64,
        options: FillOptions,
        streams: &Streams,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<Cell>, GenerateError> {
        let columns = self.net().coordinates().columns.len();
        let mut filled = Vec::with_capacity(cells.len());
        for (chunk, cells) in cells.chunks(CHUNK * columns.max(1)).enumerate() {
            let states = self.states(cells, first_row + (chunk * CHUNK) as u64)?;
            let x = self.run(states, options, streams, &mut ())?;
            self.collect(&x, cells, options.snap, &mut filled);
            done(cells.len() / columns.max(1));
        }
        Ok(filled)
    }

    /// States whose known cells are observed.
    pub fn states(&self, cells: &[CellCoordinates], first_row: u64) -> Result<States, SpaceError> {
        let columns = self.net().coordinates().columns.len();
        let column_of = self.net().column_of_block();
        let mut states =
            States::prior(&self.net().coordinates().space, first_row, cells.len() / columns.max(1));
        let known =
            |row: usize, block: usize, _: usize| !cells[row * columns + column_of[block].0].is_unknown();
        states.observe(&self.net().values(cells), known)?;
        Ok(states)
    }

    /// Lets a sampler run from states, by the clock of the network.
    pub fn run(
        &self,
        states: States,
        options: FillOptions,
        streams: &Streams,
        observer: &mut dyn Observer,
    ) -> Result<Values, GenerateError> {
        Ok(match self.net().clock() {
            ClockKind::Reveal => {
                reveal(self, states, &self.net().coordinates().groups, None, streams, observer)?
            }
            // Clocks are exponential in time: even steps in time are geometric steps in information.
            ClockKind::Gradual => {
                online(self, states, &TimeGrid::uniform(options.steps)?, streams, Finish::Estimate, observer)?
            }
        })
    }

    /// Values of the space as cells; known numbers stay as they are.
    fn collect(&self, x: &Values, cells: &[CellCoordinates], snap: bool, filled: &mut Vec<Cell>) {
        let columns = &self.net().coordinates().columns;
        for (i, known) in cells.iter().enumerate() {
            let (row, place) = (i / columns.len(), &columns[i % columns.len()]);
            let column = &self.net().schema().columns[place.column];
            let token = place.tokens.as_ref().map(|tokens| x.tokens(tokens.block)[row]);
            let x = place.value.as_ref().map_or(f64::NAN, |at| f64::from(x.reals(at.block)[row]));
            filled.push(match known.value {
                // Through the coordinates a known value might lose digits.
                Some(value) => Cell::Value(value),
                None => place.cell(column, token, x, snap),
            });
        }
    }
}
