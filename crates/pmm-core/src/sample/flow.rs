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
    locations: Vec<Location>,
    /// u = S/a.
    u: Vec<f64>,
    /// The current noise level of each coordinate.
    sigma: Vec<f64>,
    /// The noise levels of the grid: `levels[step][block][c]`.
    levels: Vec<Vec<Vec<f64>>>,
    /// The estimate of the step before, and log(σ/σ') of that step.
    before: Option<(Vec<f64>, Vec<f64>)>,
}

/// Where a coordinate is in the states.
struct Location {
    block: usize,
    row: usize,
    coordinate: usize,
    /// Its index in the block's buffers.
    index: usize,
}

impl Flow {
    /// The flow from where the states are; every clock must have started.
    pub(super) fn new(states: &States, grid: &TimeGrid) -> Result<Self, SpaceError> {
        let blocks = states.space().blocks();
        let mut locations = Vec::new();
        for (block, held) in blocks.iter().enumerate() {
            let unknown = (0..states.clock(block).len()).filter(|&i| states.clock(block)[i] < f64::INFINITY);
            let at =
                |index| Location { block, row: index / held.width, coordinate: index % held.width, index };
            locations.extend(unknown.map(at));
        }
        let clock = |location: &Location| states.clock(location.block)[location.index];
        if let Some(idle) = locations.iter().find(|location| clock(location) == 0.0) {
            let (block, coordinate, time) = (idle.block, idle.coordinate, grid.times()[1]);
            return Err(SpaceError::IdleClock { block, coordinate, time });
        }
        let stat = |location: &Location| f64::get(states.stat(location.block)).unwrap_or(&[])[location.index];
        let level = |t: f64| -> Vec<Vec<f64>> {
            let noise = |a: f64| a.powf(-0.5);
            blocks.iter().map(|b| (0..b.width).map(|c| noise(b.information(t, c))).collect()).collect()
        };
        Ok(Self {
            first_row: states.first_row(),
            u: locations.iter().map(|location| stat(location) / clock(location)).collect(),
            sigma: locations.iter().map(|location| clock(location).powf(-0.5)).collect(),
            levels: grid.times().iter().map(|&t| level(t)).collect(),
            locations,
            before: None,
        })
    }

    /// The noise level of every coordinate at a step of the grid; none rises.
    fn next(&self, step: usize) -> Vec<f64> {
        let level = |location: &Location| self.levels[step][location.block][location.coordinate];
        self.locations.iter().zip(&self.sigma).map(|(location, sigma)| level(location).min(*sigma)).collect()
    }

    /// Puts u and σ into the states, as S = u a and a = 1/σ²; at σ = 0 the coordinate is observed, at the value nearest to u.
    pub(super) fn write(&self, states: &mut States) {
        let space = states.space().clone();
        for ((location, u), sigma) in self.locations.iter().zip(&self.u).zip(&self.sigma) {
            let held = states.block_mut(location.block);
            held.clock[location.index] = sigma.powi(-2);
            if let Elements::Double(stat) = &mut held.stat {
                let observed = || space.blocks()[location.block].pair.support().nearest_number(*u);
                stat[location.index] = if *sigma > 0.0 { u * held.clock[location.index] } else { observed() };
            }
        }
    }

    /// The estimates in the flow's order.
    fn gather(&self, estimates: &Estimates) -> Vec<f64> {
        let mut scratch = [0.0];
        let mean = |location: &Location| {
            f64::from(estimates.blocks[location.block].mean(location.index, &mut scratch)[0])
        };
        self.locations.iter().map(mean).collect()
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

    /// Raises the noise level where churn applies. `locations` is ordered by block, then row: one stream for each.
    pub(super) fn churn(&mut self, solver: Solver, step: usize, streams: &Streams) {
        let Solver::HeunWithChurn(churn) = solver else { return };
        let gamma = (churn.amount / (self.levels.len() - 1) as f64).min(2f64.sqrt() - 1.0);
        let mut current: Option<((usize, usize), Stream)> = None;
        for (i, location) in self.locations.iter().enumerate() {
            let sigma = self.sigma[i];
            if !(churn.sigma_min..=churn.sigma_max).contains(&sigma) {
                continue;
            }
            let key = (location.block, location.row);
            let (_, rng) = match &mut current {
                Some(held) if held.0 == key => held,
                _ => {
                    let row = self.first_row + location.row as u64;
                    let stream =
                        streams.block_stream(Purpose::ADVANCE, location.block as u32, step as u64, row);
                    current.insert((key, stream))
                }
            };
            let raised = sigma * (1.0 + gamma);
            self.u[i] += (raised * raised - sigma * sigma).sqrt() * churn.noise * rng.normal();
            self.sigma[i] = raised;
        }
    }
}
