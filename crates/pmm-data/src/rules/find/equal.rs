//! Columns that repeat each other's cells, and columns that never do.

use std::collections::HashMap;

use super::super::place::hash;
use super::super::rule::Rule;
use super::super::value::Value;
use super::Candidate;
use super::chance::{ln_at_least, ln_at_most};
use super::sample::{NONE, Sample, SampleColumn};

/// Digits next to equality that say how often two numbers are near each other.
const NEAR: f64 = 3.0;

/// The least share of rows that chance must make equal, for columns that never are.
const NEVER: f64 = 0.005;

/// The least share of rows in which columns are equal.
const LEAST: f64 = 0.01;

/// Contents of cells, the same number for the same content in all columns.
struct Contents {
    /// By column and code.
    ids: Vec<Vec<u32>>,
    zero: u32,
}

/// Rows of a pair of columns.
#[derive(Debug, Clone, Copy, Default)]
struct Matches {
    rows: f64,
    equal: f64,
    /// Rows that are a few last digits apart, per digit.
    near: f64,
}

/// Columns that are equal, or equal more often than chance explains, or never.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let contents = Contents::new(sample);
    let pairs = comparable(sample);
    let threshold = (error_rate / (3 * pairs.len()).max(1) as f64).ln();
    let pair = |&(left, right): &(usize, usize)| Pair {
        left: &sample.columns[left],
        right: &sample.columns[right],
        contents: &contents,
        places: [left, right],
    };
    let (mut candidates, mut partly) = (Vec::new(), Vec::new());
    for pair in pairs.iter().map(pair) {
        match pair.rule(threshold) {
            Some((Kind::Partly(equal), candidate)) => partly.push((equal, pair, candidate)),
            Some((Kind::Wholly, candidate)) => candidates.push(candidate),
            None => {}
        }
    }
    candidates.extend(unexplained(partly, sample));
    candidates
}

/// Whether two columns are always equal (or never), or in so many rows.
enum Kind {
    Wholly,
    Partly(f64),
}

/// Where a = b and b = c, a = c is no news: the strongest pairs first, a pair is kept if it is equal in further rows.
fn unexplained(mut partly: Vec<(f64, Pair<'_>, Candidate)>, sample: &Sample) -> Vec<Candidate> {
    partly.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.places.cmp(&b.1.places)));
    let columns = sample.columns.len();
    // By row and column, the first of the columns that the kept pairs make equal to it.
    let mut first: Vec<u16> = (0..sample.rows).flat_map(|_| 0..columns as u16).collect();
    let mut kept = Vec::new();
    for (_, pair, candidate) in partly {
        let [a, b] = pair.places;
        let rows: Vec<usize> = (0..sample.rows)
            .filter(|row| first[row * columns + a] != first[row * columns + b] && pair.repeats(*row))
            .collect();
        let present = sample.columns[a].present.min(sample.columns[b].present);
        if (rows.len() as f64) < LEAST * present as f64 {
            continue;
        }
        for row in rows {
            let group = &mut first[row * columns..(row + 1) * columns];
            let (one, other) = (group[a].min(group[b]), group[a].max(group[b]));
            group.iter_mut().filter(|first| **first == other).for_each(|first| *first = one);
        }
        kept.push(candidate);
    }
    kept
}

/// Pairs of numbers, of dates, of texts.
fn comparable(sample: &Sample) -> Vec<(usize, usize)> {
    let class = |column: &SampleColumn| match (column.date.is_some(), column.numeric, column.textual) {
        (true, ..) => 1,
        (_, true, _) => 2,
        _ => 3,
    };
    let columns = &sample.columns;
    let mut pairs = Vec::new();
    for left in 0..columns.len() {
        for right in left + 1..columns.len() {
            let both = columns[left].distinct() >= 2 && columns[right].distinct() >= 2;
            if both && class(&columns[left]) == class(&columns[right]) {
                pairs.push((left, right));
            }
        }
    }
    pairs
}

impl Contents {
    fn new(sample: &Sample) -> Self {
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut id = |key: u64| {
            let fresh = known.len() as u32;
            *known.entry(key).or_insert(fresh)
        };
        let zero = id(0.0_f64.to_bits());
        let key = |column: &SampleColumn, value: &Value| match value {
            Value::Number(number) => {
                let scale = column.date.map_or(1.0, super::super::rows::DateUnit::seconds);
                (number * scale + 0.0).to_bits()
            }
            Value::Text(text) => match text.trim().parse::<f64>() {
                Ok(number) if column.numeric => (number + 0.0).to_bits(),
                _ => hash(text.bytes()),
            },
            Value::Missing => 0,
        };
        let ids = sample
            .columns
            .iter()
            .map(|column| column.values.iter().map(|value| id(key(column, value))).collect());
        Self { ids: ids.collect(), zero }
    }
}

struct Pair<'a> {
    left: &'a SampleColumn,
    right: &'a SampleColumn,
    contents: &'a Contents,
    places: [usize; 2],
}

impl Pair<'_> {
    fn rule(&self, threshold: f64) -> Option<(Kind, Candidate)> {
        let (all, nonzero) = self.matches();
        if all.rows < 20.0 {
            return None;
        }
        if all.equal >= 0.95 * all.rows {
            let (chance, _) = self.chance(false);
            let holds = all.rows - all.equal <= 0.1 * all.rows * (1.0 - chance);
            return (holds && ln_at_least(all.equal, all.rows, chance) <= threshold)
                .then(|| (Kind::Wholly, self.equal(false, chance)));
        }
        if all.equal == 0.0 {
            return Some((Kind::Wholly, self.never(&all, threshold)?));
        }
        Some((Kind::Partly(nonzero.equal), self.partly(&all, &nonzero, threshold)?))
    }

    /// Whether the two are equal, and not 0, in a row.
    fn repeats(&self, row: usize) -> bool {
        let (x, y) = (self.left.code[row], self.right.code[row]);
        if x == NONE || y == NONE {
            return false;
        }
        let [a, b] = self.places;
        let (x, y) = (self.contents.ids[a][x as usize], self.contents.ids[b][y as usize]);
        x == y && x != self.contents.zero
    }

    /// Equal in a share of rows: a spike among values that are otherwise near each other, too.
    fn partly(&self, all: &Matches, nonzero: &Matches, threshold: f64) -> Option<Candidate> {
        let least = if self.left.textual { 10 } else { 20 };
        if self.left.distinct() < least || self.right.distinct() < least {
            return None;
        }
        let spike = nonzero.equal >= 20.0
            && nonzero.equal >= LEAST * nonzero.rows
            && nonzero.equal >= 3.0 * nonzero.near;
        if !spike {
            return None;
        }
        let zeros = all.rows > nonzero.rows;
        let (chance, _) = self.chance(zeros);
        let sure = nonzero.equal >= 3.0 * chance * nonzero.rows
            && ln_at_least(nonzero.equal, nonzero.rows, chance) <= threshold;
        sure.then(|| self.equal(zeros, chance))
    }

    /// Never equal, where no one value would make most of the coincidences: that is a matter of this value, not of equality.
    fn never(&self, all: &Matches, threshold: f64) -> Option<Candidate> {
        let (chance, most) = self.chance(false);
        let varied = most <= 0.5 * chance;
        (varied && chance >= NEVER && ln_at_most(0.0, all.rows, chance) <= threshold).then(|| {
            let (left, right) = (self.left.name.clone(), self.right.name.clone());
            Candidate { rule: Rule::NeverEqual { left, right }, chance: Some(chance) }
        })
    }

    fn equal(&self, nonzero: bool, chance: f64) -> Candidate {
        let (left, right) = (self.left.name.clone(), self.right.name.clone());
        Candidate { rule: Rule::Equal { left, right, nonzero }, chance: Some(1.0 - chance) }
    }

    fn matches(&self) -> (Matches, Matches) {
        let (ids, zero) = (&self.contents.ids, self.contents.zero);
        let [a, b] = self.places;
        let step = self.left.step.max(self.right.step);
        let (mut all, mut nonzero) = (Matches::default(), Matches::default());
        for row in 0..self.left.code.len() {
            let (x, y) = (self.left.code[row], self.right.code[row]);
            if x == NONE || y == NONE {
                continue;
            }
            let (x, y) = (ids[a][x as usize], ids[b][y as usize]);
            let equal = f64::from(u8::from(x == y));
            all.rows += 1.0;
            all.equal += equal;
            if x != zero && y != zero {
                nonzero.rows += 1.0;
                nonzero.equal += equal;
                let apart = (self.left.number[row] - self.right.number[row]).abs();
                nonzero.near += f64::from(u8::from(x != y && apart <= NEAR * step * (1.0 + 1e-9)));
            }
        }
        nonzero.near /= 2.0 * NEAR;
        (all, nonzero)
    }

    /// How often the two would be equal by chance: Σ p(v) q(v), and the largest of these.
    fn chance(&self, nonzero: bool) -> (f64, f64) {
        let [a, b] = self.places;
        let ids = &self.contents.ids;
        let counted = |id: u32| !(nonzero && id == self.contents.zero);
        let counts = |column: &SampleColumn, place: usize| -> HashMap<u32, f64> {
            let pairs = ids[place].iter().zip(&column.counts).filter(|(id, _)| counted(**id));
            pairs.map(|(&id, &count)| (id, f64::from(count))).collect()
        };
        let (left, right) = (counts(self.left, a), counts(self.right, b));
        let mut ids: Vec<&u32> = left.keys().collect();
        ids.sort_unstable();
        let both: Vec<f64> = ids.into_iter().filter_map(|id| Some(left[id] * right.get(id)?)).collect();
        let sum = |counts: &HashMap<u32, f64>| counts.values().sum::<f64>();
        let pairs = (sum(&left) * sum(&right)).max(1.0);
        (both.iter().sum::<f64>() / pairs, both.iter().copied().fold(0.0, f64::max) / pairs)
    }
}
