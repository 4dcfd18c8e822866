//! In how many rows a rule holds.

use serde::{Deserialize, Serialize};

use super::check::{Checker, Verdict};
use super::error::{CountError, RuleError};
use super::place::Place;
use super::rows::{Cell, Column, Rows};
use super::rule::Rule;
use super::value::Value;

/// In how many rows a rule holds, and where it does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Rows of which the rule says something.
    pub applies: u64,
    /// Rows of these that keep it.
    pub holds: u64,
    /// Rows of these that would break it if the columns had nothing to do with each other; unknown for declared rules.
    pub expected_breaks: Option<f64>,
    /// The first rows that break it.
    pub exceptions: Vec<Exception>,
}

impl Evidence {
    /// Rows that break the rule.
    pub fn breaks(&self) -> u64 {
        self.applies - self.holds
    }

    /// The share of rows that keep the rule; 1 if it says nothing.
    pub fn share(&self) -> f64 {
        if self.applies == 0 { 1.0 } else { self.holds as f64 / self.applies as f64 }
    }
}

/// A row that breaks a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// Its number, from 0.
    pub row: u64,
    /// What it holds in the rule's columns, in the order of [`Rule::columns`].
    pub values: Vec<Value>,
}

/// A rule and its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The rule.
    pub rule: Rule,
    /// Its evidence.
    pub evidence: Evidence,
}

/// One rule while it is counted.
struct Tally {
    checker: Checker,
    places: Vec<Place>,
    evidence: Evidence,
}

impl Tally {
    fn new(rule: &Rule, columns: &[Column]) -> Result<Self, RuleError> {
        let names = rule.columns();
        let places = names.iter().map(|name| Place::new(name, columns)).collect::<Result<_, _>>()?;
        let evidence = Evidence { applies: 0, holds: 0, expected_breaks: None, exceptions: Vec::new() };
        Ok(Self { checker: rule.checker(columns)?, places, evidence })
    }

    fn add(&mut self, number: u64, row: &[Cell<'_>], exceptions: usize) {
        let verdict = self.checker.check(row);
        self.evidence.applies += u64::from(verdict != Verdict::Silent);
        self.evidence.holds += u64::from(verdict == Verdict::Holds);
        if verdict == Verdict::Breaks && self.evidence.exceptions.len() < exceptions {
            let values = self.places.iter().map(|place| place.value(row)).collect();
            self.evidence.exceptions.push(Exception { row: number, values });
        }
    }
}

/// Counts, in one pass, the rows in which each rule holds; shows at most `exceptions` rows that break it.
///
/// ```
/// use pmm_data::rules::{MemoryRows, Rows, Rule, count};
/// let rows = MemoryRows::new()
///     .numbers("a", vec![Some(1.0), Some(3.0), None])
///     .numbers("b", vec![Some(2.0), Some(2.0), Some(0.0)]);
/// let rule = Rule::parse("a <= b", rows.columns())?;
/// let evidence = &count(&rows, &[rule], 5)?[0];
/// assert_eq!((evidence.applies, evidence.holds, evidence.exceptions[0].row), (2, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count<R: Rows>(
    rows: &R,
    rules: &[Rule],
    exceptions: usize,
) -> Result<Vec<Evidence>, CountError<R::Error>> {
    let tallies = rules.iter().map(|rule| Tally::new(rule, rows.columns()));
    let mut tallies = tallies.collect::<Result<Vec<_>, _>>()?;
    let mut visit = |number: u64, row: &[Cell<'_>]| {
        for tally in &mut tallies {
            tally.add(number, row, exceptions);
        }
    };
    each_row(rows, &mut visit).map_err(CountError::Rows)?;
    Ok(tallies.into_iter().map(|tally| tally.evidence).collect())
}

/// Shows every row with its number.
pub(crate) fn each_row<R: Rows>(rows: &R, visit: &mut dyn FnMut(u64, &[Cell<'_>])) -> Result<(), R::Error> {
    rows.scan(&mut |batch| {
        let mut row = Vec::with_capacity(batch.columns.len());
        for index in 0..batch.rows() {
            row.clear();
            row.extend(batch.columns.iter().map(|cells| cells[index]));
            visit(batch.first_row + index as u64, &row);
        }
    })
}
