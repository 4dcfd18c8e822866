//! Numbers and dates within bounds: those of another column, or fixed ones.

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::Column;
use super::allowed::Allowed;
use super::ranges::Ranges;
use super::relation::{Asked, Relate};

/// low ≤ high, or low < high.
#[derive(Debug)]
pub(super) struct Order {
    low: Place,
    high: Place,
    strict: bool,
}

/// A number of a set.
#[derive(Debug)]
pub(super) struct Within {
    column: Place,
    numbers: Ranges,
}

impl Order {
    pub(super) fn new(low: &str, high: &str, strict: bool, columns: &[Column]) -> Result<Self, RuleError> {
        let scalar = |name: &str| Place::number(name, columns, true);
        Ok(Self { low: scalar(low)?, high: scalar(high)?, strict })
    }

    /// What the other column leaves: where that is not known, its least or largest number.
    fn numbers(&self, asked: Asked<'_>) -> Option<Ranges> {
        let is_low = asked.column == self.low.index;
        let other = if is_low { &self.high } else { &self.low };
        let bound = match asked.row.is_known(other) {
            true => asked.row.number(other)?,
            false if is_low => asked.spans[other.index].1,
            false => asked.spans[other.index].0,
        };
        Some(match (is_low, self.strict) {
            (true, false) => Ranges::between(f64::NEG_INFINITY, bound),
            (true, true) => Ranges::between(f64::NEG_INFINITY, bound.next_down()),
            (false, false) => Ranges::between(bound, f64::INFINITY),
            (false, true) => Ranges::between(bound.next_up(), f64::INFINITY),
        })
    }
}

impl Within {
    pub(super) fn new(
        column: &str,
        low: Option<f64>,
        high: Option<f64>,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        let numbers = Ranges::between(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
        Ok(Self { column: Place::number(column, columns, false)?, numbers })
    }
}

impl Relate for Order {
    fn members(&self) -> Vec<usize> {
        vec![self.low.index, self.high.index]
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let this = if asked.column == self.low.index { &self.low } else { &self.high };
        if let Some(numbers) = self.numbers(asked) {
            keep(this, &numbers, asked, allowed);
        }
    }
}

impl Relate for Within {
    fn members(&self) -> Vec<usize> {
        vec![self.column.index]
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        keep(&self.column, &self.numbers, asked, allowed);
    }
}

/// Keeps numbers (dates in seconds), or the levels that are such numbers.
fn keep(this: &Place, numbers: &Ranges, asked: Asked<'_>, allowed: &mut Allowed<'_>) {
    if this.levels() > 0 {
        asked.keep_levels(this, allowed, |cells| {
            this.scalar(cells).is_none_or(|number| numbers.contains(number))
        });
    } else {
        allowed.keep_numbers(&numbers.clone().in_units_of(this.scale()));
    }
}
