//! Training for Posterior Mean Matching: a loop over any [`Task`], AdamW with an average of the weights, early stopping,
//! and a [`State`] from which a stopped run goes on bit for bit.
//!
//! The loop knows no network: a task turns weights and a batch into a loss and its gradient, all of them plain `f32`
//! buffers. A batch is a function of the step's number only, so that a run is a function of (task, config, state): also where
//! several [`ranks`] share the work, whatever their number. [`table`],
//! [`text`] and [`image`] have the settings and the task of each kind of data.

mod adagrad;
mod adamw;
mod gain;
pub mod image;
mod muon;
mod numbers;
mod optimiser;
pub mod ranks;
mod run;
mod segment;
mod shard;
mod shard_sum;
pub mod table;
mod task;
pub mod text;
mod train_config;

pub use gain::{Gain, measure_gain};
pub use muon::MuonConfig;
pub use optimiser::{Rule, Rules};
pub use pmm_store::{Best, State};
pub use ranks::{AllRanks, Alone, Ranks, RanksError, Threads};
pub use run::train;
pub use shard::Shard;
pub use task::{Outcome, Progress, Task, TrainError, Watcher};
pub use train_config::{Exchange, RateSchedule, TrainConfig};

/// Writes the weights of a network as named tensors, with facts about them.
pub fn save_weights(
    path: &std::path::Path,
    parts: &pmm_net::Parts,
    weights: &[f32],
    facts: &impl serde::Serialize,
) -> Result<(), pmm_store::TensorFileError> {
    pmm_store::save_tensors(path, &named(parts, weights), facts)
}

/// The weights of a network as named tensors.
pub fn named<'a>(parts: &pmm_net::Parts, weights: &'a [f32]) -> Vec<pmm_store::Named<&'a [f32]>> {
    let named = |part: &pmm_net::Part| pmm_store::Named {
        name: part.name.clone(),
        shape: part.shape.to_vec(),
        values: &weights[part.range.clone()],
    };
    parts.iter().map(named).collect()
}

/// Settings as text, for `config.toml`.
pub fn to_toml(config: &impl serde::Serialize) -> String {
    toml::to_string(config).unwrap_or_else(|error| unreachable!("settings are numbers and texts: {error}"))
}
