//! New cells: rows with unknown cells are filled by a sampler.

use pmm_core::{
    Finish, Observer, ParameterError, Purpose, SpaceError, States, Streams, TimeGrid, Values, online, reveal,
};

use pmm_data::Cell;

use super::coordinates::{CellCoordinates, ClockKind};
use super::denoise::TableDenoiser;
use super::walk::{Conditions, Decision, Step, WalkRow};

/// Why no cells came.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A number of steps that no grid has.
    #[error(transparent)]
    Grid(#[from] ParameterError),
    /// The network's answer could not be used.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Conditions that no row meets.
    #[error("no row meets all of these conditions together")]
    Impossible,
    /// Conditions, and clocks that cannot keep them.
    #[error("a model with gradual clocks cannot keep to ranges and lists")]
    GradualConditions,
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
/// Candidates of a row, where several columns have conditions.
const CANDIDATES: usize = 32;

impl TableDenoiser {
    /// Fills the unknown cells of rows, `[rows, columns]` of the modelled columns, within conditions and the rules of the table;
    /// returns all of them. The first row is number `first_row` of the whole: its draws are keyed by that.
    pub fn fill(
        &self,
        cells: &[Option<Cell>],
        conditions: &Conditions,
        first_row: u64,
        options: FillOptions,
        streams: &Streams,
        mut done: impl FnMut(usize),
    ) -> Result<Vec<Cell>, GenerateError> {
        let columns = self.net().coordinates().columns.len();
        let mut filled = Vec::with_capacity(cells.len());
        for (chunk, cells) in cells.chunks(CHUNK * columns.max(1)).enumerate() {
            let first = first_row + (chunk * CHUNK) as u64;
            match self.net().clock() {
                ClockKind::Reveal => self.reveal(cells, conditions, first, options, streams, &mut filled)?,
                ClockKind::Gradual if !conditions.columns().is_empty() => {
                    return Err(GenerateError::GradualConditions);
                }
                ClockKind::Gradual => {
                    let seen = self.seen(cells);
                    let x = self.run(self.states(&seen, first)?, options, streams, &mut ())?;
                    self.collect(&x, &seen, options.snap, &mut filled);
                }
            }
            done(cells.len() / columns.max(1));
        }
        Ok(filled)
    }

    /// Draws the cells with conditions alone, given those that are known: what is known of the rows then, rules applied. For reveal
    /// clocks.
    pub fn draw_conditions(
        &self,
        cells: &[Option<Cell>],
        conditions: &Conditions,
        options: FillOptions,
        streams: &Streams,
    ) -> Result<Vec<Option<Cell>>, GenerateError> {
        let columns = self.net().coordinates().columns.len();
        let row = |(row, cells): (usize, &[Option<Cell>])| self.walk_row(cells, row as u64, streams);
        let mut rows: Vec<WalkRow> = cells.chunks_exact(columns).enumerate().map(row).collect();
        self.meet(&mut rows, &conditions.columns(), conditions, options, streams)?;
        let known = |row: WalkRow| {
            row.cells
                .into_iter()
                .zip(row.known)
                .map(|(cell, known)| known.then_some(cell))
                .collect::<Vec<_>>()
        };
        Ok(rows.into_iter().flat_map(known).collect())
    }

    /// One cell of every row after the other: each from its law given those before.
    fn reveal(
        &self,
        cells: &[Option<Cell>],
        conditions: &Conditions,
        first_row: u64,
        options: FillOptions,
        streams: &Streams,
        filled: &mut Vec<Cell>,
    ) -> Result<(), GenerateError> {
        let columns = self.net().coordinates().columns.len();
        let row =
            |(row, cells): (usize, &[Option<Cell>])| self.walk_row(cells, first_row + row as u64, streams);
        let mut rows: Vec<WalkRow> = cells.chunks_exact(columns).enumerate().map(row).collect();
        let asked = conditions.columns();
        if !asked.is_empty() {
            self.meet(&mut rows, &asked, conditions, options, streams)?;
        }
        let draw = |step: &Step<'_>, _: usize| draw(step, streams);
        self.walk(&mut rows, None, &Conditions::default(), options.snap, draw);
        rows.into_iter().for_each(|row| filled.extend(row.cells));
        Ok(())
    }

    /// Makes the cells with conditions known, before all others.
    ///
    /// One is drawn from its law within its condition, which is exact. With several, the law of the first must know of the
    /// conditions on the others: of some candidates, each drawn one column after the other within the conditions, one is taken
    /// with a probability in proportion to what the conditions left of their laws (importance resampling).
    fn meet(
        &self,
        rows: &mut [WalkRow],
        asked: &[usize],
        conditions: &Conditions,
        options: FillOptions,
        streams: &Streams,
    ) -> Result<(), GenerateError> {
        // What other columns determine comes before them, lest it be computed against its condition.
        let keeper = self.net().keeper();
        let (outputs, inputs): (Vec<usize>, Vec<usize>) =
            asked.iter().partition(|column| keeper.is_output(**column));
        let asked = &[outputs, inputs].concat()[..];
        let copies = if asked.len() == 1 { 1 } else { CANDIDATES };
        for row in rows.iter_mut() {
            let mut candidates = vec![row.clone(); copies];
            let decide = |step: &Step<'_>, at: usize| {
                let streams = streams.child(Purpose::CANDIDATE, at as u64);
                Decision { log: step.law.mass().ln(), ..draw(step, &streams) }
            };
            self.walk(&mut candidates, Some(asked), conditions, options.snap, decide);
            let met = |candidate: &WalkRow| {
                let admits = |column: &usize| {
                    let cell = candidate.rule_cells()[*column];
                    conditions.of(*column).is_none_or(|condition| condition.admits(cell))
                };
                asked.iter().all(admits)
            };
            let weight = |candidate: &WalkRow| if met(candidate) { candidate.log.exp() } else { 0.0 };
            let weights: Vec<f64> = candidates.iter().map(weight).collect();
            let total: f64 = weights.iter().sum();
            if total <= 0.0 || total.is_nan() {
                return Err(GenerateError::Impossible);
            }
            let mut u = streams.stream(Purpose::CANDIDATE, 0, row.number).unit() * total;
            let chosen = weights.iter().position(|weight| {
                u -= weight;
                u < 0.0
            });
            let chosen = chosen.or_else(|| weights.iter().rposition(|weight| *weight > 0.0)).unwrap_or(0);
            *row = candidates.swap_remove(chosen);
        }
        Ok(())
    }

    /// Cells as the network sees them, with what follows from them by the rules.
    pub fn seen(&self, cells: &[Option<Cell>]) -> Vec<CellCoordinates> {
        let columns = self.net().coordinates().columns.len().max(1);
        let rows = cells.chunks_exact(columns);
        // No draw is made: the streams do not matter.
        rows.flat_map(|cells| self.walk_row(cells, 0, &Streams::new(0)).into_seen()).collect()
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

    /// Lets a sampler run from states, by the clock of the network; rules and conditions are not looked at.
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

/// A draw of a cell, keyed by its column and row.
fn draw(step: &Step<'_>, streams: &Streams) -> Decision {
    let mut rng = streams.block_stream(Purpose::REVEALED_CELL, step.column as u32, 0, step.row.number);
    Decision { cell: step.law.draw(&mut rng), log: 0.0, rank: None }
}
