//! The likelihood bound against entropies that are known.
#![allow(clippy::unwrap_used)]

mod common;

use common::{clock, english, gamma_gap, gamma_line, plane, plane_on};
use pmm::{
    Bound, FiniteTarget, Grid, Head, LogLinear, SemiAutoregressive, Staircase, States, Streams, Times, bound,
    text_bound,
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

/// A clock that stops early, at a = .59, leaves much to the terminal term; the sum is the entropy all the same.
#[test]
fn the_terminal_term_makes_up_for_a_short_clock() {
    for pair in ["normal", "poisson", "categorical", "masked"] {
        let target = plane_on(pair, Head::Mean, pmm::Exponential::new(1.0 / 250.0, 5.0).unwrap());
        let found = continuous(&target, 16);
        let off = found.nelbo.mean - target.entropy();
        assert!(found.terminal.mean > 0.1, "{pair}: {:?}", found.terminal);
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

/// By as much as [`common::gamma_gap`] predicts from the jump rates alone.
#[test]
fn gamma_with_the_mean_exceeds_the_entropy_as_predicted() {
    let target = gamma_line();
    let found = continuous(&target, 32);
    let excess = found.nelbo.mean - target.entropy();
    let predicted = gamma_gap(&target, 4000);
    let error = found.nelbo.standard_error.hypot(predicted.standard_error);
    assert!(excess > 10.0 * found.nelbo.standard_error, "the gap is there: {excess}");
    assert!((excess - predicted.mean).abs() < 5.0 * error, "{excess} against {predicted:?}, error {error}");
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
