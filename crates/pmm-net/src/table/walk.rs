//! Rows whose cells become known one after the other: drawn, or read and scored.

use pmm_core::{Purpose, Streams};
use pmm_data::Cell;
use pmm_data::rules::{Allowed, Cell as RuleCell};
use rayon::prelude::*;

use super::asking::{Asked, Sums};
use super::coordinates::CellCoordinates;
use super::denoise::TableDenoiser;
use super::head::Law;
use super::restricted::Restricted;

/// What a caller asks of the cells of every row, beside those that are known: a condition for each modelled column.
#[derive(Debug, Clone, Default)]
pub struct Conditions(Vec<Option<Allowed<'static>>>);

impl Conditions {
    /// A condition on a modelled column.
    pub fn set(&mut self, column: usize, allowed: Allowed<'static>) {
        if self.0.len() <= column {
            self.0.resize_with(column + 1, || None);
        }
        self.0[column] = Some(allowed);
    }

    /// The condition on a column.
    pub(super) fn of(&self, column: usize) -> Option<&Allowed<'static>> {
        self.0.get(column)?.as_ref()
    }

    /// The columns with a condition.
    pub fn columns(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|column| self.0[*column].is_some()).collect()
    }
}

/// A row in the making.
#[derive(Debug, Clone)]
pub(super) struct WalkRow {
    /// Its number: what is drawn in it is keyed by that.
    pub(super) number: u64,
    pub(super) cells: Vec<Cell>,
    pub(super) known: Vec<bool>,
    pub(super) seen: Vec<CellCoordinates>,
    /// What the network keeps of them.
    pub(super) sums: Sums,
    rule_cells: Vec<RuleCell<'static>>,
    /// The rules that hold in it; none for those that hold in all rows.
    active: Option<Vec<bool>>,
    /// The columns, the next to become known last.
    turns: Vec<usize>,
    /// The sum of what decisions said of themselves.
    pub(super) log: f64,
    /// What the last decision said of its place among numbers.
    pub(super) rank: Option<f64>,
}

/// What a cell becomes.
pub(super) struct Decision {
    pub(super) cell: Cell,
    /// A logarithm to add up: of a probability, or of a weight.
    pub(super) log: f64,
    pub(super) rank: Option<f64>,
}

impl WalkRow {
    /// What the network sees of it.
    pub(super) fn into_seen(self) -> Vec<CellCoordinates> {
        self.seen
    }

    /// The columns to become known, the last first; the others are left out.
    pub(super) fn with_turns(mut self, turns: Vec<usize>) -> Self {
        self.turns = turns;
        self
    }

    /// Only these rules hold in it.
    pub(super) fn with_active(mut self, active: Vec<bool>) -> Self {
        self.active = Some(active);
        self
    }

    /// The cells as rules see them.
    pub(super) fn rule_cells(&self) -> &[RuleCell<'static>] {
        &self.rule_cells
    }
}

/// How a row goes on.
pub(super) struct Step<'a> {
    pub(super) row: &'a WalkRow,
    pub(super) column: usize,
    pub(super) law: Restricted<'a>,
}

impl TableDenoiser {
    /// A row of cells, of which some are known.
    pub(super) fn walk_row(&self, cells: &[Option<Cell>], number: u64, streams: &Streams) -> WalkRow {
        let mut row = self.open_row(cells, number, streams);
        self.settle_row(&mut row);
        row
    }

    /// The same before anything is computed.
    pub(super) fn open_row(&self, cells: &[Option<Cell>], number: u64, streams: &Streams) -> WalkRow {
        let keeper = self.net().keeper();
        let active = keeper.has_chance().then(|| {
            keeper.active_in(|rule| streams.block_stream(Purpose::CHANCE_RULE, rule, 0, number).unit())
        });
        let mut row = WalkRow {
            number,
            cells: vec![Cell::Unseen; cells.len()],
            known: vec![false; cells.len()],
            seen: vec![CellCoordinates::default(); cells.len()],
            sums: Sums::default(),
            rule_cells: vec![RuleCell::Missing; cells.len()],
            active,
            turns: (0..cells.len()).rev().collect(),
            log: 0.0,
            rank: None,
        };
        for (column, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                self.set(&mut row, column, *cell);
            }
        }
        row
    }

    /// A cell is known from now on; one that the network cannot see stays unknown.
    pub(super) fn set(&self, row: &mut WalkRow, column: usize, cell: Cell) {
        let place = &self.net().coordinates().columns[column];
        let schema = &self.net().schema().columns[place.column];
        let seen = place.coordinates(schema, cell);
        if seen.is_unknown() {
            return;
        }
        row.cells[column] = cell;
        debug_assert!(row.seen[column].is_unknown(), "column {column} is seen twice");
        row.seen[column] = seen;
        row.sums.see(column);
        row.rule_cells[column] = schema.rule_cell(cell);
        row.known[column] = true;
    }

    /// Computes what follows from the known cells.
    pub(super) fn settle_row(&self, row: &mut WalkRow) {
        let keeper = self.net().keeper();
        let mut tried = 0;
        loop {
            let active = row.active.as_deref().unwrap_or(keeper.active());
            let Some((column, cell, _)) = keeper.follows(&row.rule_cells, &row.known, active) else { return };
            let place = &self.net().coordinates().columns[column];
            let coded = self.net().schema().columns[place.column].coded_cell(cell);
            self.set(row, column, coded);
            tried += 1;
            if !row.known[column] || tried > row.known.len() {
                // The column has no such cell: it is drawn as any other.
                return;
            }
        }
    }

    /// The next column of a row, if one is unknown: in its order, but what a rule wants first comes first.
    fn next_column(&self, row: &mut WalkRow, only: Option<&[usize]>) -> Option<usize> {
        let keeper = self.net().keeper();
        if let Some(only) = only {
            let first = only.iter().copied().find(|column| !row.known[*column])?;
            return Some(keeper.instead(&row.known, first, false));
        }
        while let Some(&column) = row.turns.last() {
            if !row.known[column] {
                return Some(keeper.instead(&row.known, column, true));
            }
            row.turns.pop();
        }
        None
    }

    /// Lets rows go on until their cells are known, or those of some columns: `decide` says what a cell is, from its law within what
    /// the rules and the conditions leave. Rows are independent of each other.
    pub(super) fn walk(
        &self,
        rows: &mut [WalkRow],
        only: Option<&[usize]>,
        conditions: &Conditions,
        snap: bool,
        decide: impl Fn(&Step<'_>, usize) -> Decision + Sync,
    ) {
        let spans = self.spans(conditions);
        loop {
            let mut asked: Vec<Asked<'_>> = rows
                .iter_mut()
                .enumerate()
                .filter_map(|(at, row)| {
                    let column = self.next_column(row, only)?;
                    Some(Asked { at, row, column })
                })
                .collect();
            if asked.is_empty() {
                return;
            }
            let laws = self.asked_laws(&mut asked);
            asked.into_par_iter().zip(laws).with_min_len(16).for_each(|(Asked { at, row, column }, law)| {
                let law = self.restricted(row, column, law, conditions, &spans, snap);
                let decision = decide(&Step { row, column, law }, at);
                self.go_on(row, column, decision);
            });
        }
    }

    /// The law of a cell within what the rules and the conditions leave.
    fn restricted<'a>(
        &'a self,
        row: &WalkRow,
        column: usize,
        law: Law,
        conditions: &Conditions,
        spans: &[(f64, f64)],
        snap: bool,
    ) -> Restricted<'a> {
        let (net, keeper) = (self.net(), self.net().keeper());
        let active = row.active.as_deref().unwrap_or(keeper.active());
        let mut allowed = keeper.allowed(&row.rule_cells, &row.known, column, active, spans);
        if let Some(condition) = conditions.of(column) {
            allowed = allowed.and(condition);
        }
        let place = &net.coordinates().columns[column];
        let mut law = Restricted::new(place, &net.schema().columns[place.column], law, &allowed, snap);
        // What rules and conditions exclude goes first, lest all that they leave be trimmed away.
        if let Some((limit, shares)) = self.trim_of(column) {
            law.trim(limit, shares);
        }
        law
    }

    /// A cell is decided, and with it what follows from it.
    fn go_on(&self, row: &mut WalkRow, column: usize, Decision { cell, log, rank }: Decision) {
        row.log += log;
        row.rank = rank;
        self.set(row, column, cell);
        // What cannot be seen is decided all the same.
        if !row.known[column] {
            row.cells[column] = cell;
            row.known[column] = true;
        }
        self.settle_row(row);
    }

    /// The least and the largest number of each column, by the rules and the conditions.
    fn spans(&self, conditions: &Conditions) -> Vec<(f64, f64)> {
        let net = self.net();
        let mut spans = net.keeper().spans().to_vec();
        for column in conditions.columns() {
            let schema = &net.schema().columns[net.coordinates().columns[column].column];
            let scale = schema.described().seconds();
            if let (Some(allowed), Some(span)) = (conditions.of(column), spans.get_mut(column))
                && let Some((low, high)) = allowed.ranges().ends()
            {
                *span = (span.0.max(low * scale), span.1.min(high * scale));
            }
        }
        spans
    }
}
