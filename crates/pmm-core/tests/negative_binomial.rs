//! A pair of another crate, that of `examples/negative_binomial.rs`, in spaces, samplers, bounds and oracles.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "../examples/negative_binomial.rs"]
#[expect(dead_code, reason = "the example's main")]
mod example;

use std::num::NonZeroUsize;

use common::{assert_law, clock, log_grid};
use example::{NegativeBinomial, PAIR, check_laws, sample, target};
use pmm_core::{
    AnyPair, Block, DataKind, Elements, Finish, FiniteTarget, Head, Masked, Solver, Space, SpaceError,
    States, Streams, Times, Values, bound, leap, ode, online, reveal, total_variation,
};

#[test]
fn it_keeps_the_laws() {
    for (x, y) in [(2.0, 5.0), (0.0, 1.0), (3.0, 0.0), (30.0, 25.0)] {
        check_laws(x, y).unwrap();
    }
    assert!(check_laws(2.5, 1.0).is_err(), "2.5 is not a count");
}

/// With the marginal head the law is the target's (false alarm 1e-6); with the mean head a bias stays, as the example derives.
#[test]
fn algorithm_1_needs_the_marginal_head() {
    let marginal = target(Head::Marginal).unwrap();
    assert_law("marginal", &sample(&marginal, 500, 10_000).unwrap(), marginal.weights(), 10_000);
    let plugged = sample(&target(Head::Mean).unwrap(), 500, 10_000).unwrap();
    let bias = total_variation(&plugged, marginal.weights());
    assert!(bias > 0.1, "{bias}");
}

/// A row with a count of the user's pair and a token that depend on each other: sampled jointly, conditioned on, revealed.
#[test]
fn it_mixes_with_other_pairs() {
    let space = Space::new(vec![
        Block::new(PAIR, 1, clock()).unwrap(),
        Block::new(Masked::new(2).unwrap(), 1, clock()).unwrap(),
    ]);
    let points = Values::new(vec![Elements::from(vec![0.0f32, 3.0, 3.0]), Elements::from(vec![0u32, 0, 1])]);
    let target = FiniteTarget::new(&space, points, &[0.3, 0.3, 0.4]).unwrap().with_head(Head::Marginal);
    let rows = 10_000;
    let states = || States::prior(&space, 0, rows);
    let x = online(&target, states(), &log_grid(500), &Streams::new(1), Finish::Estimate, &mut ()).unwrap();
    assert_law("joint", &target.law_of(&x).unwrap(), target.weights(), rows);
    let groups = [vec![(0, 0)], vec![(1, 0)]];
    let x = reveal(&target, states(), &groups, None, &Streams::new(2), &mut ()).unwrap();
    assert_law("revealed", &target.law_of(&x).unwrap(), target.weights(), rows);
    let mut given = states();
    given.observe(&target.rows(&vec![0; rows]), |_, block, _| block == 1).unwrap();
    let x = online(&target, given, &log_grid(500), &Streams::new(3), Finish::Estimate, &mut ()).unwrap();
    assert_law("given token 0", &target.law_of(&x).unwrap(), &[0.5, 0.5, 0.0], rows);
}

/// The bound lies above the entropy (six standard errors below would be a false alarm of 1e-9), by what plugging in the mean loses.
#[test]
fn the_bound_exceeds_the_entropy() {
    let (target, streams) = (target(Head::Mean).unwrap(), Streams::new(4));
    let x = target.rows(&target.choose(&streams, 0, 4000));
    let states = States::prior(target.space(), 0, 4000);
    let times = Times::Continuous { draws: NonZeroUsize::new(32).unwrap() };
    let nelbo = bound(&target, &target, &states, &x, times, &streams).unwrap().nelbo;
    let entropy = target.entropy();
    assert!(nelbo.mean > entropy - 6.0 * nelbo.standard_error, "{nelbo:?} {entropy}");
    assert!(nelbo.mean < 2.0 * entropy, "{nelbo:?} {entropy}");
}

#[test]
fn samplers_of_other_increments_refuse_it_by_name() {
    let target = target(Head::Mean).unwrap();
    let states = || States::prior(target.space(), 0, 1);
    let (grid, streams) = (log_grid(3), Streams::new(0));
    let found = |error| matches!(error, SpaceError::Sampler { found: "NegativeBinomial", .. });
    assert!(found(ode(&target, states(), &grid, &streams, Solver::Euler, &mut ()).unwrap_err()));
    assert!(found(leap(&target, states(), &grid, &streams, &mut ()).unwrap_err()));
}

#[test]
fn any_pair_gives_it_back() {
    let pair = AnyPair::from(PAIR);
    assert!(pair.downcast_ref::<NegativeBinomial>().is_some() && pair.downcast_ref::<Masked>().is_none());
    assert_eq!((pair.name(), pair.kind()), ("NegativeBinomial", DataKind::Count));
    assert!(!pair.increments().mean_is_enough());
}
