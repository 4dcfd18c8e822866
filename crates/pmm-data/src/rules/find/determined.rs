//! Columns that another column determines.

use std::ops::Range;

use super::super::rule::Rule;
use super::Candidate;
use super::chance::ln_at_least;
use super::sample::{NONE, Sample, SampleColumn};

/// How often a column is the same again where another one is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Agreement {
    /// Rows whose input was seen in an earlier row.
    pub(crate) compared: f64,
    /// Rows of these whose output is that of the first such row.
    pub(crate) agreed: f64,
    /// Rows that would agree by chance: the sum of the frequencies of the outputs compared with.
    pub(crate) chance: f64,
    /// Rows whose output is that of the last such row: Σ p(output | input)², whatever the number of inputs.
    pub(crate) repeated: f64,
    /// Rows in which both are present.
    pub(crate) present: f64,
}

impl Agreement {
    /// Of an output among inputs (codes below `inputs`), in some rows of the sample.
    pub(crate) fn of(input: &[u32], inputs: usize, output: &SampleColumn, rows: Range<usize>) -> Self {
        let mut first = vec![NONE; inputs];
        let mut last = vec![NONE; inputs];
        let mut found = Self::default();
        let scale = 1.0 / output.present.max(1) as f64;
        for (&x, &y) in input[rows.clone()].iter().zip(&output.code[rows]) {
            if x == NONE || y == NONE {
                continue;
            }
            found.present += 1.0;
            let x = x as usize;
            let leader = first[x];
            if leader == NONE {
                first[x] = y;
            } else {
                found.compared += 1.0;
                found.agreed += f64::from(u8::from(leader == y));
                found.repeated += f64::from(u8::from(last[x] == y));
                found.chance += f64::from(output.counts[leader as usize]) * scale;
            }
            last[x] = y;
        }
        found
    }

    /// The share of rows that repeat the last output.
    pub(crate) fn share(&self) -> f64 {
        if self.compared == 0.0 { 0.0 } else { self.repeated / self.compared }
    }

    pub(crate) fn breaks(&self) -> f64 {
        self.compared - self.agreed
    }

    /// Whether the input determines the output, at ln of a threshold for the chance that it only seems so.
    pub(crate) fn determines(&self, ln_threshold: f64) -> bool {
        let expected_breaks = self.compared - self.chance;
        self.compared >= 20.0
            && self.compared >= 0.2 * self.present
            && self.breaks() <= 0.025 * self.compared
            && self.breaks() <= 0.1 * expected_breaks
            && ln_at_least(self.agreed, self.compared, self.chance / self.compared) <= ln_threshold
    }
}

/// All pairs of columns: `[input][output]`.
pub(crate) struct Agreements(Vec<Vec<Agreement>>);

impl Agreements {
    pub(crate) fn new(sample: &Sample) -> Self {
        let of = |input: &SampleColumn| -> Vec<Agreement> {
            let outputs = sample.columns.iter();
            outputs
                .map(|output| {
                    if !may_determine(input) || std::ptr::eq(input, output) || output.distinct() < 2 {
                        return Agreement::default();
                    }
                    Agreement::of(&input.code, input.distinct(), output, 0..sample.rows)
                })
                .collect()
        };
        Self(sample.columns.iter().map(of).collect())
    }

    pub(crate) fn get(&self, input: usize, output: usize) -> &Agreement {
        &self.0[input][output]
    }
}

/// Whether the values of a column repeat, so that they can determine anything.
pub(crate) fn may_determine(column: &SampleColumn) -> bool {
    column.distinct() >= 2 && 2 * column.distinct() <= column.present
}

/// Which columns determine which: `[input][output]`; and the rules, their tables still empty.
pub(crate) fn find(
    sample: &Sample,
    agreements: &Agreements,
    error_rate: f64,
) -> (Vec<Vec<bool>>, Vec<Candidate>) {
    let n = sample.columns.len();
    let threshold = (error_rate / (n * n.saturating_sub(1)).max(1) as f64).ln();
    let by = |input: usize| (0..n).map(move |output| agreements.get(input, output).determines(threshold));
    let determines: Vec<Vec<bool>> = (0..n).map(|input| by(input).collect()).collect();
    let pairs = (0..n).flat_map(|input| (0..n).map(move |output| (input, output)));
    let mut candidates = Vec::new();
    for (input, output) in pairs.filter(|&(input, output)| determines[input][output]) {
        let both = determines[output][input];
        if !both || input < output {
            let rule = rule(&sample.columns[input].name, &sample.columns[output].name, both);
            let agreement = agreements.get(input, output);
            let chance = Some(1.0 - agreement.chance / agreement.compared.max(1.0));
            candidates.push(Candidate { rule, chance });
        }
    }
    (determines, candidates)
}

fn rule(input: &str, output: &str, both: bool) -> Rule {
    if both {
        Rule::OneToOne { left: input.to_owned(), right: output.to_owned(), pairs: Vec::new() }
    } else {
        Rule::Determined { inputs: vec![input.to_owned()], output: output.to_owned(), table: Vec::new() }
    }
}
