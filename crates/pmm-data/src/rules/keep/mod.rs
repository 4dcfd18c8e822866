//! Rules that are kept: what follows from the known cells of a row, and what is left open for the others.
//!
//! Cells of a row become known one after the other, in any order. After each, what follows from the known cells by a rule is
//! computed ([`Keeper::settle`]); before each, what the rules leave open is told ([`Keeper::allowed`]). A law that has learned
//! the rules loses nothing by either, so the joint law stays what it was; a law that has not is mended where it is wrong.
//!
//! A rule that holds in a share of the rows gets a *derived column* that says in which: whether two cells are equal, which of
//! some constants a sum has, how much later a second date is. Derived columns are learned and drawn like all others, so that
//! the share is learned with everything that it depends on, and what the rule shortens is learned as the shorter thing.

mod allowed;
mod derived;
mod duration;
mod equal;
mod flag;
mod function;
mod heap;
mod order;
mod ranges;
mod relation;
mod states;
mod sum;

pub use allowed::Allowed;
pub use derived::derived_column;
pub use heap::HeapGrid;
pub use ranges::Ranges;

use pmm_core::Stream;

use super::error::RuleError;
use super::rows::{Cell, Column, ColumnKind};
use super::rule::Rule;
use relation::{Asked, Relation, Row};

/// Levels of a column for each of which it is looked at what would follow, at most.
const MOST_STEERS: usize = 64;

/// A rule to keep.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The share of rows that keep it.
    pub share: f64,
    /// The place of the column that is derived from it.
    pub derived: Option<usize>,
}

/// The way through a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowWay {
    /// Columns in the order in which they become known.
    pub revealed: Vec<usize>,
    /// How many are known when a column is asked for, never fewer than before, and which that is.
    pub asked: Vec<(usize, usize)>,
}

/// The rules of a table, ready for rows of which some cells are known.
///
/// ```
/// use pmm_data::rules::{Cell, Column, ColumnKind, Keeper, Kept, Rule};
/// let columns = ["part", "rest", "total"].map(|name| Column::new(name, ColumnKind::Number { decimals: Some(2) }));
/// let rule = Rule::parse("total = part + rest", &columns)?;
/// let keeper = Keeper::new(&columns, [Kept { rule: &rule, share: 1.0, derived: None }], vec![(0.0, 9.0); 3])?;
/// let (mut cells, mut known) = ([Cell::Number(1.1), Cell::Missing, Cell::Number(3.3)], [true, false, true]);
/// keeper.settle(&mut cells, &mut known, keeper.active());
/// assert_eq!((cells[1], known[1]), (Cell::Number(2.2), true));
/// let open = keeper.allowed(&cells, &[false, false, true], 0, keeper.active(), keeper.spans());
/// assert!(open.admits(Cell::Number(3.0)) && !open.admits(Cell::Number(3.5))); // the rest is not below 0
/// # Ok::<(), pmm_data::rules::RuleError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    relations: Vec<Relation>,
    /// The rule of each relation.
    rules: Vec<usize>,
    /// The relations of each column.
    of_column: Vec<Vec<usize>>,
    spans: Vec<(f64, f64)>,
    is_derived: Vec<bool>,
    /// How many things a derived column may say, where they are a few.
    choices: Vec<usize>,
    /// The levels of a column from which others are computed, where they are a few; else 0.
    steers: Vec<usize>,
    /// Seconds in a unit of each column's dates; 1 for others.
    scales: Vec<f64>,
    active: Vec<bool>,
}

impl Keeper {
    /// Keeps rules between columns; `spans` has the least and the largest number that each can have, dates in seconds.
    pub fn new<'a>(
        columns: &[Column],
        kept: impl IntoIterator<Item = Kept<'a>>,
        spans: Vec<(f64, f64)>,
    ) -> Result<Self, RuleError> {
        let (none, zeros) = (vec![false; columns.len()], vec![0; columns.len()]);
        let (choices, steers) = (zeros.clone(), zeros);
        let scales = columns.iter().map(Column::seconds).collect();
        let mut keeper = Self { spans, is_derived: none, choices, steers, scales, ..Self::default() };
        for (number, Kept { rule, share, derived }) in kept.into_iter().enumerate() {
            if let Some(derived) = derived {
                keeper.is_derived[derived] = true;
                if let ColumnKind::Levels { texts } = &columns[derived].kind {
                    keeper.choices[derived] = texts.len();
                }
            }
            for relation in Relation::of(rule, share, derived, columns)? {
                keeper.relations.push(relation);
                keeper.rules.push(number);
            }
        }
        keeper.of_column = vec![Vec::new(); columns.len()];
        for (at, relation) in keeper.relations.iter().enumerate() {
            relation.members.iter().for_each(|member| keeper.of_column[*member].push(at));
            let (_, inputs) = relation.function.as_ref().map_or((0, &[][..]), |of| (of.0, &of.1[..]));
            for member in inputs.iter().chain(&relation.key) {
                if let ColumnKind::Levels { texts } = &columns[*member].kind
                    && texts.len() <= MOST_STEERS
                {
                    keeper.steers[*member] = texts.len();
                }
            }
        }
        keeper.active = keeper.relations.iter().map(|relation| !relation.is_soft()).collect();
        Ok(keeper)
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    /// The least and the largest number that each column can have, dates in seconds.
    pub fn spans(&self) -> &[(f64, f64)] {
        &self.spans
    }

    /// The rules that hold in every row: `active` of the other functions.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// The same for one row, where each of the other rules holds by chance, in its share: `unit(n)` is uniform in \[0, 1).
    pub fn active_in(&self, unit: impl Fn(u32) -> f64) -> Vec<bool> {
        let soft =
            |(at, relation): (usize, &Relation)| !relation.is_soft() || unit(at as u32) < relation.share;
        self.relations.iter().enumerate().map(soft).collect()
    }

    /// The same without some rules, by number.
    pub fn active_without(&self, rules: &[usize]) -> Vec<bool> {
        (0..self.relations.len()).map(|at| self.active[at] && !rules.contains(&self.rules[at])).collect()
    }

    /// Whether some rules hold in a share of the rows, by chance.
    pub fn has_chance(&self) -> bool {
        self.active.contains(&false)
    }

    /// Whether a column is derived from a rule.
    pub fn is_derived(&self, column: usize) -> bool {
        self.is_derived.get(column).is_some_and(|derived| *derived)
    }

    /// Whether a column is derived from a rule, and says one of a few things.
    pub fn is_choice(&self, column: usize) -> bool {
        self.choices.get(column).is_some_and(|choices| *choices > 0)
    }

    /// Whether a column is determined by others.
    pub fn is_output(&self, column: usize) -> bool {
        let output =
            |at: &usize| self.relations[*at].function.as_ref().is_some_and(|(output, _)| *output == column);
        self.of_column.get(column).is_some_and(|relations| relations.iter().any(output))
    }

    /// Computes what follows from the known cells, until nothing more does.
    pub fn settle(&self, cells: &mut [Cell<'static>], known: &mut [bool], active: &[bool]) {
        while let Some((column, cell, _)) = self.follows(cells, known, active) {
            cells[column] = cell;
            known[column] = true;
        }
    }

    /// Draws which derived choices of a row to learn from are known, where drawing would come to them: all of them in every other row, so
    /// that what they lead to is learned, and each by chance in the others, so that they are.
    pub fn tell_choices(&self, known: &mut [bool], rng: &mut Stream) {
        let choices: Vec<usize> = (0..known.len()).filter(|column| self.is_choice(*column)).collect();
        if choices.is_empty() {
            return;
        }
        let all = rng.unit() < 0.5;
        choices.into_iter().for_each(|column| known[column] = all || rng.unit() < 0.5);
    }

    /// Computes what follows from the known cells of a row to learn from, by the rules that hold in every row. Of a derived column that is known nothing is told before
    /// drawing would come to it, when all but one of its columns are known.
    pub fn settle_learned(&self, cells: &mut [Cell<'static>], known: &mut [bool]) {
        let told: Vec<usize> =
            (0..known.len()).filter(|column| known[*column] && self.is_choice(*column)).collect();
        for (known, derived) in known.iter_mut().zip(&self.is_derived) {
            *known &= !derived;
        }
        self.settle(cells, known, &self.active);
        for column in told {
            if !known[column] && self.first(known, column, false).is_none() {
                known[column] = true;
                self.settle(cells, known, &self.active);
            }
        }
    }

    /// The column that drawing comes to next: the first that is not known, or what a rule wants before it.
    pub fn next(&self, known: &[bool]) -> Option<usize> {
        let first = known.iter().position(|known| !known)?;
        Some(self.instead(known, first, true))
    }

    /// The way on which drawing would come to the cells of a row, by the rules that hold in every row.
    pub fn way(&self, cells: &mut [Cell<'static>]) -> RowWay {
        let (mut known, mut way) = (vec![false; cells.len()], RowWay::default());
        while let Some(next) = self.next(&known) {
            way.asked.push((way.revealed.len(), next));
            way.revealed.push(next);
            known[next] = true;
            // Only a rule with a cell that is new can say something new.
            let mut seen = way.revealed.len() - 1;
            while let Some(&column) = way.revealed.get(seen) {
                let row = Row { cells, known: &known };
                let mut relations = self.of_column[column].iter().filter(|at| self.active[**at]);
                match relations.find_map(|at| self.relations[*at].rule.follows(row)) {
                    Some((column, cell)) => {
                        (cells[column], known[column]) = (cell, true);
                        way.revealed.push(column);
                    }
                    None => seen += 1,
                }
            }
        }
        way
    }

    /// What drawing knows of a row when it is a share of its way through it, and the length of the way beside the number of columns, by
    /// which such a row must weigh: else what is asked of rows with a long way would count for less. What follows from other cells is no
    /// part of the way; derived columns that are drawn are.
    pub fn drawn(&self, cells: &mut [Cell<'static>], share: f64) -> (Vec<bool>, f64) {
        let way = self.way(cells);
        let count = way.asked.get((share * way.asked.len() as f64) as usize).map_or(0, |(count, _)| *count);
        let mut known = vec![false; cells.len()];
        way.revealed[..count].iter().for_each(|column| known[*column] = true);
        (known, way.asked.len() as f64 / cells.len() as f64)
    }

    /// What drawing knows of a row when it comes to a column; none if that follows from others before.
    pub fn before(&self, cells: &mut [Cell<'static>], column: usize) -> Option<Vec<bool>> {
        let mut known = vec![false; cells.len()];
        while let Some(next) = self.next(&known).filter(|_| !known[column]) {
            if next == column {
                return Some(known);
            }
            known[next] = true;
            self.settle(cells, &mut known, &self.active);
        }
        None
    }

    /// One cell that follows from the known ones: its column, what it is, and by which rule.
    pub fn follows(
        &self,
        cells: &[Cell<'static>],
        known: &[bool],
        active: &[bool],
    ) -> Option<(usize, Cell<'static>, usize)> {
        let row = Row { cells, known };
        self.relations.iter().enumerate().filter(|(at, _)| active[*at]).find_map(|(at, relation)| {
            let (column, cell) = relation.rule.follows(row)?;
            Some((column, cell, self.rules[at]))
        })
    }

    /// What the rules leave open for a cell that is not known.
    pub fn allowed(
        &self,
        cells: &[Cell<'static>],
        known: &[bool],
        column: usize,
        active: &[bool],
        spans: &[(f64, f64)],
    ) -> Allowed<'_> {
        let asked = Asked { column, row: Row { cells, known }, spans };
        let mut allowed = match self.told_by(asked) {
            Some(last) => self.allowed_before(last, asked, active),
            None => self.allowed_now(asked, active),
        };
        if self.steers[column] > 0 {
            let (mut cells, mut known) = (cells.to_vec(), known.to_vec());
            known[column] = true;
            let mut leads_on = |cell: Cell<'static>| {
                cells[column] = cell;
                let row = Row { cells: &cells, known: &known };
                allowed.admits(cell) && self.leads_on(Asked { column, row, spans }, active)
            };
            let fits: Vec<bool> =
                (0..self.steers[column] as u32).map(|code| leads_on(Cell::Level(code))).collect();
            let gap = leads_on(Cell::Missing);
            match fits.contains(&true) {
                true => allowed.keep_levels(fits.len(), |code| fits[code as usize]),
                false if gap => allowed.keep_missing(true),
                false => {}
            }
        }
        allowed
    }

    /// The last open cell of the rule from which a number is derived, which then follows from that number.
    fn told_by(&self, asked: Asked<'_>) -> Option<usize> {
        if !self.is_derived[asked.column] || self.choices[asked.column] > 0 {
            return None;
        }
        let relation = self.of_column[asked.column].iter().map(|at| &self.relations[*at]).next()?;
        let open = |member: &&usize| **member != asked.column && !asked.row.known[**member];
        let mut open = relation.members.iter().filter(open);
        let last = open.next();
        last.filter(|_| open.next().is_none()).copied()
    }

    /// What is left for a derived number by what the rules leave open for the cell that follows from it.
    fn allowed_before(&self, last: usize, asked: Asked<'_>, active: &[bool]) -> Allowed<'_> {
        let left = self.allowed_now(Asked { column: last, ..asked }, active);
        let mut spans = asked.spans.to_vec();
        if let Some((low, high)) = left.ranges().ends() {
            let (from, to) = spans[last];
            let (low, high) = (low * self.scales[last], high * self.scales[last]);
            spans[last] = (from.max(low), to.min(high));
        }
        let mut allowed = self.allowed_now(Asked { spans: &spans, ..asked }, active);
        if let Some(missing) = left.is_missing() {
            allowed.keep_missing(missing);
        }
        allowed
    }

    /// The same by what is known already.
    fn allowed_now(&self, asked: Asked<'_>, active: &[bool]) -> Allowed<'_> {
        let mut allowed = Allowed::any();
        for &at in self.of_column[asked.column].iter().filter(|at| active[**at]) {
            self.relations[at].rule.restrict(asked, &mut allowed);
        }
        allowed
    }

    /// Whether a cell that has become known leads to nothing that another rule excludes: what follows from it is left open by
    /// all rules, and something is left for the last cell of each of its functions.
    fn leads_on(&self, told: Asked<'_>, active: &[bool]) -> bool {
        let relations = self.of_column[told.column].iter().filter(|at| active[**at]);
        relations.map(|at| &self.relations[*at]).all(|relation| {
            if let Some((column, cell)) = relation.rule.follows(told.row) {
                return self.allowed_now(Asked { column, ..told }, active).admits(cell);
            }
            let mut open = relation.members.iter().filter(|member| !told.row.known[**member]);
            let decides = relation.function.is_some() || relation.key.is_some();
            match (decides, open.next(), open.next()) {
                (true, Some(&column), None) => {
                    !self.allowed_now(Asked { column, ..told }, active).is_nothing()
                }
                _ => true,
            }
        })
    }

    /// The rules that the known cells of a row break, of those that hold in every row; increasing.
    pub fn broken(&self, cells: &[Cell<'static>], known: &[bool]) -> Vec<usize> {
        let mut broken: Vec<usize> = (0..cells.len())
            .filter(|column| known[*column])
            .flat_map(|column| self.broken_by(cells, known, column))
            .collect();
        broken.sort_unstable();
        broken.dedup();
        broken
    }

    /// The same for the rules of which one cell is a part. A rule of which not all cells are known is not broken.
    pub fn broken_by(&self, cells: &[Cell<'static>], known: &[bool], column: usize) -> Vec<usize> {
        let mut others = known.to_vec();
        others[column] = false;
        let asked = Asked { column, row: Row { cells, known: &others }, spans: &self.spans };
        let broken = |at: &&usize| {
            let relation = &self.relations[**at];
            if !relation.members.iter().all(|member| known[*member]) {
                return false;
            }
            relation.rule.breaks(Row { cells, known }).unwrap_or_else(|| {
                let mut allowed = Allowed::any();
                relation.rule.restrict(asked, &mut allowed);
                !allowed.admits(cells[column])
            })
        };
        let relations = self.of_column[column].iter().filter(|at| self.active[**at]);
        relations.filter(broken).map(|at| self.rules[*at]).collect()
    }

    /// The column to draw in place of one that is not known: the key of a rule before its last cell, and, with `defer`, what
    /// determines a column before the column.
    pub fn instead(&self, known: &[bool], column: usize, defer: bool) -> usize {
        let (mut at, mut before) = (column, vec![column]);
        while let Some(next) = self.first(known, at, defer) {
            // Of columns that determine each other, the first that was come to.
            if before.contains(&next) {
                return next;
            }
            before.push(next);
            at = next;
        }
        at
    }

    /// Whether a column that is not known is ever asked for while these are known. Not one that a rule's key comes before,
    /// unless that is a number: laws of both are wanted then.
    pub fn is_asked(&self, known: &[bool], column: usize) -> bool {
        self.first(known, column, false)
            .is_none_or(|first| !self.is_derived[column] && self.choices[first] == 0)
    }

    /// Whether one column alone determines another: then that need not come first.
    fn gives(&self, column: usize, other: usize) -> bool {
        let function = |at: &usize| self.relations[*at].function.as_ref();
        self.of_column[column]
            .iter()
            .filter_map(function)
            .any(|(output, inputs)| *output == other && *inputs == [column])
    }

    fn first(&self, known: &[bool], column: usize, defer: bool) -> Option<usize> {
        self.of_column[column].iter().find_map(|at| {
            let relation = &self.relations[*at];
            let mut open = relation
                .members
                .iter()
                .copied()
                .filter(|member| *member != column && Some(*member) != relation.key && !known[*member]);
            match relation.key {
                Some(key) if key == column && self.is_derived[key] => {
                    // Of a derived column's own columns all but one come first.
                    let first = open.next();
                    first.filter(|_| open.next().is_some())
                }
                Some(key) if key != column && !known[key] && open.next().is_none() => Some(key),
                _ => match &relation.function {
                    Some((output, inputs)) if defer && *output == column => {
                        inputs.iter().copied().find(|input| !known[*input] && !self.gives(column, *input))
                    }
                    _ => None,
                },
            }
        })
    }
}

#[cfg(test)]
mod tests;
