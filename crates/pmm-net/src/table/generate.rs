//! New cells: rows with unknown cells are filled by a sampler.

use pmm_core::{
    Finish, Observer, ParameterError, SpaceError, States, Streams, TimeGrid, Values, online, reveal,
};

use super::coordinates::{Cell, ClockKind};
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
pub struct Plan {
    /// Network calls of the gradual clock; revealing takes one per unknown column.
    pub steps: usize,
    /// Keep to values that were seen, in columns whose values repeat.
    pub snap: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { steps: 100, snap: true }
    }
}

/// Rows that go through the network together: a result does not depend on it.
const CHUNK: usize = 512;

impl TableDenoiser {
    /// Fills the unknown cells of rows, `[rows, columns]` of the modelled columns; returns all of them coded. The first row is
    /// number `first_row` of the whole: its draws are keyed by that.
    pub fn fill(
        &self,
        cells: &[Cell],
        first_row: u64,
        plan: Plan,
        streams: &Streams,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<(u32, f64)>, GenerateError> {
        let columns = self.net().coordinates().columns.len();
        let mut coded = Vec::with_capacity(cells.len());
        for (chunk, cells) in cells.chunks(CHUNK * columns.max(1)).enumerate() {
            let states = self.states(cells, first_row + (chunk * CHUNK) as u64)?;
            let x = self.run(states, plan, streams, &mut ())?;
            self.code(&x, cells, plan.snap, &mut coded);
            done(cells.len() / columns.max(1));
        }
        Ok(coded)
    }

    /// States whose known cells are observed.
    pub fn states(&self, cells: &[Cell], first_row: u64) -> Result<States, SpaceError> {
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
        plan: Plan,
        streams: &Streams,
        observer: &mut dyn Observer,
    ) -> Result<Values, GenerateError> {
        Ok(match self.net().clock() {
            ClockKind::Reveal => {
                reveal(self, states, &self.net().coordinates().groups, None, streams, observer)?
            }
            // Clocks are exponential in time: even steps in time are geometric steps in information.
            ClockKind::Gradual => {
                online(self, states, &TimeGrid::uniform(plan.steps)?, streams, Finish::Estimate, observer)?
            }
        })
    }

    /// Values of the space as coded cells; known cells stay as they are.
    fn code(&self, x: &Values, cells: &[Cell], snap: bool, coded: &mut Vec<(u32, f64)>) {
        let columns = &self.net().coordinates().columns;
        for (i, cell) in cells.iter().enumerate() {
            let (row, place) = (i / columns.len(), &columns[i % columns.len()]);
            let column = &self.net().schema().columns[place.column];
            let token = place.tokens.as_ref().map(|tokens| x.tokens(tokens.block)[row]);
            let x = place.value.as_ref().map_or(f64::NAN, |at| f64::from(x.reals(at.block)[row]));
            let (code, value) = place.coded(column, token, x, snap);
            // Through the coordinates a known value might lose digits.
            let value = if cell.is_unknown() { value } else { cell.value.unwrap_or(value) };
            coded.push((code, value));
        }
    }
}
