//! Rules that follow from others.

use std::collections::{HashMap, HashSet};

use super::super::evidence::Found;
use super::super::rule::{Numbering, Rule};
use super::super::value::{State, Value};
use super::merge::Groups;

/// Shares that differ by less are the same.
const SLACK: f64 = 0.001;

/// Leaves out what follows from the rest. `never_negative` are columns without negative numbers.
pub(crate) fn reduced(found: Vec<Found>, names: &[String], never_negative: &HashSet<String>) -> Vec<Found> {
    let found = without_twins(found, names);
    let found = without_pairs(found, never_negative);
    let found = without_derived(found);
    without_longer_orders(found)
}

/// Two columns as one key.
fn pair(a: &str, b: &str) -> (String, String) {
    if a < b { (a.to_owned(), b.to_owned()) } else { (b.to_owned(), a.to_owned()) }
}

/// Of columns that are all equal, or all determine each other, each is told of one other only.
fn without_twins(found: Vec<Found>, names: &[String]) -> Vec<Found> {
    let mut groups = Groups::new(names.iter().cloned());
    let mut keep = vec![true; found.len()];
    // Equality says most, a sum of one term more than a table.
    let passes: [fn(&Found) -> Option<(&str, &str)>; 3] = [
        |found| match &found.rule {
            Rule::Equal { left, right, nonzero: false } if found.evidence.share() >= 0.95 => {
                Some((left, right))
            }
            _ => None,
        },
        |found| match &found.rule {
            Rule::Sum { output, terms, constants, .. } if terms.len() == 1 && constants.len() == 1 => {
                Some((&terms[0].column, output))
            }
            _ => None,
        },
        |found| match &found.rule {
            Rule::OneToOne { left, right, .. } => Some((left, right)),
            _ => None,
        },
    ];
    for twins in passes {
        for (place, found) in found.iter().enumerate() {
            if let Some((a, b)) = twins(found) {
                keep[place] &= groups.join(a, b);
            }
        }
    }
    let mut keep = keep.into_iter();
    found.into_iter().filter(|_| keep.next().unwrap_or(true)).collect()
}

/// What a stronger rule about the same columns says already.
fn without_pairs(found: Vec<Found>, never_negative: &HashSet<String>) -> Vec<Found> {
    let mut one: HashSet<(String, String)> = HashSet::new(); // one is computed from the other
    let mut together: Vec<Vec<String>> = Vec::new(); // columns of one sum or product
    let mut ordered: HashSet<(String, String)> = HashSet::new();
    let mut parts: HashSet<(String, String)> = HashSet::new(); // (part, whole)
    let mut running: HashSet<String> = HashSet::new();
    for Found { rule, evidence } in &found {
        match rule {
            Rule::Equal { left, right, nonzero: false } if evidence.share() >= 0.95 => {
                one.insert(pair(left, right));
            }
            Rule::OneToOne { left, right, .. } => {
                one.insert(pair(left, right));
            }
            Rule::DatePart { date, output, .. } => {
                one.insert(pair(date, output));
            }
            Rule::Sum { output, terms, constants, .. } => {
                if let ([term], [_]) = (terms.as_slice(), constants.as_slice()) {
                    one.insert(pair(&term.column, output));
                }
                together.push(rule.columns().into_iter().map(str::to_owned).collect());
                let plain = |term: &super::super::rule::Term| {
                    term.factor >= 1.0 && never_negative.contains(&term.column)
                };
                if terms.iter().all(plain) && constants.iter().all(|constant| *constant >= 0.0) {
                    parts.extend(terms.iter().map(|term| (term.column.clone(), output.clone())));
                }
            }
            Rule::Product { .. } => together.push(rule.columns().into_iter().map(str::to_owned).collect()),
            Rule::Order { low, high, .. } => {
                ordered.insert((low.clone(), high.clone()));
            }
            Rule::Running { column, .. } => {
                running.insert(column.clone());
            }
            _ => {}
        }
    }
    let in_one = |a: &String, b: &String| {
        let both = |columns: &Vec<String>| columns.contains(a) && columns.contains(b);
        one.contains(&pair(a, b)) || together.iter().any(both)
    };
    let in_order = |a: &String, b: &String| {
        ordered.contains(&(a.clone(), b.clone())) || ordered.contains(&(b.clone(), a.clone()))
    };
    let needless = |found: &Found| match &found.rule {
        Rule::Order { low, high, .. } => {
            parts.contains(&(low.clone(), high.clone())) || one.contains(&pair(low, high))
        }
        Rule::NeverEqual { left, right } => in_one(left, right) || in_order(left, right),
        Rule::Impossible { left, right, .. } => in_one(left, right) || in_order(left, right),
        Rule::Gate { when, then, .. } if says_zero(&then.states) => {
            in_one(&when.column, &then.column) || in_order(&when.column, &then.column)
        }
        Rule::Equal { left, right, nonzero } => {
            let full = !nonzero && found.evidence.share() >= 0.95;
            !full && one.contains(&pair(left, right))
        }
        Rule::Unique { columns } => columns.iter().any(|column| running.contains(column)),
        _ => false,
    };
    let keep: Vec<bool> = found.iter().map(|found| !needless(found)).collect();
    let mut keep = keep.into_iter();
    found.into_iter().filter(|_| keep.next().unwrap_or(true)).collect()
}

fn says_zero(states: &[State]) -> bool {
    states.iter().all(|state| *state == State::Is(Value::Number(0.0)) || *state == State::NotZero)
}

/// From which columns a rule computes which.
fn functions(found: &Found) -> Vec<(Vec<&str>, &str)> {
    let columns = found.rule.columns();
    let all_but = |place: usize| -> (Vec<&str>, &str) {
        let others = columns.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, name)| *name);
        (others.collect(), columns[place])
    };
    let last = columns.len().saturating_sub(1);
    match &found.rule {
        Rule::Determined { .. } | Rule::DatePart { .. } | Rule::Duration { .. } => vec![all_but(last)],
        Rule::OneToOne { .. } => vec![all_but(0), all_but(1)],
        Rule::Equal { nonzero: false, .. } if found.evidence.share() >= 0.95 => vec![all_but(0), all_but(1)],
        Rule::Sum { constants, .. } if constants.len() == 1 => (0..columns.len()).map(all_but).collect(),
        Rule::Product { .. } => (0..columns.len()).map(all_but).collect(),
        _ => Vec::new(),
    }
}

/// Lines of a rule's table: those with the longest are left out first.
fn lines(rule: &Rule) -> Option<usize> {
    match rule {
        Rule::Determined { table, .. } => Some(table.len()),
        Rule::OneToOne { pairs, .. } => Some(pairs.len()),
        Rule::DatePart { numbering: Numbering::Table(table), .. } => Some(table.len()),
        _ => None,
    }
}

/// Tables that can be computed from what other rules say.
fn without_derived(mut found: Vec<Found>) -> Vec<Found> {
    let mut order: Vec<usize> =
        (0..found.len()).filter(|&place| lines(&found[place].rule).is_some()).collect();
    order.sort_by_key(|&place| {
        let inputs = found[place].rule.columns().len();
        let twins = matches!(found[place].rule, Rule::OneToOne { .. });
        (twins, std::cmp::Reverse(inputs), std::cmp::Reverse(lines(&found[place].rule)))
    });
    let mut gone: HashSet<usize> = HashSet::new();
    for place in order {
        let own: Vec<(Vec<&str>, &str)> = functions(&found[place]);
        let share = found[place].evidence.share();
        let others = || {
            found.iter().enumerate().filter(|(other, found)| {
                *other != place && !gone.contains(other) && found.evidence.share() >= share - SLACK
            })
        };
        let known: Vec<(Vec<&str>, &str)> = others().flat_map(|(_, found)| functions(found)).collect();
        if own.iter().all(|(inputs, output)| follows(inputs, output, &known)) {
            gone.insert(place);
        }
    }
    let mut place = 0;
    found.retain(|_| {
        place += 1;
        !gone.contains(&(place - 1))
    });
    found
}

/// Whether the output can be computed from the inputs, step by step.
fn follows(inputs: &[&str], output: &str, known: &[(Vec<&str>, &str)]) -> bool {
    let mut have: HashSet<&str> = inputs.iter().copied().collect();
    loop {
        let before = have.len();
        for (needs, gives) in known {
            if needs.iter().all(|need| have.contains(need)) {
                have.insert(gives);
            }
        }
        if have.contains(output) {
            return true;
        }
        if have.len() == before {
            return false;
        }
    }
}

/// a ≤ c where a ≤ b ≤ c.
fn without_longer_orders(mut found: Vec<Found>) -> Vec<Found> {
    let mut edges: HashMap<(String, String), (bool, f64)> = HashMap::new();
    for one in &found {
        if let Rule::Order { low, high, strict } = &one.rule {
            edges.insert((low.clone(), high.clone()), (*strict, one.evidence.share()));
        }
    }
    let columns: HashSet<String> = edges.keys().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let follows = |low: &String, high: &String, strict: bool, share: f64| {
        columns.iter().any(|middle| {
            let first = edges.get(&(low.clone(), middle.clone()));
            let second = edges.get(&(middle.clone(), high.clone()));
            matches!((first, second), (Some(a), Some(b))
                if (!strict || a.0 || b.0) && a.1.min(b.1) >= share - SLACK)
        })
    };
    found.retain(|one| match &one.rule {
        Rule::Order { low, high, strict } => !follows(low, high, *strict, one.evidence.share()),
        _ => true,
    });
    found
}
