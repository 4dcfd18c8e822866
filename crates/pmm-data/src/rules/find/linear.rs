//! Numbers that are sums and differences of others, with fixed factors, and perhaps one of a few constants on top.

use super::super::rule::{Rule, Term};
use super::Candidate;
use super::fresh::Fresh;
use super::pursuit::{Fit, pursue};
use super::sample::{Sample, SampleColumn};
use super::spectrum::{Spectrum, shorter};

/// Terms of a sum, at most.
const TERMS: usize = 8;
/// Rows that proposals are made from, at most.
const ROWS: usize = 4_096;
/// What factors of several terms may be parts of.
const DENOMINATORS: [f64; 7] = [1.0, 2.0, 4.0, 5.0, 10.0, 60.0, 100.0];

/// A sum that fits the proposing rows.
struct Proposal {
    output: usize,
    terms: Vec<(f64, usize)>,
    constants: Vec<f64>,
    within: f64,
    share: f64,
}

/// Sums, proposed by the first half of the sample and tested on the second.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let columns: Vec<&SampleColumn> =
        sample.columns.iter().filter(|column| column.numeric && column.distinct() >= 2).collect();
    let half = sample.rows / 2;
    let rows = half.min(ROWS);
    let mut proposals: Vec<Proposal> =
        (0..columns.len()).filter_map(|output| propose(&columns, output, rows)).collect();
    keep_one_orientation(&mut proposals);
    let threshold = (error_rate / proposals.len().max(1) as f64).ln();
    let tested = proposals.into_iter().filter_map(|proposal| {
        let fresh = Fresh::new(half..sample.rows, |output, input| proposal.holds(&columns, output, input));
        fresh
            .convinces(threshold)
            .then(|| Candidate { rule: proposal.rule(&columns), chance: Some(1.0 - fresh.chance) })
    });
    tested.collect()
}

/// The best sum for one output.
fn propose(columns: &[&SampleColumn], output: usize, rows: usize) -> Option<Proposal> {
    let numbers: Vec<&[f64]> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| if place == output { &[][..] } else { &column.number[..rows] })
        .collect();
    let others: Vec<usize> = (0..columns.len()).filter(|&place| place != output).collect();
    let inputs: Vec<&[f64]> = others.iter().map(|&place| numbers[place]).collect();
    let mut best: Option<Proposal> = None;
    pursue(&columns[output].number[..rows], &inputs, TERMS, |fit| {
        if best.as_ref().is_some_and(|best| best.share == 1.0 && best.constants.len() == 1) {
            return None;
        }
        let fit = Fit { terms: fit.terms.iter().map(|&term| others[term]).collect(), ..fit.clone() };
        let proposal = exact(columns, output, &fit, rows)?;
        let rest = proposal.rest(columns, rows);
        if best.as_ref().is_none_or(|best| proposal.score() > best.score()) {
            best = Some(proposal);
        }
        Some(rest)
    });
    best.map(|best| best.without_needless_terms(columns, rows))
}

/// A fit with factors as people write them, if it then leaves one of a few constants.
fn exact(columns: &[&SampleColumn], output: usize, fit: &Fit, rows: usize) -> Option<Proposal> {
    let few_values = columns[output].distinct() < 10;
    let options: Vec<Vec<f64>> = match fit.factors.as_slice() {
        [factor] => shorter(*factor).into_iter().map(|factor| vec![factor]).collect(),
        several => DENOMINATORS
            .iter()
            .map(|part| several.iter().map(|factor| (factor * part).round() / part).collect())
            .collect(),
    };
    for factors in options {
        let terms = factors.iter().copied().zip(fit.terms.iter().copied());
        let terms: Vec<(f64, usize)> = terms.filter(|(factor, _)| *factor != 0.0).collect();
        if terms.is_empty() || (few_values && !is_whole(&terms)) {
            continue;
        }
        for within in distances(columns, output, &terms) {
            let mut proposal =
                Proposal { output, terms: terms.clone(), constants: Vec::new(), within, share: 0.0 };
            if proposal.fill(columns, rows) {
                return Some(proposal);
            }
        }
    }
    None
}

/// How far off the output may be: half of its last digit; and, where that is little more, half of the terms' last digits on top.
fn distances(columns: &[&SampleColumn], output: usize, terms: &[(f64, usize)]) -> Vec<f64> {
    let scale = columns[output].number.iter().filter(|x| x.is_finite()).fold(0.0_f64, |a, b| a.max(b.abs()));
    let strict = (0.5 * columns[output].step).max(1e-9 * scale);
    let parts: f64 = terms.iter().map(|&(factor, term)| 0.5 * factor.abs() * columns[term].step).sum();
    let loose = strict + parts;
    if is_whole(terms) || loose > 3.0 * strict { vec![strict] } else { vec![strict, loose] }
}

fn is_whole(terms: &[(f64, usize)]) -> bool {
    terms.iter().all(|(factor, _)| factor.fract() == 0.0)
}

impl Proposal {
    /// Finds the constants; false if they are too many.
    fn fill(&mut self, columns: &[&SampleColumn], rows: usize) -> bool {
        // A sum of numbers on one grid is on it: nothing needs to be rounded.
        let within = if self.on_one_grid(columns) { 1e-3 * self.within } else { self.within };
        let Some(spectrum) = Spectrum::new(self.rest(columns, rows).into_iter(), within) else {
            return false;
        };
        self.constants = spectrum.constants;
        self.share = spectrum.share;
        self.constants.len() == 1 || self.may_choose(columns)
    }

    /// Whether several constants tell anything: a number of many values, and constants that are no mere noise about one.
    fn may_choose(&self, columns: &[&SampleColumn]) -> bool {
        let output = columns[self.output];
        let low = self.constants.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.constants.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let apart = high - low >= 2.0 * self.constants.len() as f64 * output.step;
        is_whole(&self.terms) && output.distinct() >= 20 && (apart || self.constants.len() == 2)
    }

    fn on_one_grid(&self, columns: &[&SampleColumn]) -> bool {
        let step = columns[self.output].step;
        let fine =
            |&(factor, term): &(f64, usize)| factor.fract() == 0.0 && columns[term].step >= step * 0.999;
        step > 0.0 && self.terms.iter().all(fine)
    }

    /// What the terms leave of the output.
    fn rest(&self, columns: &[&SampleColumn], rows: usize) -> Vec<f64> {
        (0..rows).map(|row| columns[self.output].number[row] - self.sum(columns, row)).collect()
    }

    fn sum(&self, columns: &[&SampleColumn], row: usize) -> f64 {
        self.terms.iter().map(|&(factor, term)| factor * columns[term].number[row]).sum()
    }

    fn holds(&self, columns: &[&SampleColumn], output: usize, input: usize) -> Option<bool> {
        let rest = columns[self.output].number[output] - self.sum(columns, input);
        let near = |constant: &f64| (rest - constant).abs() <= self.within * (1.0 + 1e-9);
        rest.is_finite().then(|| self.constants.iter().any(near))
    }

    /// Rows that are explained, less a little for every term and constant.
    fn score(&self) -> f64 {
        self.share - 0.005 * self.constants.len() as f64 - 0.001 * self.terms.len() as f64
    }

    /// Terms that explain no further row are left out.
    fn without_needless_terms(mut self, columns: &[&SampleColumn], rows: usize) -> Self {
        let mut place = 0;
        while self.terms.len() > 1 && place < self.terms.len() {
            let mut terms = self.terms.clone();
            terms.remove(place);
            let mut fewer = Self { terms, constants: Vec::new(), share: 0.0, ..self };
            if fewer.fill(columns, rows) && fewer.score() >= self.score() {
                self = fewer;
            } else {
                place += 1;
            }
        }
        self
    }

    /// Columns of the sum, in order.
    fn members(&self) -> Vec<usize> {
        let mut members: Vec<usize> = self.terms.iter().map(|term| term.1).collect();
        members.push(self.output);
        members.sort_unstable();
        members
    }

    /// How people would write it: sums before differences, few constants, factors of 1.
    fn awkwardness(&self) -> (usize, usize, usize) {
        let minus = self.terms.iter().filter(|term| term.0 < 0.0).count();
        let digits = self.terms.iter().map(|term| super::super::value::plain(term.0.abs()).len()).sum();
        (self.constants.len(), minus, digits)
    }

    fn rule(&self, columns: &[&SampleColumn]) -> Rule {
        let term = |&(factor, term): &(f64, usize)| Term { factor, column: columns[term].name.clone() };
        let mut terms = self.terms.clone();
        terms.sort_by_key(|term| (term.0 < 0.0, term.1));
        Rule::Sum {
            output: columns[self.output].name.clone(),
            terms: terms.iter().map(term).collect(),
            constants: self.constants.clone(),
            within: self.within,
        }
    }
}

/// a = b + c, b = a − c and c = a − b are one rule.
fn keep_one_orientation(proposals: &mut Vec<Proposal>) {
    proposals.sort_by(|a, b| {
        a.members()
            .cmp(&b.members())
            .then_with(|| a.awkwardness().cmp(&b.awkwardness()))
            .then(b.output.cmp(&a.output))
    });
    proposals.dedup_by(|next, kept| next.members() == kept.members());
    proposals.sort_by_key(|proposal| proposal.output);
}
