//! States of two columns that never meet, and gates between columns.

use super::super::rule::Rule;
use super::super::value::{Condition, State};
use super::Candidate;
use super::chance::{ln_at_most, ln_disjoint, ln_threshold};
use super::sample::Sample;
use super::states::States;

/// Cells that meet this often, as a share of what chance would give, count as never.
const RARELY: f64 = 0.01;
/// The same where a gate says what a cell must be: a payment without a bill is rare, but there are some.
const RARELY_OPEN: f64 = 0.04;
/// Numbers on either side of a number that tell what is to be expected of it.
const NEIGHBOURS: usize = 2;

/// Two columns and how often their states meet.
struct Pair<'a> {
    a: &'a States,
    b: &'a States,
    rows: f64,
    /// `[state of a][state of b]`.
    met: Vec<Vec<f64>>,
    /// Which cells a rule speaks of already.
    told: Vec<Vec<bool>>,
    /// ln of the chance below which a cell is impossible.
    threshold: f64,
}

/// Gates and impossible pairs of states. Pairs of columns of which one determines the other (`[input][output]`) are told already,
/// but for their gaps.
///
/// A rule is about two columns: one of their states must pass a test that is shared by the states of all columns. What else
/// never meets of these two columns then has to pass a test that is shared by their own states only.
pub(crate) fn find(
    sample: &Sample,
    determines: &[Vec<bool>],
    bins: usize,
    error_rate: f64,
    rate_within: f64,
) -> Vec<Candidate> {
    let states = States::all(sample, bins);
    let threshold = ln_threshold(least_chances(&states, sample.rows as f64), error_rate);
    let mut candidates = Vec::new();
    for (place, a) in states.iter().enumerate() {
        for b in states[place + 1..].iter().filter(|b| !(a.binned && b.binned)) {
            let mut pair = Pair::new(a, b, sample.rows, threshold);
            if determines[a.column][b.column] || determines[b.column][a.column] {
                pair.tell_all_but_gaps();
            }
            if pair.has_rule() {
                pair.threshold = pair.threshold.max((rate_within / pair.tests()).ln());
                candidates.extend(pair.rules());
            }
        }
    }
    candidates
}

/// ln of the chance that two states never meet, and that one never meets anything but the other, for all that could be found.
fn least_chances(states: &[States], rows: f64) -> Vec<f64> {
    let mut least = Vec::new();
    for (place, a) in states.iter().enumerate() {
        for b in states[place + 1..].iter().filter(|b| !(a.binned && b.binned)) {
            for (s, &of_a) in a.counts.iter().enumerate() {
                for (t, &of_b) in b.counts.iter().enumerate() {
                    least.push(ln_disjoint(rows, of_a, of_b));
                    if b.is_gate(t) {
                        least.push(ln_disjoint(rows, of_a, rows - of_b));
                    }
                    if a.is_gate(s) {
                        least.push(ln_disjoint(rows, rows - of_a, of_b));
                    }
                }
            }
        }
    }
    least.retain(|ln| ln.is_finite() && *ln < -3.0);
    least
}

impl<'a> Pair<'a> {
    fn new(a: &'a States, b: &'a States, rows: usize, threshold: f64) -> Self {
        let mut met = vec![vec![0.0; b.states.len()]; a.states.len()];
        for (&s, &t) in a.code.iter().zip(&b.code) {
            met[usize::from(s)][usize::from(t)] += 1.0;
        }
        let told = vec![vec![false; b.states.len()]; a.states.len()];
        Self { a, b, rows: rows as f64, met, told, threshold }
    }

    fn tell_all_but_gaps(&mut self) {
        for (s, row) in self.told.iter_mut().enumerate() {
            for (t, told) in row.iter_mut().enumerate() {
                *told = self.a.missing != Some(s) && self.b.missing != Some(t);
            }
        }
    }

    /// Tests of this pair of columns.
    fn tests(&self) -> f64 {
        let gates = |of: &States| (0..of.states.len()).filter(|&state| of.is_gate(state)).count();
        let (a, b) = (self.a.states.len(), self.b.states.len());
        (a * b + gates(self.a) * b + gates(self.b) * a) as f64
    }

    /// Whether any state of the one never meets a state of the other, or nothing else.
    fn has_rule(&self) -> bool {
        let (a, b) = (self.a, self.b);
        (0..a.states.len()).any(|s| {
            (0..b.states.len()).any(|t| {
                self.never_meet(s, t)
                    || (b.is_gate(t) && self.is_always(s, t, false))
                    || (a.is_gate(s) && self.is_always(t, s, true))
            })
        })
    }

    /// Whether two states never meet, by chance and by what numbers next to them do.
    fn never_meet(&self, s: usize, t: usize) -> bool {
        let (of_a, of_b, met) = (self.a.counts[s], self.b.counts[t], self.met[s][t]);
        let unexpected = |share: Option<f64>, of: f64| {
            share.is_none_or(|share| {
                met <= RARELY * share * of && ln_at_most(met, of, share) <= self.threshold
            })
        };
        self.never(met, of_a, of_b, RARELY)
            && unexpected(self.share_near(s, t, false), of_a)
            && unexpected(self.share_near(t, s, true), of_b)
    }

    /// Whether the one column in a state has the other in `target`, by chance and by what numbers next to the state do.
    fn is_always(&self, s: usize, target: usize, flipped: bool) -> bool {
        let (one, other) = if flipped { (self.b, self.a) } else { (self.a, self.b) };
        let (of, rest) = (one.counts[s], self.rows - other.counts[target]);
        let meets = of - self.count(s, target, flipped);
        let unexpected = self.share_near(s, target, flipped).is_none_or(|share| {
            meets <= RARELY_OPEN * (1.0 - share) * of && ln_at_most(meets, of, 1.0 - share) <= self.threshold
        });
        self.never(meets, of, rest, RARELY_OPEN) && unexpected
    }

    /// The share of rows in state `t` among those whose number is next to that of state `s`: where numbers depend on each other
    /// smoothly, what is rare next to a number is rare there, too. None for states that are no numbers between others, and for
    /// the zeros of a continuum, which are a matter of their own.
    fn share_near(&self, s: usize, t: usize, flipped: bool) -> Option<f64> {
        let (one, other) = if flipped { (self.b, self.a) } else { (self.a, self.b) };
        if other.states.contains(&Some(State::NotZero)) {
            return None;
        }
        let near = one.neighbours(s, NEIGHBOURS);
        let rows: f64 = near.iter().map(|&state| one.counts[state]).sum();
        let met: f64 = near.iter().map(|&state| self.count(state, t, flipped)).sum();
        (rows > 0.0).then(|| met / rows)
    }

    /// Whether rows of two kinds meet so rarely that chance does not explain it.
    fn never(&self, met: f64, of_a: f64, of_b: f64, rarely: f64) -> bool {
        if met > rarely * of_a * of_b / self.rows {
            return false;
        }
        let ln = if met == 0.0 {
            ln_disjoint(self.rows, of_a, of_b)
        } else {
            ln_at_most(met, of_a.min(of_b), of_a.max(of_b) / self.rows)
        };
        ln.is_finite() && ln <= self.threshold
    }

    fn rules(mut self) -> Vec<Candidate> {
        let mut rules = Vec::new();
        for flipped in [false, true] {
            let gates = if flipped { self.a } else { self.b };
            for state in [gates.missing, gates.zero].into_iter().flatten() {
                rules.extend(self.must_be(state, flipped));
            }
        }
        for flipped in [false, true] {
            let gates = if flipped { self.a } else { self.b };
            for state in [gates.missing, gates.zero].into_iter().flatten() {
                rules.extend(self.must_not_be(state, flipped));
            }
        }
        rules.extend(self.impossible());
        rules
    }

    fn count(&self, s: usize, t: usize, flipped: bool) -> f64 {
        if flipped { self.met[t][s] } else { self.met[s][t] }
    }

    /// Where the one column is in some states, the other is in `target`; `flipped` exchanges the columns.
    fn must_be(&mut self, target: usize, flipped: bool) -> Option<Candidate> {
        let (one, other) = if flipped { (self.b, self.a) } else { (self.a, self.b) };
        let fits = |s: &usize| one.states[*s].is_some() && self.is_always(*s, target, flipped);
        let when: Vec<usize> = (0..one.states.len()).filter(fits).collect();
        let outside = |s: &usize| !when.contains(s);
        let elsewhere: f64 =
            (0..one.states.len()).filter(outside).map(|s| self.count(s, target, flipped)).sum();
        let of_when: f64 = when.iter().map(|&s| one.counts[s]).sum();
        let both_ways = self.never(elsewhere, self.rows - of_when, other.counts[target], RARELY);
        let cells: Vec<(usize, usize)> = (0..one.states.len())
            .flat_map(|s| (0..other.states.len()).map(move |t| (s, t)))
            .filter(|&(s, t)| {
                let told_by_gate = when.contains(&s) && t != target;
                told_by_gate || (both_ways && !when.contains(&s) && t == target)
            })
            .collect();
        if when.is_empty() || !self.tell(&cells, flipped) {
            return None;
        }
        let (p, q) = (of_when / self.rows, other.counts[target] / self.rows);
        let chance = if both_ways { p * (1.0 - q) + (1.0 - p) * q } else { 1.0 - q };
        let then =
            Condition { column: other.name.clone(), states: other.states[target].iter().cloned().collect() };
        let rule = Rule::Gate { when: condition(one, &when), then, both_ways };
        Some(Candidate { rule, chance: Some(chance) })
    }

    /// Where the one column is in some states, the other is not in `target`.
    fn must_not_be(&mut self, target: usize, flipped: bool) -> Option<Candidate> {
        let (one, other) = if flipped { (self.b, self.a) } else { (self.a, self.b) };
        let meet = |s: usize| if flipped { self.never_meet(target, s) } else { self.never_meet(s, target) };
        let fits = |s: &usize| one.states[*s].is_some() && meet(*s);
        let when: Vec<usize> = (0..one.states.len()).filter(fits).collect();
        let cells: Vec<(usize, usize)> = when.iter().map(|&s| (s, target)).collect();
        if when.is_empty() || !self.tell(&cells, flipped) {
            return None;
        }
        let then = Condition { column: other.name.clone(), states: vec![other.opposite(target)] };
        let rule = Rule::Gate { when: condition(one, &when), then, both_ways: false };
        Some(Candidate { rule, chance: Some(other.counts[target] / self.rows) })
    }

    /// Marks cells as told; false if all were already.
    fn tell(&mut self, cells: &[(usize, usize)], flipped: bool) -> bool {
        let mut new = false;
        for &(s, t) in cells {
            let told = if flipped { &mut self.told[t][s] } else { &mut self.told[s][t] };
            new |= !*told;
            *told = true;
        }
        new
    }

    /// What else never meets.
    fn impossible(&self) -> Option<Candidate> {
        let (mut pairs, mut cells) = (Vec::new(), Vec::new());
        for (s, left) in self.a.states.iter().enumerate() {
            for (t, right) in self.b.states.iter().enumerate() {
                let (Some(left), Some(right)) = (left, right) else { continue };
                if !self.told[s][t] && self.never_meet(s, t) {
                    pairs.push((left.clone(), right.clone()));
                    cells.push((s, t));
                }
            }
        }
        if pairs.is_empty() {
            return None;
        }
        let (left, right) = (self.a.name.clone(), self.b.name.clone());
        let chance = self.break_chance(&cells);
        Some(Candidate { rule: Rule::Impossible { left, right, pairs }, chance: Some(chance) })
    }

    /// The chance that a row in one of the states breaks the rule, if the columns had nothing to do with each other.
    fn break_chance(&self, cells: &[(usize, usize)]) -> f64 {
        let (mut breaks, mut concerned) = (0.0, 0.0);
        for (s, &of_a) in self.a.counts.iter().enumerate() {
            for (t, &of_b) in self.b.counts.iter().enumerate() {
                let share = of_a * of_b;
                breaks += if cells.contains(&(s, t)) { share } else { 0.0 };
                concerned += if cells.iter().any(|cell| cell.0 == s || cell.1 == t) { share } else { 0.0 };
            }
        }
        breaks / concerned.max(1.0)
    }
}

fn condition(of: &States, states: &[usize]) -> Condition {
    let states: Vec<State> = states.iter().filter_map(|&state| of.states[state].clone()).collect();
    Condition { column: of.name.clone(), states }
}
