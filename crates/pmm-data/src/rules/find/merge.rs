//! Candidates that say the same of several columns, told once.

use super::super::rule::Rule;
use super::super::value::{Condition, State};
use super::Candidate;

/// Columns that belong together, each with the first of its group.
pub(crate) struct Groups {
    names: Vec<String>,
    first: Vec<usize>,
}

impl Groups {
    pub(crate) fn new(names: impl Iterator<Item = String>) -> Self {
        let names: Vec<String> = names.collect();
        Self { first: (0..names.len()).collect(), names }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    fn root(&self, mut place: usize) -> usize {
        while self.first[place] != place {
            place = self.first[place];
        }
        place
    }

    /// Joins the groups of two columns; false if they are one already.
    pub(crate) fn join(&mut self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.place(a), self.place(b)) else { return false };
        let (a, b) = (self.root(a), self.root(b));
        self.first[a.max(b)] = a.min(b);
        a != b
    }

    /// The first column of a column's group.
    pub(crate) fn first<'a>(&'a self, name: &'a str) -> &'a str {
        self.place(name).map_or(name, |place| &self.names[self.root(place)])
    }

    /// Groups of two or more.
    fn all(&self) -> Vec<Vec<String>> {
        let mut groups: Vec<Vec<String>> = vec![Vec::new(); self.names.len()];
        for place in 0..self.names.len() {
            groups[self.root(place)].push(self.names[place].clone());
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

fn is_missing(condition: &Condition) -> bool {
    condition.states == [State::Missing]
}

fn about_gaps(condition: &Condition) -> bool {
    condition.states.iter().all(|state| matches!(state, State::Missing | State::Present))
}

/// Columns that are missing in the same rows become one rule, and what else is said of their gaps is said of the first.
pub(crate) fn gaps(candidates: Vec<Candidate>, names: impl Iterator<Item = String>) -> Vec<Candidate> {
    let mut groups = Groups::new(names);
    let (mut kept, mut apart) = (Vec::new(), 0.0_f64);
    for candidate in candidates {
        match &candidate.rule {
            Rule::Gate { when, then, both_ways: true } if is_missing(when) && is_missing(then) => {
                groups.join(&when.column, &then.column);
                apart = apart.max(candidate.chance.unwrap_or(0.0));
            }
            _ => kept.push(candidate),
        }
    }
    let said_elsewhere = |rule: &Rule| match rule {
        Rule::Gate { when, then, .. } => {
            let other = |condition: &Condition| {
                about_gaps(condition) && groups.first(&condition.column) != condition.column
            };
            other(when) || other(then)
        }
        _ => false,
    };
    kept.retain(|candidate| !said_elsewhere(&candidate.rule));
    // Two columns with a share p of gaps differ in 2p(1−p) of all rows by chance: of the rows with a gap, in 2(1−p)/(2−p).
    let p = 0.5 * (1.0 - (1.0 - 2.0 * apart).max(0.0).sqrt());
    let chance = 2.0 * (1.0 - p) / (2.0 - p);
    let together = groups
        .all()
        .into_iter()
        .map(|columns| Candidate { rule: Rule::MissingTogether { columns }, chance: Some(chance) });
    let together: Vec<Candidate> = together.collect();
    kept.extend(together);
    kept
}

/// Of two columns that determine each other, gates and impossible states are told of the first.
pub(crate) fn twins(candidates: Vec<Candidate>, names: impl Iterator<Item = String>) -> Vec<Candidate> {
    let mut groups = Groups::new(names);
    for candidate in &candidates {
        match &candidate.rule {
            Rule::OneToOne { left, right, .. } | Rule::Equal { left, right, nonzero: false } => {
                groups.join(left, right);
            }
            _ => {}
        }
    }
    let first = |name: &String| groups.first(name) == name;
    let told = |rule: &Rule| match rule {
        Rule::Impossible { left, right, .. } => first(left) && first(right),
        Rule::Gate { when, then, .. } => {
            about_gaps(when) || about_gaps(then) || (first(&when.column) && first(&then.column))
        }
        _ => true,
    };
    candidates.into_iter().filter(|candidate| told(&candidate.rule)).collect()
}
