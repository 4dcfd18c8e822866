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
    let moving = moving(state);
    let mut tensors = vec![
        flat("weights", &state.weights),
        flat("first_moment", &state.first_moment[..moving]),
        flat("second_moment", &state.second_moment),
        flat("average", &state.average[..moving]),
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

/// The number of weights up to the last that has a first moment or an average of its own. Beyond, where large tables are that Adagrad
/// moves, first moments are 0 and averages are the weights: neither is written.
fn moving(state: &State) -> usize {
    let of_its_own = |at: &usize| {
        state.first_moment[*at].to_bits() != 0 || state.average[*at].to_bits() != state.weights[*at].to_bits()
    };
    (0..state.weights.len()).rev().find(of_its_own).map_or(0, |last| last + 1)
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
    let mut some = |name: &str| match tensors.remove(name) {
        Some(tensor) if tensor.values.len() <= weights => Ok(tensor.values),
        Some(tensor) => Err(format!("{name} has {} numbers, not {weights}", tensor.values.len())),
        None => Err(format!("no tensor called {name}")),
    };
    let (mut first_moment, mut average) = (some("first_moment")?, some("average")?);
    let mut take = |name: &str| match some(name)? {
        values if values.len() == weights => Ok(values),
        values => Err(format!("{name} has {} numbers, not {weights}", values.len())),
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
    let moved = take("weights")?;
    first_moment.resize(weights, 0.0);
    average.extend_from_slice(&moved[average.len()..]);
    Ok(State {
        step: facts.step,
        begun: facts.begun,
        horizon: facts.horizon,
        weights: moved,
        first_moment,
        second_moment: take("second_moment")?,
        average,
        best,
        skipped: facts.skipped,
        skipped_in_a_row: facts.skipped_in_a_row,
        updates: facts.updates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { format: 2, data: "a".into(), description: "b".into(), settings: "c".into() }
    }

    /// What comes back is what was saved; tables at the end that are their own average are written once.
    #[test]
    #[allow(clippy::unwrap_used)]
    fn tables_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.safetensors");
        let fresh = State::new((0..30_000).map(|i| i as f32).collect());
        let mut moved = fresh.clone();
        (moved.first_moment[1], moved.average[2], moved.weights[20_000]) = (0.5, -1.0, 7.0);
        (moved.average[20_000], moved.second_moment[20_000]) = (7.0, 3.0);
        let mut whole = moved.clone();
        whole.first_moment[29_999] = -0.0;
        let mut sizes = Vec::new();
        for state in [&fresh, &moved, &whole] {
            save_state(&path, state, &identity()).unwrap();
            let found = load_state(&path, &identity(), 30_000).unwrap();
            assert_eq!(&found, state);
            assert_eq!(found.first_moment[29_999].to_bits(), state.first_moment[29_999].to_bits());
            sizes.push(std::fs::metadata(&path).unwrap().len());
        }
        assert!(sizes[1] < 245_000 && sizes[2] > 480_000, "{sizes:?}");
        assert!(load_state(&path, &identity(), 29_999).is_err());
    }
}
