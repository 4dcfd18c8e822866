//! A derived column that says in which rows a rule holds.

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::relation::Row;

/// What it says where the rule holds, and where it does not. Where the rule says nothing, it is missing.
pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";

/// The column, with the cells of its two levels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag {
    pub(super) column: usize,
    yes: Option<Cell<'static>>,
    no: Option<Cell<'static>>,
}

/// What a flag tells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The rule holds, or does not.
    Holds(bool),
    /// The rule says nothing.
    Nothing,
    /// The flag is not known yet.
    NotYet,
}

impl Flag {
    /// The flag of a rule, if a column was derived from it.
    pub(super) fn new(derived: Option<usize>, columns: &[Column]) -> Result<Option<Self>, RuleError> {
        let Some(column) = derived else { return Ok(None) };
        let place = Place::new(&columns[column].name, columns)?;
        Ok(Some(Self { column, yes: place.cell_of_text(YES), no: place.cell_of_text(NO) }))
    }

    /// Its cell for a verdict; missing where there is none.
    pub(super) fn cell(&self, verdict: Option<bool>) -> Option<(usize, Cell<'static>)> {
        let cell = match verdict {
            None => Some(Cell::Missing),
            Some(true) => self.yes,
            Some(false) => self.no,
        };
        Some((self.column, cell?))
    }
}

/// What the flag of a rule tells of a row; a rule without one holds.
pub(super) fn told(flag: Option<&Flag>, row: Row<'_>) -> Told {
    let Some(flag) = flag else { return Told::Holds(true) };
    if !row.known[flag.column] {
        return Told::NotYet;
    }
    match row.cells[flag.column] {
        Cell::Missing => Told::Nothing,
        cell => Told::Holds(Some(cell) == flag.yes),
    }
}
