//! Quality against network calls for the Normal pair: eight Gaussians in the plane, a perfect denoiser, every sampler.
//!
//! `cargo run --release -p pmm-core --example few_calls` prints the table of `docs/results.md`.

use pmm_core::{
    Block, Churn, Elements, Exponential, Finish, FiniteTarget, MonteCarlo, Normal, Solver, Space, States,
    Streams, TimeGrid, Values, ode, online, second_order, sliced_wasserstein,
};

const ROWS: usize = 4096;
const SEEDS: u64 = 4;
const CALLS: [usize; 7] = [6, 10, 20, 36, 50, 100, 500];
/// Where the ODE and Algorithm 1 of second order start: three times the target's standard deviation.
const SIGMA_MAX: f64 = 4.3;
/// Where it might start without knowing the target: Algorithm 1's first reading, a = .001.
const SIGMA_BLIND: f64 = 31.6;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let target = eight_gaussians()?;
    let churn = Churn::new(10.0, 0.05, 10.0, 1.0)?;
    let exact = |seed: u64| Ok(distance(&target, &target.rows(&target.choose(&Streams::new(seed), 0, ROWS))));
    println!(
        "Sliced Wasserstein distance to eight Gaussians (512 points), {ROWS} samples, {SEEDS} seeds: mean ± standard error"
    );
    println!("Exact draws: {}\n", cell(exact)?);
    println!(
        "| calls | Algorithm 1 | second order | Euler | Heun | DPM-Solver++(2M) | Heun with churn |\n|---|---|---|---|---|---|---|"
    );
    for calls in CALLS {
        let ode_cell = |solver, steps| cell(|seed| run_ode(&target, solver, SIGMA_MAX, steps, seed));
        println!(
            "| {calls} | {} | {} | {} | {} | {} | {} |",
            cell(|seed| run_online(&target, calls - 1, seed))?,
            cell(|seed| run_second_order(&target, calls - 1, seed))?,
            ode_cell(Solver::Euler, calls - 1)?,
            ode_cell(Solver::Heun, calls / 2)?,
            ode_cell(Solver::DpmSolverPlusPlus2M, calls - 1)?,
            ode_cell(Solver::HeunWithChurn(churn), calls / 2)?,
        );
    }
    let blind = |solver, steps| cell(|seed| run_ode(&target, solver, SIGMA_BLIND, steps, seed));
    println!(
        "\nStarted at σ = {SIGMA_BLIND} in place of {SIGMA_MAX}: Heun with 20 calls {}, with 36 {};",
        blind(Solver::Heun, 10)?,
        blind(Solver::Heun, 18)?
    );
    println!(
        "DPM-Solver++(2M) with 20 calls {}, with 36 {}.",
        blind(Solver::DpmSolverPlusPlus2M, 19)?,
        blind(Solver::DpmSolverPlusPlus2M, 35)?
    );
    Ok(())
}

/// Eight Gaussians of standard deviation .15 on a circle of radius 2, each as 64 points at the quantiles of its radius.
fn eight_gaussians() -> Result<FiniteTarget> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut points = Vec::new();
    for mode in 0..8 {
        let centre = std::f64::consts::TAU * f64::from(mode) / 8.0;
        for k in 0..64 {
            let radius = 0.15 * (-2.0 * (1.0 - (f64::from(k) + 0.5) / 64.0).ln()).sqrt();
            let angle = golden * f64::from(k);
            points.push((2.0 * centre.cos() + radius * angle.cos()) as f32);
            points.push((2.0 * centre.sin() + radius * angle.sin()) as f32);
        }
    }
    let space = Space::new(vec![Block::new(Normal::new(1.0, 0.0)?, 2, Exponential::default())?]);
    Ok(FiniteTarget::new(&space, Values::new(vec![Elements::from(points)]), &[1.0; 512])?)
}

fn run_online(target: &FiniteTarget, steps: usize, seed: u64) -> Result<f64> {
    let grid = TimeGrid::log_information(&Exponential::default(), 1e-3, steps)?;
    let states = States::prior(target.space(), 0, ROWS);
    Ok(distance(target, &online(target, states, &grid, &Streams::new(seed), Finish::Estimate, &mut ())?))
}

fn run_second_order(target: &FiniteTarget, steps: usize, seed: u64) -> Result<f64> {
    let grid = TimeGrid::karras(&Exponential::default(), SIGMA_MAX, 7.0, steps)?;
    let states = States::prior(target.space(), 0, ROWS);
    Ok(distance(target, &second_order(target, states, &grid, &Streams::new(seed), &mut ())?))
}

fn run_ode(target: &FiniteTarget, solver: Solver, sigma_max: f64, steps: usize, seed: u64) -> Result<f64> {
    let grid = TimeGrid::karras(&Exponential::default(), sigma_max, 7.0, steps)?;
    let states = States::prior(target.space(), 0, ROWS);
    Ok(distance(target, &ode(target, states, &grid, &Streams::new(seed), solver, &mut ())?))
}

fn distance(target: &FiniteTarget, x: &Values) -> f64 {
    sliced_wasserstein(x.reals(0), target.points().reals(0), 2, 64, &Streams::new(1_000))
}

fn cell(run: impl Fn(u64) -> Result<f64>) -> Result<String> {
    let distances = (1..=SEEDS).map(run).collect::<Result<Vec<f64>>>()?;
    let MonteCarlo { mean, standard_error } = MonteCarlo::of(&distances);
    Ok(format!("{mean:.4} ± {standard_error:.4}"))
}
