//! Deterministic sampling of Normal blocks: the probability-flow ODE.

use super::Observer;
use super::online::{Finish, advance, conclude};
use crate::clock::Grid;
use crate::denoise::{Denoiser, Estimates};
use crate::error::SpaceError;
use crate::rng::{Purpose, Streams};
use crate::space::{AnyPair, Values};
use crate::states::States;
use crate::store::{Element, Store};

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

/// Karras et al.'s churn: before a step from σ with `sigma_min` ≤ σ ≤ `sigma_max`, the noise level is raised to
/// σ (1 + γ), γ = min(`amount` / steps, √2 − 1), by adding noise of standard deviation `noise` times what that takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Churn {
    /// The total amount of churn.
    pub amount: f64,
    /// The smallest noise level at which it applies.
    pub sigma_min: f64,
    /// The largest.
    pub sigma_max: f64,
    /// The added noise's standard deviation, relative to what keeps the law; 1 or slightly more.
    pub noise: f64,
}

/// The probability-flow ODE along the grid, for states whose unobserved coordinates are all Normal.
///
/// The first interval of the grid, from a = 0 (σ = ∞) to its first reading, is one step of Algorithm 1, which is where the
/// randomness comes from; then the ODE runs to the end of the grid, and the last estimate takes it to σ = 0. With n
/// steps that makes n + 1 calls for Euler and DPM-Solver++(2M), 2n for Heun. Use [`Grid::karras`].
///
/// ```
/// use pmm::{Block, Exponential, FiniteTarget, Grid, Normal, Solver, Space, States, Store, Streams, Values, ode};
/// let clock = Exponential::default();
/// let space = Space::new(vec![Block::new(Normal::new(1.0, 0.0)?, 1, clock)?]);
/// let points = Values::new(vec![Store::from(vec![-1.0f32, 1.0])]);
/// let target = FiniteTarget::new(&space, points, &[0.5, 0.5])?;
/// let grid = Grid::karras(&clock, 80.0, 7.0, 10)?; // 20 calls
/// let x = ode(&target, States::prior(&space, 0, 1000), &grid, &Streams::new(0), Solver::Heun, &mut ())?;
/// let ones = x.reals(0).iter().filter(|x| **x > 0.0).count();
/// assert!((440..560).contains(&ones));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ode(
    denoiser: &dyn Denoiser,
    mut states: States,
    grid: &Grid,
    streams: &Streams,
    solver: Solver,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    require(&states, "the probability-flow ODE", "Normal", |pair| matches!(pair, AnyPair::Normal(_)))?;
    let mut estimates = Estimates::default();
    estimates.ask(denoiser, &states)?;
    observer.observe(0, &states, &estimates);
    let first = grid.times()[1];
    advance(&mut states, &estimates, |block, c| block.information(first, c), Purpose::ADVANCE, 0, streams);
    let mut flow = Flow::new(&states, grid);
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

/// The unobserved coordinates of all Normal blocks, in one line.
struct Flow {
    first_row: u64,
    /// Where each coordinate lives: (block, index within the block's buffer, row).
    home: Vec<(usize, usize, usize)>,
    /// u = S/a.
    u: Vec<f64>,
    /// The current noise level of each coordinate.
    sigma: Vec<f64>,
    /// The noise levels of the grid: `levels[step][block][c]`.
    levels: Vec<Vec<Vec<f64>>>,
    widths: Vec<usize>,
    /// The estimate of the step before, and log(σ/σ') of that step.
    before: Option<(Vec<f64>, Vec<f64>)>,
}

impl Flow {
    fn new(states: &States, grid: &Grid) -> Self {
        let blocks = states.space().blocks();
        let level = |t: f64| -> Vec<Vec<f64>> {
            let per_block =
                blocks.iter().map(|b| (0..b.width).map(|c| b.information(t, c).powf(-0.5)).collect());
            per_block.collect()
        };
        let mut home = Vec::new();
        for (block, held) in blocks.iter().enumerate() {
            let unknown = (0..states.clock(block).len()).filter(|&i| states.clock(block)[i] < f64::INFINITY);
            home.extend(unknown.map(|i| (block, i, i / held.width)));
        }
        let u = home.iter().map(|&(block, i, _)| stat(states, block)[i] / states.clock(block)[i]).collect();
        let mut flow = Self {
            first_row: states.first_row(),
            sigma: vec![0.0; home.len()],
            u,
            levels: grid.times().iter().map(|&t| level(t)).collect(),
            widths: blocks.iter().map(|b| b.width).collect(),
            home,
            before: None,
        };
        flow.sigma = flow.level(1);
        flow
    }

    /// The grid's noise level of every coordinate at a step.
    fn level(&self, step: usize) -> Vec<f64> {
        self.home.iter().map(|&(block, i, _)| self.levels[step][block][i % self.widths[block]]).collect()
    }

    /// Puts u and σ into the states, as S = u a and a = 1/σ².
    fn write(&self, states: &mut States) {
        for ((&(block, i, _), u), sigma) in self.home.iter().zip(&self.u).zip(&self.sigma) {
            let held = states.block_mut(block);
            held.clock[i] = sigma.powi(-2);
            if let Store::Double(stat) = &mut held.stat {
                stat[i] = u * held.clock[i];
            }
        }
    }

    /// The estimates in the flow's order.
    fn gather(&self, estimates: &Estimates) -> Vec<f64> {
        let mut scratch = [0.0];
        let mean = |&(block, i, _): &(usize, usize, usize)| {
            f64::from(estimates.blocks[block].mean(i, &mut scratch)[0])
        };
        self.home.iter().map(mean).collect()
    }

    /// From the grid's `step` to the next.
    fn step(
        &mut self,
        denoiser: &dyn Denoiser,
        states: &mut States,
        estimates: &mut Estimates,
        solver: Solver,
        step: usize,
    ) -> Result<(), SpaceError> {
        let x_hat = self.gather(estimates);
        let next = self.level(step + 1);
        let (from_u, from) = (self.u.clone(), self.sigma.clone());
        let drift = if solver == Solver::DpmSolverPlusPlus2M {
            self.extrapolate(&x_hat, &next)
        } else {
            x_hat.clone()
        };
        // Exact for frozen x̂: u' = x̂ + (σ'/σ)(u − x̂), which is also the Euler step.
        for (i, u) in self.u.iter_mut().enumerate() {
            *u = drift[i] + next[i] / from[i] * (*u - drift[i]);
        }
        self.sigma = next;
        if matches!(solver, Solver::Heun | Solver::HeunWithChurn(_)) {
            self.write(states);
            estimates.ask(denoiser, states)?;
            let second = self.gather(estimates);
            for i in 0..self.u.len() {
                let slope = (from_u[i] - x_hat[i]) / from[i] + (self.u[i] - second[i]) / self.sigma[i];
                self.u[i] = from_u[i] + 0.5 * (self.sigma[i] - from[i]) * slope;
            }
        }
        Ok(())
    }

    /// DPM-Solver++(2M): the estimate extrapolated to the middle of the step in log σ.
    fn extrapolate(&mut self, x_hat: &[f64], next: &[f64]) -> Vec<f64> {
        let h: Vec<f64> = self.sigma.iter().zip(next).map(|(from, to)| (from / to).ln()).collect();
        let drift = match &self.before {
            None => x_hat.to_vec(),
            Some((old, old_h)) => {
                let terms = x_hat.iter().zip(old).zip(h.iter().zip(old_h));
                terms.map(|((now, old), (h, old_h))| now + 0.5 * h / old_h * (now - old)).collect()
            }
        };
        self.before = Some((x_hat.to_vec(), h));
        drift
    }

    /// Raises the noise level where churn applies.
    fn churn(&mut self, solver: Solver, step: usize, streams: &Streams) {
        let Solver::HeunWithChurn(churn) = solver else { return };
        let gamma = (churn.amount / (self.levels.len() - 1) as f64).min(2f64.sqrt() - 1.0);
        let mut row_rng = None;
        for (i, &(block, _, row)) in self.home.iter().enumerate() {
            // One stream per block and row; home is ordered by block, then row.
            if row_rng.as_ref().is_none_or(|(at, _)| *at != (block, row)) {
                let row_number = self.first_row + row as u64;
                let stream = streams.block_stream(Purpose::ADVANCE, block as u32, step as u64, row_number);
                row_rng = Some(((block, row), stream));
            }
            let sigma = self.sigma[i];
            if let Some((_, rng)) =
                row_rng.as_mut().filter(|_| (churn.sigma_min..=churn.sigma_max).contains(&sigma))
            {
                let raised = sigma * (1.0 + gamma);
                self.u[i] += (raised * raised - sigma * sigma).sqrt() * churn.noise * rng.normal();
                self.sigma[i] = raised;
            }
        }
    }
}

fn stat(states: &States, block: usize) -> &[f64] {
    f64::get(states.stat(block)).unwrap_or(&[])
}
