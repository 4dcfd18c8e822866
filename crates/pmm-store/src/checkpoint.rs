//! `state/checkpoint.safetensors`: everything a run needs to go on, in one file.

use std::path::Path;

use crate::state::{Best, State};
use crate::tensors::{Facts, Named, TensorFileError, load_tensors, save_tensors};

/// Writes the state of a run. `identity` says what it belongs to (data, schema, config, version): a later
/// [`load_state`] must ask for the same.
pub fn save_state(path: &Path, state: &State, identity: &Facts) -> Result<(), TensorFileError> {
    fn flat<'a>(name: &str, values: &'a [f32]) -> Named<&'a [f32]> {
        Named { name: name.into(), shape: vec![values.len()], values }
    }
    let mut tensors = vec![
        flat("weights", &state.weights),
        flat("first_moment", &state.first_moment),
        flat("second_moment", &state.second_moment),
        flat("average", &state.average),
    ];
    let mut facts = identity.clone();
    let counters = [
        ("step", state.step),
        ("begun", state.begun),
        ("horizon", state.horizon),
        ("skipped", state.skipped),
        ("skipped_in_a_row", state.skipped_in_a_row),
        ("updates", state.updates),
    ];
    counters.into_iter().for_each(|(name, value)| {
        facts.insert(format!("run.{name}"), value.to_string());
    });
    if let Some(best) = &state.best {
        tensors.push(flat("best", &best.weights));
        facts.insert("run.best_step".into(), best.step.to_string());
        // The bits, so that nothing is lost in print.
        facts.insert("run.best_loss".into(), format!("{:016x}", best.loss.to_bits()));
    }
    save_tensors(path, &tensors, &facts)
}

/// Reads a state of this identity and so many weights.
pub fn load_state(path: &Path, identity: &Facts, weights: usize) -> Result<State, TensorFileError> {
    let (tensors, facts) = load_tensors(path)?;
    for (what, expected) in identity {
        let found = facts.get(what).cloned().unwrap_or_else(|| "absent".into());
        if found != *expected {
            let (what, expected) = (what.clone(), expected.clone());
            return Err(TensorFileError::Foreign { path: path.into(), what, found, expected });
        }
    }
    restore(tensors, &facts, weights).map_err(|why| TensorFileError::Damaged { path: path.into(), why })
}

fn restore(tensors: Vec<Named>, facts: &Facts, weights: usize) -> Result<State, String> {
    let counter = |name: &str| {
        let value = facts.get(&format!("run.{name}")).and_then(|text| text.parse::<u64>().ok());
        value.ok_or_else(|| format!("no number called {name}"))
    };
    let mut tensors: std::collections::BTreeMap<String, Named> =
        tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    let mut take = |name: &str| match tensors.remove(name) {
        Some(tensor) if tensor.values.len() == weights => Ok(tensor.values),
        Some(tensor) => Err(format!("{name} has {} numbers, not {weights}", tensor.values.len())),
        None => Err(format!("no tensor called {name}")),
    };
    let best = match facts.get("run.best_loss") {
        None => None,
        Some(bits) => {
            let bits =
                u64::from_str_radix(bits, 16).map_err(|_| "its best loss is not a number".to_owned())?;
            Some(Best { step: counter("best_step")?, loss: f64::from_bits(bits), weights: take("best")? })
        }
    };
    if counter("begun")? > counter("step")? {
        return Err("it began after its own step".into());
    }
    Ok(State {
        step: counter("step")?,
        begun: counter("begun")?,
        horizon: counter("horizon")?,
        weights: take("weights")?,
        first_moment: take("first_moment")?,
        second_moment: take("second_moment")?,
        average: take("average")?,
        best,
        skipped: counter("skipped")?,
        skipped_in_a_row: counter("skipped_in_a_row")?,
        updates: counter("updates")?,
    })
}
