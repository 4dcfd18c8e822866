//! States: statistic and clock of every coordinate of a batch of rows.

use rayon::prelude::*;

use crate::denoise::Estimate;
use crate::elements::{Element, Elements};
use crate::error::SpaceError;
use crate::pair::Pair;
use crate::purpose::Purpose;
use crate::rng::{RowStreams, Stream, Streams};
use crate::space::{Space, Values};

/// A batch of rows on their clocks. Row r of the batch is row `first_row + r` of the whole: its noise is keyed by that
/// number, so a batch cut in two gives the same draws.
///
/// A clock of 0 is *unknown*, a clock of ∞ is *observed*; every sampler leaves observed coordinates as they are, which is
/// all there is to conditioning.
///
/// ```
/// use pmm_core::{Block, Exponential, Normal, Space, States, Elements, Streams, Values};
/// let space = Space::new(vec![Block::new(Normal::new(2.0, 0.0)?, 2, Exponential::default())?]);
/// let x = Values::new(vec![Elements::from(vec![1.0f32, -1.0])]);
/// let mut states = States::prior(&space, 0, 1);
/// states.observe(&x, |_row, _block, coordinate| coordinate == 0)?;
/// states.draw(&x, &[0.9], &Streams::new(0), 0)?;
/// assert_eq!(states.clock(0)[0], f64::INFINITY);
/// assert_eq!(states.means(0)[0], 1.0); // observed: μ = x
/// assert!((states.means(0)[1] + 1.0).abs() < 0.3); // a = 482 at t = .9: close to −1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct States {
    space: Space,
    first_row: u64,
    rows: usize,
    blocks: Vec<BlockStates>,
}

/// The states of one block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlockStates {
    /// `[rows, width]`.
    pub(crate) clock: Vec<f64>,
    /// `[rows, width, stat_len]`.
    pub(crate) stat: Elements,
    /// Cells that are missing in the data, `[rows, width]`; empty where none is.
    missing: Vec<bool>,
}

impl BlockStates {
    /// Whether a cell is missing, by its place in the buffers.
    pub(crate) fn is_missing(&self, index: usize) -> bool {
        self.missing.get(index).copied().unwrap_or(false)
    }
}

impl States {
    /// Every coordinate unknown: clock 0.
    pub fn prior(space: &Space, first_row: u64, rows: usize) -> Self {
        let blocks = space.blocks().iter().map(|block| {
            let stat = block.pair.erased().prior_stat(rows * block.width);
            BlockStates { clock: vec![0.0; rows * block.width], stat, missing: Vec::new() }
        });
        Self { space: space.clone(), first_row, rows, blocks: blocks.collect() }
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The number of the first row in the whole.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }
    /// The clock readings of a block, `[rows, width]`.
    pub fn clock(&self, block: usize) -> &[f64] {
        &self.blocks[block].clock
    }
    /// The statistics of a block, `[rows, width, stat_len]`; x itself where the clock is ∞.
    pub fn stat(&self, block: usize) -> &Elements {
        &self.blocks[block].stat
    }
    pub(crate) fn block(&self, block: usize) -> &BlockStates {
        &self.blocks[block]
    }
    pub(crate) fn block_mut(&mut self, block: usize) -> &mut BlockStates {
        &mut self.blocks[block]
    }

    /// The posterior means of a block, `[rows, width, mean_len]`.
    pub fn means(&self, block: usize) -> Vec<f32> {
        let BlockStates { clock, stat, .. } = &self.blocks[block];
        self.space.blocks()[block].pair.erased().means(clock, stat)
    }

    /// Sets the clock of chosen coordinates to ∞, at the given values. Only chosen values must lie on the support.
    pub fn observe(
        &mut self,
        x: &Values,
        chosen: impl Fn(usize, usize, usize) -> bool,
    ) -> Result<(), SpaceError> {
        let space = self.space.clone();
        for (index, (block, states)) in space.blocks().iter().zip(&mut self.blocks).enumerate() {
            let chosen = |i: usize| chosen(i / block.width, index, i % block.width);
            block.pair.erased().observe(index, block.width, x, states, &chosen)?;
        }
        Ok(())
    }

    /// Marks chosen cells as missing in the data: [`States::draw`] leaves their clock at 0, and a bound gives them no weight. x
    /// holds any value of the support there. Samplers treat them as unknown, that is, fill them.
    pub fn hide(&mut self, chosen: impl Fn(usize, usize, usize) -> bool) {
        let space = self.space.clone();
        for (index, (block, states)) in space.blocks().iter().zip(&mut self.blocks).enumerate() {
            let missing = |i: usize| chosen(i / block.width, index, i % block.width);
            states.missing = (0..states.clock.len()).map(missing).collect();
        }
    }

    /// Draws the state of every coordinate that is not observed straight from x, at the time of its row. x must have passed
    /// [`Space::check`].
    pub fn draw(
        &mut self,
        x: &Values,
        times: &[f64],
        streams: &Streams,
        step: u64,
    ) -> Result<(), SpaceError> {
        if times.len() != self.rows {
            return Err(SpaceError::Times { expected: self.rows, found: times.len() });
        }
        for (index, states) in self.blocks.iter_mut().enumerate() {
            let block = &self.space.blocks()[index];
            let places: Vec<f64> = (0..block.width).map(|c| block.relative_position(c)).collect();
            let missing = &states.missing;
            states.clock.par_chunks_mut(block.width).enumerate().for_each(|(row, clock)| {
                let unknown =
                    clock.iter_mut().zip(&places).enumerate().filter(|(_, (a, _))| **a < f64::INFINITY);
                for (c, (a, &place)) in unknown {
                    let hidden = missing.get(row * places.len() + c).copied().unwrap_or(false);
                    *a = if hidden { 0.0 } else { block.clock.information(times[row], place) };
                }
            });
            let (streams, first_row) = (*streams, self.first_row);
            let streams =
                RowStreams { streams, purpose: Purpose::STATE, block: index as u32, step, first_row };
            block.pair.erased().draw(index, block.width, x, states, streams)?;
        }
        Ok(())
    }

    /// The values of a batch whose every coordinate is observed.
    pub(crate) fn into_values(self) -> Values {
        let blocks = self.space.blocks().iter().zip(&self.blocks).map(|(block, states)| {
            debug_assert!(states.clock.iter().all(|&a| a == f64::INFINITY));
            block.pair.erased().observed(&states.stat)
        });
        Values::new(blocks.collect())
    }
}

/// Draws states straight from x: `x` is `[rows, width, value_len]`, `clock` `[rows, width]`, `stat` `[rows, width,
/// stat_len]`. Rows are drawn in parallel, each from its own stream; nothing is allocated per row.
pub fn draw_block<P: Pair>(
    pair: &P,
    x: &[P::Value],
    clock: &[f64],
    width: usize,
    stat: &mut [P::Stat],
    stream: impl Fn(usize) -> Stream + Sync,
) {
    let rows = stat.par_chunks_mut(width * pair.stat_len()).with_min_len(min_rows(width));
    rows.enumerate().for_each(|(row, stat)| {
        let x = &x[row * width * pair.value_len()..][..width * pair.value_len()];
        pair.draw_row(x, &clock[row * width..][..width], stat, &mut stream(row));
    });
}

/// Moves every unobserved coordinate on to the clock reading `target(row, coordinate)`, drawing its increment from the
/// estimate; in parallel over rows like [`draw_block`].
pub fn advance_block<P: Pair>(
    pair: &P,
    estimate: &Estimate,
    width: usize,
    target: impl Fn(usize, usize) -> f64 + Sync,
    clock: &mut [f64],
    stat: &mut [P::Stat],
    stream: impl Fn(usize) -> Stream + Sync,
) {
    let move_clock = |row: usize, clock: &mut [f64], da: &mut [f64]| move_to(clock, da, |c| target(row, c));
    advance_rows(pair, estimate, width, move_clock, clock, stat, stream);
}

/// Moves the clocks of a row on to the readings of `target`, none back, and writes by how much each moves.
#[inline]
pub(crate) fn move_to(clock: &mut [f64], da: &mut [f64], target: impl Fn(usize) -> f64) {
    let da = &mut da[..clock.len()];
    for (c, clock) in clock.iter_mut().enumerate() {
        let target = target(c);
        // A step of length 0 changes nothing.
        da[c] = if *clock < target { target - *clock } else { 0.0 };
        *clock = clock.max(target);
    }
}

/// [`advance_block`] with `move_clock`, which moves the clocks of a row and writes by how much ([`move_to`]).
pub(crate) fn advance_rows<P: Pair>(
    pair: &P,
    estimate: &Estimate,
    width: usize,
    move_clock: impl Fn(usize, &mut [f64], &mut [f64]) + Sync,
    clock: &mut [f64],
    stat: &mut [P::Stat],
    stream: impl Fn(usize) -> Stream + Sync,
) {
    let rows = stat.par_chunks_mut(width * pair.stat_len()).zip(clock.par_chunks_mut(width)).enumerate();
    let scratch = || (vec![0f64; width], vec![0f32; pair.mean_len()]);
    rows.with_min_len(min_rows(width)).for_each_init(scratch, |(da, point), (row, (stat, clock))| {
        move_clock(row, clock, da);
        let mut rng = stream(row);
        if let Estimate::Mean(x_hat) = estimate {
            let len = width * pair.mean_len();
            return pair.advance_row(stat, da, &x_hat[row * len..][..len], &mut rng);
        }
        let moving =
            stat.chunks_exact_mut(pair.stat_len()).zip(da).enumerate().filter(|(_, (_, da))| **da > 0.0);
        for (c, (s, da)) in moving {
            let x = estimate.plug_in(pair, row * width + c, point, &mut rng);
            pair.advance(s, *da, x, &mut rng);
        }
    });
}

/// So many rows that a task of the thread pool is worth its overhead.
fn min_rows(width: usize) -> usize {
    1 + 512 / width
}

pub(crate) fn prior_stat<P: Pair>(pair: &P, coordinates: usize) -> Elements {
    let mut stat = vec![P::Stat::default(); coordinates * pair.stat_len()];
    stat.chunks_exact_mut(pair.stat_len()).for_each(|s| pair.start(s));
    P::Stat::wrap(stat)
}

pub(crate) fn means<P: Pair>(pair: &P, clock: &[f64], stat: &Elements) -> Vec<f32> {
    let stat = P::Stat::get(stat).unwrap_or(&[]);
    let mut mu = vec![0.0; clock.len() * pair.mean_len()];
    let per_coordinate = mu.par_chunks_mut(pair.mean_len()).zip(stat.par_chunks(pair.stat_len())).zip(clock);
    per_coordinate.with_min_len(512).for_each(|((mu, s), &a)| pair.mean(s, a, mu));
    mu
}

pub(crate) fn observed<P: Pair>(pair: &P, stat: &Elements) -> Elements {
    let stat = P::Stat::get(stat).unwrap_or(&[]);
    let mut x = vec![P::Value::default(); stat.len() / pair.stat_len() * pair.value_len()];
    let pairs = x.chunks_exact_mut(pair.value_len()).zip(stat.chunks_exact(pair.stat_len()));
    pairs.for_each(|(x, s)| pair.observed(s, x));
    P::Value::wrap(x)
}

/// The typed values of a block of so many coordinates.
pub(crate) fn typed<'a, P: Pair>(
    pair: &P,
    block: usize,
    coordinates: usize,
    x: &'a Values,
) -> Result<&'a [P::Value], SpaceError> {
    let len = coordinates * pair.value_len();
    let given = x.blocks().get(block);
    given.and_then(P::Value::get).filter(|values| values.len() == len).ok_or_else(|| SpaceError::Shape {
        block,
        expected: format!("{len} {} values", P::Value::NAME),
        found: given.map_or("no such block".into(), |s| format!("{} {} values", s.len(), s.element_name())),
    })
}

/// The typed statistics of a block, which this module allocated.
pub(crate) fn typed_stat<'a, P: Pair>(_: &P, stat: &'a mut Elements) -> &'a mut [P::Stat] {
    P::Stat::get_mut(stat).unwrap_or_default()
}

pub(crate) fn observe<P: Pair>(
    pair: &P,
    block: usize,
    width: usize,
    x: &Values,
    states: &mut BlockStates,
    chosen: impl Fn(usize) -> bool,
) -> Result<(), SpaceError> {
    let x = typed(pair, block, states.clock.len(), x)?;
    let stat = typed_stat(pair, &mut states.stat);
    // No randomness at clock ∞; the stream is only part of the signature.
    let mut rng = Streams::new(0).stream(Purpose::STATE, 0, 0);
    for i in (0..states.clock.len()).filter(|&i| chosen(i)) {
        let x = &x[i * pair.value_len()..][..pair.value_len()];
        let (row, coordinate) = (i / width, i % width);
        pair.check(x).map_err(|source| SpaceError::Value { row, block, coordinate, source })?;
        pair.draw(x, f64::INFINITY, &mut stat[i * pair.stat_len()..][..pair.stat_len()], &mut rng);
        states.clock[i] = f64::INFINITY;
    }
    Ok(())
}
