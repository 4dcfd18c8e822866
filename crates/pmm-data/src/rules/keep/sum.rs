//! Numbers that add up.

use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::super::rule::Term;
use super::super::value::plain;
use super::allowed::Allowed;
use super::ranges::Ranges;
use super::relation::{Asked, Relate, Row};

/// What a derived column says where none of the constants of a sum is met.
pub(super) const OTHER: &str = "other";

/// Sums of what open terms can be that are told one by one, at most.
const MOST_SUMS: usize = 64;

/// Σ factor · cell is one of the constants: the one that a derived column says, where there are several.
#[derive(Debug)]
pub(super) struct Sum {
    terms: Vec<(f64, Place)>,
    constants: Vec<f64>,
    within: f64,
    /// The derived column: which constant it is, or, if it is among the terms, a difference.
    derived: Option<usize>,
    choice: Option<Choice>,
}

/// The cells by which a derived column says which constant a sum has in a row.
#[derive(Debug)]
struct Choice {
    column: usize,
    constants: Vec<Option<Cell<'static>>>,
    other: Option<Cell<'static>>,
}

/// How a derived column writes a constant.
pub(super) fn constant_text(constant: f64) -> String {
    plain(constant)
}

impl Sum {
    pub(super) fn new(
        output: &str,
        terms: &[Term],
        (constants, within): (&[f64], f64),
        derived: Option<usize>,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        let number = |name: &str| Place::number(name, columns, false);
        let mut all = vec![(1.0, number(output)?)];
        for term in terms {
            all.push((-term.factor, number(&term.column)?));
        }
        let choice = match derived {
            None => None,
            Some(column) => {
                let place = Place::new(&columns[column].name, columns)?;
                let cell = |constant: &f64| place.cell_of_text(&constant_text(*constant));
                let (constants, other) = (constants.iter().map(cell).collect(), place.cell_of_text(OTHER));
                Some(Choice { column, constants, other })
            }
        };
        Ok(Self { terms: all, constants: constants.to_vec(), within, derived, choice })
    }

    /// high − low, which is a column of its own.
    pub(super) fn difference(
        low: &str,
        high: &str,
        derived: usize,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        let (low, high) = (Place::number(low, columns, true)?, Place::number(high, columns, true)?);
        let unit = low.scale().min(high.scale());
        let terms = vec![(1.0, high), (-1.0, low), (-unit, Place::new(&columns[derived].name, columns)?)];
        Ok(Self { terms, constants: vec![0.0], within: 0.0, derived: Some(derived), choice: None })
    }

    /// The constant, if it is known.
    fn constant(&self, row: Row<'_>) -> Option<f64> {
        let Some(choice) = &self.choice else {
            return (self.constants.len() == 1).then(|| self.constants[0]);
        };
        let cell = row.known[choice.column].then(|| row.cells[choice.column])?;
        Some(self.constants[choice.constants.iter().position(|constant| *constant == Some(cell))?])
    }

    /// A key that is missing says that a term is, and one that is not, that none is. Whether there is more to say.
    fn restrict_gap(&self, key: usize, asked: Asked<'_>, allowed: &mut Allowed<'_>) -> bool {
        let gap = asked.row.cells[key] == Cell::Missing;
        let mut others = self
            .terms
            .iter()
            .map(|(_, place)| place)
            .filter(|place| ![asked.column, key].contains(&place.index));
        if !gap || others.all(|place| asked.row.number(place).is_some()) {
            allowed.keep_missing(gap);
        }
        !gap
    }

    /// The sums that all terms but one can have, where the open ones have a few values each; none where they are too many.
    fn sums(&self, asked: Asked<'_>) -> Option<Vec<f64>> {
        let mut sums = vec![0.0];
        for (factor, place) in self.terms.iter().filter(|(_, place)| place.index != asked.column) {
            let known = [asked.row.number(place).unwrap_or(0.0)];
            let values = if asked.row.is_known(place) { &known[..] } else { place.few() };
            if values.is_empty() || sums.len() * values.len() > MOST_SUMS {
                return None;
            }
            sums = sums.iter().flat_map(|sum| values.iter().map(move |value| sum + factor * value)).collect();
        }
        Some(sums)
    }

    /// The least and the largest sum of all terms but one, and how many of them are open; none where one is known to be no number.
    fn rest(&self, asked: Asked<'_>) -> Option<(f64, f64, usize)> {
        let (mut low, mut high, mut open) = (0.0, 0.0, 0);
        for (factor, place) in self.terms.iter().filter(|(_, place)| place.index != asked.column) {
            let (from, to) = if asked.row.is_known(place) {
                let number = asked.row.number(place)?;
                (number, number)
            } else {
                open += 1;
                asked.spans[place.index]
            };
            low += (factor * from).min(factor * to);
            high += (factor * from).max(factor * to);
        }
        Some((low, high, open))
    }
}

impl Relate for Sum {
    fn members(&self) -> Vec<usize> {
        self.terms.iter().map(|(_, place)| place.index).collect()
    }

    fn follows(&self, row: Row<'_>) -> Option<(usize, Cell<'static>)> {
        let (mut open, mut total, mut size) = (Vec::new(), 0.0, 0.0);
        for (factor, place) in &self.terms {
            if !row.is_known(place) {
                open.push((*factor, place));
            } else if let Some(number) = row.number(place) {
                total += factor * number;
                size += (factor * number).abs();
            } else {
                // There is nothing to add up, and the derived column says so.
                return self.derived.filter(|derived| !row.known[*derived]).map(|key| (key, Cell::Missing));
            }
        }
        match (&open[..], &self.choice) {
            ([], Some(choice)) if !row.known[choice.column] => {
                let within = self.within + 1e-12 * size;
                let met = self.constants.iter().position(|constant| (total - constant).abs() <= within);
                Some((choice.column, met.map_or(choice.other, |at| choice.constants[at])?))
            }
            ([(factor, place)], _) => {
                let number = (self.constant(row)? - total) / factor;
                Some((place.index, place.cell_of_number(number)?))
            }
            _ => None,
        }
    }

    fn breaks(&self, row: Row<'_>) -> Option<bool> {
        let (mut total, mut size) = (0.0, 0.0);
        for (factor, place) in &self.terms {
            // Nothing is said of gaps.
            let Some(number) = row.number(place) else { return Some(false) };
            total += factor * number;
            size += (factor * number).abs();
        }
        let constant = self.constant(row);
        Some(constant.is_some_and(|constant| (total - constant).abs() > self.within + 1e-12 * size))
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let Some((factor, this)) = self.terms.iter().find(|(_, place)| place.index == asked.column) else {
            return;
        };
        let key = self.derived.filter(|key| *key != asked.column && asked.row.known[*key]);
        if key.is_some_and(|key| !self.restrict_gap(key, asked, allowed)) {
            return;
        }
        let Some((low, high, open)) = self.rest(asked) else { return };
        let numbers = match (self.constant(asked.row), &self.choice) {
            (Some(constant), _) => {
                let between = |low: f64, high: f64| {
                    let ends = [(constant - high) / factor, (constant - low) / factor];
                    let (from, to) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                    // Up to the dust of binary fractions.
                    let dust = 1e-9 * (from.abs().min(1e300) + to.abs().min(1e300)).max(1e-9);
                    Ranges::between(from - dust, to + dust)
                };
                match self.sums(asked).filter(|_| open > 0) {
                    Some(sums) => Ranges::union(sums.into_iter().map(|sum| between(sum, sum))),
                    None => between(low, high),
                }
            }
            // None of the constants: not what any of them would give.
            (None, Some(choice)) if asked.row.known[choice.column] && open == 0 => {
                let points = self.constants.iter().map(|constant| Ranges::point((constant - low) / factor));
                Ranges::union(points).complement()
            }
            _ => return,
        };
        allowed.keep_numbers(&numbers.in_units_of(this.scale()));
    }
}
