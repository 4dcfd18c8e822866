//! Columns that are read off a date.

use std::collections::HashMap;

use super::super::date_part::DatePart;
use super::super::rows::DateUnit;
use super::super::rule::{Numbering, Rule};
use super::Candidate;
use super::chance::ln_at_least;
use super::determined::Agreement;
use super::sample::{NONE, Sample, SampleColumn};

/// A part of every date of the sample.
struct Parts {
    part: DatePart,
    /// The parts, increasing, with their counts.
    values: Vec<(f64, u32)>,
    code: Vec<u32>,
}

/// Rules about dates and columns that hold a part of them; tables are still empty.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let columns = &sample.columns;
    let dates: Vec<&SampleColumn> = columns.iter().filter(|column| column.date.is_some()).collect();
    let tests = (2 * dates.len() * DatePart::ALL.len() * columns.len()).max(1);
    let threshold = (error_rate / tests as f64).ln();
    let mut candidates = Vec::new();
    for date in dates {
        let parts: Vec<Parts> = DatePart::ALL.iter().filter_map(|&part| Parts::new(date, part)).collect();
        for output in columns.iter().filter(|column| column.date.is_none() && column.distinct() >= 2) {
            let offset = parts.iter().find_map(|parts| parts.offset(date, output, threshold));
            candidates.extend(offset.or_else(|| table(&parts, date, output, threshold)));
        }
    }
    candidates
}

/// The part that determines the output with the fewest exceptions; of several that with the fewest values.
fn table(parts: &[Parts], date: &SampleColumn, output: &SampleColumn, threshold: f64) -> Option<Candidate> {
    let agreement =
        |parts: &Parts| Agreement::of(&parts.code, parts.values.len(), output, 0..parts.code.len());
    // A table of day numbers is a table of the dates themselves.
    let parts = parts.iter().filter(|parts| parts.part != DatePart::DayNumber);
    let tried = parts.map(|parts| (parts, agreement(parts)));
    let fitting = tried.filter(|(_, agreement)| agreement.determines(threshold));
    let (parts, agreement) = fitting.min_by(|(a, of_a), (b, of_b)| {
        let exceptions = (of_a.breaks() / of_a.compared).total_cmp(&(of_b.breaks() / of_b.compared));
        exceptions.then(a.values.len().cmp(&b.values.len()))
    })?;
    let rule = parts.rule(date, output, Numbering::Table(Vec::new()));
    Some(Candidate { rule, chance: Some(1.0 - agreement.chance / agreement.compared) })
}

impl Parts {
    /// None if the part is the same for all.
    fn new(date: &SampleColumn, part: DatePart) -> Option<Self> {
        let of = |&seconds: &f64| part.of(seconds, DateUnit::Seconds);
        let found: Vec<Option<f64>> = date.number.iter().map(of).collect();
        let mut all: Vec<f64> = found.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let mut values: Vec<(f64, u32)> = Vec::new();
        for value in all {
            match values.last_mut() {
                Some(last) if last.0 == value => last.1 += 1,
                _ => values.push((value, 1)),
            }
        }
        let place = |value: f64| values.partition_point(|known| known.0 < value) as u32;
        let code = found.iter().map(|value| value.map_or(NONE, place)).collect();
        (values.len() >= 2).then_some(Self { part, values, code })
    }

    fn rule(&self, date: &SampleColumn, output: &SampleColumn, numbering: Numbering) -> Rule {
        let (date, output) = (date.name.clone(), output.name.clone());
        Rule::DatePart { date, part: self.part, output, numbering }
    }

    /// Output = part + a number.
    fn offset(&self, date: &SampleColumn, output: &SampleColumn, threshold: f64) -> Option<Candidate> {
        if !output.numeric {
            return None;
        }
        let mut offsets: HashMap<u64, u32> = HashMap::new();
        let mut rows = 0.0;
        // So many different offsets at the beginning cannot become one.
        let many = 64;
        for (&code, &number) in self.code.iter().zip(&output.number) {
            if code != NONE && number.is_finite() {
                rows += 1.0;
                let offset = number - self.values[code as usize].0 + 0.0;
                *offsets.entry(offset.to_bits()).or_default() += 1;
                if rows <= 4.0 * f64::from(many) && offsets.len() > many as usize {
                    return None;
                }
            }
        }
        let (bits, count) = offsets.into_iter().max_by_key(|&(bits, count)| (count, bits))?;
        let (offset, count) = (f64::from_bits(bits), f64::from(count));
        let chance = self.chance(output, offset);
        let holds = count >= 0.95 * rows && rows - count <= 0.1 * rows * (1.0 - chance);
        let sure = ln_at_least(count, rows, chance) <= threshold;
        let numbering = Numbering::Offset(offset);
        (holds && sure)
            .then(|| Candidate { rule: self.rule(date, output, numbering), chance: Some(1.0 - chance) })
    }

    /// How often output = part + offset if the two had nothing to do with each other.
    fn chance(&self, output: &SampleColumn, offset: f64) -> f64 {
        let total: f64 = self.values.iter().map(|value| f64::from(value.1)).sum();
        let mut known: HashMap<u64, f64> = HashMap::new();
        for &number in output.number.iter().filter(|number| number.is_finite()) {
            *known.entry((number + 0.0).to_bits()).or_default() += 1.0;
        }
        let outputs: f64 = known.values().sum();
        let both = |value: &(f64, u32)| {
            f64::from(value.1) * known.get(&(value.0 + offset + 0.0).to_bits()).copied().unwrap_or(0.0)
        };
        self.values.iter().map(both).sum::<f64>() / (total * outputs).max(1.0)
    }
}
