//! Rules found in data: proposed and tested on a sample of rows, then counted in all of them.

mod chance;
mod date_parts;
mod determined;
mod duration;
mod equal;
mod fresh;
mod grids;
mod impossible;
mod keys;
mod known;
mod linear;
mod merge;
mod order;
mod product;
mod pursuit;
mod redundant;
mod sample;
mod several;
mod spectrum;
mod states;

use std::collections::HashSet;

use pmm_core::Streams;
use serde::{Deserialize, Serialize};

use self::determined::Agreements;
use self::sample::Sample;
use super::error::CountError;
use super::evidence::{Evidence, Found, count};
use super::rows::Rows;
use super::rule::Rule;
use super::tables::learn_tables;
use super::value::{Condition, State};

/// A rule that passed its test, before it is counted in all rows.
struct Candidate {
    rule: Rule,
    /// The chance that a row breaks it if the columns had nothing to do with each other, where that is known.
    chance: Option<f64>,
}

/// How rules are looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The chance that a table of independent columns gives any rule between columns at all.
    pub error_rate: f64,
    /// Rows that rules are proposed and tested on, at most.
    pub sample: usize,
    /// Lines of the table of a function, at most.
    pub table: usize,
    /// Rows shown that break a rule.
    pub exceptions: usize,
    /// Equally filled ranges into which numbers are cut for impossible combinations with levels; below 2, they are not.
    pub bins: usize,
    /// The seed that chooses the sample.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { error_rate: 0.01, sample: 16_384, table: 50_000, exceptions: 5, bins: 0, seed: 0 }
    }
}

/// Finds the rules of a table, in at most three passes over its rows.
///
/// The first pass takes a random sample of rows. On it, rules are proposed and tested; what is proposed by looking at the data
/// (sums, products, functions of several columns) is proposed on one half and tested on the other, everything else is tested for
/// all pairs of columns. The error rate is shared out among the kinds of rules, and within a kind among all tests. The second
/// pass learns the tables of functions, the third counts every rule in all rows. What follows from other rules is left out.
///
/// Memory: the sample, the tables and, for unique columns, hashes of at most a million values each. Time: rows × (columns +
/// rules), and columns² × sample.
///
/// ```
/// use pmm_data::rules::{MemoryRows, Options, find};
/// let n = 400;
/// let parts: Vec<f64> = (0..n).map(|i| f64::from(i * i % 89)).collect();
/// let others: Vec<f64> = (0..n).map(|i| f64::from(i * 31 % 97)).collect();
/// let sums = parts.iter().zip(&others).map(|(a, b)| Some(a + b)).collect();
/// let rows = MemoryRows::new()
///     .numbers("a", parts.into_iter().map(Some).collect())
///     .numbers("b", others.into_iter().map(Some).collect())
///     .numbers("total", sums);
/// let found = find(&rows, &Options::default())?;
/// assert!(found.iter().any(|found| found.rule.sentence() == "total is a + b"));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub fn find<R: Rows>(rows: &R, options: &Options) -> Result<Vec<Found>, R::Error> {
    let sample = Sample::read(rows, options.sample.max(2), &Streams::new(options.seed))?;
    let rows_read = sample.total;
    let candidates = candidates(&sample, options);
    let (rules, chances): (Vec<Rule>, Vec<Option<f64>>) =
        candidates.into_iter().map(|candidate| (candidate.rule, candidate.chance)).unzip();
    let filled = rows_only(learn_tables(rows, &rules, options.table))?;
    let (rules, chances): (Vec<Rule>, Vec<Option<f64>>) =
        filled.into_iter().zip(chances).filter_map(|(rule, chance)| Some((rule?, chance))).unzip();
    let counted = rows_only(count(rows, &rules, options.exceptions))?;
    let found = rules.into_iter().zip(counted).zip(chances).map(|((rule, evidence), chance)| {
        let expected_breaks = chance.map(|chance| chance * concerned(&rule, &evidence));
        Found { rule, evidence: Evidence { expected_breaks, ..evidence } }
    });
    let found: Vec<Found> = found.filter(|found| holds(found, rows_read)).collect();
    let names: Vec<String> = sample.columns.iter().map(|column| column.name.clone()).collect();
    let positive = sample.columns.iter().filter(|column| column.profile.low >= 0.0);
    let never_negative: HashSet<String> = positive.map(|column| column.name.clone()).collect();
    Ok(redundant::reduced(found, &names, &never_negative))
}

/// Rules that were found in these columns fit them: only reading can fail.
fn rows_only<T: Default, E>(result: Result<T, CountError<E>>) -> Result<T, E> {
    match result {
        Ok(value) => Ok(value),
        Err(CountError::Rows(error)) => Err(error),
        Err(CountError::Rule(_)) => Ok(T::default()),
    }
}

/// Rules by the sample, each kind with its share of the error rate.
fn candidates(sample: &Sample, options: &Options) -> Vec<Candidate> {
    let rate = |share: f64| share * options.error_rate;
    let agreements = Agreements::new(sample);
    let (determines, mut all) = determined::find(sample, &agreements, rate(0.15));
    all.extend(several::find(sample, &agreements, &determines, rate(0.1)));
    all.extend(date_parts::find(sample, rate(0.05)));
    all.extend(equal::find(sample, rate(0.1)));
    all.extend(linear::find(sample, rate(0.1)));
    all.extend(product::find(sample, rate(0.05)));
    all.extend(duration::find(sample, rate(0.05)));
    all.extend(order::find(sample, rate(0.1)));
    all.extend(impossible::find(sample, &determines, options.bins, rate(0.25), options.error_rate));
    all.extend(keys::find(sample, rate(0.025)));
    all.extend(grids::find(sample, rate(0.025)));
    let names = || sample.columns.iter().map(|column| column.name.clone());
    merge::twins(merge::gaps(all, names()), names())
}

/// Rows that chance could have broken: the first row of each line of a table cannot.
fn concerned(rule: &Rule, evidence: &Evidence) -> f64 {
    let lines = match rule {
        Rule::Determined { table, .. } => table.len(),
        Rule::OneToOne { pairs, .. } => pairs.len(),
        _ => 0,
    };
    evidence.applies.saturating_sub(lines as u64) as f64
}

/// Whether a rule that the sample showed also holds in all rows.
fn holds(found: &Found, rows: u64) -> bool {
    let Found { rule, evidence } = found;
    let share = evidence.share();
    let few_breaks = |most: f64| {
        evidence.expected_breaks.is_none_or(|expected| evidence.breaks() as f64 <= most * expected)
    };
    evidence.applies > 0
        && match rule {
            Rule::Determined { .. } | Rule::OneToOne { .. } | Rule::DatePart { .. } => {
                share >= 0.98 && few_breaks(0.1)
            }
            Rule::Sum { .. } | Rule::Product { .. } | Rule::Duration { .. } => {
                share >= 0.95 && few_breaks(0.1)
            }
            Rule::Order { .. } => share >= 0.99 && few_breaks(0.1),
            Rule::Impossible { .. } | Rule::Gate { .. } => few_breaks(0.05) && matters(found, rows),
            Rule::MissingTogether { .. } => few_breaks(0.05),
            Rule::NeverEqual { .. } => few_breaks(0.05),
            Rule::Unique { .. } => share >= 0.99,
            Rule::Running { .. } => share >= 0.99,
            Rule::Shape { .. } | Rule::OnTime { .. } => share >= 0.95,
            Rule::Range { .. } => share >= 0.999,
            Rule::Equal { .. } => share >= 0.01,
            Rule::Multiple { .. } => share >= 0.5,
        }
}

/// Whether chance would break a rule about states in two rows of a thousand; gaps always matter.
fn matters(found: &Found, rows: u64) -> bool {
    let gap = |condition: &Condition| condition.states.contains(&State::Missing);
    let about_gaps = matches!(&found.rule, Rule::Gate { when, then, .. } if gap(when) || gap(then));
    about_gaps || found.evidence.expected_breaks.is_none_or(|breaks| breaks >= 0.002 * rows as f64)
}
