//! Heads: what the outputs of the network say about a cell; losses and their gradients.

use std::ops::Range;
use std::sync::Arc;

use pmm_core::{Head, Stream};

use super::atoms::Atoms;
use super::cell_law::{HALF_LOG_2_PI, ScorePart};
use super::coordinates::{ColumnPlace, Scale};

/// Components of a mixture head.
pub(crate) const COMPONENTS: usize = 8;
/// The narrowest component, in logs of the normal score: finer than the ranks of a hundred thousand values.
const LEAST_LOG_SD: f32 = -7.0;
const MOST_LOG_SD: f32 = 2.0;

/// The outputs of a column.
#[derive(Debug, Clone)]
pub(crate) struct ColumnHead {
    pub(crate) tokens: Option<Range<usize>>,
    /// The code of a missing cell, where there is one.
    pub(crate) missing: Option<usize>,
    pub(crate) value: Option<(Range<usize>, ValueHead)>,
}

#[derive(Debug, Clone)]
pub(crate) enum ValueHead {
    /// A logit for each of a few values.
    Atoms(Arc<Atoms>),
    /// Eight Gaussians on the normal score, around (centre, scale).
    Mixture,
    /// x̂ = μ + h/√(1 + a): the EDM parametrisation for data of unit variance.
    Normal,
    /// x̂ = μ e^h.
    Poisson,
    /// x̂ = μ e^h.
    Gamma,
}

/// What a cell is to be told, and from where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Weight in the loss; 0 for cells that are known.
    pub weight: f32,
    /// The token, if the column has tokens.
    pub token: Option<u32>,
    /// The value in the head's unit (normal score for a mixture, index among few values), if there is one.
    pub value: Option<f32>,
    /// Posterior mean, in the same unit, or the statistic for few values; 0 before anything is seen.
    pub mean: f32,
    /// Clock reading.
    pub clock: f32,
}

/// The law of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Law {
    /// Probabilities of the codes, where the column has any.
    pub codes: Vec<f64>,
    /// Probabilities of a number's few values, while its clock runs.
    pub atoms: Vec<f64>,
    /// The law of the value's normal score, where the column has one.
    pub parts: Vec<ScorePart>,
}

impl Law {
    /// P(score ≤ z) of the value.
    pub fn cdf(&self, z: f64) -> f64 {
        self.parts.iter().map(|part| part.weight * part.cdf(z)).sum()
    }

    /// log density of the value's score.
    pub fn log_density(&self, z: f64) -> f64 {
        let terms = self.parts.iter().filter(|part| part.weight > 0.0 && (part.low..=part.high).contains(&z));
        let terms: Vec<f64> = terms.map(|part| part.weight.ln() + part.log_density(z)).collect();
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return most;
        }
        most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
    }

    /// A draw of the value's score.
    pub fn draw(&self, rng: &mut Stream) -> f64 {
        let mut u = rng.unit();
        let chosen = self.parts.iter().find(|part| {
            u -= part.weight;
            u < 0.0
        });
        match chosen.or(self.parts.last()) {
            Some(part) => part.draw(rng),
            None => rng.normal(),
        }
    }

    /// A draw of the code.
    pub fn draw_code(&self, rng: &mut Stream) -> u32 {
        let mut u = rng.unit() * self.codes.iter().sum::<f64>();
        let chosen = self.codes.iter().position(|p| {
            u -= p;
            u < 0.0
        });
        // Rounding may leave u at 0: then the last code that is possible.
        chosen.or_else(|| self.codes.iter().rposition(|p| *p > 0.0)).unwrap_or(0) as u32
    }
}

impl ColumnHead {
    pub(crate) fn new(place: &ColumnPlace, head: Head, start: usize) -> Self {
        let mut end = start;
        let mut take = |len: usize| {
            end += len;
            end - len..end
        };
        let tokens = place.tokens.as_ref().map(|tokens| take(tokens.codes));
        let value = place.value.as_ref().map(|value| match (head, value.scale, &value.atoms) {
            (Head::Marginal, _, Some(atoms)) => (take(atoms.x.len()), ValueHead::Atoms(atoms.clone())),
            (Head::Marginal, _, None) => (take(3 * COMPONENTS), ValueHead::Mixture),
            (Head::Mean, Scale::Score, _) => (take(1), ValueHead::Normal),
            (Head::Mean, Scale::Ratio(_), _) => (take(1), ValueHead::Poisson),
        });
        let missing = place.tokens.as_ref().and_then(|tokens| tokens.missing).map(|code| code as usize);
        Self { tokens, missing, value }
    }

    pub(crate) fn with_pair(mut self, gamma: bool) -> Self {
        if let Some((_, head @ ValueHead::Poisson)) = &mut self.value
            && gamma
        {
            *head = ValueHead::Gamma;
        }
        self
    }

    pub(crate) fn end(&self, start: usize) -> usize {
        let tokens = self.tokens.as_ref().map_or(start, |range| range.end);
        self.value.as_ref().map_or(tokens, |(range, _)| range.end)
    }

    /// Biases from which training starts: the codes' shares; components spread over the normal law.
    pub(crate) fn initial(&self, counts: &[u64], biases: &mut [f32]) {
        if let Some(range) = &self.tokens {
            biases[range.clone()].copy_from_slice(&log_shares(counts, range.len(), self.missing));
        }
        if let Some((range, ValueHead::Atoms(atoms))) = &self.value {
            biases[range.clone()].copy_from_slice(&atoms.initial());
        }
        if let Some((range, ValueHead::Mixture)) = &self.value {
            let biases = &mut biases[range.clone()];
            for k in 0..COMPONENTS {
                biases[COMPONENTS + k] = -1.75 + 3.5 * k as f32 / (COMPONENTS - 1) as f32;
                biases[2 * COMPONENTS + k] = -0.5;
            }
        }
    }

    /// The loss of a cell, and its gradient added to `slope` (both `[outputs]`, of a row).
    pub(crate) fn loss(&self, outputs: &[f32], target: &Target, slope: &mut [f32]) -> f64 {
        let mut loss = 0.0;
        if let (Some(range), Some(token)) = (&self.tokens, target.token) {
            let (logits, slope) = (&outputs[range.clone()], &mut slope[range.clone()]);
            loss += cross_entropy(logits, token as usize, self.missing, target.weight, slope);
        }
        if let (Some((range, head)), Some(x)) = (&self.value, target.value) {
            let (outputs, slope) = (&outputs[range.clone()], &mut slope[range.clone()]);
            loss += match head {
                ValueHead::Atoms(atoms) => {
                    let p = atoms.law(outputs, target.mean, target.clock);
                    atoms.loss(&p, x as usize, target.weight, slope)
                }
                ValueHead::Mixture => mixture(outputs, x, target, slope),
                ValueHead::Normal => {
                    let noise = (1.0 + target.clock).sqrt();
                    let error = outputs[0] - (x - target.mean) * noise;
                    slope[0] += target.weight * error;
                    0.5 * error * error
                }
                // √a · D: errors of x̂ are of order 1/√a, so that every clock reading counts alike.
                ValueHead::Poisson => {
                    let x_hat = target.mean * outputs[0].clamp(-20.0, 20.0).exp();
                    let weight = target.clock.sqrt().max(0.1);
                    slope[0] += target.weight * weight * (x_hat - x);
                    let log = if x > 0.0 { x * (x / x_hat).ln() } else { 0.0 };
                    weight * (x_hat - x + log)
                }
                ValueHead::Gamma => {
                    let ratio = x / (target.mean * outputs[0].clamp(-20.0, 20.0).exp());
                    let weight = target.clock.sqrt().max(0.1);
                    slope[0] += target.weight * weight * (1.0 - ratio);
                    weight * (ratio - 1.0 - ratio.ln())
                }
            };
        }
        f64::from(target.weight) * f64::from(loss)
    }

    /// The law of a cell from its outputs. `mean` and `clock` place the mixture, as in [`Target`].
    pub(crate) fn law(&self, outputs: &[f32], mean: f32, clock: f32) -> Law {
        let mut law = Law::default();
        if let Some(range) = &self.tokens {
            probabilities(&outputs[range.clone()], self.missing, &mut law.codes);
        }
        if let Some((range, ValueHead::Atoms(atoms))) = &self.value {
            law.atoms = atoms.law(&outputs[range.clone()], mean, clock);
        }
        if let Some((range, ValueHead::Mixture)) = &self.value {
            let outputs = &outputs[range.clone()];
            let mut weights = Vec::new();
            softmax(&outputs[..COMPONENTS], &mut weights);
            let scale = scale_at(clock);
            let component = |k: usize| {
                let centre = mean + scale * outputs[COMPONENTS + k];
                let sd = scale * outputs[2 * COMPONENTS + k].clamp(LEAST_LOG_SD, MOST_LOG_SD).exp();
                ScorePart::whole(weights[k], f64::from(centre), f64::from(sd))
            };
            law.parts = (0..COMPONENTS).map(component).collect();
        }
        law
    }

    /// x̂ of a mean head.
    pub(crate) fn estimate(&self, outputs: &[f32], mean: f32, clock: f32) -> f32 {
        match &self.value {
            Some((range, ValueHead::Normal)) => mean + outputs[range.start] * scale_at(clock),
            Some((range, ValueHead::Poisson | ValueHead::Gamma)) => {
                (mean * outputs[range.start].clamp(-20.0, 20.0).exp()).clamp(f32::MIN_POSITIVE, f32::MAX)
            }
            _ => mean,
        }
    }
}

fn scale_at(clock: f32) -> f32 {
    1.0 / (1.0 + clock).sqrt()
}

/// The logits of shares; a code that was never seen has half a count.
pub(crate) fn log_shares(counts: &[u64], codes: usize, missing: Option<usize>) -> Vec<f32> {
    let total: u64 = counts.iter().sum();
    let share = |code: usize| {
        (counts.get(code).copied().unwrap_or(0) as f32 + 0.5) / (total as f32 + 0.5 * codes as f32)
    };
    let logit = |code: usize| if missing == Some(code) { 1.0 - share(code) } else { 1.0 };
    (0..codes).map(|code| (share(code) / logit(code)).ln()).collect()
}

/// −log p of a token; its gradient to `slope`. That a cell is missing has a logit of its own, log(p/(1 − p)): cells that are
/// missing say nothing about the levels, which are asked for when gaps are filled.
fn cross_entropy(
    logits: &[f32],
    token: usize,
    missing: Option<usize>,
    weight: f32,
    slope: &mut [f32],
) -> f32 {
    slope.fill(0.0);
    let mut loss = 0.0;
    if let Some(gap) = missing {
        let (logit, is_gap) = (logits[gap], token == gap);
        let signed = if is_gap { -logit } else { logit };
        loss += signed.max(0.0) + (-signed.abs()).exp().ln_1p();
        slope[gap] = weight * (sigmoid(logit) - f32::from(u8::from(is_gap)));
        if is_gap {
            return loss;
        }
    }
    let levels = || (0..logits.len()).filter(|code| missing != Some(*code));
    let most = levels().map(|code| logits[code]).fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = levels().map(|code| (logits[code] - most).exp()).sum();
    levels().for_each(|code| slope[code] = weight * (logits[code] - most).exp() / sum);
    slope[token] -= weight;
    loss + sum.ln() + most - logits[token]
}

/// The probabilities of codes from their logits.
pub(crate) fn probabilities(logits: &[f32], missing: Option<usize>, out: &mut Vec<f64>) {
    let Some(gap) = missing else { return softmax(logits, out) };
    let mut levels = logits.to_vec();
    levels[gap] = f32::NEG_INFINITY;
    softmax(&levels, out);
    // In f64 and without 1 − p: however sure the gap, the levels keep their proportions.
    let logit = f64::from(logits[gap]);
    let present = 1.0 / (1.0 + logit.exp());
    out.iter_mut().for_each(|level| *level *= present);
    out[gap] = 1.0 / (1.0 + (-logit).exp());
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// −log Σ wₖ N(x; centre + scale·mₖ, scale·sₖ), without the constant of the scale.
fn mixture(outputs: &[f32], x: f32, target: &Target, slope: &mut [f32]) -> f32 {
    const K: usize = COMPONENTS;
    let y = (x - target.mean) / scale_at(target.clock);
    let most = outputs[..K].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut weights, mut terms, mut sum) = ([0f32; K], [0f32; K], 0f32);
    let (mut z, mut inverse) = ([0f32; K], [0f32; K]);
    for k in 0..K {
        weights[k] = (outputs[k] - most).exp();
        sum += weights[k];
        let log_sd = outputs[2 * K + k].clamp(LEAST_LOG_SD, MOST_LOG_SD);
        inverse[k] = (-log_sd).exp();
        z[k] = (y - outputs[K + k]) * inverse[k];
        terms[k] = outputs[k] - most - log_sd - 0.5 * z[k] * z[k];
    }
    let top = terms.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = terms.iter().map(|term| (term - top).exp()).sum();
    for k in 0..K {
        let share = (terms[k] - top).exp() / total;
        slope[k] = target.weight * (weights[k] / sum - share);
        slope[K + k] = -target.weight * share * z[k] * inverse[k];
        let (log_sd, push) = (outputs[2 * K + k], target.weight * share * (1.0 - z[k] * z[k]));
        // At a bound only the way back is open.
        let outward = (log_sd < LEAST_LOG_SD && push > 0.0) || (log_sd > MOST_LOG_SD && push < 0.0);
        slope[2 * K + k] = if outward { 0.0 } else { push };
    }
    sum.ln() - top - total.ln() + HALF_LOG_2_PI as f32
}

fn softmax(logits: &[f32], out: &mut Vec<f64>) {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    out.clear();
    out.extend(logits.iter().map(|logit| f64::from((logit - most).exp())));
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads() -> Vec<(ColumnHead, Target)> {
        let poisson = pmm_core::Poisson::new(0.5, 0.5).unwrap();
        let atoms = Atoms::new(&poisson, vec![0.5, 1.0, 2.0, 4.0], vec![5, 2, 1, 1]);
        let base = Target { weight: 0.7, token: None, value: None, mean: 0.0, clock: 0.0 };
        let value = |head, len| ColumnHead { tokens: None, missing: None, value: Some((0..len, head)) };
        let codes = |missing| ColumnHead { tokens: Some(0..5), missing, value: None };
        vec![
            (codes(None), Target { token: Some(3), ..base }),
            (codes(Some(4)), Target { token: Some(3), ..base }),
            (codes(Some(4)), Target { token: Some(4), ..base }),
            (
                value(ValueHead::Atoms(atoms.into()), 4),
                Target { value: Some(2.0), mean: 3.0, clock: 2.0, ..base },
            ),
            (value(ValueHead::Mixture, 24), Target { value: Some(0.3), ..base }),
            (value(ValueHead::Mixture, 24), Target { value: Some(0.3), mean: 0.5, clock: 30.0, ..base }),
            (value(ValueHead::Normal, 1), Target { value: Some(0.3), mean: 0.1, clock: 7.0, ..base }),
            (value(ValueHead::Poisson, 1), Target { value: Some(0.0), mean: 0.4, clock: 9.0, ..base }),
            (value(ValueHead::Poisson, 1), Target { value: Some(2.0), mean: 1.4, clock: 9.0, ..base }),
            (value(ValueHead::Gamma, 1), Target { value: Some(2.0), mean: 1.4, clock: 9.0, ..base }),
            (
                ColumnHead { tokens: Some(0..3), missing: Some(2), value: Some((3..27, ValueHead::Mixture)) },
                Target { token: Some(0), value: Some(-1.2), ..base },
            ),
        ]
    }

    /// Slopes against central differences of the loss.
    #[test]
    fn slopes_are_those_of_the_loss() {
        for (index, (head, target)) in heads().into_iter().enumerate() {
            let len = head.end(0);
            let mut stream = pmm_core::Streams::new(9).stream(pmm_core::Purpose::DATA, index as u64, 0);
            // Small enough to stay clear of the bounds of the standard deviations.
            let outputs: Vec<f32> = (0..len).map(|_| 0.5 * stream.normal() as f32).collect();
            let mut slope = vec![0.0; len];
            head.loss(&outputs, &target, &mut slope);
            for i in 0..len {
                let shifted = |by: f32| {
                    let mut outputs = outputs.clone();
                    outputs[i] += by;
                    head.loss(&outputs, &target, &mut vec![0.0; len])
                };
                let difference = (shifted(0.01) - shifted(-0.01)) / 0.02;
                let error = (difference - f64::from(slope[i])).abs();
                assert!(
                    error < 2e-3 * (1.0 + difference.abs()),
                    "head {index}, output {i}: {difference} {}",
                    slope[i]
                );
            }
        }
    }

    /// What the loss says is what the law says: −log of code probability and density.
    #[test]
    fn loss_is_minus_log_of_the_law() {
        let (head, target) = heads().pop().unwrap();
        let outputs: Vec<f32> = (0..27).map(|i| (i as f32 * 0.37).sin()).collect();
        let law = head.law(&outputs, 0.0, 0.0);
        let expected = -law.codes[0].ln() - law.log_density(-1.2);
        let loss = head.loss(&outputs, &Target { weight: 1.0, ..target }, &mut [0.0; 27]);
        assert!((loss - expected).abs() < 1e-4, "{loss} {expected}");
        // The density integrates to one, and the distribution function is its integral.
        let step = 1e-3;
        let mass: f64 = (-20_000..20_000).map(|i| law.log_density(f64::from(i) * step).exp() * step).sum();
        assert!((mass - 1.0).abs() < 1e-3);
        let below: f64 =
            (-20_000..500).map(|i| law.log_density((f64::from(i) + 0.5) * step).exp() * step).sum();
        assert!((below - law.cdf(0.5)).abs() < 1e-3);
    }

    /// A missing cell teaches that it is missing, and nothing about the levels.
    #[test]
    fn gaps_do_not_teach_levels() {
        let head = ColumnHead { tokens: Some(0..3), missing: Some(2), value: None };
        let target = Target { weight: 1.0, token: Some(2), value: None, mean: 0.0, clock: 0.0 };
        let mut slope = [0.0; 3];
        head.loss(&[1.0, -1.0, 0.5], &target, &mut slope);
        assert!(slope[..2] == [0.0, 0.0] && slope[2] < 0.0);
        let codes = head.law(&[1.0, -1.0, 9.0], 0.0, 0.0).codes;
        assert!((codes[0] / codes[1] - 2f64.exp()).abs() < 1e-3 && codes[2] > 0.999, "{codes:?}");
    }

    /// Draws follow the law. 20,000 draws: a share is off by five standard errors once in two million runs.
    #[test]
    fn draws_follow_the_law() {
        let parts = vec![ScorePart::whole(0.3, -1.0, 0.1), ScorePart::whole(0.7, 1.0, 0.5)];
        let law = Law { codes: vec![0.2, 0.0, 0.8], parts, ..Law::default() };
        let mut rng = pmm_core::Streams::new(4).stream(pmm_core::Purpose::DATA, 0, 0);
        let n = 20_000;
        let codes: Vec<u32> = (0..n).map(|_| law.draw_code(&mut rng)).collect();
        let below = (0..n).filter(|_| law.draw(&mut rng) <= 1.2).count() as f64 / f64::from(n);
        let twos = codes.iter().filter(|code| **code == 2).count() as f64 / f64::from(n);
        assert!(!codes.contains(&1));
        assert!((twos - 0.8).abs() < 5.0 * (0.16 / f64::from(n)).sqrt(), "{twos}");
        assert!((below - law.cdf(1.2)).abs() < 5.0 * (0.25 / f64::from(n)).sqrt(), "{below}");
    }
}
