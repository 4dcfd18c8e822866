//! The paper's two theorems: the stochastic differential equations, the discrete updates and the closed form agree in law.
#![allow(clippy::unwrap_used)]

mod common;

use common::clock;
use pmm_core::{
    Block, Clock, Elements, Exponential, Normal, Poisson, Purpose, Space, States, Stream, Streams, TimeGrid,
    Values, normal_sde, poisson_sde,
};

const PATHS: usize = 20_000;

/// Mean and variance of numbers, with the standard errors of both.
struct Moments {
    mean: f64,
    variance: f64,
    mean_error: f64,
    variance_error: f64,
}

fn moments(values: &[f64]) -> Moments {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let power = |k: i32| values.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
    let (variance, fourth) = (power(2), power(4));
    Moments {
        mean,
        variance,
        mean_error: (variance / n).sqrt(),
        variance_error: ((fourth - variance * variance) / n).sqrt(),
    }
}

/// Within 5 standard errors (6e-7) plus the stated discretisation error of the scheme.
fn assert_moments(what: &str, values: &[f64], mean: f64, variance: f64, scheme: f64) {
    let found = moments(values);
    assert!(
        (found.mean - mean).abs() < 5.0 * found.mean_error + scheme * mean.abs(),
        "{what}: mean {} for {mean}",
        found.mean
    );
    let off = (found.variance - variance).abs();
    assert!(
        off < 5.0 * found.variance_error + scheme * variance,
        "{what}: variance {} for {variance}",
        found.variance
    );
}

/// μ at time t of many paths of an SDE.
fn ends(path: impl Fn(&TimeGrid, &mut Stream) -> Vec<f64>, steps: usize, at: usize) -> Vec<f64> {
    let grid = TimeGrid::uniform(steps).unwrap();
    let stream = |row| Streams::new(1).stream(Purpose::ADVANCE, 0, row);
    (0..PATHS as u64).map(|row| path(&grid, &mut stream(row))[at]).collect()
}

/// μ at time t drawn straight from x, and by many small updates.
fn discrete(block: Block, x: f32, t: f64, jumps: usize) -> Vec<f64> {
    let space = Space::new(vec![block]);
    let rows = Values::new(vec![Elements::from(vec![x; PATHS])]);
    if jumps == 1 {
        let mut states = States::prior(&space, 0, PATHS);
        states.draw(&rows, &vec![t; PATHS], &Streams::new(2), 0).unwrap();
        return states.means(0).iter().map(|mu| f64::from(*mu)).collect();
    }
    // A denoiser that knows x makes Algorithm 1 the paper's online update; stop it at t by watching.
    let target =
        pmm_core::FiniteTarget::new(&space, Values::new(vec![Elements::from(vec![x])]), &[1.0]).unwrap();
    let grid = TimeGrid::uniform(jumps).unwrap();
    let mut seen = Vec::new();
    let mut watch = |step: usize, states: &States, _: &pmm_core::Estimates| {
        if step == (t * jumps as f64).round() as usize {
            seen = states.means(0).iter().map(|mu| f64::from(*mu)).collect();
        }
    };
    let states = States::prior(&space, 0, PATHS);
    pmm_core::online(&target, states, &grid, &Streams::new(3), pmm_core::Finish::PosteriorMean, &mut watch)
        .unwrap();
    seen
}

#[test]
fn normal_theorem() {
    let (b, m, x) = (2.0, 0.5, 1.5);
    let pair = Normal::new(b, m).unwrap();
    for (quarter, t) in [(1, 0.25), (2, 0.5), (4, 1.0)] {
        let a = clock().information(t, 0.0);
        let (mean, variance) = ((b * m + a * x) / (b + a), a / (b + a).powi(2));
        let path = |grid: &TimeGrid, rng: &mut Stream| normal_sde(&pair, &clock(), grid, |_, _| x, rng);
        // Euler–Maruyama with 400 steps has a relative error of about k/400 = .03 here.
        assert_moments("sde", &ends(path, 400, quarter * 100), mean, variance, 0.04);
        let block = || Block::new(pair, 1, clock()).unwrap();
        assert_moments("jump", &discrete(block(), x as f32, t, 1), mean, variance, 0.0);
        assert_moments("updates", &discrete(block(), x as f32, t, 40), mean, variance, 0.0);
    }
}

#[test]
fn poisson_theorem() {
    let (shape, rate, x) = (0.5, 2.0, 3.0);
    let pair = Poisson::new(shape, rate).unwrap();
    for (quarter, t) in [(1, 0.25), (2, 0.5), (4, 1.0)] {
        let a = clock().information(t, 0.0);
        let (mean, variance) = ((shape + a * x) / (rate + a), a * x / (rate + a).powi(2));
        let path = |grid: &TimeGrid, rng: &mut Stream| poisson_sde(&pair, &clock(), grid, |_, _| x, rng);
        assert_moments("sde", &ends(path, 400, quarter * 100), mean, variance, 0.04);
        let block = || Block::new(pair, 1, clock()).unwrap();
        assert_moments("jump", &discrete(block(), x as f32, t, 1), mean, variance, 0.0);
        assert_moments("updates", &discrete(block(), x as f32, t, 40), mean, variance, 0.0);
    }
}

/// As steps shrink, the error of the SDE's mean shrinks with them: 4 times finer, at least 2.5 times better.
#[test]
fn the_sde_converges_as_steps_shrink() {
    let (b, x) = (2.0, 1.5);
    let pair = Normal::new(b, 0.0).unwrap();
    let a = Exponential::default().information(0.5, 0.0);
    let exact = a * x / (b + a);
    let error = |steps: usize| {
        let path = |grid: &TimeGrid, rng: &mut Stream| normal_sde(&pair, &clock(), grid, |_, _| x, rng);
        (moments(&ends(path, steps, steps / 2)).mean - exact).abs()
    };
    let (coarse, fine) = (error(40), error(160));
    assert!(fine * 2.5 < coarse, "{coarse} {fine}");
}

/// Without the rate f, as the paper prints its second theorem, μ would not find x.
#[test]
fn the_cox_process_needs_its_rate() {
    let pair = Poisson::new(0.5, 2.0).unwrap();
    let without = |t: f64| 3.0 / clock().rate(t, 0.0);
    let path = |grid: &TimeGrid, rng: &mut Stream| poisson_sde(&pair, &clock(), grid, |_, t| without(t), rng);
    let found = moments(&ends(path, 200, 200));
    assert!(found.mean < 0.1, "{}", found.mean);
}
