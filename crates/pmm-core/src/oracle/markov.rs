//! The exact per-position posterior of a text from a Markov chain, given the positions already revealed.

use crate::denoise::{Texts, TokenDenoiser, TokenPosition};
use crate::draw;
use crate::error::ParameterError;
use crate::pair::MASK;
use crate::purpose::Purpose;
use crate::rng::Streams;

/// A Markov chain over V tokens, started from its first law π and stepped by P: a perfect [`TokenDenoiser`] for texts of
/// any length.
///
/// Forward–backward over masked positions only multiplies by P, so the forward message at distance d from the last revealed
/// token l is row l of Pᵈ, and the backward message at distance e from the next revealed token r is column r of Pᵉ:
/// p(x_c | revealed) ∝ Pᵈ[l, x] · Pᵉ[x, r]. The powers are tabled once; a query costs V multiplications. Where the revealed
/// tokens contradict each other (an approximate sampler can make such a text) the left neighbour alone decides.
///
/// ```
/// use pmm_core::{MASK, MarkovChain, TokenPosition, Texts, TokenDenoiser};
/// let chain = MarkovChain::new(&[0.5, 0.5], &[0.9, 0.1, 0.2, 0.8], 3)?;
/// let mut logits = [0.0; 2];
/// chain.logits(&Texts { tokens: &[0, MASK, 1], times: &[0.5] }, &[TokenPosition { row: 0, position: 1 }], &mut logits);
/// // P[0,0] P[0,1] : P[0,1] P[1,1] = 9 : 8
/// assert!(((logits[0] - logits[1]).exp() - 9.0 / 8.0).abs() < 1e-6);
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MarkovChain {
    classes: usize,
    length: usize,
    /// π Pᶜ for each position c, `[length, V]`.
    first: Vec<f64>,
    /// Pᵈ for d = 0, …, length, `[length + 1, V, V]`.
    powers: Vec<f64>,
}

impl MarkovChain {
    /// The chain with first law π (`[V]`) and transition matrix P (`[V, V]`, rows sum to 1) on texts of this length.
    pub fn new(first: &[f64], transition: &[f64], length: usize) -> Result<Self, ParameterError> {
        let classes = first.len();
        let square = transition.len() == classes * classes && classes > 0;
        ParameterError::unless(
            square,
            "the transition matrix",
            "square, as wide as the first law",
            transition.len() as f64,
        )?;
        ParameterError::unless(length > 0, "the length of a text", "at least 1", length as f64)?;
        for law in std::iter::once(first).chain(transition.chunks_exact(classes)) {
            let sum: f64 = law.iter().sum();
            let holds = law.iter().all(|p| *p >= 0.0) && (sum - 1.0).abs() < 1e-9;
            ParameterError::unless(
                holds,
                "the sum of a law's probabilities",
                "1, of terms of at least 0",
                sum,
            )?;
        }
        let powers = powers(transition, classes, length);
        let first =
            powers.chunks_exact(classes * classes).take(length).flat_map(|p| times(first, p)).collect();
        Ok(Self { classes, length, first, powers })
    }

    /// The law of position c when nothing is revealed.
    pub fn marginal(&self, position: usize) -> &[f64] {
        &self.first[position * self.classes..][..self.classes]
    }

    /// P[from, to].
    pub fn transition(&self, from: usize, to: usize) -> f64 {
        self.powers[(self.classes + from) * self.classes + to]
    }

    /// Exact texts, `[rows, length]`.
    pub fn sample(&self, streams: &Streams, first_row: u64, rows: usize) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(rows * self.length);
        for row in 0..rows {
            let mut rng = streams.stream(Purpose::DATA, 0, first_row + row as u64);
            let mut law = self.marginal(0);
            for _ in 0..self.length {
                let token = draw::categorical(law, &mut rng);
                tokens.push(token as u32);
                law = &self.powers[(self.classes + token) * self.classes..][..self.classes];
            }
        }
        tokens
    }

    /// −log p(text), in nats.
    pub fn surprise(&self, text: &[u32]) -> f64 {
        let steps = text.windows(2).map(|pair| self.transition(pair[0] as usize, pair[1] as usize));
        -text.first().map_or(0.0, |&token| self.marginal(0)[token as usize].ln())
            - steps.map(f64::ln).sum::<f64>()
    }

    /// Writes p(x_c | revealed), up to a constant, for one position of one text.
    fn posterior(&self, text: &[u32], position: usize, p: &mut [f32]) {
        let v = self.classes;
        let left = text[..=position].iter().rposition(|&token| token != MASK);
        let right = text[position..].iter().position(|&token| token != MASK);
        let forward = match left {
            Some(at) => &self.powers[((position - at) * v + text[at] as usize) * v..][..v],
            None => self.marginal(position),
        };
        let backward =
            |x: usize| right.map_or(1.0, |e| self.powers[(e * v + x) * v + text[position + e] as usize]);
        let explained = (0..v).any(|x| forward[x] * backward(x) > 0.0);
        for (x, p) in p.iter_mut().enumerate() {
            *p = if explained { forward[x] * backward(x) } else { forward[x] }.ln() as f32;
        }
    }
}

/// P⁰, …, Pⁿ.
fn powers(p: &[f64], classes: usize, n: usize) -> Vec<f64> {
    let mut powers = vec![0.0; classes * classes];
    (0..classes).for_each(|i| powers[i * classes + i] = 1.0);
    for d in 0..n {
        let next: Vec<f64> =
            powers[d * classes * classes..].chunks_exact(classes).flat_map(|row| times(row, p)).collect();
        powers.extend(next);
    }
    powers
}

/// A row vector times a matrix.
fn times(row: &[f64], matrix: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; row.len()];
    for (x, line) in row.iter().zip(matrix.chunks_exact(row.len())) {
        product.iter_mut().zip(line).for_each(|(sum, p)| *sum += x * p);
    }
    product
}

impl TokenDenoiser for MarkovChain {
    fn classes(&self) -> usize {
        self.classes
    }
    fn length(&self) -> usize {
        self.length
    }
    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]) {
        for (place, logits) in wanted.iter().zip(logits.chunks_exact_mut(self.classes)) {
            let text = &texts.tokens[place.row * self.length..][..self.length];
            self.posterior(text, place.position, logits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> MarkovChain {
        let p = [0.7, 0.2, 0.1, 0.05, 0.15, 0.8, 0.3, 0.3, 0.4];
        MarkovChain::new(&[0.6, 0.3, 0.1], &p, 5).unwrap()
    }

    /// Against brute force: all 3⁵ texts, all 4⁵ ways to mask or reveal them.
    #[test]
    fn posterior_is_that_of_enumeration() {
        let chain = chain();
        let all: Vec<Vec<u32>> = (0..243).map(|n| (0..5).map(|i| n / 3u32.pow(i) % 3).collect()).collect();
        let mut logits = [0.0; 3];
        for seen in 0..1024u32 {
            let shown = |i: u32| [0, 1, 2, MASK][(seen / 4u32.pow(i) % 4) as usize];
            let text: Vec<u32> = (0..5).map(shown).collect();
            let fits = |x: &&Vec<u32>| x.iter().zip(&text).all(|(x, s)| *s == MASK || x == s);
            for position in (0..5).filter(|&i| text[i] == MASK) {
                let mut exact = [0.0; 3];
                all.iter()
                    .filter(fits)
                    .for_each(|x| exact[x[position] as usize] += (-chain.surprise(x)).exp());
                let texts = Texts { tokens: &text, times: &[0.0] };
                chain.logits(&texts, &[TokenPosition { row: 0, position }], &mut logits);
                let weights = logits.map(|l| f64::from(l).exp());
                let (total, exact_total) = (weights.iter().sum::<f64>(), exact.iter().sum::<f64>());
                for (w, e) in weights.iter().zip(exact) {
                    assert!((w / total - e / exact_total).abs() < 1e-6, "{text:?} at {position}");
                }
            }
        }
    }

    /// 0 → 1 → 0 → … for ever: a text that says 0, ?, 1 cannot be, and is answered from its left.
    #[test]
    fn contradictions_are_answered_from_the_left() {
        let chain = MarkovChain::new(&[1.0, 0.0], &[0.0, 1.0, 1.0, 0.0], 3).unwrap();
        let mut logits = [0.0; 2];
        chain.logits(
            &Texts { tokens: &[0, MASK, 1], times: &[0.0] },
            &[TokenPosition { row: 0, position: 1 }],
            &mut logits,
        );
        assert_eq!(logits, [f32::NEG_INFINITY, 0.0]);
    }

    #[test]
    fn bad_chains_are_refused() {
        assert!(MarkovChain::new(&[0.5, 0.6], &[1.0, 0.0, 0.0, 1.0], 3).is_err());
        assert!(MarkovChain::new(&[0.5, 0.5], &[1.0, 0.0, 0.0], 3).is_err());
        assert!(MarkovChain::new(&[0.5, 0.5], &[1.5, -0.5, 0.0, 1.0], 3).is_err());
        assert!(MarkovChain::new(&[0.5, 0.5], &[1.0, 0.0, 0.0, 1.0], 0).is_err());
    }
}
