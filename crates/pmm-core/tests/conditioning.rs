//! Conditioning: clocks at ∞ on any subset of coordinates give the exact conditional.
#![allow(clippy::unwrap_used)]

mod common;

use common::{assert_law, clock, log_grid, mixed, plane};
use pmm_core::{
    Block, Elements, Finish, FiniteTarget, Head, Normal, Solver, Space, States, Streams, TimeGrid, Values,
    leap, ode, online,
};

const ROWS: usize = 10_000;

/// p(second coordinate | first) for every pair, by a clock of ∞ on the first: at (6, ·) the weights are .1 : .3.
#[test]
fn conditioning_gives_the_exact_conditional() {
    for (pair, head) in [
        ("normal", Head::Mean),
        ("poisson", Head::Mean),
        ("categorical", Head::Mean),
        ("masked", Head::Mean),
        ("gamma", Head::Marginal),
    ] {
        let target = plane(pair, head);
        let given = target.rows(&vec![2; ROWS]);
        let mut states = States::prior(target.space(), 0, ROWS);
        states.observe(&given, |_, _, coordinate| coordinate == 0).unwrap();
        let x =
            online(&target, states, &log_grid(1000), &Streams::new(5), Finish::Estimate, &mut ()).unwrap();
        assert_law(pair, &target.law_of(&x).unwrap(), &[0.0, 0.0, 0.25, 0.75], ROWS);
    }
}

/// In the mixed block, every coordinate in turn given all others, and the others given it.
#[test]
fn conditioning_in_the_mixed_block() {
    let (target, rows) = (mixed(), 5000);
    let given = target.rows(&vec![3; rows]);
    for kept in 0..5 {
        for alone in [true, false] {
            let mut states = States::prior(target.space(), 0, rows);
            states.observe(&given, |_, block, _| (block == kept) == alone).unwrap();
            let exact = target.posterior(&states)[..5].to_vec();
            let x =
                online(&target, states, &log_grid(400), &Streams::new(6), Finish::Estimate, &mut ()).unwrap();
            assert_law(&format!("block {kept}, observed {alone}"), &target.law_of(&x).unwrap(), &exact, rows);
        }
    }
}

#[test]
fn the_ode_and_leaps_condition_too() {
    let target = plane("normal", Head::Mean);
    let grid = TimeGrid::karras(&clock(), 80.0, 7.0, 60).unwrap();
    let given = target.rows(&vec![2; ROWS]);
    let mut states = States::prior(target.space(), 0, ROWS);
    states.observe(&given, |_, _, coordinate| coordinate == 0).unwrap();
    let x = ode(&target, states, &grid, &Streams::new(7), Solver::Heun, &mut ()).unwrap();
    assert!(x.reals(0).chunks(2).all(|x| x[0] == 6.0));
    assert_law("ode", &target.law_of(&x).unwrap(), &[0.0, 0.0, 0.25, 0.75], ROWS);

    let target = plane("poisson", Head::Mean);
    let given = target.rows(&vec![2; ROWS]);
    let mut states = States::prior(target.space(), 0, ROWS);
    states.observe(&given, |_, _, coordinate| coordinate == 0).unwrap();
    let x = leap(&target, states, &log_grid(200), &Streams::new(7), &mut ()).unwrap();
    assert!(x.reals(0).chunks(2).all(|x| x[0] == 6.0));
    assert_law("leap", &target.law_of(&x).unwrap(), &[0.0, 0.0, 0.25, 0.75], ROWS);
}

#[test]
fn conditioning_values_are_checked() {
    let target = plane("poisson", Head::Mean);
    let given = Values::new(vec![Elements::from(vec![1.5f32, 2.0])]);
    let mut states = States::prior(target.space(), 0, 1);
    assert!(states.observe(&given, |_, _, coordinate| coordinate == 1).is_ok());
    let error = states.observe(&given, |_, _, coordinate| coordinate == 0).unwrap_err().to_string();
    assert_eq!(error, "row 0, block 0, coordinate 0: a count must be a whole number of at least 0, got 1.5");
    assert!(states.observe(&Values::new(vec![Elements::from(vec![1u32, 2])]), |_, _, _| true).is_err());
    assert!(states.observe(&Values::new(vec![]), |_, _, _| true).is_err());
    let error = states.draw(&given, &[0.5, 0.5], &Streams::new(0), 0).unwrap_err().to_string();
    assert_eq!(error, "1 rows need one time each, got 2 times");
}

/// A value that no point has selects the nearest points, and keeps what else is known.
#[test]
fn the_oracle_answers_off_its_points() {
    let space = Space::new(vec![Block::new(Normal::new(1.0, 0.0).unwrap(), 2, clock()).unwrap()]);
    let points = Values::new(vec![Elements::from(vec![0.0f32, -1.0, 0.0, 1.0, 5.0, 1.0])]);
    let target = FiniteTarget::new(&space, points, &[0.45, 0.05, 0.5]).unwrap();
    let mut states = States::prior(&space, 0, 1);
    states.observe(&Values::new(vec![Elements::from(vec![0.01f32, 0.0])]), |_, _, c| c == 0).unwrap();
    let p = target.posterior(&states);
    assert!((p[0] - 0.9).abs() < 1e-9 && p[2] == 0.0, "{p:?}");
}
