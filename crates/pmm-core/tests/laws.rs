//! The public suite of laws on this crate's pairs, with densities from `statrs`; and on pairs that are wrong on purpose.
#![allow(clippy::unwrap_used)]

use pmm_core::laws::{Case, Law, Violations};
use pmm_core::{
    Categorical, Gamma, Increments, MASK, Masked, Normal, Pair, Poisson, ScalarPair, Stream, Support,
};
use statrs::distribution::{Continuous, Discrete};

fn poisson_ln_pmf(k: f64, lambda: f64) -> f64 {
    if lambda == 0.0 {
        return if k == 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    statrs::distribution::Poisson::new(lambda).map_or(f64::NAN, |law| law.ln_pmf(k as u64))
}

/// Runs the suite; laws that were not checked must be the ones named.
fn run<P: Pair>(case: Case<P>, skipped: &[Law]) {
    let evidence = case.run().unwrap();
    let found: Vec<Law> =
        evidence.iter().filter(|evidence| evidence.skipped.is_some()).map(|evidence| evidence.law).collect();
    assert_eq!(found, skipped);
    assert!(evidence.iter().all(|evidence| evidence.skipped.is_some() || evidence.comparisons > 0));
}

fn normal_ln_pdf(s: &[f64], x: &[f32], a: f64) -> f64 {
    statrs::distribution::Normal::new(a * f64::from(x[0]), a.sqrt()).unwrap().ln_pdf(s[0])
}

#[test]
fn normal() {
    let prior = statrs::distribution::Normal::new(0.3, 0.5f64.sqrt()).unwrap();
    for (x, y) in [(1.5, -0.5), (0.0, 3.0), (-2.0, -1.0)] {
        let case = Case::new(Normal::new(2.0, 0.3).unwrap(), vec![x], vec![y], normal_ln_pdf);
        run(case.prior(move |x| prior.ln_pdf(x)), &[]);
    }
}

#[test]
fn poisson() {
    let log_density = |s: &[f64], x: &[f32], a: f64| poisson_ln_pmf(s[0], a * f64::from(x[0]));
    let prior = statrs::distribution::Gamma::new(0.7, 2.0).unwrap();
    for (x, y) in [(3.0, 1.0), (0.0, 2.0), (2.0, 0.0), (40.0, 60.0)] {
        let case = Case::new(Poisson::new(0.7, 2.0).unwrap(), vec![x], vec![y], log_density);
        run(case.prior(move |x| prior.ln_pdf(x)), &[]);
    }
    run(
        Case::new(Poisson::new(0.5, 2.0).unwrap().intensities(), vec![0.3], vec![2.5], log_density),
        &[Law::PosteriorMean],
    );
}

#[test]
fn gamma() {
    let log_density = |s: &[f64], x: &[f32], a: f64| {
        statrs::distribution::Gamma::new(a, 1.0 / f64::from(x[0])).map_or(f64::NAN, |law| law.ln_pdf(s[0]))
    };
    let prior = statrs::distribution::InverseGamma::new(3.0, 4.0).unwrap();
    for (x, y) in [(2.0, 0.5), (0.1, 0.3), (50.0, 40.0)] {
        let case = Case::new(Gamma::new(3.0, 4.0).unwrap(), vec![x], vec![y], log_density);
        run(case.prior(move |x| prior.ln_pdf(x)), &[]);
    }
}

#[test]
fn categorical() {
    let log_density = |s: &[f64], x: &[f32], a: f64| {
        s.iter().zip(x).map(|(s, x)| poisson_ln_pmf(*s, a * f64::from(*x))).sum()
    };
    let not = [Law::PosteriorMean, Law::Components];
    let tokens = Categorical::new(3, 2.0).unwrap();
    let (x, y) = (vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]);
    run(Case::new(tokens, x, y, log_density).summary(|s| s[1]), &not);
    let (x, y) = (vec![0.5, 0.25, 0.25], vec![0.125, 0.125, 0.75]);
    run(Case::new(tokens.simplex(), x, y, log_density).summary(|s| s[0] - 2.0 * s[2]), &not);
}

#[test]
fn masked() {
    let log_density = |s: &[u32], x: &[f32], a: f64| match s[0] {
        MASK => -a,
        token => (1.0 - (-a).exp()).ln() + f64::from(x[token as usize]).ln(),
    };
    let not = [Law::PosteriorMean, Law::Components];
    run(Case::new(Masked::new(3).unwrap(), vec![2], vec![0], log_density), &not);
    let large = Masked::new(50_257).unwrap();
    run(Case::new(large, vec![50_256], vec![7], log_density), &[not[0], not[1], Law::Rows]);
}

/// A Normal pair with one formula wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    Support,
    Prior,
    Drift,
    Noise,
    Spread,
    Divergence,
    Variance,
    Natural,
    Component,
    Mean,
}

impl ScalarPair for Wrong {
    const NAME: &'static str = "Wrong";
    type Step = f64;

    fn support(&self) -> Support {
        if *self == Self::Support { Support::Positive } else { Support::Reals }
    }
    fn prior(&self) -> (f64, f64) {
        if *self == Self::Prior { (0.6, 2.2) } else { (0.6, 2.0) }
    }
    fn step(&self, da: f64) -> f64 {
        da
    }
    fn increment(&self, x: f64, da: &f64, rng: &mut Stream) -> f64 {
        let drift = if *self == Self::Drift { 1.1 } else { 1.0 };
        let sd = match self {
            Self::Noise => da.powf(0.4),
            Self::Spread => 1.1 * da.sqrt(),
            _ => da.sqrt(),
        };
        drift * da * x + sd * rng.normal()
    }
    fn natural(&self, x: f64) -> (f64, f64) {
        (if *self == Self::Natural { 1.001 * x } else { x }, 0.5 * x * x)
    }
    fn variance(&self, _: f64) -> f64 {
        if *self == Self::Variance { 1.001 } else { 1.0 }
    }
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> f64 {
        mean + sd * rng.normal() * if *self == Self::Component { 1.05 } else { 1.0 }
    }
    fn increments(&self) -> Increments {
        Increments::Gaussian
    }
    fn posterior_mean(&self, s: f64, a: f64) -> f64 {
        let (sum, count) = self.prior();
        (sum + s) / (count + a * if *self == Self::Mean { 1.01 } else { 1.0 })
    }
    fn divergence(&self, x: f64, x_hat: f64) -> f64 {
        0.5 * (x - x_hat).powi(2) * if *self == Self::Divergence { 1.1 } else { 1.0 }
    }
}

/// Each wrong formula breaks the laws that speak of it, and no other.
#[test]
fn wrong_formulas_break_their_laws() {
    let prior = statrs::distribution::Normal::new(0.3, 0.5f64.sqrt()).unwrap();
    let broken = |wrong: Wrong| -> Vec<Law> {
        let case = Case::new(wrong, vec![-1.5], vec![2.5], normal_ln_pdf).prior(move |x| prior.ln_pdf(x));
        let violations = case.run().err().map_or_else(Vec::new, |Violations(violations)| violations);
        violations.iter().map(|violation| violation.law).collect()
    };
    assert_eq!(broken(Wrong::Nothing), []);
    assert_eq!(broken(Wrong::Support), [Law::OnSupport, Law::EndsAtData, Law::PosteriorMean]);
    assert_eq!(broken(Wrong::Prior), [Law::PosteriorMean]);
    assert_eq!(broken(Wrong::Mean), [Law::PosteriorMean, Law::Convergence]);
    assert_eq!(broken(Wrong::Drift), [Law::Density, Law::StepDivergence, Law::Convergence]);
    assert_eq!(broken(Wrong::Noise), [Law::OneJumpIsManySteps, Law::Density]);
    assert_eq!(broken(Wrong::Spread), [Law::Density]);
    assert_eq!(broken(Wrong::Divergence), [Law::Bregman, Law::Gradient, Law::StepDivergence]);
    assert_eq!(broken(Wrong::Variance), [Law::Gradient]);
    assert_eq!(broken(Wrong::Natural), [Law::Bregman, Law::Likelihood]);
    assert_eq!(broken(Wrong::Component), [Law::Components]);
}

#[test]
fn a_violation_tells_its_numbers() {
    let case = Case::new(Wrong::Prior, vec![-1.5], vec![2.5], normal_ln_pdf);
    let prior = statrs::distribution::Normal::new(0.3, 0.5f64.sqrt()).unwrap();
    let violation = case.prior(move |x| prior.ln_pdf(x)).check(Law::PosteriorMean).unwrap_err();
    assert_eq!((violation.law, violation.pair), (Law::PosteriorMean, "Wrong"));
    assert!((violation.found - 0.6 / 2.2).abs() < 1e-6 && (violation.expected - 0.3).abs() < 1e-5);
    assert!(
        violation
            .to_string()
            .starts_with("Wrong breaks the law PosteriorMean, μ at S = 0, a = 0: found 0.27")
    );
}

/// A Normal pair that implements [`Pair`] itself, with what a scalar pair cannot get wrong.
#[derive(Debug, Clone)]
struct Altered {
    normal: Normal,
    /// All coordinates of a row get the same draw.
    same_noise: bool,
    /// A step of length 0 moves the state.
    restless: bool,
    /// The divergence is |x − x̂|, which is least at the median.
    absolute: bool,
}

impl Pair for Altered {
    type Value = f32;
    type Stat = f64;

    fn name(&self) -> &'static str {
        "Altered"
    }
    fn value_len(&self) -> usize {
        1
    }
    fn stat_len(&self) -> usize {
        1
    }
    fn mean_len(&self) -> usize {
        1
    }
    fn support(&self) -> Support {
        Support::Reals
    }
    fn check(&self, x: &[f32]) -> Result<(), pmm_core::ValueError> {
        self.support().check(x)
    }
    fn draw(&self, x: &[f32], a: f64, s: &mut [f64], rng: &mut Stream) {
        self.normal.draw(x, a, s, rng);
    }
    fn draw_row(&self, x: &[f32], a: &[f64], s: &mut [f64], rng: &mut Stream) {
        self.normal.draw_row(x, a, s, rng);
        if self.same_noise {
            s.fill(s[0]);
        }
    }
    fn advance(&self, s: &mut [f64], da: f64, x_hat: &[f32], rng: &mut Stream) {
        self.normal.advance(s, if self.restless { da + 1e-3 } else { da }, x_hat, rng);
    }
    fn observed(&self, s: &[f64], x: &mut [f32]) {
        self.normal.observed(s, x);
    }
    fn mean(&self, s: &[f64], a: f64, mu: &mut [f32]) {
        Pair::mean(&self.normal, s, a, mu);
    }
    fn prior_mean(&self, mu: &mut [f32]) {
        self.normal.prior_mean(mu);
    }
    fn embed(&self, x: &[f32], point: &mut [f32]) {
        point.copy_from_slice(x);
    }
    fn divergence(&self, x: &[f32], x_hat: &[f32]) -> f64 {
        let squared = Pair::divergence(&self.normal, x, x_hat);
        if self.absolute { (2.0 * squared).sqrt() } else { squared }
    }
    fn divergence_gradient(&self, x: &[f32], x_hat: &[f32], gradient: &mut [f64]) {
        Pair::divergence_gradient(&self.normal, x, x_hat, gradient);
    }
    fn natural(&self, x: &[f32], eta: &mut [f64]) -> f64 {
        Pair::natural(&self.normal, x, eta)
    }
    fn add_log_likelihood(&self, s: &[f64], a: f64, eta: &[f64], psi: &[f64], log_likelihood: &mut [f64]) {
        self.normal.add_log_likelihood(s, a, eta, psi, log_likelihood);
    }
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> Option<f64> {
        Pair::component(&self.normal, mean, sd, rng)
    }
}

#[test]
fn wrong_rows_steps_and_divergences_are_found() {
    let normal = Normal::new(2.0, 0.3).unwrap();
    let right = Altered { normal, same_noise: false, restless: false, absolute: false };
    let case = |pair: Altered| Case::new(pair, vec![-1.5], vec![2.5], normal_ln_pdf);
    assert!(case(right.clone()).run().is_ok());
    let breaks = |pair: Altered, law: Law| case(pair).check(law).is_err();
    assert!(breaks(Altered { same_noise: true, ..right.clone() }, Law::Rows));
    assert!(breaks(Altered { restless: true, ..right.clone() }, Law::StartsAtPrior));
    assert!(breaks(Altered { absolute: true, ..right }, Law::LeastAtMean));
}
