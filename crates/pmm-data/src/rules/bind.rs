//! A rule whose names are places: what a checker runs.

use std::collections::{HashMap, HashSet};

use super::check::Verdict;
use super::date_part::{DatePart, TimeUnit};
use super::error::RuleError;
use super::pattern::Pattern;
use super::place::{Place, join};
use super::rows::{Cell, Column, DateUnit};
use super::rule::{Entry, Numbering, Rounding, Rule, Term, TimeGrid};
use super::value::{Condition, State, Value};

/// A rule whose names are places.
#[derive(Debug, Clone)]
pub(crate) enum Bound {
    Table { inputs: Vec<Place>, output: Place, table: HashMap<u64, u64> },
    OneToOne { left: Place, right: Place, there: HashMap<u64, u64>, back: HashMap<u64, u64> },
    DatePart { date: Place, part: DatePart, output: Place, numbering: BoundNumbering },
    Equal { left: Place, right: Place, nonzero: bool },
    Sum { output: Place, terms: Vec<(f64, Place)>, constants: Vec<f64>, within: f64 },
    Product { output: Place, factor: f64, above: Vec<Place>, below: Vec<Place>, within: f64 },
    Duration { output: Place, start: Place, end: Place, unit: TimeUnit, rounding: Rounding, step: f64 },
    Order { low: Place, high: Place, strict: bool },
    Range { column: Place, low: f64, high: f64 },
    Impossible { left: Place, right: Place, pairs: Vec<(Test, Test)> },
    Gate { when: BoundCondition, then: BoundCondition, both_ways: bool },
    Together(Vec<Place>),
    NeverEqual { left: Place, right: Place },
    Unique { columns: Vec<Place>, seen: Seen },
    Running { column: Place, last: Option<f64>, step: f64 },
    Shape { column: Place, shapes: Vec<Pattern> },
    Multiple { column: Place, step: f64, remainder: f64, nonzero: bool },
    OnTime { column: Place, grid: TimeGrid },
}

#[derive(Debug, Clone)]
pub(crate) enum BoundNumbering {
    Offset(f64),
    Table(HashMap<u64, u64>),
}

/// A state as a test of a cell.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    Key(Option<u64>),
    NotZero,
    Between(f64, f64),
    Missing,
    Present,
}

#[derive(Debug, Clone)]
pub(crate) struct BoundCondition {
    column: Place,
    pub(crate) tests: Vec<Test>,
}

/// Hashes that were seen, at most [`Seen::MOST`] of them: where there are more, rows whose hash ends in some zeros stand for
/// all. Equal rows have equal hashes, so they are looked at together or not at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    hashes: HashSet<u64>,
    zeros: u32,
}

impl Seen {
    const MOST: usize = 1 << 20;

    /// Whether the hash is new; silent if it is not looked at.
    pub(crate) fn insert(&mut self, hash: u64) -> Verdict {
        if hash.trailing_zeros() < self.zeros {
            return Verdict::Silent;
        }
        let new = self.hashes.insert(hash);
        while self.hashes.len() > Self::MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.hashes.retain(|hash| hash.trailing_zeros() >= zeros);
        }
        new.into()
    }
}

impl Test {
    pub(crate) fn new(state: &State, place: &Place) -> Self {
        match state {
            State::Is(value) => Self::Key(place.key_of(value)),
            State::NotZero => Self::NotZero,
            State::Between { low, high } => {
                Self::Between(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
            }
            State::Missing => Self::Missing,
            State::Present => Self::Present,
        }
    }

    pub(crate) fn admits(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Key(wanted), cell) => wanted.is_some() && super::place::key(cell) == *wanted,
            (Self::NotZero, Cell::Number(number)) => number != 0.0,
            (Self::Between(low, high), Cell::Number(number)) => number >= *low && number < *high,
            (Self::Between(..), _) => false,
            (Self::Missing, cell) => cell == Cell::Missing,
            (Self::Present | Self::NotZero, cell) => cell != Cell::Missing,
        }
    }
}

impl BoundCondition {
    pub(crate) fn new(condition: &Condition, columns: &[Column]) -> Result<Self, RuleError> {
        let column = Place::new(&condition.column, columns)?;
        let tests = condition.states.iter().map(|state| Test::new(state, &column)).collect();
        Ok(Self { column, tests })
    }

    /// The place of its column.
    pub(crate) fn index(&self) -> usize {
        self.column.index
    }

    pub(crate) fn admits(&self, row: &[Cell<'_>]) -> bool {
        let cell = row[self.column.index];
        self.tests.iter().any(|test| test.admits(cell))
    }
}

/// Places of columns by their names.
#[derive(Clone, Copy)]
struct Places<'a>(&'a [Column]);

impl Places<'_> {
    fn any(self, name: &str) -> Result<Place, RuleError> {
        Place::new(name, self.0)
    }

    fn number(self, name: &str) -> Result<Place, RuleError> {
        Place::number(name, self.0, false)
    }

    fn scalar(self, name: &str) -> Result<Place, RuleError> {
        Place::number(name, self.0, true)
    }

    fn date(self, name: &str) -> Result<Place, RuleError> {
        Place::date(name, self.0)
    }

    fn all(self, names: &[String]) -> Result<Vec<Place>, RuleError> {
        names.iter().map(|name| self.any(name)).collect()
    }

    fn terms(self, terms: &[Term]) -> Result<Vec<(f64, Place)>, RuleError> {
        terms.iter().map(|term| Ok((term.factor, self.number(&term.column)?))).collect()
    }

    fn numbers(self, names: &[String]) -> Result<Vec<Place>, RuleError> {
        names.iter().map(|name| self.number(name)).collect()
    }
}

impl Bound {
    /// The rule for rows with these columns.
    pub(crate) fn new(rule: &Rule, columns: &[Column]) -> Result<Self, RuleError> {
        let at = Places(columns);
        Ok(match rule {
            Rule::Determined { inputs, output, table } => lookup(at.all(inputs)?, at.any(output)?, table),
            Rule::OneToOne { left, right, pairs } => one_to_one(at.any(left)?, at.any(right)?, pairs),
            Rule::DatePart { date, part, output, numbering } => {
                date_part(at, date, *part, output, numbering)?
            }
            Rule::Equal { left, right, nonzero } => {
                Self::Equal { left: at.any(left)?, right: at.any(right)?, nonzero: *nonzero }
            }
            Rule::Sum { output, terms, constants, within } => {
                sum(at.number(output)?, at.terms(terms)?, constants, *within)
            }
            Rule::Product { output, factor, numerators, denominators, within } => {
                let (above, below) = (at.numbers(numerators)?, at.numbers(denominators)?);
                Self::Product { output: at.number(output)?, factor: *factor, above, below, within: *within }
            }
            Rule::Duration { output, start, end, unit, rounding, step } => {
                let (output, start, end) = (at.number(output)?, at.date(start)?, at.date(end)?);
                Self::Duration { output, start, end, unit: *unit, rounding: *rounding, step: *step }
            }
            Rule::Order { low, high, strict } => order(at, low, high, *strict)?,
            Rule::Range { column, low, high } => {
                let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
                Self::Range { column: at.number(column)?, low, high }
            }
            Rule::Impossible { left, right, pairs } => impossible(at.any(left)?, at.any(right)?, pairs),
            Rule::Gate { when, then, both_ways } => {
                let (when, then) = (BoundCondition::new(when, at.0)?, BoundCondition::new(then, at.0)?);
                Self::Gate { when, then, both_ways: *both_ways }
            }
            Rule::MissingTogether { columns } => Self::Together(at.all(columns)?),
            Rule::NeverEqual { left, right } => {
                Self::NeverEqual { left: at.any(left)?, right: at.any(right)? }
            }
            Rule::Unique { columns } => Self::Unique { columns: at.all(columns)?, seen: Seen::default() },
            Rule::Running { column, step, .. } => running(at.scalar(column)?, *step),
            Rule::Shape { column, shapes } => Self::Shape { column: at.any(column)?, shapes: shapes.clone() },
            Rule::Multiple { column, step, remainder, nonzero } => {
                let column = at.number(column)?;
                Self::Multiple { column, step: *step, remainder: *remainder, nonzero: *nonzero }
            }
            Rule::OnTime { column, grid } => Self::OnTime { column: at.date(column)?, grid: *grid },
        })
    }
}

fn lookup(inputs: Vec<Place>, output: Place, table: &[Entry]) -> Bound {
    let line = |entry: &Entry| {
        let keys = inputs.iter().zip(&entry.inputs).map(|(place, value)| place.key_of(value));
        let keys: Vec<u64> = keys.collect::<Option<_>>()?;
        // An output that the column does not know is never met.
        Some((join(keys.into_iter()), output.key_of(&entry.output).unwrap_or(u64::MAX)))
    };
    let table = table.iter().filter_map(line).collect();
    Bound::Table { inputs, output, table }
}

fn one_to_one(left: Place, right: Place, pairs: &[(Value, Value)]) -> Bound {
    let keys = pairs.iter().filter_map(|(a, b)| Some((left.key_of(a)?, right.key_of(b)?)));
    let there: HashMap<u64, u64> = keys.collect();
    let back = there.iter().map(|(a, b)| (*b, *a)).collect();
    Bound::OneToOne { left, right, there, back }
}

fn date_part(
    at: Places<'_>,
    date: &str,
    part: DatePart,
    output: &str,
    numbering: &Numbering,
) -> Result<Bound, RuleError> {
    let date = at.date(date)?;
    let (output, numbering) = match numbering {
        Numbering::Offset(offset) => (at.number(output)?, BoundNumbering::Offset(*offset)),
        Numbering::Table(table) => {
            let output = at.any(output)?;
            let line = |(part, value): &(f64, Value)| Some((part.to_bits(), output.key_of(value)?));
            let table = table.iter().filter_map(line).collect();
            (output, BoundNumbering::Table(table))
        }
    };
    Ok(Bound::DatePart { date, part, output, numbering })
}

fn sum(output: Place, terms: Vec<(f64, Place)>, constants: &[f64], within: f64) -> Bound {
    Bound::Sum { output, terms, constants: constants.to_vec(), within }
}

fn order(at: Places<'_>, low: &str, high: &str, strict: bool) -> Result<Bound, RuleError> {
    let (lower, higher) = (at.scalar(low)?, at.scalar(high)?);
    if lower.unit().is_some() != higher.unit().is_some() {
        return Err(RuleError::WrongKind { name: high.to_owned(), wanted: "what it is compared with" });
    }
    Ok(Bound::Order { low: lower, high: higher, strict })
}

fn impossible(left: Place, right: Place, pairs: &[(State, State)]) -> Bound {
    let tests = pairs.iter().map(|(a, b)| (Test::new(a, &left), Test::new(b, &right)));
    let pairs = tests.collect();
    Bound::Impossible { left, right, pairs }
}

fn running(column: Place, step: f64) -> Bound {
    let step = step * column.unit().map_or(1.0, DateUnit::seconds);
    Bound::Running { column, last: None, step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_found_in_bounded_memory() {
        let mut seen = Seen::default();
        let n = 3 * Seen::MOST as u64;
        assert!((0..n).all(|i| seen.insert(crate::rules::place::mix(i)) != Verdict::Breaks));
        assert!(seen.hashes.len() <= Seen::MOST);
        let again = (0..n).filter(|&i| seen.insert(crate::rules::place::mix(i)) == Verdict::Breaks).count();
        assert_eq!(again, seen.hashes.len());
    }
}
