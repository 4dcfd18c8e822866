//! Numbers that mostly lie on a grid.

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::Column;
use super::allowed::Allowed;
use super::relation::{Asked, Relate};

/// Multiples of a step, and a remainder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeapGrid {
    pub(super) step: f64,
    pub(super) remainder: f64,
}

/// A number is on a grid.
#[derive(Debug)]
pub(super) struct Heap {
    column: Place,
    grid: HeapGrid,
}

impl HeapGrid {
    /// The nearest number of the grid; a number that only 0 is near to stays as it is.
    pub fn round(self, number: f64) -> f64 {
        let near = ((number - self.remainder) / self.step).round() * self.step + self.remainder;
        if near == 0.0 { number } else { near }
    }
}

impl Heap {
    pub(super) fn new(
        column: &str,
        step: f64,
        remainder: f64,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        Ok(Self { column: Place::number(column, columns, false)?, grid: HeapGrid { step, remainder } })
    }
}

impl Relate for Heap {
    fn members(&self) -> Vec<usize> {
        vec![self.column.index]
    }

    fn restrict<'a>(&'a self, _: Asked<'_>, allowed: &mut Allowed<'a>) {
        allowed.round(self.grid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_but_not_to_nothing() {
        let grid = HeapGrid { step: 10.0, remainder: 0.0 };
        assert_eq!([grid.round(14.9), grid.round(-26.0), grid.round(3.0)], [10.0, -30.0, 3.0]);
        let prices = HeapGrid { step: 1.0, remainder: 0.99 };
        assert_eq!(prices.round(7.2), 6.99);
    }
}
