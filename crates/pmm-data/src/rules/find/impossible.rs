//! States of two columns that never meet, and gates between columns.

use super::super::rule::Rule;
use super::super::value::{Condition, State};
use super::Candidate;
use super::chance::{ln_at_most, ln_disjoint, ln_threshold};
use super::sample::Sample;
use super::states::States;

/// Cells that meet this often, as a share of what chance would give, count as never.
const RARELY: f64 = 0.01;

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
        a.counts.iter().enumerate().any(|(s, &of_a)| {
            b.counts.iter().enumerate().any(|(t, &of_b)| {
                let met = self.met[s][t];
                self.never(met, of_a, of_b)
                    || (b.is_gate(t) && self.never(of_a - met, of_a, self.rows - of_b))
                    || (a.is_gate(s) && self.never(of_b - met, self.rows - of_a, of_b))
            })
        })
    }

    /// Whether rows of two kinds meet so rarely that chance does not explain it.
    fn never(&self, met: f64, of_a: f64, of_b: f64) -> bool {
        if met > RARELY * of_a * of_b / self.rows {
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
        let rest = self.rows - other.counts[target];
        let fits = |s: &usize| {
            let meets = one.counts[*s] - self.count(*s, target, flipped);
            one.states[*s].is_some() && self.never(meets, one.counts[*s], rest)
        };
        let when: Vec<usize> = (0..one.states.len()).filter(fits).collect();
        let outside = |s: &usize| !when.contains(s);
        let elsewhere: f64 =
            (0..one.states.len()).filter(outside).map(|s| self.count(s, target, flipped)).sum();
        let of_when: f64 = when.iter().map(|&s| one.counts[s]).sum();
        let both_ways = self.never(elsewhere, self.rows - of_when, other.counts[target]);
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
        let fits = |s: &usize| {
            let met = self.count(*s, target, flipped);
            one.states[*s].is_some() && self.never(met, one.counts[*s], other.counts[target])
        };
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
                if !self.told[s][t] && self.never(self.met[s][t], self.a.counts[s], self.b.counts[t]) {
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
