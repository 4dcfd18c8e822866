//! Numbers that are the time between two dates.

use super::super::check::rounded;
use super::super::date_part::TimeUnit;
use super::super::rule::{Rounding, Rule};
use super::Candidate;
use super::fresh::Fresh;
use super::sample::{Sample, SampleColumn};

/// Dates that are paired, at most: more of them are rarely times of one thing.
const DATES: usize = 8;

/// One way in which a number may be a time.
struct Proposal<'a> {
    output: &'a SampleColumn,
    start: &'a SampleColumn,
    end: &'a SampleColumn,
    unit: TimeUnit,
    rounding: Rounding,
}

/// Durations, proposed by the first half of the sample and tested on the second.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let half = sample.rows / 2;
    let mut proposals = Vec::new();
    let dates: Vec<&SampleColumn> = sample.columns.iter().filter(|column| column.date.is_some()).collect();
    let dates = &dates[..dates.len().min(DATES)];
    for (place, one) in dates.iter().enumerate() {
        for other in &dates[place + 1..] {
            for output in sample.columns.iter().filter(|column| column.numeric && column.distinct() >= 3) {
                proposals.extend(
                    [(one, other), (other, one)]
                        .into_iter()
                        .find_map(|(start, end)| propose(output, start, end, half)),
                );
            }
        }
    }
    let threshold = (error_rate / proposals.len().max(1) as f64).ln();
    let tested = proposals.into_iter().filter_map(|proposal| {
        let fresh = Fresh::new(half..sample.rows, |output, input| proposal.holds(output, input));
        fresh
            .convinces(threshold)
            .then(|| Candidate { rule: proposal.rule(), chance: Some(1.0 - fresh.chance) })
    });
    tested.collect()
}

/// The first unit and rounding in which the output is the time in nearly all proposing rows.
fn propose<'a>(
    output: &'a SampleColumn,
    start: &'a SampleColumn,
    end: &'a SampleColumn,
    rows: usize,
) -> Option<Proposal<'a>> {
    for unit in TimeUnit::ALL {
        for rounding in [Rounding::Nearest, Rounding::Down, Rounding::Up] {
            let proposal = Proposal { output, start, end, unit, rounding };
            if proposal.fits(rows) {
                return Some(proposal);
            }
        }
    }
    None
}

impl Proposal<'_> {
    fn step(&self) -> f64 {
        if self.output.step > 0.0 { self.output.step } else { 1e-6 }
    }

    fn holds(&self, output: usize, input: usize) -> Option<bool> {
        let (start, end) = (self.start.number[input], self.end.number[input]);
        let number = self.output.number[output];
        if !(start.is_finite() && end.is_finite() && number.is_finite()) {
            return None;
        }
        Some(rounded(number, self.unit.between(start, end)?, self.rounding, self.step()))
    }

    fn fits(&self, rows: usize) -> bool {
        let (mut applies, mut held) = (0_u32, 0_u32);
        for verdict in (0..rows).filter_map(|row| self.holds(row, row)) {
            applies += 1;
            held += u32::from(verdict);
            if applies == 40 && held < 30 {
                return false;
            }
        }
        applies >= 20 && 20 * held >= 19 * applies
    }

    fn rule(&self) -> Rule {
        Rule::Duration {
            output: self.output.name.clone(),
            start: self.start.name.clone(),
            end: self.end.name.clone(),
            unit: self.unit,
            rounding: self.rounding,
            step: self.step(),
        }
    }
}
