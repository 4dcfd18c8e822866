//! What rules say about pairs of columns, so that weaker rules need not be told.

use std::collections::{HashMap, HashSet};

use super::super::evidence::Found;
use super::super::rule::{Rule, Term};
use super::super::value::{Condition, State, Value};

/// What is known of pairs of columns.
#[derive(Default)]
pub(crate) struct Known {
    /// One of the two is computed from the other.
    computed: HashSet<(String, String)>,
    /// Columns of one sum or product.
    together: Vec<Vec<String>>,
    /// A factor of a product, and the product.
    factors: HashSet<(String, String)>,
    /// The lower and the higher column of an order.
    ordered: HashSet<(String, String)>,
    /// A part of a sum of numbers that are never negative, and the sum.
    parts: HashSet<(String, String)>,
    running: HashSet<String>,
    /// The date that a column is read off.
    dates: HashMap<String, String>,
}

/// Two columns as one key.
pub(crate) fn pair(a: &str, b: &str) -> (String, String) {
    if a < b { (a.to_owned(), b.to_owned()) } else { (b.to_owned(), a.to_owned()) }
}

/// Whether two columns are equal in nearly all rows.
pub(crate) fn is_equality(found: &Found) -> bool {
    matches!(found.rule, Rule::Equal { nonzero: false, .. }) && found.evidence.share() >= 0.95
}

impl Known {
    pub(crate) fn new(found: &[Found], never_negative: &HashSet<String>) -> Self {
        let mut known = Self::default();
        for one in found {
            known.add(one, never_negative);
        }
        known.close_orders();
        known
    }

    /// a ≤ c where a ≤ b ≤ c.
    fn close_orders(&mut self) {
        loop {
            let ends = self.ordered.iter().flat_map(|(low, middle)| {
                let above = self.ordered.iter().filter(move |next| next.0 == *middle);
                above.map(move |(_, high)| (low.clone(), high.clone()))
            });
            let longer: Vec<(String, String)> = ends.filter(|pair| !self.ordered.contains(pair)).collect();
            if longer.is_empty() {
                return;
            }
            self.ordered.extend(longer);
        }
    }

    fn add(&mut self, found: &Found, never_negative: &HashSet<String>) {
        match &found.rule {
            Rule::Equal { left, right, .. } if is_equality(found) => {
                self.computed.insert(pair(left, right));
            }
            Rule::OneToOne { left, right, .. } => {
                self.computed.insert(pair(left, right));
            }
            Rule::DatePart { date, output, .. } => {
                self.computed.insert(pair(date, output));
                self.dates.insert(output.clone(), date.clone());
            }
            Rule::Sum { output, terms, constants, .. } => {
                self.add_sum(output, terms, constants, never_negative);
                self.together.push(found.rule.columns().into_iter().map(str::to_owned).collect());
            }
            Rule::Product { output, numerators, .. } => {
                self.factors.extend(numerators.iter().map(|factor| (factor.clone(), output.clone())));
                self.together.push(found.rule.columns().into_iter().map(str::to_owned).collect());
            }
            Rule::Order { low, high, .. } => {
                self.ordered.insert((low.clone(), high.clone()));
            }
            Rule::Running { column, .. } => {
                self.running.insert(column.clone());
            }
            _ => {}
        }
    }

    fn add_sum(&mut self, output: &str, terms: &[Term], constants: &[f64], never_negative: &HashSet<String>) {
        if let ([term], [_]) = (terms, constants) {
            self.computed.insert(pair(&term.column, output));
        }
        let adds = |term: &Term| term.factor >= 1.0 && never_negative.contains(&term.column);
        if terms.iter().all(adds) && constants.iter().all(|constant| *constant >= 0.0) {
            self.parts.extend(terms.iter().map(|term| (term.column.clone(), output.to_owned())));
        }
    }

    /// Whether one rule relates the two.
    fn related(&self, a: &String, b: &String) -> bool {
        let both = |columns: &Vec<String>| columns.contains(a) && columns.contains(b);
        self.computed.contains(&pair(a, b)) || self.together.iter().any(both)
    }

    fn is_ordered(&self, low: &str, high: &str) -> bool {
        self.ordered.contains(&(low.to_owned(), high.to_owned()))
    }

    /// Whether both are read off the same date.
    fn of_one_date(&self, a: &String, b: &String) -> bool {
        self.dates.get(a).is_some_and(|date| self.dates.get(b) == Some(date))
    }

    /// Whether a rule follows from what is known.
    pub(crate) fn tells(&self, found: &Found) -> bool {
        match &found.rule {
            Rule::Order { low, high, .. } => {
                let ends = (low.clone(), high.clone());
                self.parts.contains(&ends)
                    || self.factors.contains(&ends)
                    || self.computed.contains(&pair(low, high))
            }
            Rule::NeverEqual { left, right } | Rule::Impossible { left, right, .. } => {
                self.related(left, right) || self.is_ordered(left, right) || self.is_ordered(right, left)
            }
            Rule::Gate { when, then, both_ways } => self.tells_gate(when, then, *both_ways),
            Rule::OneToOne { left, right, .. } => self.of_one_date(left, right),
            Rule::Determined { inputs, output, .. } => {
                inputs.iter().all(|input| self.of_one_date(input, output))
            }
            Rule::Equal { left, right, .. } => !is_equality(found) && self.related(left, right),
            Rule::Unique { columns } => columns.iter().any(|column| self.running.contains(column)),
            _ => false,
        }
    }

    /// A gate about zeros, of columns that a sum relates; or 0 ≤ low ≤ high: where the higher is 0, the lower is.
    fn tells_gate(&self, when: &Condition, then: &Condition, both_ways: bool) -> bool {
        if !says_zero(&then.states) {
            return false;
        }
        let zero = then.states == [State::Is(Value::Number(0.0))];
        let (low, high) = if zero { (then, when) } else { (when, then) };
        let follows = !both_ways && says_zero(&when.states) && self.is_ordered(&low.column, &high.column);
        follows || self.related(&when.column, &then.column)
    }
}

fn says_zero(states: &[State]) -> bool {
    states.iter().all(|state| *state == State::Is(Value::Number(0.0)) || *state == State::NotZero)
}
