//! The likelihood bound with a perfect denoiser, against the entropy of the target.
//!
//! `cargo run --release -p pmm-core --example bound_table` prints the table of `docs/results.md`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{gamma_gap, gamma_line, plane};
use pmm_core::{FiniteTarget, Head, MonteCarlo, States, Streams, Times, bound};

const ROWS: usize = 100_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    println!(
        "Nats per row, {ROWS} rows, 16 stratified times each; two dependent coordinates (Gamma: one):\n"
    );
    println!(
        "| pair | entropy | objective | terminal | bound | bound − entropy | predicted |\n|---|---|---|---|---|---|---|"
    );
    for pair in ["normal", "poisson", "categorical", "masked"] {
        line(pair, &plane(pair, Head::Mean), "0")?;
    }
    let target = gamma_line();
    line("gamma, mean plugged in", &target, &show(gamma_gap(&target, 20_000)))
}

fn line(name: &str, target: &FiniteTarget, predicted: &str) -> Result<()> {
    let streams = Streams::new(1);
    let x = target.rows(&target.choose(&streams, 0, ROWS));
    let states = States::prior(target.space(), 0, ROWS);
    let found = bound(target, target, &states, &x, Times::Continuous { draws: 16.try_into()? }, &streams)?;
    let excess = MonteCarlo { mean: found.nelbo.mean - target.entropy(), ..found.nelbo };
    println!(
        "| {name} | {:.4} | {} | {} | {} | {} | {predicted} |",
        target.entropy(),
        show(found.objective),
        show(found.terminal),
        show(found.nelbo),
        show(excess),
    );
    Ok(())
}

fn show(estimate: MonteCarlo) -> String {
    format!("{:.4} ± {:.4}", estimate.mean, estimate.standard_error)
}
