//! The laws that need no statistics.

use super::Case;
use super::report::{Check, Law, Violation};
use crate::elements::Element;
use crate::pair::{IMPOSSIBLE, Pair, Support};

impl<P: Pair> Case<P> {
    pub(super) fn on_support(&self, check: &mut Check) -> Result<(), Violation> {
        let support = self.pair.support();
        for (name, x) in [("x", &self.x), ("y", &self.y)] {
            check.near(format!("elements of {name}"), x.len() as f64, self.pair.value_len() as f64, 0.0)?;
            check.holds(format!("{name} passes the pair's check"), self.pair.check(x).is_ok())?;
            let mut point = self.point(x);
            check.holds(format!("{name} is in {support:?}"), support.contains(&point))?;
            support.move_to_nearest(&mut point);
            check.same("the nearest value of a value", &point, &self.point(x))?;
        }
        check.holds("x and y differ", self.x != self.y)
    }

    pub(super) fn starts_at_prior(&self, check: &mut Check) -> Result<(), Violation> {
        let mut rng = self.rng(Law::StartsAtPrior, 0);
        let start = self.start();
        check.same("S drawn at clock 0", &self.draw(&self.x, 0.0, &mut rng), &start)?;
        let mut prior = vec![0.0; self.pair.mean_len()];
        self.pair.prior_mean(&mut prior);
        check.same("the mean at clock 0", &self.mean(&start, 0.0), &prior)?;
        let mut s = start.clone();
        self.pair.advance(&mut s, 0.0, &self.point(&self.x), &mut rng);
        check.same("S after a step of length 0", &s, &start)
    }

    pub(super) fn ends_at_data(&self, check: &mut Check) -> Result<(), Violation> {
        let mut rng = self.rng(Law::EndsAtData, 0);
        let mut s = self.draw(&self.x, f64::INFINITY, &mut rng);
        check.same("the mean at clock ∞", &self.mean(&s, f64::INFINITY), &self.point(&self.x))?;
        let mut x = vec![P::Value::default(); self.pair.value_len()];
        self.pair.observed(&s, &mut x);
        check.same("the value at clock ∞", &x, &self.x)?;
        s = self.draw(&self.x, 1.5, &mut rng);
        self.pair.advance(&mut s, f64::INFINITY, &self.point(&self.x), &mut rng);
        self.pair.observed(&s, &mut x);
        check.same("the value after an infinite step", &x, &self.x)
    }

    /// η of x and y one after the other, and ψ of both.
    fn naturals(&self) -> (Vec<f64>, [f64; 2]) {
        let len = self.pair.mean_len();
        let mut eta = vec![0.0; 2 * len];
        let psi = [self.pair.natural(&self.x, &mut eta[..len]), self.pair.natural(&self.y, &mut eta[len..])];
        (eta, psi)
    }

    pub(super) fn bregman(&self, check: &mut Check) -> Result<(), Violation> {
        let (x, y) = (self.point(&self.x), self.point(&self.y));
        check.near("D(x, x)", self.pair.divergence(&self.x, &x), 0.0, 1e-12)?;
        check.holds("D(x, ¾ x + ¼ y) is above 0", self.pair.divergence(&self.x, &self.between()) > 0.0)?;
        let (eta, psi) = self.naturals();
        let (eta_x, eta_y) = eta.split_at(x.len());
        let d = self.pair.divergence(&self.x, &y);
        let ruled_out = x.iter().zip(eta_y).any(|(x, eta)| *x > 0.0 && *eta <= 0.5 * IMPOSSIBLE);
        if ruled_out {
            return check.near("D(x, y), where y rules x out", d, f64::INFINITY, 0.0);
        }
        let inner: f64 = x.iter().zip(eta_x).zip(eta_y).map(|((x, a), b)| f64::from(*x) * (a - b)).sum();
        check.near("D(x, y)", d, inner - psi[0] + psi[1], 1e-6 * d.max(1.0))
    }

    /// With weight ¾ on x and ¼ on y, every move from the mean towards x or y costs.
    pub(super) fn least_at_mean(&self, check: &mut Check) -> Result<(), Violation> {
        let cost = |point: &[f32]| {
            0.75 * self.pair.divergence(&self.x, point) + 0.25 * self.pair.divergence(&self.y, point)
        };
        let best = self.between();
        for (name, towards) in [("x", self.point(&self.x)), ("y", self.point(&self.y))] {
            let moved: Vec<f32> = best.iter().zip(towards).map(|(b, t)| 0.9 * b + 0.1 * t).collect();
            check.holds(format!("a tenth of the way to {name} costs"), cost(&moved) > cost(&best))?;
        }
        Ok(())
    }

    /// Central differences over a thousandth of x̂ each way, at up to 64 entries of x̂ that are not 0: off by at most 1e-5 of the largest
    /// entry, and a thousandth of what the gradient changes on the way, which covers the third derivative.
    pub(super) fn gradient(&self, check: &mut Check) -> Result<(), Violation> {
        let mut x_hat = self.between();
        let mut gradient = vec![0.0; x_hat.len()];
        for (name, x) in [("x", &self.x), ("y", &self.y)] {
            self.pair.divergence_gradient(x, &x_hat, &mut gradient);
            let largest = gradient.iter().fold(0f64, |a, g| a.max(g.abs()));
            let entries: Vec<usize> = (0..x_hat.len()).filter(|&i| x_hat[i] != 0.0).take(64).collect();
            for i in entries {
                let at = x_hat[i];
                let mut moved = |by: f32| {
                    x_hat[i] = at * by;
                    (f64::from(x_hat[i]), self.pair.divergence(x, &x_hat))
                };
                let ((up, above), (down, below), (_, here)) = (moved(1.001), moved(0.999), moved(1.0));
                let change = ((above - 2.0 * here + below) / (up - down)).abs();
                let (what, allowed) =
                    (format!("∂D({name}, x̂)/∂x̂ at entry {i}"), 1e-5 * largest + 2e-3 * change);
                check.near(what, gradient[i], (above - below) / (up - down), allowed)?;
            }
        }
        Ok(())
    }

    pub(super) fn likelihood(&self, check: &mut Check) -> Result<(), Violation> {
        let a = 2.5;
        let (eta, psi) = self.naturals();
        for part in 0..12 {
            let s = self.draw(&self.x, a, &mut self.rng(Law::Likelihood, part));
            let mut l = [0.0; 2];
            self.pair.add_log_likelihood(&s, a, &eta, &psi, &mut l);
            let density = |x: &[P::Value]| (self.log_density)(&s, &self.point(x), a);
            let (ratio, exact) = (l[0] - l[1], density(&self.x) - density(&self.y));
            // The logarithm of 0 is a large number here.
            let ratio = if ratio > 1e20 { f64::INFINITY } else { ratio };
            check.near("log p(S | x) − log p(S | y)", ratio, exact, 1e-6 * exact.abs().max(1.0))?;
        }
        Ok(())
    }

    pub(super) fn posterior_mean(&self, check: &mut Check) -> Result<(), Violation> {
        let Some(log_prior) = &self.log_prior else { return check.skip("no prior density was given") };
        if self.pair.mean_len() != 1 {
            return check.skip("the mean is not one number");
        }
        let mut rng = self.rng(Law::PosteriorMean, 0);
        for a in [0.0, 0.5, 2.0, 8.0] {
            let s = if a > 0.0 { self.draw(&self.x, a, &mut rng) } else { self.start() };
            let likelihood = |x: f64| if a > 0.0 { (self.log_density)(&s, &[x as f32], a) } else { 0.0 };
            let exact = self.quadrature(|x| log_prior(x) + likelihood(x));
            let found = f64::from(self.mean(&s, a)[0]);
            let what = format!("μ at S = {}, a = {a}", s[0].as_f64());
            check.near(what, found, exact, 1e-4 * exact.abs().max(1e-6))?;
        }
        Ok(())
    }

    /// The mean of exp(f) over the support by the trapezoid rule: over x for reals, over log x else, 20 each way around the size of
    /// the data.
    fn quadrature(&self, log_weight: impl Fn(f64) -> f64) -> f64 {
        let reals = self.pair.support() == Support::Reals;
        let size = f64::from(self.point(&self.x)[0].abs().max(self.point(&self.y)[0].abs()));
        let at = |i: i32| {
            let z = f64::from(i) * 5e-4;
            let x = if reals { z * size } else { size * z.exp() };
            let log = log_weight(x) + if reals { 0.0 } else { x.ln() };
            (x, if log.is_nan() { f64::NEG_INFINITY } else { log })
        };
        let terms: Vec<(f64, f64)> = (-40_000..=40_000).map(at).collect();
        let top = terms.iter().fold(f64::NEG_INFINITY, |top, (_, log)| top.max(*log));
        let weights = terms.iter().map(|(x, log)| (x, (log - top).exp()));
        let (sum, total) = weights.fold((0.0, 0.0), |(s, t), (x, w)| (s + x * w, t + w));
        sum / total
    }
}
