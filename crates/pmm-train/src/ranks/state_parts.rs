//! The state of a run on many ranks: all have the weights, and each keeps the moments and averages of its own segment.

use std::borrow::Cow;

use pmm_store::{Best, State};

use super::{Ranks, RanksError};
use crate::segment::Segment;

/// First moments, second moments and average, of all weights or of a segment.
pub(crate) struct Parts(pub(crate) [Vec<f32>; 3]);

impl Parts {
    /// Those of a segment, of a state that has all.
    fn of(state: &State, segment: &Segment) -> Self {
        Self([&state.first_moment, &state.second_moment, &state.average].map(|all| segment.of(all)))
    }

    /// A state has these from now on; returns what it had.
    pub(crate) fn swap(self, state: &mut State) -> Self {
        let [first, second, average] = self.0;
        Self([
            std::mem::replace(&mut state.first_moment, first),
            std::mem::replace(&mut state.second_moment, second),
            std::mem::replace(&mut state.average, average),
        ])
    }

    /// Leaves a state that has all with what a segment needs.
    pub(crate) fn keep_own(state: &mut State, segment: &Segment) {
        if segment.len() < state.weights.len() {
            Self::of(state, segment).swap(state);
        }
    }

    fn write(&self) -> Vec<u8> {
        bytemuck::cast_slice(&self.0.concat()).to_vec()
    }

    fn read(bytes: &[u8], segment: &Segment) -> Option<Self> {
        let length = segment.len();
        let numbers: Vec<f32> = floats(bytes, 3 * length)?;
        Some(Self([0, 1, 2].map(|part| numbers[part * length..(part + 1) * length].to_vec())))
    }
}

fn floats(bytes: &[u8], count: usize) -> Option<Vec<f32>> {
    (bytes.len() == 4 * count).then(|| bytemuck::pod_collect_to_vec(bytes))
}

/// Gives every rank the state of rank 0: all of its weights, and of moments and averages those of the rank's own segment.
pub(crate) fn deal(state: &mut State, segments: &[Segment], ranks: &dyn Ranks) -> Result<(), RanksError> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let is_first = ranks.rank() == 0;
    let bytes = ranks.bytes_of_first(&if is_first { write(state) } else { Vec::new() })?;
    let part = |segment: &Segment| if is_first { Parts::of(state, segment).write() } else { Vec::new() };
    let parts: Vec<Vec<u8>> = segments.iter().map(part).collect();
    let part = ranks.exchange(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())?.swap_remove(0);
    let out_of_step = RanksError::OutOfStep { rank: 0, bytes: bytes.len() + part.len() };
    let read = || {
        let mut state = read(&bytes, state.weights.len())?;
        Parts::read(&part, &segments[ranks.rank()])?.swap(&mut state);
        Some(state)
    };
    *state = read().ok_or(out_of_step)?;
    Ok(())
}

/// Moments and averages of all weights, for all ranks or for rank 0 alone; none for the others.
pub(crate) fn gather_parts(
    state: &State,
    segments: &[Segment],
    for_all: bool,
    ranks: &dyn Ranks,
) -> Result<Option<Parts>, RanksError> {
    let own: [&[f32]; 3] = [&state.first_moment, &state.second_moment, &state.average];
    let own: Vec<u8> = bytemuck::cast_slice(&own.concat()).to_vec();
    let to: Vec<&[u8]> =
        (0..ranks.size()).map(|rank| if for_all || rank == 0 { &own[..] } else { &[] }).collect();
    let from = ranks.exchange(&to)?;
    if !for_all && ranks.rank() > 0 {
        return Ok(None);
    }
    let mut all = [0, 1, 2].map(|_| vec![0.0; state.weights.len()]);
    for (rank, (bytes, segment)) in from.iter().zip(segments).enumerate() {
        let part = Parts::read(bytes, segment);
        let part = part.ok_or(RanksError::OutOfStep { rank, bytes: bytes.len() })?;
        all.iter_mut().zip(&part.0).for_each(|(all, part)| segment.put(part, all));
    }
    Ok(Some(Parts(all)))
}

/// The average of all weights. Tables of which a step reads some rows are their own average.
pub(crate) fn gather_average<'s>(
    state: &'s State,
    segments: &[Segment],
    ranks: &dyn Ranks,
) -> Result<Cow<'s, [f32]>, RanksError> {
    if ranks.size() == 1 {
        return Ok(Cow::Borrowed(&state.average));
    }
    let own = &state.average[..segments[ranks.rank()].dense.len()];
    let mut all = state.weights.clone();
    for (rank, bytes) in ranks.gather(bytemuck::cast_slice(own))?.iter().enumerate() {
        let segment = &segments[rank].dense;
        let part = floats(bytes, segment.len());
        all[segment.clone()]
            .copy_from_slice(&part.ok_or(RanksError::OutOfStep { rank, bytes: bytes.len() })?);
    }
    Ok(Cow::Owned(all))
}

/// All but moments and averages.
fn write(state: &State) -> Vec<u8> {
    let (step, loss) = state.best.as_ref().map_or((u64::MAX, 0.0), |best| (best.step, best.loss));
    let State { begun, horizon, skipped, skipped_in_a_row, updates, .. } = *state;
    let counts = [state.step, begun, horizon, skipped, skipped_in_a_row, updates, step, f64::to_bits(loss)];
    let mut bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
    bytes.extend_from_slice(bytemuck::cast_slice(&state.weights));
    if let Some(best) = &state.best {
        bytes.extend_from_slice(bytemuck::cast_slice(&best.weights));
    }
    bytes
}

fn read(bytes: &[u8], weights: usize) -> Option<State> {
    let (counts, numbers) = bytes.split_at_checked(64)?;
    let counts: Vec<u64> = bytemuck::pod_collect_to_vec(counts);
    let [step, begun, horizon, skipped, skipped_in_a_row, updates, best, loss] =
        counts[..].try_into().ok()?;
    let has_best = best != u64::MAX;
    let mut numbers = floats(numbers, if has_best { 2 * weights } else { weights })?;
    let best_weights = numbers.split_off(weights);
    let best = has_best.then(|| Best { step: best, loss: f64::from_bits(loss), weights: best_weights });
    Some(State {
        step,
        begun,
        horizon,
        weights: numbers,
        first_moment: Vec::new(),
        second_moment: Vec::new(),
        average: Vec::new(),
        best,
        skipped,
        skipped_in_a_row,
        updates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Threads;

    fn state() -> State {
        let mut state = State::new((0..10).map(|i| i as f32).collect());
        (state.step, state.updates) = (7, 6);
        state.first_moment = (100..110).map(|i| i as f32).collect();
        state.second_moment = (200..210).map(|i| i as f32).collect();
        // The last four are tables, which are their own average.
        state.average[..6].iter_mut().for_each(|average| *average += 0.5);
        state
    }

    /// A state is dealt out, and put together again: for rank 0 or for all. A rank has its own part in between.
    #[test]
    fn a_state_goes_out_and_comes_back() {
        let segments = [
            Segment { dense: 0..2, rows: 6..6 },
            Segment { dense: 2..2, rows: 6..8 },
            Segment { dense: 2..6, rows: 8..10 },
        ];
        for best in [None, Some(Best { step: 5, loss: 0.1, weights: vec![3.0; 10] })] {
            let whole = State { best, ..state() };
            std::thread::scope(|scope| {
                for ranks in Threads::group(3) {
                    let (whole, segments) = (&whole, &segments);
                    scope.spawn(move || {
                        let rank = ranks.rank();
                        let mut own = if rank == 0 { whole.clone() } else { State::new(vec![0.0; 10]) };
                        deal(&mut own, segments, &ranks).unwrap();
                        assert_eq!((&own.weights, &own.best), (&whole.weights, &whole.best));
                        assert_eq!(own.second_moment, segments[rank].of(&whole.second_moment));
                        assert_eq!(gather_average(&own, segments, &ranks).unwrap(), whole.average);
                        assert_eq!(gather_parts(&own, segments, false, &ranks).unwrap().is_some(), rank == 0);
                        gather_parts(&own, segments, true, &ranks).unwrap().unwrap().swap(&mut own);
                        assert_eq!(&own, whole);
                        Parts::keep_own(&mut own, &segments[rank]);
                        assert_eq!(own.average, segments[rank].of(&whole.average));
                    });
                }
            });
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let bytes = write(&state());
        assert!(read(&bytes, 10).is_some() && read(&bytes, 9).is_none() && read(&bytes[..70], 10).is_none());
        assert!(Parts::read(&bytes, &Segment { dense: 0..4, rows: 6..8 }).is_none());
    }
}
