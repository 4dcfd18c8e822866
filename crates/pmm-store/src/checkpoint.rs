//! `state/checkpoint.safetensors`: everything a run needs to go on, in one file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::identity::Identity;
use crate::state::{Best, State};
use crate::tensors::{Named, TensorFileError, load_tensors, parse_tensors, save_tensors};

/// What a checkpoint says about itself, beside its tensors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// What it belongs to.
    pub identity: Identity,
    step: u64,
    begun: u64,
    horizon: u64,
    skipped: u64,
    skipped_in_a_row: u64,
    updates: u64,
    best: Option<BestFacts>,
}

impl Checkpoint {
    /// Steps taken.
    pub fn step(&self) -> u64 {
        self.step
    }
}

/// When the best weights were seen, and the bits of their loss, so that nothing is lost in print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BestFacts {
    step: u64,
    loss_bits: u64,
}

/// Writes the state of a run. `identity` says what it belongs to: a later [`load_state`] must ask for the same.
pub fn save_state(path: &Path, state: &State, identity: &Identity) -> Result<(), TensorFileError> {
    fn flat<'a>(name: &str, values: &'a [f32]) -> Named<&'a [f32]> {
        Named { name: name.into(), shape: vec![values.len()], values }
    }
    let mut tensors = vec![
        flat("weights", &state.weights),
        flat("first_moment", &state.first_moment),
        flat("second_moment", &state.second_moment),
        flat("average", &state.average),
    ];
    tensors.extend(state.best.as_ref().map(|best| flat("best", &best.weights)));
    let best = state.best.as_ref().map(|best| BestFacts { step: best.step, loss_bits: best.loss.to_bits() });
    let facts = Checkpoint {
        identity: identity.clone(),
        step: state.step,
        begun: state.begun,
        horizon: state.horizon,
        skipped: state.skipped,
        skipped_in_a_row: state.skipped_in_a_row,
        updates: state.updates,
        best,
    };
    save_tensors(path, &tensors, &facts)
}

/// Reads the state of a run of so many weights, if it belongs to `identity`.
pub fn load_state(path: &Path, identity: &Identity, weights: usize) -> Result<State, TensorFileError> {
    let (tensors, facts) = load_tensors::<Checkpoint>(path)?;
    if let Some(difference) = facts.identity.difference(identity) {
        return Err(TensorFileError::Foreign { path: path.into(), difference });
    }
    restore(tensors, &facts, weights).map_err(|why| TensorFileError::Damaged { path: path.into(), why })
}

/// Reads the content of a checkpoint of so many weights; the error says what is wrong with it.
pub fn parse_state(bytes: &[u8], weights: usize) -> Result<(State, Identity), String> {
    let (tensors, facts) = parse_tensors::<Checkpoint>(bytes)?;
    Ok((restore(tensors, &facts, weights)?, facts.identity))
}

fn restore(tensors: Vec<Named>, facts: &Checkpoint, weights: usize) -> Result<State, String> {
    let mut tensors: BTreeMap<String, Named> =
        tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    let mut take = |name: &str| match tensors.remove(name) {
        Some(tensor) if tensor.values.len() == weights => Ok(tensor.values),
        Some(tensor) => Err(format!("{name} has {} numbers, not {weights}", tensor.values.len())),
        None => Err(format!("no tensor called {name}")),
    };
    let best = match &facts.best {
        None => None,
        Some(best) => {
            Some(Best { step: best.step, loss: f64::from_bits(best.loss_bits), weights: take("best")? })
        }
    };
    if facts.begun > facts.step {
        return Err("it began after its own step".into());
    }
    Ok(State {
        step: facts.step,
        begun: facts.begun,
        horizon: facts.horizon,
        weights: take("weights")?,
        first_moment: take("first_moment")?,
        second_moment: take("second_moment")?,
        average: take("average")?,
        best,
        skipped: facts.skipped,
        skipped_in_a_row: facts.skipped_in_a_row,
        updates: facts.updates,
    })
}
