//! Columns that name their row: running numbers, unique columns and pairs, shapes of identifiers.

use std::collections::HashSet;

use super::super::pattern::Pattern;
use super::super::place::join;
use super::super::rule::Rule;
use super::super::value::Value;
use super::Candidate;
use super::sample::{NONE, Sample, SampleColumn};

/// Fewer rows than this say nothing.
const ROWS: usize = 20;
/// Pairs of columns that may be unique together, at most.
const PAIRS: usize = 8;

/// Rules about single rows' names.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let n = sample.columns.len();
    let threshold = (error_rate / (n * (n + 3) / 2).max(1) as f64).ln();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut unique = Vec::with_capacity(n);
    for column in &sample.columns {
        candidates.extend(running(column));
        let found = is_unique(column, threshold);
        unique.push(column.distinct() == column.present);
        candidates.extend(found);
        candidates.extend(shape(column));
    }
    candidates.extend(pairs(sample, &unique, threshold));
    candidates
}

/// Each row a step above the last.
fn running(column: &SampleColumn) -> Option<Candidate> {
    let profile = &column.profile;
    let steps = profile.numbers.saturating_sub(1);
    let runs = profile.numbers >= ROWS as u64
        && profile.step != 0.0
        && profile.steps as f64 >= 0.99 * steps as f64
        && column.ordered();
    let rule = || Rule::Running { column: column.name.clone(), first: profile.first, step: profile.step };
    runs.then(|| Candidate { rule: rule(), chance: Some(1.0 - 1.0 / profile.numbers as f64) })
}

/// No value twice, though numbers spread over the same range would repeat. Texts need no such test: they are names.
fn is_unique(column: &SampleColumn, ln_threshold: f64) -> Option<Candidate> {
    if column.present < ROWS || column.distinct() < column.present {
        return None;
    }
    let n = column.present as f64;
    let unit = match column.date {
        Some(unit) => unit.seconds(),
        None if column.step >= 1.0 => column.step,
        None => 0.0,
    };
    let rule = Rule::Unique { columns: vec![column.name.clone()] };
    if column.textual {
        return Some(Candidate { rule, chance: None });
    }
    let known = || column.number.iter().copied().filter(|number| number.is_finite());
    let range = known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min);
    let places = range / unit + 1.0;
    let ln_no_repeat = if n <= places {
        libm::lgamma(places + 1.0) - libm::lgamma(places - n + 1.0) - n * places.ln()
    } else {
        f64::NEG_INFINITY
    };
    let surprising = unit > 0.0 && ln_no_repeat <= ln_threshold;
    surprising.then(|| Candidate { rule, chance: Some(1.0 - (-n / places).exp()) })
}

/// The shapes of identifiers.
fn shape(column: &SampleColumn) -> Option<Candidate> {
    if !column.identifier || column.present < ROWS {
        return None;
    }
    let texts = column.values.iter().filter_map(|value| match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let shapes = Pattern::learn(texts);
    let rule = || Rule::Shape { column: column.name.clone(), shapes: shapes.clone() };
    (!shapes.is_empty()).then(|| Candidate { rule: rule(), chance: None })
}

/// Two columns that are unique together, though chance would repeat many of their pairs.
fn pairs(sample: &Sample, unique: &[bool], ln_threshold: f64) -> Vec<Candidate> {
    let names_rows = |column: &SampleColumn| column.textual || column.date.is_some() || column.step >= 1.0;
    let fits = |place: &usize| {
        let column = &sample.columns[*place];
        !unique[*place] && column.distinct() >= 2 && names_rows(column)
    };
    let places: Vec<usize> = (0..sample.columns.len()).filter(fits).collect();
    let mut found = Vec::new();
    for (index, &a) in places.iter().enumerate() {
        for &b in &places[index + 1..] {
            let (one, other) = (&sample.columns[a], &sample.columns[b]);
            let chance = one.repeat_chance() * other.repeat_chance();
            let n = sample.rows as f64;
            let repeats = 0.5 * n * (n - 1.0) * chance;
            if repeats >= ROWS as f64 && -repeats <= ln_threshold && differ(one, other) {
                let rule = Rule::Unique { columns: vec![one.name.clone(), other.name.clone()] };
                let chance = 1.0 - (-(n - 1.0) * chance).exp();
                found.push((repeats, Candidate { rule, chance: Some(chance) }));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(PAIRS);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Whether no two rows have the same pair.
fn differ(one: &SampleColumn, other: &SampleColumn) -> bool {
    let mut seen = HashSet::new();
    let pairs = one.code.iter().zip(&other.code).filter(|(a, b)| **a != NONE && **b != NONE);
    pairs.into_iter().all(|(&a, &b)| seen.insert(join([u64::from(a), u64::from(b)].into_iter())))
}
