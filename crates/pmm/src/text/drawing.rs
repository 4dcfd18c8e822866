//! How texts are drawn: the sampler, its number of calls, and the filter.

use std::num::NonZeroUsize;

use pmm_core::{
    Filter, Order, OrderLaw, Parallel, Prompt, Streams, TextObserver, TextSamples, TimeGrid, TokenDenoiser,
    events, in_order, parallel, steps,
};

use super::denoiser::Denoiser;
use super::model::Model;
use crate::error::Error;

/// How masks are lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampler {
    /// Exact: one token per call, each at its own time.
    Events,
    /// Fixed steps of the clock; exact as they shrink.
    Steps,
    /// Equally many tokens per call, in random order; approximate.
    Parallel,
    /// Equally many tokens per call, the surest first; approximate.
    Confident,
}

/// How texts are drawn. The default is exact: every token by its law, left to right by an ordered network, in the order of the
/// clock's events by a masked one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drawing {
    /// The sampler; steps if their number is given.
    pub sampler: Option<Sampler>,
    /// Network calls for a text; one per token by default.
    pub steps: Option<NonZeroUsize>,
    /// Below 1 keeps closer to what is likely, 0 takes the likeliest; 1 by default.
    pub temperature: Option<f64>,
    /// Draw among so many of the likeliest tokens only.
    pub top_k: Option<usize>,
    /// Draw among the fewest tokens that hold this share of probability.
    pub top_p: Option<f64>,
}

impl Drawing {
    /// Completes a prompt.
    pub(crate) fn draw(
        &self,
        model: &Model,
        prompt: Prompt,
        streams: &Streams,
        observer: &mut dyn TextObserver,
    ) -> Result<TextSamples, Error> {
        let denoiser = &model.denoiser;
        let filter = Filter::new(self.temperature.unwrap_or(1.0), self.top_k, self.top_p)?;
        // An ordered network reads on from where it is: one token a step costs one token.
        if let (Denoiser::Ordered(denoiser), None | Some(Sampler::Events), None) =
            (denoiser, self.sampler, self.steps)
        {
            let law = if self.sampler.is_none() { OrderLaw::LeftToRight } else { OrderLaw::Random };
            return Ok(in_order(denoiser, &law, prompt, filter, streams, observer)?);
        }
        let clock = denoiser.clock();
        let calls = self.steps.or(NonZeroUsize::new(denoiser.length())).unwrap_or(NonZeroUsize::MIN);
        let default = if self.steps.is_some() { Sampler::Steps } else { Sampler::Events };
        let side_by_side = |order: Order| Parallel { calls, order };
        Ok(match self.sampler.unwrap_or(default) {
            Sampler::Events => events(denoiser, clock, prompt, filter, streams, observer)?,
            Sampler::Steps => {
                steps(denoiser, clock, &TimeGrid::uniform(calls.get())?, prompt, filter, streams, observer)?
            }
            Sampler::Parallel => {
                parallel(denoiser, clock, side_by_side(Order::Random), prompt, filter, streams, observer)?
            }
            Sampler::Confident => {
                parallel(denoiser, clock, side_by_side(Order::Confidence), prompt, filter, streams, observer)?
            }
        })
    }
}
