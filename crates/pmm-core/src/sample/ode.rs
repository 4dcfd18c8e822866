//! Deterministic sampling of Normal blocks: the probability-flow ODE.

use super::Observer;
use super::flow::Flow;
use super::online::{Finish, advance, conclude};
use crate::any_pair::AnyPair;
use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimates};
use crate::error::{ParameterError, SpaceError};
use crate::pair::Increments;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::Values;
use crate::states::States;

/// How to take a step of du/dσ = (u − x̂)/σ, where u = S/a and σ = 1/√a.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solver {
    /// First order, one call a step.
    Euler,
    /// Second order, two calls a step (Karras et al. 2022).
    Heun,
    /// DPM-Solver++(2M): second order with one call a step, from the step before (Lu et al. 2022).
    DpmSolverPlusPlus2M,
    /// [`Solver::Heun`] with some noise put back before each step.
    HeunWithChurn(Churn),
}

/// Karras et al.'s churn: before a step from σ with σ_min ≤ σ ≤ σ_max, the noise level is raised to σ (1 + γ),
/// γ = min(amount / steps, √2 − 1), by adding noise of so many times the standard deviation that this takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Churn {
    pub(super) amount: f64,
    pub(super) sigma_min: f64,
    pub(super) sigma_max: f64,
    pub(super) noise: f64,
}

impl Churn {
    /// The total amount ≥ 0, the noise levels between which it applies, and the relative noise ≥ 0 (1 keeps the law).
    pub fn new(amount: f64, sigma_min: f64, sigma_max: f64, noise: f64) -> Result<Self, ParameterError> {
        let check = |name, value: f64| ParameterError::unless(value >= 0.0, name, "at least 0", value);
        Ok(Self {
            amount: check("the amount of churn", amount)?,
            sigma_min: check("the smallest noise level of churn", sigma_min)?,
            sigma_max: check("the largest noise level of churn", sigma_max)?,
            noise: check("the relative noise of churn", noise)?,
        })
    }
}

/// The probability-flow ODE along the grid, for states whose unobserved coordinates all have Gaussian increments
/// ([`Increments::Gaussian`]).
///
/// The first interval of the grid, from a = 0 (σ = ∞) to its first reading, is one step of Algorithm 1, which is where the
/// randomness comes from; then the ODE runs to the end of the grid, and the last estimate takes it to σ = 0. With n
/// steps that makes n + 1 calls for Euler and DPM-Solver++(2M), 2n for Heun. Use [`TimeGrid::karras`]. Coordinates whose clock is
/// already further than the grid wait for it.
///
/// ```
/// use pmm_core::{Block, Exponential, FiniteTarget, TimeGrid, Normal, Solver, Space, States, Elements, Streams, Values, ode};
/// let clock = Exponential::default();
/// let space = Space::new(vec![Block::new(Normal::new(1.0, 0.0)?, 1, clock)?]);
/// let points = Values::new(vec![Elements::from(vec![-1.0f32, 1.0])]);
/// let target = FiniteTarget::new(&space, points, &[0.5, 0.5])?;
/// let grid = TimeGrid::karras(&clock, 80.0, 7.0, 10)?; // 20 calls
/// let x = ode(&target, States::prior(&space, 0, 1000), &grid, &Streams::new(0), Solver::Heun, &mut ())?;
/// let ones = x.reals(0).iter().filter(|x| **x > 0.0).count();
/// assert!((440..560).contains(&ones));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ode(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &TimeGrid,
    streams: &Streams,
    solver: Solver,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let gaussian = |pair: &AnyPair| pair.increments() == Increments::Gaussian && pair.is_scalar();
    require(&states, "the probability-flow ODE", "Normal", gaussian)?;
    let mut estimates = Estimates::default();
    estimates.ask(denoiser, &states)?;
    observer.observe(0, &states, &estimates);
    let first = grid.times()[1];
    advance(&mut states, &estimates, |block, c| block.information(first, c), Purpose::ADVANCE, 0, streams);
    let mut flow = Flow::new(&states, grid)?;
    for step in 1..grid.steps() {
        flow.churn(solver, step, streams);
        flow.write(&mut states);
        estimates.ask(denoiser, &states)?;
        observer.observe(step, &states, &estimates);
        flow.step(denoiser, &mut states, &mut estimates, solver, step)?;
    }
    flow.write(&mut states);
    conclude(denoiser, states, estimates, grid.steps(), streams, Finish::Estimate, observer)
}

/// Refuses a sampler that would have to move coordinates of another pair.
pub(super) fn require(
    states: &States,
    sampler: &'static str,
    moves: &'static str,
    can_move: impl Fn(&AnyPair) -> bool,
) -> Result<(), SpaceError> {
    for (block, held) in states.space().blocks().iter().enumerate() {
        if !can_move(&held.pair) && states.clock(block).iter().any(|&a| a < f64::INFINITY) {
            return Err(SpaceError::Sampler { sampler, moves, block, found: held.pair.name() });
        }
    }
    Ok(())
}
