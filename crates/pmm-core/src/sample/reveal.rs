//! Reveal clocks: a coordinate jumps from unknown to observed, a few at a time, each from the law given those before.

use super::Observer;
use super::online::advance_cells;
use crate::denoise::{Denoiser, Estimates};
use crate::error::SpaceError;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::space::{Space, Values};
use crate::states::States;

/// Coordinates that are revealed together, each as (block, coordinate): a column of a table, with its gate and its value.
pub type Group = Vec<(usize, usize)>;

/// Reveals one group of coordinates per call until none is unknown: x_g ~ p(x_g | revealed), from a denoiser with a
/// marginal head. Every row has its own random order, or all rows share `order` (indices of groups).
///
/// It is the any-order autoregressive end of Posterior Mean Matching: exact for any order if the laws are, as long as the
/// coordinates of a group are independent given the revealed ones. Calls: the largest number of unknown groups in a row.
///
/// ```
/// use pmm_core::{Block, FiniteTarget, LogLinear, Masked, Space, States, Elements, Streams, Values, reveal};
/// let space = Space::new(vec![Block::new(Masked::new(2)?, 2, LogLinear)?]); // two columns that always agree
/// let target = FiniteTarget::new(&space, Values::new(vec![Elements::from(vec![0u32, 0, 1, 1])]), &[0.3, 0.7])?;
/// let columns = [vec![(0, 0)], vec![(0, 1)]];
/// let x = reveal(&target, States::prior(&space, 0, 500), &columns, None, &Streams::new(0), &mut ())?;
/// assert!(x.tokens(0).chunks(2).all(|row| row[0] == row[1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reveal(
    denoiser: &dyn Denoiser,
    mut states: States,
    groups: &[Group],
    order: Option<&[usize]>,
    streams: &Streams,
    observer: &mut dyn Observer,
) -> Result<Values, SpaceError> {
    let group_of = group_of(states.space(), groups);
    let turns = turns(&states, groups, order, streams);
    let calls =
        turns.iter().flatten().copied().filter(|&turn| turn != NEVER).max().map_or(0, |last| last + 1);
    let mut estimates = Estimates::default();
    for call in 0..calls {
        estimates.ask(denoiser, &states)?;
        observer.observe(call as usize, &states, &estimates);
        let target = |index: usize, row: usize, c: usize| {
            let now = group_of[index][c].is_none_or(|group| turns[row][group] == call);
            if now { f64::INFINITY } else { 0.0 }
        };
        advance_cells(&mut states, &estimates, target, Purpose::ADVANCE, u64::from(call), streams);
    }
    observer.observe(calls as usize, &states, &estimates);
    Ok(states.into_values())
}

/// The turn of a group that is known from the start.
const NEVER: u32 = u32::MAX;

/// The group of every coordinate of every block. One that is in no group is revealed at the first call.
fn group_of(space: &Space, groups: &[Group]) -> Vec<Vec<Option<usize>>> {
    let mut of: Vec<Vec<Option<usize>>> =
        space.blocks().iter().map(|block| vec![None; block.width]).collect();
    for (group, members) in groups.iter().enumerate() {
        members.iter().for_each(|&(block, c)| of[block][c] = Some(group));
    }
    of
}

/// For every row, the call at which each group is revealed.
fn turns(states: &States, groups: &[Group], order: Option<&[usize]>, streams: &Streams) -> Vec<Vec<u32>> {
    let blocks = states.space().blocks();
    let unknown = |row: usize, group: &Group| {
        group.iter().any(|&(b, c)| states.clock(b)[row * blocks[b].width + c] < f64::INFINITY)
    };
    let shared: Vec<usize> = order.map_or((0..groups.len()).collect(), <[usize]>::to_vec);
    let turns_of = |row: usize| {
        let mut path = shared.clone();
        if order.is_none() {
            streams.stream(Purpose::ORDER, 0, states.first_row() + row as u64).shuffle(&mut path);
        }
        let mut turns = vec![NEVER; groups.len()];
        path.into_iter().filter(|&g| unknown(row, &groups[g])).zip(0..).for_each(|(g, turn)| turns[g] = turn);
        turns
    };
    (0..states.rows()).map(turns_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::LogLinear;
    use crate::pair::{Masked, Normal};
    use crate::{Block, Elements, Exponential, FiniteTarget};

    /// Three columns, the last with a gate and a value that go together; any order gives the joint law.
    #[test]
    fn joint_law_in_any_order() {
        let space = Space::new(vec![
            Block::new(Masked::new(2).unwrap(), 2, LogLinear).unwrap(),
            Block::new(Normal::new(1.0, 0.0).unwrap(), 1, Exponential::default()).unwrap(),
        ]);
        let tokens = Elements::from(vec![0u32, 0, 0, 1, 1, 1, 1, 0]);
        let reals = Elements::from(vec![-1.0f32, 2.0, -1.0, 0.5]);
        let weights = [0.1, 0.4, 0.3, 0.2];
        let target = FiniteTarget::new(&space, Values::new(vec![tokens, reals]), &weights)
            .unwrap()
            .with_head(crate::Head::Marginal);
        let columns = [vec![(0, 0)], vec![(0, 1)], vec![(1, 0)]];
        let rows = 40_000;
        for order in [None, Some(&[2usize, 0, 1][..])] {
            let prior = States::prior(&space, 0, rows);
            let x = reveal(&target, prior, &columns, order, &Streams::new(3), &mut ()).unwrap();
            let mut counts = [0usize; 4];
            for (t, z) in x.tokens(0).chunks(2).zip(x.reals(1)) {
                let point = match (t[0], t[1], *z) {
                    (0, 0, -1.0) => 0,
                    (0, 1, 2.0) => 1,
                    (1, 1, -1.0) => 2,
                    (1, 0, 0.5) => 3,
                    other => panic!("not a point of the target: {other:?}"),
                };
                counts[point] += 1;
            }
            for (count, weight) in counts.iter().zip(weights) {
                // Five standard errors: a false alarm once in two hundred thousand runs.
                let error = 5.0 * (weight * (1.0 - weight) / rows as f64).sqrt();
                assert!((*count as f64 / rows as f64 - weight).abs() < error, "{counts:?}");
            }
        }
    }

    #[test]
    fn known_groups_cost_no_call() {
        let space = Space::new(vec![Block::new(Masked::new(3).unwrap(), 3, LogLinear).unwrap()]);
        let points = Values::new(vec![Elements::from(vec![0u32, 1, 2, 2, 1, 0])]);
        let target = FiniteTarget::new(&space, points, &[0.5, 0.5]).unwrap();
        let mut states = States::prior(&space, 0, 2);
        states
            .observe(&Values::new(vec![Elements::from(vec![0u32, 1, 0, 2, 0, 0])]), |row, _, c| {
                (row, c) != (0, 2) && c != 1
            })
            .unwrap();
        let mut calls = 0;
        let mut count = |_: usize, _: &States, _: &Estimates| calls += 1;
        let columns = [vec![(0, 0)], vec![(0, 1)], vec![(0, 2)]];
        let x = reveal(&target, states, &columns, None, &Streams::new(0), &mut count).unwrap();
        assert_eq!(x.tokens(0), [0, 1, 2, 2, 1, 0]);
        assert_eq!(calls, 3); // two calls for row 0, and the last look
    }
}
