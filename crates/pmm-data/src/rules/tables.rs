//! The tables of functions, learned from the rows.

use std::collections::HashMap;

use super::date_part::DatePart;
use super::error::{CountError, RuleError};
use super::evidence::each_row;
use super::place::{Place, join};
use super::rows::{Cell, Column, DateUnit, Rows};
use super::rule::{Entry, Numbering, Rule};
use super::value::Value;

/// What the outputs of one input are.
struct Line {
    inputs: Vec<Value>,
    /// Outputs with their counts.
    outputs: Vec<(u64, Value, u64)>,
}

impl Line {
    fn add(&mut self, key: u64, value: impl Fn() -> Value) {
        if let Some(output) = self.outputs.iter_mut().find(|output| output.0 == key) {
            output.2 += 1;
        } else if self.outputs.len() < 8 {
            // A few different outputs tell enough: a function has one.
            self.outputs.push((key, value(), 1));
        }
    }

    /// The most frequent output; of several the first seen.
    fn output(&self) -> Option<&(u64, Value, u64)> {
        self.outputs.iter().rev().max_by_key(|output| output.2)
    }
}

/// What the inputs are: cells, or a part of a date.
enum Inputs {
    Cells(Vec<Place>),
    Part(Place, DatePart),
}

/// The table of one rule.
struct Learner {
    inputs: Inputs,
    output: Place,
    lines: HashMap<u64, Line>,
    most: usize,
}

impl Learner {
    /// None for rules without a table.
    fn new(rule: &Rule, columns: &[Column], most: usize) -> Result<Option<Self>, RuleError> {
        let place = |name: &String| Place::new(name, columns);
        let (inputs, output) = match rule {
            Rule::Determined { inputs, output, table } if table.is_empty() => {
                (Inputs::Cells(inputs.iter().map(place).collect::<Result<_, _>>()?), place(output)?)
            }
            Rule::OneToOne { left, right, pairs } if pairs.is_empty() => {
                (Inputs::Cells(vec![place(left)?]), place(right)?)
            }
            Rule::DatePart { date, part, output, numbering: Numbering::Table(table) } if table.is_empty() => {
                (Inputs::Part(Place::date(date, columns)?, *part), place(output)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { inputs, output, lines: HashMap::new(), most }))
    }

    /// One key of all inputs.
    fn key(&self, row: &[Cell<'_>]) -> Option<u64> {
        match &self.inputs {
            Inputs::Part(date, part) => Some(part.of(date.scalar(row)?, DateUnit::Seconds)?.to_bits()),
            Inputs::Cells(places) => {
                let mut keys = [0; 3];
                for (key, place) in keys.iter_mut().zip(places) {
                    *key = place.key(row)?;
                }
                Some(join(keys[..places.len().min(3)].iter().copied()))
            }
        }
    }

    fn add(&mut self, row: &[Cell<'_>]) -> Option<()> {
        let (output, key) = (self.output.key(row)?, self.key(row)?);
        if self.lines.len() > self.most {
            return None;
        }
        let inputs = || match &self.inputs {
            Inputs::Cells(places) => places.iter().map(|place| place.value(row)).collect(),
            Inputs::Part(..) => vec![Value::Number(f64::from_bits(key))],
        };
        let line = self.lines.entry(key).or_insert_with(|| Line { inputs: inputs(), outputs: Vec::new() });
        line.add(output, || self.output.value(row));
        Some(())
    }

    /// The lines in the order of their inputs; none if there are too many.
    fn entries(self) -> Option<Vec<Entry>> {
        if self.lines.len() > self.most {
            return None;
        }
        let mut entries: Vec<Entry> = self
            .lines
            .into_values()
            .filter_map(|line| {
                let output = line.output()?.1.clone();
                Some(Entry { inputs: line.inputs, output })
            })
            .collect();
        entries.sort_by(|a, b| order(&a.inputs, &b.inputs));
        Some(entries)
    }
}

/// Numbers by size, then texts by letters.
fn order(a: &[Value], b: &[Value]) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let one = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Number(_), _) => Less,
        (_, Value::Number(_)) => Greater,
        _ => Equal,
    };
    a.iter().zip(b).map(|(a, b)| one(a, b)).find(|order| *order != Equal).unwrap_or(Equal)
}

/// Pairs in which each belongs to the other.
fn both_ways(entries: Vec<Entry>) -> Vec<(Value, Value)> {
    let mut pairs: Vec<(Value, Value)> = Vec::with_capacity(entries.len());
    let mut seen: std::collections::HashSet<String> = std::collections::HashSet::new();
    for mut entry in entries {
        let text = format!("{:?}", entry.output);
        if let (Some(input), true) = (entry.inputs.pop(), seen.insert(text)) {
            pairs.push((input, entry.output));
        }
    }
    pairs
}

/// The rule with its table; none if that has too many lines.
fn filled(rule: &Rule, learner: Option<Learner>) -> Option<Rule> {
    let Some(learner) = learner else { return Some(rule.clone()) };
    let entries = learner.entries()?;
    Some(match rule.clone() {
        Rule::Determined { inputs, output, .. } => Rule::Determined { inputs, output, table: entries },
        Rule::OneToOne { left, right, .. } => Rule::OneToOne { left, right, pairs: both_ways(entries) },
        Rule::DatePart { date, part, output, .. } => {
            let line = |entry: Entry| match entry.inputs.as_slice() {
                [Value::Number(part)] => Some((*part, entry.output)),
                _ => None,
            };
            let numbering = Numbering::Table(entries.into_iter().filter_map(line).collect());
            Rule::DatePart { date, part, output, numbering }
        }
        other => other,
    })
}

/// Fills, in one pass, the empty tables of rules, such as a declared `zone -> borough`: the most frequent output for each input.
/// None in the place of a rule whose table would have more than `most` lines.
///
/// ```
/// use pmm_data::rules::{MemoryRows, Rows, Rule, learn_tables};
/// let rows = MemoryRows::new()
///     .levels("zone", vec![Some("Harlem"), Some("Astoria"), Some("Harlem")])
///     .levels("borough", vec![Some("Manhattan"), Some("Queens"), Some("Manhattan")]);
/// let rule = Rule::parse("zone -> borough", rows.columns())?;
/// let Some(Rule::Determined { table, .. }) = &learn_tables(&rows, &[rule], 10)?[0] else { panic!() };
/// assert_eq!((table.len(), table[1].output.to_string()), (2, "Manhattan".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learn_tables<R: Rows>(
    rows: &R,
    rules: &[Rule],
    most: usize,
) -> Result<Vec<Option<Rule>>, CountError<R::Error>> {
    let learners = rules.iter().map(|rule| Learner::new(rule, rows.columns(), most));
    let mut learners = learners.collect::<Result<Vec<_>, _>>()?;
    if learners.iter().any(Option::is_some) {
        let mut visit = |_: u64, row: &[Cell<'_>]| {
            for learner in learners.iter_mut().flatten() {
                learner.add(row);
            }
        };
        each_row(rows, &mut visit).map_err(CountError::Rows)?;
    }
    Ok(rules.iter().zip(learners).map(|(rule, learner)| filled(rule, learner)).collect())
}
