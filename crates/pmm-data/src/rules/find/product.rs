//! Numbers that are products and ratios of others: sums of logarithms, rounded back.

use super::super::rule::Rule;
use super::Candidate;
use super::fresh::Fresh;
use super::pursuit::{Fit, correlation, pursue};
use super::sample::{Sample, SampleColumn};
use super::spectrum::shorter;

/// Factors of a product, at most.
const FACTORS: usize = 3;
/// Values that a product must have at least.
const VARIETY: usize = 5;
/// Different values of a rate, columns that may be rates, and numbers that each is tried with, at most.
const RATES: usize = 32;
const MOST_RATES: usize = 16;
const NEAR: usize = 4;
/// Rows that proposals are made from, at most.
const ROWS: usize = 4_096;

/// output = factor · Π column^power.
#[derive(Clone)]
struct Proposal {
    output: usize,
    factor: f64,
    powers: Vec<(i32, usize)>,
    within: f64,
}

/// Products, proposed by the first half of the sample and tested on the second.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let columns: Vec<&SampleColumn> = sample.columns.iter().filter(|column| may_multiply(column)).collect();
    let half = sample.rows / 2;
    let rows = half.min(ROWS);
    let ln = |x: &f64| if *x > 0.0 { x.ln() } else { f64::NAN };
    let logs: Vec<Vec<f64>> =
        columns.iter().map(|column| column.number[..rows].iter().map(ln).collect()).collect();
    let outputs = (0..columns.len()).filter(|output| columns[*output].distinct() >= VARIETY);
    let propose = |output| propose(&columns, &logs, output).or_else(|| by_rate(&columns, &logs, output));
    let mut proposals: Vec<Proposal> = outputs.filter_map(propose).collect();
    let turned: Vec<Proposal> =
        proposals.iter().flat_map(|proposal| proposal.turned(&columns, rows)).collect();
    proposals.extend(turned);
    proposals.sort_by_key(|proposal| {
        (proposal.members(), proposal.digits(&columns), proposal.divided(), proposal.output)
    });
    proposals.dedup_by(|next, kept| next.members() == kept.members());
    let threshold = (error_rate / proposals.len().max(1) as f64).ln();
    let tested = proposals.into_iter().filter_map(|proposal| {
        let fresh = Fresh::new(half..sample.rows, |output, input| proposal.holds(&columns, output, input));
        fresh
            .convinces(threshold)
            .then(|| Candidate { rule: proposal.rule(&columns), chance: Some(1.0 - fresh.chance) })
    });
    tested.collect()
}

/// Numbers that differ, most of them positive. A factor may be one of a few, such as a rate.
fn may_multiply(column: &SampleColumn) -> bool {
    let positive = column.number.iter().filter(|&&x| x > 0.0).count();
    column.numeric && column.distinct() >= 2 && 5 * positive >= column.present && positive >= 40
}

fn propose(columns: &[&SampleColumn], logs: &[Vec<f64>], output: usize) -> Option<Proposal> {
    let others: Vec<usize> = (0..columns.len()).filter(|&place| place != output).collect();
    let inputs: Vec<&[f64]> = others.iter().map(|&place| logs[place].as_slice()).collect();
    let mut found: Option<Proposal> = None;
    pursue(&logs[output], &inputs, FACTORS + 1, |fit| {
        if found.is_none() {
            let fit = Fit { terms: fit.terms.iter().map(|&term| others[term]).collect(), ..fit.clone() };
            found = exact(columns, output, &fit, logs[output].len());
        }
        None
    });
    found
}

/// A number times or divided by one of a few rates. Such a rate tells of other columns, too (of what is left with the tax, say), so that the
/// best fit may be another than the exact one: the rates are tried, with the numbers that go most with the output.
fn by_rate(columns: &[&SampleColumn], logs: &[Vec<f64>], output: usize) -> Option<Proposal> {
    let mut near: Vec<(f64, usize)> = (0..columns.len())
        .filter(|place| *place != output)
        .map(|place| (correlation(&logs[output], &logs[place]).abs(), place))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.truncate(NEAR);
    let rates = (0..columns.len()).filter(|rate| *rate != output && columns[*rate].distinct() <= RATES);
    rates.take(MOST_RATES).find_map(|rate| {
        let others = near.iter().map(|near| near.1).filter(|other| *other != rate);
        let fits = others.flat_map(|other| [1.0, -1.0].map(|power| (other, power)));
        fits.map(|(other, power)| Fit { terms: vec![other, rate], factors: vec![1.0, power] })
            .find_map(|fit| exact(columns, output, &fit, logs[output].len()))
    })
}

/// A fit with whole powers and a short factor, if it then holds in nearly all rows.
fn exact(columns: &[&SampleColumn], output: usize, fit: &Fit, rows: usize) -> Option<Proposal> {
    let rounded = fit.factors.iter().map(|factor| factor.round() as i32).zip(fit.terms.iter().copied());
    let powers: Vec<(i32, usize)> = rounded.filter(|(power, _)| *power != 0).collect();
    let degree: u32 = powers.iter().map(|(power, _)| power.unsigned_abs()).sum();
    // One column to the first power is a sum of one term.
    let plain = powers.len() == 1 && powers[0].0 == 1;
    if powers.is_empty() || plain || degree > FACTORS as u32 {
        return None;
    }
    let mut proposal = Proposal { output, factor: 1.0, powers, within: 0.5 * columns[output].step };
    let ratio = |row: usize| columns[output].number[row] / proposal.product(columns, row);
    let mut ratios: Vec<f64> =
        (0..rows).map(ratio).filter(|ratio| ratio.is_finite() && *ratio != 0.0).collect();
    if ratios.len() < 20 {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[ratios.len() / 2];
    let scale = columns[output].number.iter().filter(|x| x.is_finite()).fold(0.0_f64, |a, b| a.max(b.abs()));
    proposal.within = proposal.within.max(1e-9 * scale);
    shorter(middle).into_iter().find_map(|factor| {
        let proposal = Proposal { factor, ..proposal.clone() };
        proposal.fits(columns, rows).then_some(proposal)
    })
}

impl Proposal {
    fn product(&self, columns: &[&SampleColumn], row: usize) -> f64 {
        self.powers.iter().map(|&(power, place)| columns[place].number[row].powi(power)).product()
    }

    fn holds(&self, columns: &[&SampleColumn], output: usize, input: usize) -> Option<bool> {
        let off = columns[self.output].number[output] - self.factor * self.product(columns, input);
        off.is_finite().then(|| off.abs() <= self.within * (1.0 + 1e-9))
    }

    fn fits(&self, columns: &[&SampleColumn], rows: usize) -> bool {
        let verdicts: Vec<bool> = (0..rows).filter_map(|row| self.holds(columns, row, row)).collect();
        let held = verdicts.iter().filter(|held| **held).count();
        verdicts.len() >= 20 && 20 * held >= 19 * verdicts.len()
    }

    fn members(&self) -> Vec<usize> {
        let mut members: Vec<usize> = self.powers.iter().map(|power| power.1).collect();
        members.push(self.output);
        members.sort_unstable();
        members
    }

    /// The same with one of its numerators as the output: qty = net / price as net = qty · price, where that holds, too.
    fn turned(&self, columns: &[&SampleColumn], rows: usize) -> Vec<Self> {
        let turn = |&(_, output): &(i32, usize)| {
            let others =
                self.powers.iter().filter(|power| power.1 != output).map(|&(power, at)| (-power, at));
            let powers = others.chain([(1, self.output)]).collect();
            let within = 0.5 * columns[output].step;
            Self { output, factor: 1.0 / self.factor, powers, within }
        };
        let numerators = self.powers.iter().filter(|power| power.0 == 1);
        let turned = numerators.map(turn).filter(|turned| columns[turned.output].distinct() >= VARIETY);
        turned.filter(|turned| turned.fits(columns, rows)).collect()
    }

    /// Minus the number of digits of the output that it tells: of all ways to turn a product round, the one that tells most.
    fn digits(&self, columns: &[&SampleColumn]) -> i32 {
        let present = columns[self.output].number.iter().filter(|x| x.is_finite());
        let (sum, count) = present.fold((0.0, 0.0), |(sum, count), x| (sum + x.abs(), count + 1.0));
        (self.within * count / f64::max(sum, f64::MIN_POSITIVE)).log10().floor() as i32
    }

    fn divided(&self) -> usize {
        self.powers.iter().filter(|power| power.0 < 0).count()
    }

    fn rule(&self, columns: &[&SampleColumn]) -> Rule {
        let names = |sign: i32| -> Vec<String> {
            let powers = self.powers.iter().filter(|power| power.0 * sign > 0);
            powers
                .flat_map(|&(power, place)| {
                    std::iter::repeat_n(columns[place].name.clone(), power.unsigned_abs() as usize)
                })
                .collect()
        };
        Rule::Product {
            output: columns[self.output].name.clone(),
            factor: self.factor,
            numerators: names(1),
            denominators: names(-1),
            within: self.within,
        }
    }
}
