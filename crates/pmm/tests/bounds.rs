//! The likelihood bound against entropies that are known.
#![allow(clippy::unwrap_used)]

mod common;

use common::{clock, english, plane};
use pmm::{
    Bound, Exponential, FiniteTarget, Grid, Head, LogLinear, SemiAutoregressive, Staircase, States, Streams,
    Times, Values, bound, text_bound,
};

const ROWS: usize = 20_000;

fn continuous(target: &FiniteTarget, draws: usize) -> Bound {
    let streams = Streams::new(1);
    let x = target.rows(&target.choose(&streams, 0, ROWS));
    let states = States::prior(target.space(), 0, ROWS);
    bound(target, target, &states, &x, Times::Continuous { draws }, &streams).unwrap()
}

/// 5 standard errors: false alarm 6e-7 each. The standard error is about .01 nats, so a bound off by .1 would be found.
#[test]
fn a_perfect_denoiser_attains_the_entropy() {
    for pair in ["normal", "poisson", "categorical", "masked"] {
        let target = plane(pair, Head::Mean);
        let found = continuous(&target, 16);
        let off = found.nelbo.mean - target.entropy();
        assert!(found.nelbo.standard_error < 0.02, "{pair}: {found:?}", found = found.nelbo);
        assert!(off.abs() < 5.0 * found.nelbo.standard_error, "{pair}: {off} with {:?}", found.nelbo);
    }
}

/// Given one coordinate, the bound is the conditional entropy.
#[test]
fn conditional_bounds_are_conditional_entropies() {
    let streams = Streams::new(2);
    for pair in ["normal", "poisson", "masked"] {
        let target = plane(pair, Head::Mean);
        let x = target.rows(&target.choose(&streams, 0, ROWS));
        let mut states = States::prior(target.space(), 0, ROWS);
        states.observe(&x, |_, _, coordinate| coordinate == 0).unwrap();
        let found = bound(&target, &target, &states, &x, Times::Continuous { draws: 16 }, &streams).unwrap();
        // Only the first value 6 (weight .4) leaves a choice, .1 : .3.
        let exact = 0.4 * (0.25 * 4f64.ln() + 0.75 * (4.0f64 / 3.0).ln());
        assert!(
            (found.nelbo.mean - exact).abs() < 5.0 * found.nelbo.standard_error,
            "{pair}: {exact} {:?}",
            found.nelbo
        );
    }
}

/// Steps of finite length cost something, and less the smaller they are.
#[test]
fn grids_bound_from_above_and_shrink() {
    let streams = Streams::new(3);
    for pair in ["normal", "poisson", "categorical", "masked"] {
        let target = plane(pair, Head::Mean);
        let x = target.rows(&target.choose(&streams, 0, ROWS));
        let states = States::prior(target.space(), 0, ROWS);
        let on = |steps: usize| {
            let grid = Grid::log_information(&clock(), 1e-3, steps).unwrap();
            bound(&target, &target, &states, &x, Times::Grid(&grid), &streams).unwrap().nelbo
        };
        let (coarse, fine) = (on(10), on(200));
        assert!(coarse.mean > fine.mean + 0.02, "{pair}: {coarse:?} {fine:?}");
        assert!(fine.mean > target.entropy() - 5.0 * fine.standard_error, "{pair}: {fine:?}");
    }
}

/// Plugging the mean into a Gamma process loses, per unit of clock, the divergence between the true jump rate
/// E[e^(−y/x)]/y and the plugged e^(−y/x̂)/y: ∫ q log q dy/y + 1 + log x̂ − E log x with q(y) = E[e^(−y/x)]. Integrated over
/// the clock this predicts by how much the bound exceeds the entropy.
#[test]
fn gamma_with_the_mean_exceeds_the_entropy_as_predicted() {
    let target = gamma_line();
    let found = continuous(&target, 32);
    let excess = found.nelbo.mean - target.entropy();
    let predicted = predicted_gamma_gap(&target, 4000, 32);
    let error = (found.nelbo.standard_error.powi(2) + predicted.1.powi(2)).sqrt();
    assert!(excess > 10.0 * found.nelbo.standard_error, "the gap is there: {excess}");
    assert!((excess - predicted.0).abs() < 5.0 * error, "{excess} against {predicted:?}, error {error}");
}

fn gamma_line() -> FiniteTarget {
    let space =
        pmm::Space::new(vec![pmm::Block::new(pmm::Gamma::new(2.0, 2.0).unwrap(), 1, clock()).unwrap()]);
    let points = Values::new(vec![vec![0.5f32, 2.0, 6.0].into()]);
    FiniteTarget::new(&space, points, &[0.5, 0.3, 0.2]).unwrap()
}

/// Mean and standard error over rows of ∫ f(t) loss(state at t) dt, with t at the middle of each stratum.
fn predicted_gamma_gap(target: &FiniteTarget, rows: usize, draws: usize) -> (f64, f64) {
    use pmm::Clock;
    let streams = Streams::new(4);
    let x = target.rows(&target.choose(&streams, 0, rows));
    let mut gaps = vec![0.0; rows];
    for stratum in 0..draws * 4 {
        let t = (stratum as f64 + 0.5) / (draws * 4) as f64;
        let mut states = States::prior(target.space(), 0, rows);
        states.draw(&x, &vec![t; rows], &streams, stratum as u64).unwrap();
        for (gap, p) in gaps.iter_mut().zip(target.posterior(&states).chunks_exact(3)) {
            *gap += Exponential::default().rate(t, 0.0) * loss_rate(p, &[0.5, 2.0, 6.0]) / (draws * 4) as f64;
        }
    }
    let mean = pmm::MonteCarlo::of(&gaps);
    (mean.mean, mean.standard_error)
}

/// The loss per unit of clock, with y = e^z on a trapezoid grid.
fn loss_rate(p: &[f64], x: &[f64]) -> f64 {
    let mean = |f: &dyn Fn(f64) -> f64| p.iter().zip(x).map(|(p, x)| p * f(*x)).sum::<f64>();
    let (from, to, n) = (-25.0, 6.0, 200);
    let h = (to - from) / n as f64;
    let integral: f64 = (0..=n)
        .map(|i| {
            let y = (from + i as f64 * h).exp();
            let q = mean(&|x| (-y / x).exp());
            if q > 0.0 { h * q * q.ln() } else { 0.0 }
        })
        .sum();
    integral + 1.0 + mean(&|x| x).ln() - mean(&|x: f64| x.ln())
}

/// On the Markov chain: the bound is the chain's entropy for clocks that reveal (nearly) everything, and NPC is close to it per token.
#[test]
fn text_bounds_are_entropies() {
    let (length, rows) = (32, 1500);
    let chain = english(length);
    let streams = Streams::new(5);
    let texts = chain.sample(&streams, 0, rows);
    // Against the surprise of the very same texts, so that only the noise of t and masks remains.
    let exact: Vec<f64> = texts.chunks_exact(length).map(|text| chain.surprise(text)).collect();
    let clocks: [(&str, Box<dyn pmm::Clock>); 3] = [
        ("log-linear", Box::new(LogLinear)),
        ("staircase", Box::new(Staircase::default())),
        ("semi-autoregressive", Box::new(SemiAutoregressive::default())),
    ];
    for (name, clock) in clocks {
        let found = text_bound(&chain, &*clock, &texts, 0, 32, &streams).unwrap();
        let off: Vec<f64> = found.bound.rows.iter().zip(&exact).map(|(b, e)| b - e).collect();
        let off = pmm::MonteCarlo::of(&off);
        assert!(off.standard_error < 0.5, "{name}: {off:?}");
        assert!(off.mean.abs() < 5.0 * off.standard_error, "{name}: {off:?}");
        if name == "log-linear" {
            assert_eq!(found.bound.terminal.mean, 0.0, "nothing is masked at the end of this clock");
        }
        if name == "staircase" {
            let per_token = exact.iter().sum::<f64>() / (rows * length) as f64;
            assert!((found.npc.mean - per_token).abs() < 0.05, "{name}: {:?} {per_token}", found.npc);
        }
    }
}
