//! What samplers refuse: broken answers of a denoiser, coordinates they cannot move.
#![allow(clippy::unwrap_used)]

mod common;

use common::{log_grid, mixed, plane};
use pmm_core::{
    Denoiser, Estimate, Estimates, Finish, Head, Mixture, Solver, SpaceError, States, Streams, leap, ode,
    online,
};

/// A denoiser that answers with one number everywhere.
struct Constant(f32);

impl Denoiser for Constant {
    fn denoise(&self, states: &States, estimates: &mut Estimates) {
        for (index, block) in states.space().blocks().iter().enumerate() {
            let len = states.clock(index).len() * block.pair().mean_len();
            estimates.blocks[index] = Estimate::Mean(vec![self.0; len]);
        }
    }
}

#[test]
fn a_broken_denoiser_is_named() {
    let run = |pair: &str, value: f32| {
        let target = plane(pair, Head::Mean);
        let states = States::prior(target.space(), 0, 2);
        online(&Constant(value), states, &log_grid(3), &Streams::new(0), Finish::Estimate, &mut ())
            .unwrap_err()
    };
    assert_eq!(
        run("normal", f32::NAN).to_string(),
        "row 0, block 0, coordinate 0: the denoiser returned NaN, not a finite number"
    );
    assert!(matches!(run("poisson", -1.0), SpaceError::Estimate { value: -1.0, .. }));
    assert!(matches!(run("gamma", 0.0), SpaceError::Estimate { value: 0.0, .. }));
    assert!(matches!(run("masked", 0.0), SpaceError::Estimate { value: 0.0, .. }));
    assert!(matches!(run("masked", 3.0), SpaceError::Estimate { value: 9.0, .. }));
    assert!(matches!(run("categorical", f32::INFINITY), SpaceError::Estimate { .. }));
}

/// A denoiser that answers with the given estimates.
struct Fixed(Vec<Estimate>);

impl Denoiser for Fixed {
    fn denoise(&self, _: &States, estimates: &mut Estimates) {
        estimates.blocks = self.0.clone();
    }
}

#[test]
fn an_answer_of_the_wrong_kind_is_refused() {
    let refuses = |pair: &str, answer: Vec<Estimate>| {
        let target = plane(pair, Head::Mean);
        let states = States::prior(target.space(), 0, 1);
        online(&Fixed(answer), states, &log_grid(3), &Streams::new(0), Finish::Estimate, &mut ()).is_err()
    };
    let mixture = || Mixture { components: 1, weight: vec![1.0; 2], mean: vec![1.0; 2], sd: vec![0.0; 2] };
    assert!(!refuses("normal", vec![Estimate::Mixture(mixture())]));
    assert!(refuses("normal", vec![Estimate::Vertex(vec![1.0; 2])]));
    assert!(refuses("masked", vec![Estimate::Mixture(mixture())]));
    assert!(refuses("masked", vec![Estimate::Vertex(vec![1.0 / 3.0; 6])]));
    assert!(refuses("normal", vec![]));
    assert!(refuses("normal", vec![Estimate::Mean(vec![1.0; 3])]));
    assert!(refuses("normal", vec![Estimate::Mixture(Mixture::default())]));
    assert!(refuses("normal", vec![Estimate::Mixture(Mixture { sd: vec![-1.0; 2], ..mixture() })]));
}

#[test]
fn a_sampler_for_another_pair_refuses() {
    let target = mixed();
    let states = || States::prior(target.space(), 0, 1);
    let grid = log_grid(3);
    let error =
        ode(&target, states(), &grid, &Streams::new(0), Solver::Euler, &mut ()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the probability-flow ODE moves Normal coordinates only, but block 1 has unobserved Poisson ones"
    );
    let error = leap(&target, states(), &grid, &Streams::new(0), &mut ()).unwrap_err();
    assert!(matches!(error, SpaceError::Sampler { block: 0, found: "Normal", .. }));
    // With the rest observed, the ODE may move the real coordinate of a mixed row.
    let mut given = states();
    given.observe(&target.rows(&[3]), |_, block, _| block > 0).unwrap();
    let x = ode(&target, given, &grid, &Streams::new(0), Solver::Euler, &mut ()).unwrap();
    assert!((x.reals(0)[0] - 1.0).abs() < 1e-3);
}
