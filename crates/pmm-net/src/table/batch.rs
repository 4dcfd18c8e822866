//! Batches: rows of a table as features and targets, with some cells known.

use pmm_core::{Elements, Purpose, SpaceError, States, Streams, Values};
use pmm_data::{Cell, Coding, Table};
use rayon::prelude::*;

use super::coordinates::{CellCoordinates, ClockKind, ColumnPlace};
use super::features::View;
use super::head::Target;
use super::net::TableNet;

/// Features `[rows, inputs]` and targets `[rows, columns]`.
#[derive(Debug, Clone)]
pub struct Batch {
    /// What the network sees.
    pub features: Vec<f32>,
    /// What it should say.
    pub targets: Vec<Target>,
    /// The known cells, `[rows, columns]`; none while clocks run.
    pub seen: Vec<CellCoordinates>,
}

/// Which rows of the batch of a step are made: what is random of a row follows from its place in the whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRows {
    /// The step.
    pub step: u64,
    /// The place of the first of them.
    pub first: usize,
    /// Rows of the whole batch.
    pub of: usize,
}

impl BatchRows {
    /// A whole batch of so many rows.
    pub fn all(step: u64, rows: usize) -> Self {
        Self { step, first: 0, of: rows }
    }

    fn place(&self, row: usize) -> u64 {
        (self.first + row) as u64
    }
}

/// Which cells of a row to learn from are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Those of these columns.
    Columns(Vec<bool>),
    /// Those that drawing knows when it is this share of its way through the row.
    Drawn(f64),
}

/// What a row to learn from is asked.
struct Question {
    known: Vec<bool>,
    asked: Vec<bool>,
    /// The column that drawing would come to next, where the row is shown as drawing would see it.
    next: Option<usize>,
    /// What the row weighs beside others.
    weight: f32,
    /// By how many columns that is shared. Whatever the cells are: if rows of which rules tell more were asked for less, and that weighed
    /// more, laws would be learned from these rows more than from others.
    hidden: usize,
}

/// The weight in its row of the column that drawing comes to next.
const NEXT: f32 = 0.5;

const KNOWN: Target = Target { weight: 0.0, token: None, value: None, mean: 0.0, clock: 0.0 };

impl TableNet {
    /// What a table knows of the cell of a row and modelled column; nothing in a column that the table does not have.
    pub fn cell(&self, table: &Table, row: usize, column: usize) -> CellCoordinates {
        let place = &self.coordinates.columns[column];
        let cells = &table.columns[place.column];
        if cells.is_empty() {
            return CellCoordinates::default();
        }
        place.coordinates(&self.schema.columns[place.column], cells.get(row))
    }

    /// A batch of rows: `shown(r)` says which columns of the r-th are seen; the other columns weigh alike in a row (but for the one that
    /// drawing would come to next), and rows in the batch. With gradual clocks, cells that are not known are seen through noise, at a
    /// time of their row.
    pub fn batch(
        &self,
        table: &Table,
        rows: &[u32],
        shown: impl Fn(usize) -> Shown + Sync,
        streams: &Streams,
        place: BatchRows,
    ) -> Result<Batch, SpaceError> {
        let columns = self.coordinates.columns.len();
        let ask = |row: usize| self.question(table, rows[row] as usize, shown(row));
        let questions: Vec<Question> = (0..rows.len()).into_par_iter().with_min_len(16).map(ask).collect();
        let known: Vec<bool> = questions.iter().flat_map(|question| &question.known).copied().collect();
        let cells: Vec<CellCoordinates> = (0..rows.len() * columns)
            .into_par_iter()
            .with_min_len(256)
            .map(|i| self.cell(table, rows[i / columns] as usize, i % columns))
            .collect();
        let mut batch = match self.clock {
            ClockKind::Reveal => self.reveal_batch(&cells, &known, streams, place),
            ClockKind::Gradual => self.gradual_batch(&cells, &known, streams, place)?,
        };
        for (targets, question) in batch.targets.chunks_exact_mut(columns.max(1)).zip(&questions) {
            weigh(targets, question, question.weight / rows.len() as f32);
        }
        Ok(batch)
    }

    /// Which cells of a row are known, those that follow from others by a rule among them; and which of the others are asked for.
    fn question(&self, table: &Table, row: usize, shown: Shown) -> Question {
        let columns = self.coordinates.columns.len();
        let keeper = self.keeper();
        if keeper.is_empty() {
            let first = |share: f64| ((share * columns as f64) as usize).min(columns - 1);
            let (known, next): (Vec<bool>, _) = match shown {
                Shown::Columns(known) => (known, None),
                Shown::Drawn(share) => ((0..columns).map(|c| c < first(share)).collect(), Some(first(share))),
            };
            let hidden = known.iter().filter(|known| !**known).count();
            return Question { known, asked: vec![true; columns], next, weight: 1.0, hidden };
        }
        // Cells that are not known are not looked at.
        let mut cells = self.rule_cells(table, row);
        let (known, next, weight, hidden) = match shown {
            Shown::Columns(mut known) => {
                let hidden = (0..columns).filter(|c| !known[*c] && !keeper.is_derived(*c)).count();
                keeper.settle_learned(&mut cells, &mut known);
                (known, None, 1.0, hidden)
            }
            Shown::Drawn(share) => {
                let (known, weight) = keeper.drawn(&mut cells, share);
                let next = keeper.next(&known);
                (known, next, weight as f32, columns)
            }
        };
        let asked = (0..columns).map(|column| keeper.is_asked(&known, column)).collect();
        Question { known, asked, next, weight, hidden }
    }

    /// A row of a table as rules see it.
    pub(super) fn rule_cells(&self, table: &Table, row: usize) -> Vec<pmm_data::rules::Cell<'static>> {
        let cell = |place: &ColumnPlace| {
            let cells = &table.columns[place.column];
            let cell = if cells.is_empty() { Cell::Missing } else { cells.get(row) };
            self.schema.columns[place.column].rule_cell(cell)
        };
        self.coordinates.columns.iter().map(cell).collect()
    }

    fn reveal_batch(
        &self,
        cells: &[CellCoordinates],
        known: &[bool],
        streams: &Streams,
        at: BatchRows,
    ) -> Batch {
        let columns = self.coordinates.columns.len();
        let rows = cells.len() / columns;
        let features = self.features(rows, |row, column| {
            let i = row * columns + column;
            if known[i] { View::of(&cells[i]) } else { View::default() }
        });
        let target = |i: usize| {
            if known[i] || cells[i].is_unknown() {
                return KNOWN;
            }
            self.reveal_target(&cells[i], i % columns, i / columns, streams, at)
        };
        let targets = (0..cells.len()).into_par_iter().with_min_len(256).map(target).collect();
        let seen = |(cell, known): (&CellCoordinates, &bool)| if *known { *cell } else { <_>::default() };
        Batch { features, targets, seen: cells.iter().zip(known).map(seen).collect() }
    }

    /// What the network should say of a cell that is not known, in a row of a batch.
    pub(super) fn reveal_target(
        &self,
        cell: &CellCoordinates,
        column: usize,
        row: usize,
        streams: &Streams,
        at: BatchRows,
    ) -> Target {
        let value = cell.value.map(|value| {
            let u = streams.block_stream(Purpose::TIES, column as u32, at.step, at.place(row)).unit();
            let place = &self.coordinates.columns[column];
            place.from_value(&self.schema.columns[place.column], value, u) as f32
        });
        Target { weight: 1.0, token: cell.token, value, mean: 0.0, clock: 0.0 }
    }

    fn gradual_batch(
        &self,
        cells: &[CellCoordinates],
        known: &[bool],
        streams: &Streams,
        at: BatchRows,
    ) -> Result<Batch, SpaceError> {
        let columns = self.coordinates.columns.len();
        let rows = cells.len() / columns;
        let cells = &self.with_stand_ins(cells, streams, at);
        let states = self.noisy(cells, known, streams, at)?;
        let means = self.value_means(&states);
        let features =
            self.features(rows, |row, column| self.view(&states, column, means[column].as_deref(), row));
        let target = |i: usize| {
            let (row, column) = (i / columns, i % columns);
            let place = &self.coordinates.columns[column];
            if known[i] || cells[i].is_unknown() {
                return KNOWN;
            }
            let masked = place.tokens.as_ref().is_some_and(|tokens| {
                states.stat(tokens.block).as_tokens().unwrap_or(&[])[row] == pmm_core::MASK
            });
            let mut target = Target { weight: 1.0, token: cells[i].token.filter(|_| masked), ..KNOWN };
            if let (Some(value), Some(means)) = (cells[i].value, &means[column]) {
                (target.mean, target.clock) = self.anchor(column, &states, f64::from(means[row]), row);
                target.value = Some(self.head_value(column, value));
            }
            target
        };
        Ok(Batch { features, targets: (0..cells.len()).map(target).collect(), seen: Vec::new() })
    }

    /// Gives cells without a value (special, missing) one at random from their column: while a gate is hidden, its value's clock
    /// runs all the same, and must not tell that there is nothing to see. The pair (gate, stand-in) is what is learned, and
    /// the stand-in is dropped from what is drawn.
    fn with_stand_ins(
        &self,
        cells: &[CellCoordinates],
        streams: &Streams,
        at: BatchRows,
    ) -> Vec<CellCoordinates> {
        let columns = self.coordinates.columns.len();
        let filled = |(i, cell): (usize, &CellCoordinates)| {
            let place = &self.coordinates.columns[i % columns];
            let Coding::Numbers(numbers) = &self.schema.columns[place.column].coding else { return *cell };
            if place.value.is_none() || cell.value.is_some() || cell.token.is_none() {
                return *cell;
            }
            let purpose = Purpose::STAND_IN;
            let mut rng = streams.block_stream(purpose, (i % columns) as u32, at.step, at.place(i / columns));
            CellCoordinates { value: Some(numbers.grid.value(rng.normal(), numbers.snap)), ..*cell }
        };
        cells.iter().enumerate().map(filled).collect()
    }

    /// States of cells: known ones observed, the others drawn at stratified times.
    fn noisy(
        &self,
        cells: &[CellCoordinates],
        known: &[bool],
        streams: &Streams,
        at: BatchRows,
    ) -> Result<States, SpaceError> {
        let columns = self.coordinates.columns.len();
        let rows = cells.len() / columns;
        let column_of = self.column_of_block();
        let x = self.values(cells);
        let mut states = States::prior(&self.coordinates.space, at.first as u64, rows);
        let has = |row: usize, block: usize| {
            let (column, is_value) = column_of[block];
            let cell = &cells[row * columns + column];
            (
                known[row * columns + column],
                if is_value { cell.value.is_some() } else { cell.token.is_some() },
            )
        };
        states.observe(&x, |row, block, _| has(row, block) == (true, true))?;
        states.hide(|row, block, _| !has(row, block).1);
        let mut shift = streams.stream(Purpose::TIME, at.step, 0);
        let shift = shift.unit();
        // Stratified, in an order of their own so that a row's time does not follow its place.
        let mut times: Vec<f64> = (0..at.of).map(|row| (row as f64 + shift) / at.of as f64).collect();
        streams.stream(Purpose::TIME, at.step, 1).shuffle(&mut times);
        states.draw(&x, &times[at.first..at.first + rows], streams, at.step)?;
        Ok(states)
    }

    /// Rows of cells as values of the space; any value of the support where a cell has none.
    pub fn values(&self, cells: &[CellCoordinates]) -> Values {
        let columns = self.coordinates.columns.len();
        let store = |&(column, is_value): &(usize, bool)| {
            let place = &self.coordinates.columns[column];
            let schema = &self.schema.columns[place.column];
            let cells = cells.iter().skip(column).step_by(columns);
            if !is_value {
                return Elements::from(cells.map(|cell| cell.token.unwrap_or(0)).collect::<Vec<u32>>());
            }
            let safe = |value: f64| if value.is_finite() { value as f32 } else { 1.0 };
            Elements::from(
                cells
                    .map(|cell| cell.value.map_or(1.0, |value| safe(place.from_value(schema, value, 0.5))))
                    .collect::<Vec<f32>>(),
            )
        };
        Values::new(self.column_of_block().iter().map(store).collect())
    }

    /// For every block of the space: its column, and whether it is the column's value.
    pub fn column_of_block(&self) -> Vec<(usize, bool)> {
        let mut of = vec![(0, false); self.coordinates.space.blocks().len()];
        for (column, place) in self.coordinates.columns.iter().enumerate() {
            if let Some(tokens) = &place.tokens {
                of[tokens.block] = (column, false);
            }
            if let Some(value) = &place.value {
                of[value.block] = (column, true);
            }
        }
        of
    }
}

/// Shares the weight of a row out over what is asked of it.
fn weigh(targets: &mut [Target], question: &Question, weight: f32) {
    for (target, asked) in targets.iter_mut().zip(&question.asked) {
        target.weight *= f32::from(u8::from(*asked));
    }
    let next = question.next.filter(|next| question.hidden > 1 && targets[*next].weight > 0.0);
    let left = if next.is_some() { 1.0 - NEXT } else { 1.0 };
    targets.iter_mut().for_each(|target| target.weight *= weight * left / question.hidden.max(1) as f32);
    if let Some(next) = next {
        targets[next].weight += weight * NEXT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of a row's weight is the next column's, and the rest is shared by all that are hidden, whether they are asked for or follow from
    /// others; without a next one all of it is.
    #[test]
    fn what_drawing_comes_to_next_weighs_most() {
        let weights = |known: [bool; 4], asked: [bool; 4], next: Option<usize>| {
            let mut targets: Vec<Target> =
                known.iter().map(|known| Target { weight: f32::from(u8::from(!known)), ..KNOWN }).collect();
            let hidden = known.iter().filter(|known| !**known).count();
            let question = Question { known: known.into(), asked: asked.into(), next, weight: 1.0, hidden };
            weigh(&mut targets, &question, 1.0);
            targets.iter().map(|target| target.weight).collect::<Vec<f32>>()
        };
        let (first, two, all) = ([true, false, false, false], [true, true, false, false], [true; 4]);
        assert_eq!(weights(two, all, None), [0.0, 0.0, 0.5, 0.5]);
        assert_eq!(weights(two, [true, true, true, false], None), [0.0, 0.0, 0.5, 0.0]);
        assert_eq!(weights(two, all, Some(2)), [0.0, 0.0, 0.75, 0.25]);
        assert_eq!(weights([true, true, true, false], all, Some(3)), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(weights(two, [true, true, false, true], Some(2)), [0.0, 0.0, 0.0, 0.5]);
        let third = 1.0 / 3.0;
        assert_eq!(weights(first, all, None), [0.0, third, third, third]);
        assert_eq!(weights([true; 4], all, None), [0.0; 4]);
    }
}
