//! Two columns that hold the same, in some rows or in none.

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::allowed::Allowed;
use super::flag::{Flag, Told, told};
use super::relation::{Asked, Relate, Row};

/// Both are equal; with a flag, in the rows of which that says so.
#[derive(Debug)]
pub(super) struct Equal {
    left: Place,
    right: Place,
    flag: Option<Flag>,
}

/// They are equal in no row.
#[derive(Debug)]
pub(super) struct NeverEqual {
    left: Place,
    right: Place,
}

impl Equal {
    pub(super) fn new(
        left: Place,
        right: Place,
        derived: Option<usize>,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        Ok(Self { left, right, flag: Flag::new(derived, columns)? })
    }
}

impl NeverEqual {
    pub(super) fn new(left: Place, right: Place) -> Self {
        Self { left, right }
    }
}

impl Relate for Equal {
    fn members(&self) -> Vec<usize> {
        vec![self.left.index, self.right.index]
    }

    fn follows(&self, row: Row<'_>) -> Option<(usize, Cell<'static>)> {
        let (left, right) = (&self.left, &self.right);
        let both = (row.is_known(left), row.is_known(right));
        match (told(self.flag.as_ref(), row), &self.flag) {
            (Told::Holds(true), _) => match both {
                (true, false) => Some((right.index, like(left, right, row.cells)?)),
                (false, true) => Some((left.index, like(right, left, row.cells)?)),
                _ => None,
            },
            (Told::NotYet, Some(flag)) if row.is_gap(left) || row.is_gap(right) => flag.cell(None),
            (Told::NotYet, Some(flag)) if both == (true, true) => {
                flag.cell(Some(like(left, right, row.cells) == Some(row.cells[right.index])))
            }
            _ => None,
        }
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let told = told(self.flag.as_ref(), asked.row);
        let Some((this, other)) = sides(&self.left, &self.right, asked.column) else { return };
        let open = self.flag.is_none() || told == Told::NotYet || !asked.row.is_known(other);
        if open || asked.row.is_gap(other) {
            return;
        }
        allowed.keep_missing(told == Told::Nothing);
        if told == Told::Holds(false) {
            exclude(this, other, asked.row, allowed);
        }
    }

    fn breaks(&self, row: Row<'_>) -> Option<bool> {
        let Told::Holds(wanted) = told(self.flag.as_ref(), row) else { return Some(false) };
        let gap = row.is_gap(&self.left) || row.is_gap(&self.right);
        let equal = like(&self.left, &self.right, row.cells) == Some(row.cells[self.right.index]);
        Some(!gap && equal != wanted)
    }
}

impl Relate for NeverEqual {
    fn members(&self) -> Vec<usize> {
        vec![self.left.index, self.right.index]
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        if let Some((this, other)) = sides(&self.left, &self.right, asked.column)
            && asked.row.is_known(other)
        {
            exclude(this, other, asked.row, allowed);
        }
    }
}

/// The place that is asked for, and the other one.
fn sides<'a>(left: &'a Place, right: &'a Place, column: usize) -> Option<(&'a Place, &'a Place)> {
    match column {
        _ if column == left.index => Some((left, right)),
        _ if column == right.index => Some((right, left)),
        _ => None,
    }
}

/// Not what another column has.
fn exclude(this: &Place, other: &Place, row: Row<'_>, allowed: &mut Allowed<'_>) {
    if let Some(cell) = like(other, this, row.cells) {
        allowed.exclude(cell, this.levels());
    }
}

/// The cell of a column that holds what another holds; none if it cannot, or if that is missing.
fn like(from: &Place, to: &Place, cells: &[Cell<'static>]) -> Option<Cell<'static>> {
    match from.scalar(cells) {
        Some(number) if to.is_numeric() || from.is_numeric() => to.cell_of_exactly(number),
        _ => to.cell_of_text(from.text(cells)?),
    }
}
