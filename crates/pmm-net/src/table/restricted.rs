//! The law of a cell within what it may be.

use pmm_core::Stream;
use pmm_data::rules::{Allowed, HeapGrid, Ranges};
use pmm_data::{Cell, Coding, Column, Numbers};

use super::cell_law::{CellLaw, ScorePart};
use super::coordinates::ColumnPlace;
use super::head::Law;
use super::trim::trim;

/// The law of a cell, cut down to what is allowed and made whole again.
///
/// p(x | x ∈ A) = p(x) 1\[x ∈ A\] / p(A): codes outside A have probability 0, and the normal scores of a number keep to the
/// intervals that A leaves.
#[derive(Debug)]
pub(super) struct Restricted<'a> {
    place: &'a ColumnPlace,
    column: &'a Column,
    law: Law,
    /// The numbers that are allowed.
    numbers: Ranges,
    /// Intervals of the normal score; none where any score will do.
    pieces: Option<Vec<(f64, f64)>>,
    snap: bool,
    /// The grid that numbers between those that were seen are rounded to.
    rounds: Option<HeapGrid>,
    mass: f64,
}

/// Masses below this are none.
const LEAST_MASS: f64 = 1e-200;

impl<'a> Restricted<'a> {
    pub(super) fn new(
        place: &'a ColumnPlace,
        column: &'a Column,
        law: Law,
        allowed: &Allowed<'_>,
        snap: bool,
    ) -> Self {
        let snap = snap && matches!(&column.coding, Coding::Numbers(numbers) if numbers.snap);
        let mut numbers = allowed.ranges().clone();
        if let (Coding::Numbers(held), false) = (&column.coding, snap || numbers.is_all()) {
            numbers = on_grid(held, &numbers);
        }
        let mut restricted =
            Self { place, column, law, numbers, pieces: None, snap, rounds: None, mass: 1.0 };
        if !allowed.is_any() {
            restricted.cut(allowed);
        }
        restricted.rounds = allowed.grid();
        restricted
    }

    /// Takes away the codes whose probability is below `limit` times their share, if one is left.
    pub(super) fn trim(&mut self, limit: f64, shares: &[f64]) {
        let far = |(p, share): (&f64, &f64)| *p < limit * *share;
        if !self.law.codes.iter().zip(shares).all(far) {
            trim(&mut self.law.codes, shares, limit);
        }
    }

    /// The probabilities of the codes.
    pub(super) fn codes(&self) -> &[f64] {
        &self.law.codes
    }

    /// The law as it can be asked for.
    pub(super) fn case(&self) -> CellLaw {
        let mut parts = match &self.pieces {
            Some(pieces) => cut(&self.law, pieces),
            None => self.law.parts.clone(),
        };
        let total: f64 = parts.iter().map(|part| part.weight).sum();
        if total < LEAST_MASS {
            // Nothing is left: the law as it was.
            parts = self.law.parts.clone();
        } else {
            parts.retain(|part| part.weight > 1e-12 * total);
            parts.iter_mut().for_each(|part| part.weight /= total);
        }
        CellLaw::Open { codes: self.law.codes.clone(), parts }
    }

    /// How probable what is allowed was.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    fn numbers_of(&self) -> Option<&'a Numbers> {
        match &self.column.coding {
            Coding::Numbers(numbers) if self.place.value.is_some() => Some(numbers),
            _ => None,
        }
    }

    fn cut(&mut self, allowed: &Allowed<'_>) {
        let mut value_mass = 1.0;
        if let Some(numbers) = self.numbers_of()
            && !self.numbers.is_all()
        {
            let pieces = pieces(numbers, &self.numbers, self.snap);
            value_mass = mass(&self.law, &pieces);
            self.pieces = Some(pieces);
            if value_mass < LEAST_MASS && self.snap {
                // No value that was seen will do: one between them.
                self.numbers = on_grid(numbers, &self.numbers);
                let between = pieces_between(numbers, &self.numbers);
                let mass = mass(&self.law, &between);
                if mass >= LEAST_MASS {
                    (self.snap, self.pieces, value_mass) = (false, Some(between), mass);
                }
            }
        }
        if self.place.tokens.is_none() {
            self.mass = value_mass;
            return;
        }
        let before = self.law.codes.clone();
        for (code, p) in self.law.codes.iter_mut().enumerate() {
            let code = Some(code as u32);
            if self.place.has_value(code) {
                *p *= value_mass;
            } else if !allowed.admits(self.column.rule_cell(self.place.cell(self.column, code, 0.0, true))) {
                *p = 0.0;
            }
        }
        self.mass = self.law.codes.iter().sum();
        if self.mass < LEAST_MASS {
            // The rules leave nothing that the law knows: it stays as it was, and the mass says so.
            self.mass = 0.0;
            self.law.codes = before;
            return;
        }
        self.law.codes.iter_mut().for_each(|p| *p /= self.mass);
    }

    /// A draw.
    pub(super) fn draw(&self, rng: &mut Stream) -> Cell {
        let token = self.place.tokens.is_some().then(|| self.law.draw_code(rng));
        if self.place.has_value(token) {
            return Cell::Value(self.draw_value(rng));
        }
        self.place.cell(self.column, token, 0.0, true)
    }

    fn draw_value(&self, rng: &mut Stream) -> f64 {
        let Some(numbers) = self.numbers_of() else { return f64::NAN };
        let z = match &self.pieces {
            None => self.law.draw(rng),
            Some(pieces) => draw_within(&self.law, pieces, rng),
        };
        let mut value = numbers.grid.value(z, self.snap);
        if let (Some(grid), false) = (self.rounds, self.snap) {
            value = grid.round(value);
        }
        let value = numbers.on_grid(value);
        if self.numbers.contains(value) {
            return value;
        }
        // Rounding has led outside, or nothing is left: the nearest that will do.
        let near = self.numbers.nearest(value).unwrap_or(value);
        let rounded = numbers.on_grid(near);
        if self.numbers.contains(rounded) { rounded } else { near }
    }

    /// log p of a cell, of its density where numbers do not repeat; −∞ where it is not allowed.
    pub(super) fn log_probability(&self, cell: Cell) -> f64 {
        let coordinates = self.place.coordinates(self.column, cell);
        let mut log = 0.0;
        if self.place.tokens.is_some() {
            let Some(token) = coordinates.token else { return f64::NEG_INFINITY };
            log += self.law.codes[token as usize].ln();
        }
        let (Some(value), Some(numbers)) = (coordinates.value, self.numbers_of()) else { return log };
        if !self.numbers.contains(value) {
            return f64::NEG_INFINITY;
        }
        let within = self.pieces.as_ref().map_or(1.0, |pieces| mass(&self.law, pieces));
        let grid = &numbers.grid;
        let density = if self.snap {
            let low = grid.score_up_to(value.next_down(), true);
            mass(&self.law, &[(low, grid.score_up_to(value, true))]).ln()
        } else {
            self.law.log_density(grid.score(value, 0.5)) + grid.score_slope(value).ln()
        };
        // A value that was never seen is not impossible: less probable than any that was seen once.
        let least = (0.25 / grid.total() as f64).ln();
        log + density.max(least) - within.max(LEAST_MASS).ln()
    }

    /// P(number ≤ the cell's), halfway through a value that repeats; none for cells that are no numbers of a continuum.
    pub(super) fn rank(&self, cell: Cell) -> Option<f64> {
        let value = self.place.coordinates(self.column, cell).value?;
        let grid = &self.numbers_of()?.grid;
        let below = grid.score_up_to(value.next_down(), self.snap);
        let upto = grid.score_up_to(value, self.snap);
        Some(0.5 * (self.law.cdf(below) + self.law.cdf(upto)))
    }
}

/// Intervals of the normal score whose values are in a set.
fn pieces(numbers: &Numbers, set: &Ranges, snap: bool) -> Vec<(f64, f64)> {
    if !snap {
        return pieces_between(numbers, set);
    }
    let grid = &numbers.grid;
    let score =
        |(low, high): (f64, f64)| (grid.score_up_to(low.next_down(), true), grid.score_up_to(high, true));
    set.iter().map(score).filter(|(low, high)| low < high).collect()
}

/// The part of a set that numbers with so many digits can reach.
fn on_grid(numbers: &Numbers, set: &Ranges) -> Ranges {
    let Some(step) = numbers.step() else { return set.clone() };
    // Up to the dust of binary fractions.
    let up = |low: f64| numbers.on_grid((low / step - 1e-6).ceil() * step);
    let down = |high: f64| numbers.on_grid((high / step + 1e-6).floor() * step);
    let end = |at: f64, inward: &dyn Fn(f64) -> f64| if at.is_finite() { inward(at) } else { at };
    Ranges::union(set.iter().map(|(low, high)| Ranges::between(end(low, &up), end(high, &down))))
}

/// The same where draws lie between values: what rounds to a number of the set.
fn pieces_between(numbers: &Numbers, set: &Ranges) -> Vec<(f64, f64)> {
    let grid = &numbers.grid;
    let half = numbers.step().map_or(0.0, |step| 0.5 * step);
    let score = |(low, high): (f64, f64)| {
        let (low, high) = (low - half, high + half);
        let (from, to) = (grid.score_up_to(low, false), grid.score_up_to(high, false));
        if low < high || from < to {
            return (from, to);
        }
        // A single number counts by its density.
        let spread = grid.values()[grid.len() - 1] - grid.values()[0];
        let half = 1e-9 * (grid.score_slope(low) * spread).max(1e-6);
        (from - half, to + half)
    };
    set.iter().map(score).filter(|(low, high)| low < high).collect()
}

/// Φ(b) − Φ(a), without loss in the tails.
pub(super) fn normal_mass(a: f64, b: f64) -> f64 {
    let upper = |z: f64| 0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2);
    if a > 0.0 { upper(a) - upper(b) } else { upper(-b) - upper(-a) }
}

/// The probability of intervals of the score.
fn mass(law: &Law, pieces: &[(f64, f64)]) -> f64 {
    let of = |part: &ScorePart| {
        part.weight * pieces.iter().map(|&(low, high)| part.between(low, high)).sum::<f64>()
    };
    law.parts.iter().map(of).sum()
}

/// What of a law lies in intervals.
fn cut(law: &Law, pieces: &[(f64, f64)]) -> Vec<ScorePart> {
    let parts = law.parts.iter().flat_map(|part| pieces.iter().map(|&(low, high)| part.cut(low, high)));
    parts.filter(|part| part.weight > 0.0).collect()
}

/// A draw of the score from intervals.
fn draw_within(law: &Law, pieces: &[(f64, f64)], rng: &mut Stream) -> f64 {
    let parts = cut(law, pieces);
    let mut u = rng.unit() * parts.iter().map(|part| part.weight).sum::<f64>();
    let chosen = parts.iter().find(|part| {
        u -= part.weight;
        u < 0.0
    });
    let share = rng.unit();
    match chosen.or(parts.last()) {
        Some(part) => part.quantile(share),
        None => law.draw(rng),
    }
}

/// The quantile of the standard normal law between a and b.
pub(super) fn truncated(a: f64, b: f64, share: f64) -> f64 {
    if a > 0.0 {
        return -truncated(-b, -a, 1.0 - share);
    }
    let lower = |z: f64| 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2);
    let rank = lower(a) + share * (lower(b) - lower(a));
    let z = pmm_data::Grid::score_of_rank(rank.clamp(1e-300, 1.0 - 1e-16));
    z.clamp(a, b)
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    fn law() -> Law {
        let parts = vec![ScorePart::whole(0.3, -1.0, 0.5), ScorePart::whole(0.7, 1.0, 0.8)];
        Law { parts, ..Law::default() }
    }

    /// Against the distribution function: shares of 100,000 draws within five standard errors.
    #[test]
    fn draws_keep_to_the_pieces_in_the_right_shares() {
        let (law, pieces) = (law(), [(-2.0, -1.0), (0.5, 6.0)]);
        let mut rng = Streams::new(0).stream(Purpose::DATA, 0, 0);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| draw_within(&law, &pieces, &mut rng)).collect();
        assert!(draws.iter().all(|z| pieces.iter().any(|(low, high)| (low..=high).contains(&z))));
        let total = mass(&law, &pieces);
        for z in [-1.5, 0.8, 1.5, 3.0] {
            let below: Vec<(f64, f64)> =
                pieces.iter().map(|(low, high)| (*low, high.min(z))).filter(|(a, b)| a < b).collect();
            let right = mass(&law, &below) / total;
            let share = draws.iter().filter(|draw| **draw <= z).count() as f64 / f64::from(n);
            assert!((share - right).abs() < 5.0 * (0.25 / f64::from(n)).sqrt(), "{z}: {share} {right}");
        }
    }

    #[test]
    fn tails_keep_their_digits() {
        assert!((normal_mass(10.0, 11.0) / 7.6198e-24 - 1.0).abs() < 1e-3);
        assert!((normal_mass(-11.0, -10.0) / normal_mass(10.0, 11.0) - 1.0).abs() < 1e-12);
        let z = truncated(8.0, 9.0, 0.5);
        assert!((8.0..9.0).contains(&z), "{z}");
    }
}
