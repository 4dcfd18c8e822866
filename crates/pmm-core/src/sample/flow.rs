//! The coordinates that the probability-flow ODE moves, and its steps.

use super::ode::Solver;
use crate::clock::TimeGrid;
use crate::denoise::{Denoiser, Estimates};
use crate::elements::{Element, Elements};
use crate::error::SpaceError;
use crate::purpose::Purpose;
use crate::rng::{Stream, Streams};
use crate::states::States;

/// The unobserved coordinates of all blocks, which have Gaussian increments, one after the other.
pub(super) struct Flow {
    first_row: u64,
    home: Vec<Home>,
    /// u = S/a.
    u: Vec<f64>,
    /// The current noise level of each coordinate.
    sigma: Vec<f64>,
    /// The noise levels of the grid: `levels[step][block][c]`.
    levels: Vec<Vec<Vec<f64>>>,
    /// The estimate of the step before, and log(σ/σ') of that step.
    before: Option<(Vec<f64>, Vec<f64>)>,
}

/// Where a coordinate lives.
struct Home {
    block: usize,
    row: usize,
    coordinate: usize,
    /// Its place in the block's buffers.
    index: usize,
}

impl Flow {
    /// The flow from where the states are; every clock must have started.
    pub(super) fn new(states: &States, grid: &TimeGrid) -> Result<Self, SpaceError> {
        let blocks = states.space().blocks();
        let mut home = Vec::new();
        for (block, held) in blocks.iter().enumerate() {
            let unknown = (0..states.clock(block).len()).filter(|&i| states.clock(block)[i] < f64::INFINITY);
            let at = |index| Home { block, row: index / held.width, coordinate: index % held.width, index };
            home.extend(unknown.map(at));
        }
        let clock = |home: &Home| states.clock(home.block)[home.index];
        if let Some(idle) = home.iter().find(|home| clock(home) == 0.0) {
            let (block, coordinate, time) = (idle.block, idle.coordinate, grid.times()[1]);
            return Err(SpaceError::IdleClock { block, coordinate, time });
        }
        let stat = |home: &Home| f64::get(states.stat(home.block)).unwrap_or(&[])[home.index];
        let level = |t: f64| -> Vec<Vec<f64>> {
            let noise = |a: f64| a.powf(-0.5);
            blocks.iter().map(|b| (0..b.width).map(|c| noise(b.information(t, c))).collect()).collect()
        };
        Ok(Self {
            first_row: states.first_row(),
            u: home.iter().map(|home| stat(home) / clock(home)).collect(),
            sigma: home.iter().map(|home| clock(home).powf(-0.5)).collect(),
            levels: grid.times().iter().map(|&t| level(t)).collect(),
            home,
            before: None,
        })
    }

    /// The noise level of every coordinate at a step of the grid; none rises.
    fn next(&self, step: usize) -> Vec<f64> {
        let level = |home: &Home| self.levels[step][home.block][home.coordinate];
        self.home.iter().zip(&self.sigma).map(|(home, sigma)| level(home).min(*sigma)).collect()
    }

    /// Puts u and σ into the states, as S = u a and a = 1/σ²; at σ = 0 the coordinate is observed, at the value nearest to u.
    pub(super) fn write(&self, states: &mut States) {
        let space = states.space().clone();
        for ((home, u), sigma) in self.home.iter().zip(&self.u).zip(&self.sigma) {
            let held = states.block_mut(home.block);
            held.clock[home.index] = sigma.powi(-2);
            if let Elements::Double(stat) = &mut held.stat {
                let observed = || space.blocks()[home.block].pair.support().nearest_number(*u);
                stat[home.index] = if *sigma > 0.0 { u * held.clock[home.index] } else { observed() };
            }
        }
    }

    /// The estimates in the flow's order.
    fn gather(&self, estimates: &Estimates) -> Vec<f64> {
        let mut scratch = [0.0];
        let mean = |home: &Home| f64::from(estimates.blocks[home.block].mean(home.index, &mut scratch)[0]);
        self.home.iter().map(mean).collect()
    }

    /// From the grid's `step` to the next, given the estimates there.
    pub(super) fn step(
        &mut self,
        denoiser: &dyn Denoiser,
        states: &mut States,
        estimates: &mut Estimates,
        solver: Solver,
        step: usize,
    ) -> Result<(), SpaceError> {
        let x_hat = self.gather(estimates);
        let next = self.next(step + 1);
        let drift = match solver {
            Solver::DpmSolverPlusPlus2M => self.extrapolate(&x_hat, &next),
            _ => x_hat.clone(),
        };
        let (from_u, from) = (self.u.clone(), std::mem::replace(&mut self.sigma, next));
        // Exact for frozen x̂: u' = x̂ + (σ'/σ)(u − x̂), which is also the Euler step.
        for (i, u) in self.u.iter_mut().enumerate().filter(|(i, _)| from[*i] > 0.0) {
            *u = drift[i] + self.sigma[i] / from[i] * (*u - drift[i]);
        }
        if matches!(solver, Solver::Heun | Solver::HeunWithChurn(_))
            && self.sigma.iter().any(|sigma| *sigma > 0.0)
        {
            self.write(states);
            estimates.ask(denoiser, states)?;
            let second = self.gather(estimates);
            for i in (0..self.u.len()).filter(|&i| self.sigma[i] > 0.0) {
                let derivative = (from_u[i] - x_hat[i]) / from[i] + (self.u[i] - second[i]) / self.sigma[i];
                self.u[i] = from_u[i] + 0.5 * (self.sigma[i] - from[i]) * derivative;
            }
        }
        Ok(())
    }

    /// DPM-Solver++(2M): the estimate extrapolated to the middle of the step in log σ; as it is where σ ends at 0.
    fn extrapolate(&mut self, x_hat: &[f64], next: &[f64]) -> Vec<f64> {
        let h: Vec<f64> = self.sigma.iter().zip(next).map(|(from, to)| (from / to).ln()).collect();
        let mut drift = x_hat.to_vec();
        if let Some((old, old_h)) = &self.before {
            for i in (0..drift.len()).filter(|&i| h[i].is_finite() && old_h[i] > 0.0) {
                drift[i] += 0.5 * h[i] / old_h[i] * (x_hat[i] - old[i]);
            }
        }
        self.before = Some((x_hat.to_vec(), h));
        drift
    }

    /// Raises the noise level where churn applies. `home` is ordered by block, then row: one stream for each.
    pub(super) fn churn(&mut self, solver: Solver, step: usize, streams: &Streams) {
        let Solver::HeunWithChurn(churn) = solver else { return };
        let gamma = (churn.amount / (self.levels.len() - 1) as f64).min(2f64.sqrt() - 1.0);
        let mut current: Option<((usize, usize), Stream)> = None;
        for (i, home) in self.home.iter().enumerate() {
            let sigma = self.sigma[i];
            if !(churn.sigma_min..=churn.sigma_max).contains(&sigma) {
                continue;
            }
            let key = (home.block, home.row);
            let (_, rng) = match &mut current {
                Some(held) if held.0 == key => held,
                _ => {
                    let row = self.first_row + home.row as u64;
                    let stream = streams.block_stream(Purpose::ADVANCE, home.block as u32, step as u64, row);
                    current.insert((key, stream))
                }
            };
            let raised = sigma * (1.0 + gamma);
            self.u[i] += (raised * raised - sigma * sigma).sqrt() * churn.noise * rng.normal();
            self.sigma[i] = raised;
        }
    }
}
