//! Scalar draws whose parameter changes from draw to draw: Poisson, Gamma, Bernoulli, one of several.
//!
//! The distributions of `rand_distr` prepare constants once for many draws; here every coordinate has its own parameter. With a
//! new parameter each time and the same streams, `rand_distr` took up to 2 times as long for a Poisson and up to 4.4 times
//! as long for a Gamma draw, and never noticeably less (`cargo run --release -p bench-core --bin crates`). Where a comparison
//! with a uniform draw decides, its first 8 bits nearly always suffice; the rest of the bits are drawn only when they do
//! not, so the law is exact.

mod gamma;
mod poisson;

pub use gamma::GammaLaw;
pub(crate) use gamma::gamma;
pub(crate) use poisson::poisson;

use crate::rng::Stream;

/// The draws that pairs are made of; the parameters are not checked.
impl Stream {
    /// A Gamma draw of the given shape ≥ 0 and scale 1. Many draws of one shape are quicker from a [`GammaLaw`].
    pub fn gamma(&mut self, shape: f64) -> f64 {
        gamma(shape, self)
    }

    /// A Poisson draw of a finite mean ≥ 0, as an f64 (whole numbers to 2⁵³).
    pub fn poisson(&mut self, mean: f64) -> f64 {
        poisson(mean, self)
    }

    /// True with this probability.
    pub fn bernoulli(&mut self, probability: f64) -> bool {
        bernoulli(probability, self)
    }

    /// An index drawn with probability proportional to its weight (finite, at least 0, not all 0).
    pub fn categorical<W: Copy + Into<f64>>(&mut self, weights: &[W]) -> usize {
        categorical(weights, self)
    }
}

/// A uniform draw on [0, 1) whose bits are revealed as needed: 8 at first, 61 in the end.
struct LazyUnit {
    byte: u8,
}

impl LazyUnit {
    #[inline]
    fn new(rng: &mut Stream) -> Self {
        Self { byte: rng.byte() }
    }

    /// Certainly at most `bound`, judging by the first 8 bits.
    #[inline]
    fn surely_below(&self, bound: f64) -> bool {
        f64::from(self.byte) + 1.0 <= bound * 256.0
    }

    #[inline]
    fn value(&self, rng: &mut Stream) -> f64 {
        (f64::from(self.byte) + rng.unit()) / 256.0
    }
}

/// True with probability `p`, exactly for any f64: bits of the uniform are compared eight at a time.
#[inline]
pub(crate) fn bernoulli(p: f64, rng: &mut Stream) -> bool {
    let mut rest = p * 256.0;
    loop {
        let (byte, digit) = (u32::from(rng.byte()), rest as u32);
        if byte != digit {
            return byte < digit;
        }
        rest = (rest - f64::from(digit)) * 256.0;
        if rest == 0.0 {
            return false;
        }
    }
}

/// Eight times [`bernoulli`], from one word unless a byte of it decides nothing.
#[inline]
pub(crate) fn bernoulli_eight(p: f64, rng: &mut Stream) -> [bool; 8] {
    let digit = (p * 256.0) as u32;
    let bytes = rng.word().to_le_bytes().map(u32::from);
    let mut coins = bytes.map(|byte| byte < digit);
    if bytes.contains(&digit) {
        let ties = coins.iter_mut().zip(bytes).filter(|(_, byte)| *byte == digit);
        ties.for_each(|(coin, _)| *coin = bernoulli(p * 256.0 - f64::from(digit), rng));
    }
    coins
}

/// An index drawn with probability proportional to `weights` (finite, ≥ 0, not all 0), summed and compared in f64. First
/// the group of eight is found, then the place in it, both by counting, without branches that the processor could not predict.
#[inline]
pub(crate) fn categorical<W: Copy + Into<f64>>(weights: &[W], rng: &mut Stream) -> usize {
    let (groups, rest) = weights.as_chunks::<GROUP>();
    let total = groups.iter().map(sum).sum::<f64>() + rest.iter().map(|&w| w.into()).sum::<f64>();
    let left = rng.unit() * total;
    let (mut cumulative, mut passed, mut first) = (0.0, 0.0, 0);
    for group in groups.iter().map(sum) {
        cumulative += group;
        let pass = u32::from(cumulative <= left);
        passed += group * f64::from(pass);
        first += pass as usize;
    }
    let group = groups.get(first).map_or(rest, |group| group);
    let mut index = first * GROUP;
    for &weight in group.split_last().map_or(group, |(_, but_last)| but_last) {
        passed += weight.into();
        index += usize::from(passed <= left);
    }
    if weights.get(index).is_some_and(|&weight| weight.into() > 0.0) {
        return index;
    }
    // Only by rounding: the last that can be drawn.
    weights.iter().rposition(|&weight| weight.into() > 0.0).unwrap_or(0)
}

/// Numbers that are summed side by side: in a chain each addition would wait for the one before.
const GROUP: usize = 8;

#[inline]
fn sum<W: Copy + Into<f64>>(group: &[W; GROUP]) -> f64 {
    let [a, b, c, d, e, f, g, h] = group.map(Into::into);
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// How tests judge draws.
#[cfg(test)]
mod testing {
    use crate::purpose::Purpose;
    use crate::rng::{Stream, Streams};

    pub(super) fn stream(row: u64) -> Stream {
        Streams::new(11).stream(Purpose::STATE, 0, row)
    }

    /// Largest gap between an empirical and a true CDF over the drawn points, of which a continuous law needs every fiftieth
    /// only; for a step CDF `below` is its left limit.
    pub(super) fn cdf_gap(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64, below: impl Fn(f64) -> f64) -> f64 {
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let mut gap: f64 = 0.0;
        let mut start = 0;
        while start < draws.len() {
            let end = start + draws[start..].partition_point(|&d| d == draws[start]);
            gap = gap.max((cdf(draws[start]) - end as f64 / n).abs());
            gap = gap.max((below(draws[start]) - start as f64 / n).abs());
            start = if end == start + 1 { start + 50 } else { end };
        }
        gap
    }

    /// Dvoretzky–Kiefer–Wolfowitz: n = 1,000,000, false alarm 1e-7 each; a CDF off by .006 fails with probability 1 − 1e-7.
    pub(super) const N: usize = 1_000_000;
    pub(super) fn allowed() -> f64 {
        ((2.0f64 / 1e-7).ln() / (2.0 * N as f64)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::stream;
    use super::*;

    /// Six standard errors (2e-9) for each p; p below 2⁻⁸ needs the second byte.
    #[test]
    fn bernoulli_has_its_probability() {
        for (row, p) in [1e-4, 0.002, 0.3, 0.5, 0.9999].into_iter().enumerate() {
            let mut rng = stream(500 + row as u64);
            let n = 2_000_000;
            let share = (0..n).filter(|_| bernoulli(p, &mut rng)).count() as f64 / n as f64;
            let of_eight =
                (0..n / 8).map(|_| bernoulli_eight(p, &mut rng).into_iter().filter(|c| *c).count());
            let share_of_eight = of_eight.sum::<usize>() as f64 / n as f64;
            for share in [share, share_of_eight] {
                assert!((share - p).abs() < 6.0 * (p * (1.0 - p) / n as f64).sqrt(), "{p}: {share}");
            }
        }
        let mut rng = stream(600);
        assert!((0..1000).all(|_| bernoulli(1.0, &mut rng) && !bernoulli(0.0, &mut rng)));
    }

    #[test]
    fn categorical_skips_zero_weights() {
        let mut rng = stream(700);
        let weights = [0.0f32, 1.0, 0.0, 3.0, 0.0];
        let n = 100_000;
        let mut counts = [0.0; 5];
        (0..n).for_each(|_| counts[categorical(&weights, &mut rng)] += 1.0);
        assert_eq!([counts[0], counts[2], counts[4]], [0.0; 3]);
        assert!((counts[1] / n as f64 - 0.25).abs() < 6.0 * (0.1875 / n as f64).sqrt());
    }
}
