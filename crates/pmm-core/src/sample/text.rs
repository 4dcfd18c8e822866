//! Samplers of texts: one masked block, revealed position by position.

use std::num::NonZeroUsize;

use super::TextObserver;
use super::filter::Filter;
use super::prompt::{Prompt, TextError, TextSamples};
use super::text_run::TextRun;
use crate::clock::{Clock, TimeGrid};
use crate::denoise::{TokenDenoiser, TokenPosition};
use crate::draw;
use crate::pair::reveal_probability;
use crate::purpose::Purpose;
use crate::rng::Streams;

/// In which order [`parallel`] reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Any order is as likely as any other.
    Random,
    /// The positions whose likeliest token is most probable first.
    Confidence,
}

/// How [`parallel`] decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallel {
    /// The number of calls.
    pub calls: NonZeroUsize,
    /// Which positions come first.
    pub order: Order,
}

/// Exact event simulation: every masked position has its own time of revelation, drawn from the clock; positions are
/// revealed in that order, each with one call that sees all before it. A text with m masks takes m calls, none wasted.
/// Positions whose time lies after t = 1 follow in the same order, still one by one.
///
/// With a perfect denoiser and the default filter the texts have exactly the target's law.
pub fn events(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
    observer: &mut dyn TextObserver,
) -> Result<TextSamples, TextError> {
    let length = denoiser.length();
    let mut run = TextRun::new(denoiser, prompt, filter)?;
    let queues: Vec<Vec<(f64, usize)>> =
        (0..run.rows()).map(|row| run.event_times(row, clock, streams)).collect();
    for event in 0..length {
        let mut wanted = Vec::new();
        for (row, queue) in queues.iter().enumerate() {
            if let Some(&(t, position)) = queue.get(event) {
                run.times[row] = t.min(1.0);
                wanted.push(TokenPosition { row, position });
            }
        }
        run.reveal(&wanted, event, streams, observer)?;
    }
    Ok(run.finish())
}

/// Fixed steps: in each interval of the grid a masked position is revealed with probability 1 − e^(−ΔA), all those of one
/// interval from one call. No call is made for a row in whose interval nothing is revealed. What would be left at t = 1 is
/// revealed with the last interval.
///
/// Positions revealed together are drawn independently: exact as steps shrink.
pub fn steps(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    grid: &TimeGrid,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
    observer: &mut dyn TextObserver,
) -> Result<TextSamples, TextError> {
    let length = denoiser.length();
    let mut run = TextRun::new(denoiser, prompt, filter)?;
    for (step, times) in grid.times().windows(2).enumerate() {
        let reveal: Vec<f64> = (0..length)
            .map(|c| {
                let place = c as f64 / length as f64;
                reveal_probability(clock.information(times[1], place) - clock.information(times[0], place))
            })
            .collect();
        let last = step + 1 == grid.steps();
        let mut wanted = Vec::new();
        for row in 0..run.rows() {
            run.times[row] = times[0];
            let mut rng = run.stream(Purpose::ORDER, step as u64, row, streams);
            let masked = run.masked(row).filter(|&c| draw::bernoulli(reveal[c], &mut rng) || last);
            wanted.extend(masked.map(|position| TokenPosition { row, position }));
        }
        run.reveal(&wanted, step, streams, observer)?;
    }
    Ok(run.finish())
}

/// Several positions per call, **approximate**: a text with m masks is completed in so many calls at most, the positions of
/// one call drawn independently of each other. With as many calls as masks it is exact for either order, since the choice
/// of the next position looks only at what is already revealed.
pub fn parallel(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    plan: Parallel,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
    observer: &mut dyn TextObserver,
) -> Result<TextSamples, TextError> {
    let mut run = TextRun::new(denoiser, prompt, filter)?;
    let calls = plan.calls.get();
    let masks: Vec<usize> = (0..run.rows()).map(|row| run.masked(row).count()).collect();
    for call in 0..calls {
        // After call k of n, the share (k + 1)/n of the masks is gone; the denoiser is told when that is so on average.
        let quota = |row: usize| masks[row] * (call + 1) / calls - masks[row] * call / calls;
        run.times.fill(clock.time(-(-(call as f64) / calls as f64).ln_1p(), 0.5).clamp(0.0, 1.0));
        match plan.order {
            Order::Random => {
                let wanted = run.random_positions(quota, call as u64, streams);
                run.reveal(&wanted, call, streams, observer)?;
            }
            Order::Confidence => {
                let wanted = run.confident_positions(quota)?;
                if !wanted.is_empty() {
                    run.draw_from_cache(&wanted, call, streams, observer);
                }
            }
        }
    }
    Ok(run.finish())
}
