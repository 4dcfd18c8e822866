//! Numbers of few values on running clocks: a law over the values by Bayes' rule.

use pmm_core::Pair;

use super::head::log_shares;

/// The values of a column in its coordinate's unit.
///
/// What a cell's own observations say about each value is known exactly: log p(s | x) = η(x) s − a ψ(x), up to a constant. So the
/// network answers with what the other cells say, a logit for each value, and the two are added.
#[derive(Debug, Clone)]
pub struct Atoms {
    /// The values.
    pub x: Vec<f32>,
    eta: Vec<f64>,
    psi: Vec<f64>,
    counts: Vec<u64>,
}

impl Atoms {
    pub(super) fn new<P: Pair<Value = f32, Stat = f64>>(pair: &P, x: Vec<f32>, counts: Vec<u64>) -> Self {
        let mut eta = vec![0.0; x.len()];
        let psi = x.iter().zip(eta.chunks_exact_mut(1)).map(|(x, eta)| pair.natural(&[*x], eta)).collect();
        Self { x, eta, psi, counts }
    }

    /// Logits before anything is learned: how often each value was seen.
    pub(super) fn initial(&self) -> Vec<f32> {
        log_shares(&self.counts, self.x.len(), None)
    }

    /// The probabilities of the values from the network's logits, a cell's statistic and its clock.
    pub(super) fn law(&self, logits: &[f32], statistic: f32, clock: f32) -> Vec<f64> {
        let (s, a) = (f64::from(statistic), f64::from(clock));
        let known = self.eta.iter().zip(&self.psi).map(|(eta, psi)| s * eta - a * psi);
        let mut p: Vec<f64> =
            logits.iter().zip(known).map(|(logit, known)| f64::from(*logit) + known).collect();
        let most = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        p.iter_mut().for_each(|p| *p = (*p - most).exp());
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        p
    }

    /// −log p of the value with this index; its gradient, times a weight, is added to `slope`.
    pub(super) fn loss(&self, p: &[f64], index: usize, weight: f32, slope: &mut [f32]) -> f32 {
        slope.iter_mut().zip(p).for_each(|(slope, p)| *slope += weight * *p as f32);
        slope[index] -= weight;
        -(p[index].max(1e-30).ln() as f32)
    }
}

#[cfg(test)]
mod tests {
    use pmm_core::{
        Block, Element, Elements, Exponential, FiniteTarget, Gamma, Normal, Poisson, Space, States, Streams,
        Values,
    };

    use super::*;

    /// With logits of the shares, the law is the exact posterior of the finite target, early and late.
    fn agrees_with_oracle<P>(pair: P, x: Vec<f32>)
    where
        P: Pair<Value = f32, Stat = f64> + Into<pmm_core::AnyPair> + Clone,
    {
        let counts: Vec<u64> = (0..x.len() as u64).map(|k| 1 + k * k % 7).collect();
        let atoms = Atoms::new(&pair, x.clone(), counts.clone());
        let space = Space::new(vec![Block::new(pair, 1, Exponential::default()).unwrap()]);
        let weights: Vec<f64> = counts.iter().map(|c| *c as f64).collect();
        let logits: Vec<f32> = weights.iter().map(|w| w.ln() as f32).collect();
        let values = Values::new(vec![Elements::from(x.clone())]);
        let oracle = FiniteTarget::new(&space, values.clone(), &weights).unwrap();
        let mut states = States::prior(&space, 0, x.len());
        let times: Vec<f64> = (0..x.len()).map(|row| 0.1 + 0.8 * row as f64 / x.len() as f64).collect();
        states.draw(&values, &times, &Streams::new(4), 0).unwrap();
        let expected = oracle.posterior(&states);
        let statistics = <f64 as Element>::get(states.stat(0)).unwrap();
        for (row, expected) in expected.chunks_exact(x.len()).enumerate() {
            let law = atoms.law(&logits, statistics[row] as f32, states.clock(0)[row] as f32);
            let apart = law.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-4, "row {row}: {law:?} {expected:?}");
        }
    }

    #[test]
    fn laws_are_posteriors() {
        agrees_with_oracle(Poisson::new(0.5, 0.5).unwrap().intensities(), vec![0.0, 0.4, 0.8, 1.2, 4.0, 9.6]);
        agrees_with_oracle(Normal::new(1.0, 0.0).unwrap(), vec![-1.3, -0.2, 0.0, 0.7, 2.1]);
        agrees_with_oracle(Gamma::new(2.0, 1.0).unwrap(), vec![0.1, 0.5, 1.0, 3.0]);
    }
}
