//! Rules that follow from others.

use std::collections::{HashMap, HashSet};

use super::super::evidence::Found;
use super::super::rule::{Entry, Numbering, Rule};
use super::super::value::{State, Value};
use super::known::{Known, pair};
use super::merge::Groups;

/// Shares that differ by less are the same.
const SLACK: f64 = 0.001;

/// Numbers of which a table with exceptions speaks, at most.
const LISTED: usize = 50;

/// Leaves out what follows from the rest. `never_negative` are columns without negative numbers.
pub(crate) fn reduced(found: Vec<Found>, names: &[String], never_negative: &HashSet<String>) -> Vec<Found> {
    let found = without_twins(found, names);
    let found = without_pairs(found, never_negative);
    let found = without_worse(found);
    let found = without_digits(found, names);
    let found = without_derived(found);
    let found = without_chains(found, names);
    let found = without_coarser(found);
    let found = without_listed(found);
    without_longer_orders(found)
}

/// Two columns that are one, by a rule of some kind.
type TwinsOf = fn(&Found) -> Option<(&str, &str)>;

/// Texts that belong together.
type Lines = Vec<(String, String)>;

/// Of columns that are all equal, or all determine each other, each is told of one other only.
fn without_twins(found: Vec<Found>, names: &[String]) -> Vec<Found> {
    let mut groups = Groups::new(names.iter().cloned());
    let mut keep = vec![true; found.len()];
    // Equality says most, a sum of one term more than a table.
    let passes: [TwinsOf; 3] = [
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
fn without_pairs(mut found: Vec<Found>, never_negative: &HashSet<String>) -> Vec<Found> {
    let known = Known::new(&found, never_negative);
    found.retain(|one| !known.tells(one));
    found
}

/// Functions of one column with exceptions that a second column explains.
fn without_worse(mut found: Vec<Found>) -> Vec<Found> {
    let better: Vec<(Vec<String>, String, f64)> = found
        .iter()
        .filter_map(|one| match &one.rule {
            Rule::Determined { inputs, output, .. } if inputs.len() > 1 => {
                Some((inputs.clone(), output.clone(), one.evidence.share()))
            }
            _ => None,
        })
        .collect();
    found.retain(|one| {
        let (input, output) = match &one.rule {
            Rule::Determined { inputs, output, .. } if inputs.len() == 1 => (&inputs[0], output),
            _ => return true,
        };
        let explains = |(inputs, of, share): &(Vec<String>, String, f64)| {
            inputs.contains(input) && of == output && *share > one.evidence.share() + SLACK
        };
        !better.iter().any(explains)
    });
    found
}

/// Of columns that are equal now and then, those that a chain of stronger such rules connects: where the rules of the chain hold, so does
/// theirs, and what is left of it is not worth a column that is learned.
fn without_chains(found: Vec<Found>, names: &[String]) -> Vec<Found> {
    let mut equal: Vec<usize> = (0..found.len())
        .filter(|at| matches!(found[*at].rule, Rule::Equal { .. }) && found[*at].evidence.share() < 1.0)
        .collect();
    equal.sort_by(|a, b| found[*b].evidence.share().total_cmp(&found[*a].evidence.share()));
    let (mut chains, mut keep) = (Groups::new(names.iter().cloned()), vec![true; found.len()]);
    for at in equal {
        if let Rule::Equal { left, right, .. } = &found[at].rule {
            keep[at] = chains.join(left, right);
        }
    }
    let mut keep = keep.into_iter();
    found.into_iter().filter(|_| keep.next().unwrap_or(true)).collect()
}

/// Tables between numbers that add or multiply up to each other: a total has few enough digits that they tell its parts in the
/// rows at hand, and in no others. Nor is a number that has exceptions a function of a number with many values.
fn without_digits(mut found: Vec<Found>, names: &[String]) -> Vec<Found> {
    let mut families = Groups::new(names.iter().cloned());
    for one in &found {
        if matches!(&one.rule, Rule::Sum { .. } | Rule::Product { .. }) {
            let columns = one.rule.columns();
            columns.windows(2).for_each(|pair| {
                families.join(pair[0], pair[1]);
            });
        }
    }
    found.retain(|one| {
        let Rule::Determined { inputs, output, table } = &one.rule else { return true };
        let family = families.first(output);
        let apart = inputs.iter().any(|input| families.first(input) != family);
        let number = |value: &Value| matches!(value, Value::Number(_));
        let numbers = |entry: &Entry| number(&entry.output) && entry.inputs.iter().any(number);
        let exact = one.evidence.holds == one.evidence.applies;
        apart && (exact || table.len() <= LISTED || !table.iter().all(numbers))
    });
    found
}

/// Impossible states of a column that follow from those of a column which it determines, or which determines it.
fn without_coarser(mut found: Vec<Found>) -> Vec<Found> {
    type Cells = HashSet<(String, String)>;
    let mut cells: HashMap<(String, String), Cells> = HashMap::new();
    let mut maps: Vec<(String, String, Lines)> = Vec::new();
    for one in &found {
        match &one.rule {
            Rule::Impossible { left, right, pairs } => {
                let texts: Vec<(String, String)> =
                    pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
                let flipped = texts.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
                cells.insert((left.clone(), right.clone()), texts.into_iter().collect());
                cells.insert((right.clone(), left.clone()), flipped);
            }
            Rule::Determined { inputs, output, table } if inputs.len() == 1 => {
                let line = |entry: &Entry| (entry.inputs[0].to_string(), entry.output.to_string());
                maps.push((inputs[0].clone(), output.clone(), table.iter().map(line).collect()));
            }
            _ => {}
        }
    }
    let mut gone: HashSet<(String, String)> = HashSet::new();
    for (fine, coarse, table) in &maps {
        let pairs: Vec<&(String, String)> = cells.keys().filter(|pair| pair.0 == *fine).collect();
        for key in pairs {
            let Some(of_coarse) = cells.get(&(coarse.clone(), key.1.clone())) else { continue };
            let image = |a: &String| table.iter().find(|line| line.0 == *a).map(|line| line.1.clone());
            let known =
                |(a, c): &(String, String)| image(a).is_some_and(|b| of_coarse.contains(&(b, c.clone())));
            let told = |(b, c): &(String, String)| {
                let mut origins = table.iter().filter(|line| line.1 == *b);
                origins.all(|line| cells[key].contains(&(line.0.clone(), c.clone())))
            };
            if cells[key].iter().all(known) {
                gone.insert(pair(fine, &key.1));
            } else if of_coarse.iter().all(told) {
                gone.insert(pair(coarse, &key.1));
            }
        }
    }
    found.retain(|one| match &one.rule {
        Rule::Impossible { left, right, .. } => !gone.contains(&pair(left, right)),
        _ => true,
    });
    found
}

/// Gates and impossible states that a table of a function shows, and those of two columns which a third determines.
fn without_listed(mut found: Vec<Found>) -> Vec<Found> {
    let tables: Vec<Rule> =
        found.iter().map(|one| &one.rule).filter(|rule| is_complete(rule)).cloned().collect();
    let single: Vec<(String, String)> = found
        .iter()
        .filter_map(|one| match &one.rule {
            Rule::Determined { inputs, output, .. } if inputs.len() == 1 => {
                Some((inputs[0].clone(), output.clone()))
            }
            Rule::DatePart { date, output, .. } => Some((date.clone(), output.clone())),
            _ => None,
        })
        .collect();
    let has = |source: &str, output: &str| single.iter().any(|one| one.0 == source && one.1 == output);
    let common = |a: &str, b: &str| single.iter().any(|(source, of)| of == a && has(source, b));
    let listed = |a: &str, b: &str, breaks: &dyn Fn(&Value, &Value) -> bool| {
        tables.iter().any(|table| never_listed(table, a, b, breaks))
    };
    found.retain(|one| match &one.rule {
        Rule::Impossible { left, right, pairs } => {
            let breaks = |a: &Value, b: &Value| pairs.iter().any(|pair| pair.0.admits(a) && pair.1.admits(b));
            !common(left, right) && !listed(left, right, &breaks)
        }
        Rule::Gate { when, then, both_ways } => {
            let inside = |states: &[State], value: &Value| states.iter().any(|state| state.admits(value));
            let gaps = inside(&when.states, &Value::Missing) || inside(&then.states, &Value::Missing);
            let breaks = |a: &Value, b: &Value| match (inside(&when.states, a), inside(&then.states, b)) {
                (true, false) => true,
                (false, true) => *both_ways,
                _ => false,
            };
            gaps || !(common(&when.column, &then.column) || listed(&when.column, &then.column, &breaks))
        }
        _ => true,
    });
    found
}

/// Whether a table has a line for all that its inputs can be together: one that has not is silent there.
fn is_complete(rule: &Rule) -> bool {
    let Rule::Determined { inputs, table, .. } = rule else { return false };
    let kinds = |at: usize| {
        let texts = table.iter().filter_map(|entry| entry.inputs.get(at)).map(ToString::to_string);
        texts.collect::<HashSet<String>>().len()
    };
    (0..inputs.len()).map(kinds).product::<usize>() <= table.len()
}

/// Whether a table speaks of both columns and no line of it breaks a rule about them.
fn never_listed(table: &Rule, a: &str, b: &str, breaks: &dyn Fn(&Value, &Value) -> bool) -> bool {
    let Rule::Determined { inputs, output, table } = table else { return false };
    let place = |name: &str| match inputs.iter().position(|input| input == name) {
        Some(place) => Some(place),
        None => (output == name).then_some(inputs.len()),
    };
    let (Some(a), Some(b)) = (place(a), place(b)) else { return false };
    table.iter().all(|entry| {
        let value = |place: usize| entry.inputs.get(place).unwrap_or(&entry.output);
        !breaks(value(a), value(b))
    })
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
        (
            twins,
            std::cmp::Reverse(inputs),
            std::cmp::Reverse(lines(&found[place].rule)),
            std::cmp::Reverse(place),
        )
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
