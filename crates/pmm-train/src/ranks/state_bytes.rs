//! The state of a run from rank 0 to all: they begin from the same.

use pmm_store::{Best, State};

use super::{Ranks, RanksError};

/// Gives every rank the state of rank 0.
pub(crate) fn share_state(state: &mut State, ranks: &dyn Ranks) -> Result<(), RanksError> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let bytes = ranks.bytes_of_first(&if ranks.rank() == 0 { write(state) } else { Vec::new() })?;
    let out_of_step = RanksError::OutOfStep { rank: 0, bytes: bytes.len() };
    *state = read(&bytes, state.weights.len()).ok_or(out_of_step)?;
    Ok(())
}

fn write(state: &State) -> Vec<u8> {
    let (step, loss) = state.best.as_ref().map_or((u64::MAX, 0.0), |best| (best.step, best.loss));
    let State { begun, horizon, skipped, skipped_in_a_row, updates, .. } = *state;
    let counts = [state.step, begun, horizon, skipped, skipped_in_a_row, updates, step, f64::to_bits(loss)];
    let mut bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
    let numbers = [&state.weights, &state.first_moment, &state.second_moment, &state.average];
    for numbers in numbers.into_iter().chain(state.best.as_ref().map(|best| &best.weights)) {
        bytes.extend_from_slice(bytemuck::cast_slice(numbers));
    }
    bytes
}

fn read(bytes: &[u8], weights: usize) -> Option<State> {
    let (counts, numbers) = bytes.split_at_checked(64)?;
    let counts: Vec<u64> = bytemuck::pod_collect_to_vec(counts);
    let [step, begun, horizon, skipped, skipped_in_a_row, updates, best, loss] =
        counts[..].try_into().ok()?;
    let numbers: Vec<f32> = (numbers.len() % 4 == 0).then(|| bytemuck::pod_collect_to_vec(numbers))?;
    let parts = if best == u64::MAX { 4 } else { 5 };
    if numbers.len() != parts * weights {
        return None;
    }
    let part = |index: usize| numbers[index * weights..(index + 1) * weights].to_vec();
    let best = (parts == 5).then(|| Best { step: best, loss: f64::from_bits(loss), weights: part(4) });
    let (weights, first_moment, second_moment, average) = (part(0), part(1), part(2), part(3));
    Some(State {
        step,
        begun,
        horizon,
        weights,
        first_moment,
        second_moment,
        average,
        best,
        skipped,
        skipped_in_a_row,
        updates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_arrives_as_it_was() {
        let mut state = State::new(vec![1.5, -2.0, 0.25]);
        (state.step, state.updates, state.second_moment[1]) = (7, 6, 0.5);
        assert_eq!(read(&write(&state), 3).as_ref(), Some(&state));
        state.best = Some(Best { step: 5, loss: 0.1, weights: vec![1.0, 2.0, 3.0] });
        assert_eq!(read(&write(&state), 3).as_ref(), Some(&state));
        assert_eq!(read(&write(&state), 2), None);
        assert_eq!(read(&write(&state)[..70], 3), None);
    }
}
