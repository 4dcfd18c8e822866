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
/// Candidates for each of some rows of which the same is known.
const POOL: usize = 8;
/// Candidates that go through the network together.
const TOGETHER: usize = 2048;

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

    /// Draws the cells with conditions alone, given those of a row that are known: what is known of so many rows then, each as
    /// likely as the others, rules applied. For reveal clocks.
    pub fn draw_conditions(
        &self,
        cells: &[Option<Cell>],
        conditions: &Conditions,
        rows: usize,
        options: FillOptions,
        streams: &Streams,
    ) -> Result<Vec<Option<Cell>>, GenerateError> {
        let asked = self.in_order(conditions);
        // Candidates of one row are those of all.
        let copies = if asked.len() == 1 { 1 } else { POOL };
        let mut pool: Vec<WalkRow> =
            (0..rows * copies).map(|row| self.walk_row(cells, row as u64, streams)).collect();
        let weights = self.weigh(&mut pool, &asked, conditions, options, |_| *streams);
        let u = streams.stream(Purpose::CANDIDATE, 0, 0).unit();
        let chosen = (0..rows).map(|row| (row as f64 + u) / rows as f64);
        let known = |row: &WalkRow| {
            let cells = row.cells.iter().zip(&row.known);
            cells.map(|(cell, known)| known.then_some(*cell)).collect::<Vec<_>>()
        };
        let drawn = chosen.map(|u| Some(known(&pool[choose(&weights, u)?]))).collect::<Option<Vec<_>>>();
        Ok(drawn.ok_or(GenerateError::Impossible)?.concat())
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
        if !conditions.columns().is_empty() {
            self.meet(&mut rows, conditions, options, streams)?;
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
        conditions: &Conditions,
        options: FillOptions,
        streams: &Streams,
    ) -> Result<(), GenerateError> {
        let asked = self.in_order(conditions);
        let copies = if asked.len() == 1 { 1 } else { CANDIDATES };
        for rows in rows.chunks_mut((TOGETHER / copies).max(1)) {
            let mut candidates: Vec<WalkRow> =
                rows.iter().flat_map(|row| std::iter::repeat_n(row, copies)).cloned().collect();
            let keyed = |at: usize| streams.child(Purpose::CANDIDATE, (at % copies) as u64);
            let weights = self.weigh(&mut candidates, &asked, conditions, options, keyed);
            for (at, (row, weights)) in rows.iter_mut().zip(weights.chunks_exact(copies)).enumerate() {
                let u = streams.stream(Purpose::CANDIDATE, 0, row.number).unit();
                let chosen = choose(weights, u).ok_or(GenerateError::Impossible)?;
                *row = candidates[at * copies + chosen].clone();
            }
        }
        Ok(())
    }

    /// The columns with conditions. What other columns determine comes before them, lest it be computed against its condition.
    fn in_order(&self, conditions: &Conditions) -> Vec<usize> {
        let keeper = self.net().keeper();
        let (outputs, inputs): (Vec<usize>, Vec<usize>) =
            conditions.columns().iter().partition(|column| keeper.is_output(**column));
        [outputs, inputs].concat()
    }

    /// Draws the cells with conditions, one column after the other; what the conditions left of their laws is the weight of each
    /// candidate. The draws of candidate i have the streams `keyed(i)`.
    fn weigh(
        &self,
        candidates: &mut [WalkRow],
        asked: &[usize],
        conditions: &Conditions,
        options: FillOptions,
        keyed: impl Fn(usize) -> Streams + Sync,
    ) -> Vec<f64> {
        let decide =
            |step: &Step<'_>, at: usize| Decision { log: step.law.mass().ln(), ..draw(step, &keyed(at)) };
        self.walk(candidates, Some(asked), conditions, options.snap, decide);
        let met = |candidate: &WalkRow| {
            let admits = |column: &usize| {
                let cell = candidate.rule_cells()[*column];
                conditions.of(*column).is_none_or(|condition| condition.admits(cell))
            };
            asked.iter().all(admits)
        };
        let weight = |candidate: &WalkRow| if met(candidate) { candidate.log.exp() } else { 0.0 };
        candidates.iter().map(weight).collect()
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

/// The place at which the weights up to it first exceed a share u of all; none if they are all 0.
fn choose(weights: &[f64], u: f64) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 || total.is_nan() {
        return None;
    }
    let mut left = u * total;
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a rest.
    chosen.or_else(|| weights.iter().rposition(|weight| *weight > 0.0))
}

/// A draw of a cell, keyed by its column and row.
fn draw(step: &Step<'_>, streams: &Streams) -> Decision {
    let mut rng = streams.block_stream(Purpose::REVEALED_CELL, step.column as u32, 0, step.row.number);
    Decision { cell: step.law.draw(&mut rng), log: 0.0, rank: None }
}
