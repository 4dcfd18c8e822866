//! Columns that two or three others determine together.
//!
//! Not every triple of columns is tried: for each output, the few inputs that say most about it are joined with every other
//! column, and the best of these pairs with every third. A function none of whose inputs says anything by itself (the parity of
//! two bits) is not found.

use std::ops::Range;

use super::super::rule::Rule;
use super::Candidate;
use super::chance::ln_at_least;
use super::determined::{Agreement, Agreements, may_determine};
use super::sample::{NONE, Sample};

/// Inputs, and pairs of them, that are joined with every column.
const BEST: usize = 4;
/// Joined values, at most.
const JOINED: usize = 1 << 20;
/// Rows that a first look takes.
const QUICK: usize = 4_096;
/// Rules for one output.
const KEPT: usize = 2;

/// Inputs that were joined.
struct Joined {
    inputs: Vec<usize>,
    code: Vec<u32>,
    distinct: usize,
}

/// Inputs that may determine an output.
struct Proposal {
    inputs: Vec<usize>,
    output: usize,
    distinct: usize,
    /// How far fewer of the inputs agree.
    without: f64,
}

/// Rules with two or three inputs, their tables still empty. `single[input][output]` are known already; an input that determines
/// the output without exceptions needs no other.
pub(crate) fn find(
    sample: &Sample,
    agreements: &Agreements,
    single: &[Vec<bool>],
    error_rate: f64,
) -> Vec<Candidate> {
    let n = sample.columns.len();
    let mut proposals: Vec<Proposal> = Vec::new();
    for (output, column) in sample.columns.iter().enumerate() {
        if column.distinct() >= 2 && !column.identifier {
            let agreement = |input: usize| agreements.get(input, output);
            let exact = |input: usize| agreement(input).breaks() <= 0.001 * agreement(input).compared;
            let open = |&input: &usize| input != output && !(single[input][output] && exact(input));
            let inputs = (0..n).filter(open).filter(|&input| may_determine(&sample.columns[input]));
            proposals.extend(propose(sample, agreements, &inputs.collect::<Vec<_>>(), output));
        }
    }
    let threshold = (error_rate / proposals.len().max(1) as f64).ln();
    let mut candidates = Vec::new();
    for proposal in proposals {
        if holds(sample, &proposal, threshold) {
            let name = |&index: &usize| sample.columns[index].name.clone();
            let rule = Rule::Determined {
                inputs: proposal.inputs.iter().map(name).collect(),
                output: name(&proposal.output),
                table: Vec::new(),
            };
            candidates.push(Candidate { rule, chance: Some(1.0 - proposal.without) });
        }
    }
    candidates
}

/// The best pairs, or triples if there are none, by the first half of the sample.
fn propose(sample: &Sample, agreements: &Agreements, inputs: &[usize], output: usize) -> Vec<Proposal> {
    let mut firsts = inputs.to_vec();
    firsts.sort_by(|&a, &b| {
        agreements.get(b, output).share().total_cmp(&agreements.get(a, output).share()).then(a.cmp(&b))
    });
    firsts.truncate(BEST);
    let (mut found, mut near) = (Vec::new(), Vec::new());
    for &first in &firsts {
        let start = Joined::single(sample, first);
        extend(sample, agreements, &start, inputs, output, &mut found, &mut near);
    }
    if found.is_empty() {
        near.sort_by(|a: &(f64, Vec<usize>), b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        near.dedup_by(|a, b| a.1 == b.1);
        for (_, pair) in near.into_iter().take(BEST) {
            let Some(start) = Joined::single(sample, pair[0]).with(sample, pair[1]) else { continue };
            extend(sample, agreements, &start, inputs, output, &mut found, &mut Vec::new());
        }
    }
    found.sort_by(|a: &Proposal, b| a.distinct.cmp(&b.distinct).then_with(|| a.inputs.cmp(&b.inputs)));
    found.dedup_by(|a, b| a.inputs == b.inputs);
    found.truncate(KEPT);
    found
}

/// Joins one more input to some, and keeps what determines the output, or comes near to it.
fn extend(
    sample: &Sample,
    agreements: &Agreements,
    start: &Joined,
    inputs: &[usize],
    output: usize,
    found: &mut Vec<Proposal>,
    near: &mut Vec<(f64, Vec<usize>)>,
) {
    let half = sample.rows / 2;
    let base = start.agreement(sample, output, 0..sample.rows).share();
    for &next in inputs.iter().filter(|next| !start.inputs.contains(next)) {
        let alone = agreements.get(next, output).share();
        let Some(share) = quick_share(sample, start, next, output, half) else { continue };
        let mut together = start.inputs.clone();
        together.push(next);
        together.sort_unstable();
        near.push((share, together.clone()));
        if share < 0.95 {
            continue;
        }
        let Some(joined) = start.with(sample, next) else { continue };
        let mut without = base.max(alone);
        if start.inputs.len() == 2 {
            for &kept in &start.inputs {
                let pair = Joined::single(sample, kept).with(sample, next);
                let share = |pair: Joined| pair.agreement(sample, output, 0..sample.rows).share();
                without = without.max(pair.map_or(0.0, share));
            }
        }
        let proposal = Proposal { inputs: together, output, distinct: joined.distinct, without };
        let agreement = joined.agreement(sample, output, 0..half);
        if informative(&agreement, without) {
            found.push(proposal);
        }
    }
}

/// Enough rows are compared, hardly any disagree, and without the last input many more would.
fn informative(agreement: &Agreement, without: f64) -> bool {
    let expected_breaks = agreement.compared * (1.0 - without);
    agreement.compared >= 30.0
        && agreement.compared >= 0.5 * agreement.present
        && agreement.breaks() <= 0.02 * agreement.compared
        && agreement.breaks() <= 0.1 * expected_breaks
}

/// The test on the second half, which had no part in the proposal: if the inputs together said no more than the best of them,
/// so many rows would hardly agree.
fn holds(sample: &Sample, proposal: &Proposal, ln_threshold: f64) -> bool {
    let mut joined = Joined::single(sample, proposal.inputs[0]);
    for &next in &proposal.inputs[1..] {
        let Some(more) = joined.with(sample, next) else { return false };
        joined = more;
    }
    let half = sample.rows / 2;
    let agreement = joined.agreement(sample, proposal.output, half..sample.rows);
    informative(&agreement, proposal.without)
        && ln_at_least(agreement.agreed, agreement.compared, proposal.without) <= ln_threshold
}

/// The share of rows that agree in the first rows, given up early where many do not; none if there are too many joined values.
fn quick_share(sample: &Sample, start: &Joined, next: usize, output: usize, rows: usize) -> Option<f64> {
    let next = &sample.columns[next];
    let width = next.distinct();
    if start.distinct * width > JOINED {
        return None;
    }
    let mut first: std::collections::HashMap<u64, u32, Quick> = Default::default();
    let (mut compared, mut agreed) = (0_u32, 0_u32);
    for row in 0..rows.min(QUICK) {
        // Hardly any pair comes twice: nothing can be learned from them.
        if row == QUICK / 4 && compared < QUICK as u32 / 80 {
            return None;
        }
        let (a, b, y) = (start.code[row], next.code[row], sample.columns[output].code[row]);
        if a == NONE || b == NONE || y == NONE {
            continue;
        }
        let joined = u64::from(a) * width as u64 + u64::from(b);
        match first.entry(joined) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(y);
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                compared += 1;
                agreed += u32::from(*place.get() == y);
                if compared >= 100 && agreed * 10 < compared * 8 {
                    break;
                }
            }
        }
    }
    (compared >= 30).then(|| f64::from(agreed) / f64::from(compared))
}

/// A quick hash of whole numbers.
type Quick = std::hash::BuildHasherDefault<QuickHasher>;

#[derive(Default)]
struct QuickHasher(u64);

impl std::hash::Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = super::super::place::mix(self.0 ^ word);
    }
}

impl Joined {
    fn single(sample: &Sample, input: usize) -> Self {
        let column = &sample.columns[input];
        Self { inputs: vec![input], code: column.code.clone(), distinct: column.distinct() }
    }

    fn agreement(&self, sample: &Sample, output: usize, rows: Range<usize>) -> Agreement {
        Agreement::of(&self.code, self.distinct, &sample.columns[output], rows)
    }

    /// One more input; none if there are too many joined values.
    fn with(&self, sample: &Sample, next: usize) -> Option<Self> {
        let column = &sample.columns[next];
        let width = column.distinct();
        if self.distinct * width > JOINED {
            return None;
        }
        let mut codes: std::collections::HashMap<u64, u32, Quick> = Default::default();
        let join = |(&a, &b): (&u32, &u32)| {
            if a == NONE || b == NONE {
                return NONE;
            }
            let fresh = codes.len() as u32;
            *codes.entry(u64::from(a) * width as u64 + u64::from(b)).or_insert(fresh)
        };
        let code: Vec<u32> = self.code.iter().zip(&column.code).map(join).collect();
        let mut inputs = self.inputs.clone();
        inputs.push(next);
        Some(Self { inputs, code, distinct: codes.len() })
    }
}
