//! The likelihood bound against entropies that are known.
#![allow(clippy::unwrap_used)]

mod common;

use std::num::NonZeroUsize;

use common::{clock, english, gamma_gap, gamma_line, plane, plane_on};
use pmm_core::{
    Bound, FiniteTarget, Head, LogLinear, MonteCarlo, SemiAutoregressive, Staircase, States, Streams,
    TimeGrid, Times, bound, text_bound,
};

const ROWS: usize = 20_000;

fn draws(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

/// The bound, and by how much it exceeds −log w of the very points it was taken at: the noise of choosing them cancels.
fn continuous(target: &FiniteTarget, n: usize) -> (Bound, MonteCarlo) {
    let streams = Streams::new(1);
    let chosen = target.choose(&streams, 0, ROWS);
    let states = States::prior(target.space(), 0, ROWS);
    let times = Times::Continuous { draws: draws(n) };
    let found = bound(target, target, &states, &target.rows(&chosen), times, &streams).unwrap();
    let excess: Vec<f64> =
        found.rows.iter().zip(&chosen).map(|(b, &m)| b + target.weights()[m].ln()).collect();
    (found, MonteCarlo::of(&excess))
}

/// 5 standard errors: false alarm 6e-7 each.
#[test]
fn a_perfect_denoiser_attains_the_entropy() {
    let planes = ["normal", "poisson", "categorical", "masked"].map(|pair| (pair, plane(pair, Head::Mean)));
    for (pair, target) in planes {
        let (_, excess) = continuous(&target, 16);
        assert!(excess.standard_error < 0.015, "{pair}: {excess:?}");
        assert!(excess.mean.abs() < 5.0 * excess.standard_error, "{pair}: {excess:?}");
    }
}

/// A clock that stops early, at a = .59, leaves much to the terminal term; the sum is the entropy all the same.
#[test]
fn the_terminal_term_makes_up_for_a_short_clock() {
    for pair in ["normal", "poisson", "categorical", "masked"] {
        let target = plane_on(pair, Head::Mean, pmm_core::Exponential::new(1.0 / 250.0, 5.0).unwrap());
        let (found, excess) = continuous(&target, 16);
        assert!(found.terminal.mean > 0.1, "{pair}: {:?}", found.terminal);
        assert!(excess.mean.abs() < 5.0 * excess.standard_error, "{pair}: {excess:?}");
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
        let found =
            bound(&target, &target, &states, &x, Times::Continuous { draws: draws(16) }, &streams).unwrap();
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
            let grid = TimeGrid::log_information(&clock(), 1e-3, steps).unwrap();
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
    let (_, excess) = continuous(&target, 32);
    let predicted = gamma_gap(&target, 4000);
    let error = excess.standard_error.hypot(predicted.standard_error);
    assert!(excess.mean > 10.0 * excess.standard_error, "the gap is there: {excess:?}");
    assert!((excess.mean - predicted.mean).abs() < 5.0 * error, "{excess:?} against {predicted:?}");
}

/// With one coordinate missing everywhere, the objective is the other's entropy, and its clock never moves.
#[test]
fn missing_cells_have_no_weight() {
    for pair in ["normal", "poisson", "masked"] {
        let (target, streams) = (plane(pair, Head::Mean), Streams::new(6));
        let x = target.rows(&target.choose(&streams, 0, ROWS));
        let mut states = States::prior(target.space(), 0, ROWS);
        states.hide(|_, _, coordinate| coordinate == 1);
        let found =
            bound(&target, &target, &states, &x, Times::Continuous { draws: draws(16) }, &streams).unwrap();
        // The first value is .5, 2 or 6 with weights .4, .2, .4.
        let entropy = -(2.0 * 0.4 * 0.4f64.ln() + 0.2 * 0.2f64.ln());
        let off = found.objective.mean - entropy;
        assert!(off.abs() < 5.0 * found.objective.standard_error, "{pair}: {off} {:?}", found.objective);
        states.draw(&x, &vec![0.9; ROWS], &streams, 0).unwrap();
        assert!(states.clock(0).chunks(2).all(|a| a[0] > 100.0 && a[1] == 0.0));
    }
}

/// Rows off the support are refused before anything is scored.
#[test]
fn bad_rows_have_no_bound() {
    let target = plane("masked", Head::Mean);
    let states = States::prior(target.space(), 0, 1);
    let x = pmm_core::Values::new(vec![vec![1u32, 7].into()]);
    let times = Times::Continuous { draws: draws(1) };
    let error = bound(&target, &target, &states, &x, times, &Streams::new(0)).unwrap_err().to_string();
    assert_eq!(error, "row 0, block 0, coordinate 1: a token must be below the vocabulary size 3, got 7");
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
    let clocks: [(&str, Box<dyn pmm_core::Clock>); 3] = [
        ("log-linear", Box::new(LogLinear)),
        ("staircase", Box::new(Staircase::default())),
        ("semi-autoregressive", Box::new(SemiAutoregressive::default())),
    ];
    for (name, clock) in clocks {
        let found = text_bound(&chain, &*clock, &texts, 0, draws(32), &streams).unwrap();
        let off: Vec<f64> = found.bound.rows.iter().zip(&exact).map(|(b, e)| b - e).collect();
        let off = MonteCarlo::of(&off);
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
