//! States of cells that exclude or imply each other.

use super::super::bind::{BoundCondition, Test};
use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::super::value::{Condition, State};
use super::allowed::Allowed;
use super::relation::{Asked, Relate};

/// States of two columns that never meet.
#[derive(Debug)]
pub(super) struct Impossible {
    left: usize,
    right: usize,
    pairs: Vec<([Test; 1], [Test; 1])>,
}

/// From one condition follows another, or each from the other.
#[derive(Debug)]
pub(super) struct Gate {
    when: BoundCondition,
    then: BoundCondition,
    both_ways: bool,
}

/// Columns that are missing in the same rows.
#[derive(Debug)]
pub(super) struct Together(Vec<usize>);

impl Impossible {
    pub(super) fn new(left: &Place, right: &Place, pairs: &[(State, State)]) -> Self {
        let test = |(a, b): &(State, State)| ([Test::new(a, left)], [Test::new(b, right)]);
        Self { left: left.index, right: right.index, pairs: pairs.iter().map(test).collect() }
    }
}

impl Gate {
    pub(super) fn new(
        when: &Condition,
        then: &Condition,
        both_ways: bool,
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        let (when, then) = (BoundCondition::new(when, columns)?, BoundCondition::new(then, columns)?);
        Ok(Self { when, then, both_ways })
    }
}

impl Together {
    pub(super) fn new(places: &[Place]) -> Self {
        Self(places.iter().map(|place| place.index).collect())
    }
}

impl Relate for Impossible {
    fn members(&self) -> Vec<usize> {
        vec![self.left, self.right]
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let is_left = asked.column == self.left;
        let other = if is_left { self.right } else { self.left };
        if !asked.row.known[other] {
            return;
        }
        for (left, right) in &self.pairs {
            let (this, that) = if is_left { (left, right) } else { (right, left) };
            if that[0].admits(asked.row.cells[other]) {
                allowed.keep_tests(this, false);
            }
        }
    }
}

impl Relate for Gate {
    fn members(&self) -> Vec<usize> {
        vec![self.when.index(), self.then.index()]
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let (when, then, row) = (&self.when, &self.then, asked.row);
        if asked.column == then.index() && row.known[when.index()] {
            let holds = when.admits(row.cells);
            if holds || self.both_ways {
                allowed.keep_tests(&then.tests, holds);
            }
        } else if asked.column == when.index() && row.known[then.index()] {
            let holds = then.admits(row.cells);
            if !holds || self.both_ways {
                allowed.keep_tests(&when.tests, holds);
            }
        }
    }
}

impl Relate for Together {
    fn members(&self) -> Vec<usize> {
        self.0.clone()
    }

    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let other = self.0.iter().find(|other| **other != asked.column && asked.row.known[**other]);
        if let Some(other) = other {
            allowed.keep_missing(asked.row.cells[*other] == Cell::Missing);
        }
    }
}
