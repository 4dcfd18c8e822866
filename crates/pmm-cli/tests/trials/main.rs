//! Trials: many random faults, each with an outcome that may be. A few run with every `cargo test`; `trials/run` runs them all.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
mod configs;
mod files;
mod folders;
mod kills;
mod limited;
mod models;
mod tables;

use pmm_core::{Purpose, Stream, Streams};

/// How many are asked for with `PMM_TRIALS`, or the number of the release trials.
fn count(release: u64) -> u64 {
    let asked = std::env::var("PMM_TRIALS").ok().filter(|text| !text.is_empty());
    asked.map_or(release, |text| text.parse().expect("PMM_TRIALS is a number"))
}

/// The random numbers of one trial.
fn random(trial: u64) -> Stream {
    Streams::new(16).stream(Purpose::custom(400), 0, trial)
}

/// One of a few.
fn one_of<'a, T: ?Sized>(rng: &mut Stream, of: &[&'a T]) -> &'a T {
    of[rng.below(of.len() as u64) as usize]
}
