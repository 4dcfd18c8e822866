//! How texts are drawn: the sampler, its number of calls, and the filter.

use std::num::NonZeroUsize;

use pmm_core::{
    Filter, Order, OrderLaw, Parallel, Prompt, Streams, TextObserver, TextSamples, TimeGrid, TokenDenoiser,
    events, in_order, parallel, steps,
};

use pmm_net::text::OrderedDenoiser;

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

/// In which order an ordered network fills positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextOrder {
    /// From left to right, what is known first.
    #[default]
    LeftToRight,
    /// In an order of its own for every text, all orders being as likely.
    Random,
}

/// How texts are drawn. The default is exact: every token by its law, left to right by an ordered network, in the order of the
/// clock's events by a masked one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drawing {
    /// The order; left to right by default. A masked network has the order of its clock's events, which is random.
    pub order: Option<TextOrder>,
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
    /// What is left of a law after temperature, top-k and top-p.
    pub(crate) fn filter(&self) -> Result<Filter, Error> {
        Ok(Filter::new(self.temperature.unwrap_or(1.0), self.top_k, self.top_p)?)
    }

    /// The network, if it is asked for one token after the other, left to right: then a text may grow as long as is wanted.
    pub(crate) fn left_to_right<'m>(&self, model: &'m Model) -> Option<&'m OrderedDenoiser> {
        let straight = self.order.unwrap_or_default() == TextOrder::LeftToRight;
        match &model.denoiser {
            Denoiser::Ordered(denoiser) if straight && self.sampler.is_none() && self.steps.is_none() => {
                Some(denoiser)
            }
            _ => None,
        }
    }

    /// Whether a model so writes a text from left to right, one token after the other.
    pub fn writes_left_to_right(&self, model: &Model) -> bool {
        self.left_to_right(model).is_some()
    }

    /// Refuses an order that cannot be had.
    pub(crate) fn check(&self, model: &Model) -> Result<(), Error> {
        let Some(order) = self.order else { return Ok(()) };
        if self.sampler.is_some() || self.steps.is_some() {
            return Err(Error::request(
                "a sampler with an order of its own was asked for an order",
                "ask for the order or for the sampler and its steps",
            ));
        }
        if order == TextOrder::LeftToRight && matches!(model.denoiser, Denoiser::Masked(_)) {
            return Err(Error::request(
                "a masked network does not write from left to right",
                "fit an ordered network (net.kind = ordered), or ask for random order",
            ));
        }
        Ok(())
    }

    /// Completes a prompt.
    pub(crate) fn draw(
        &self,
        model: &Model,
        prompt: Prompt,
        streams: &Streams,
        observer: &mut dyn TextObserver,
    ) -> Result<TextSamples, Error> {
        let (denoiser, filter) = (&model.denoiser, self.filter()?);
        self.check(model)?;
        // An ordered network reads on from where it is: one token a step costs one token.
        if let (Denoiser::Ordered(denoiser), None | Some(Sampler::Events), None) =
            (denoiser, self.sampler, self.steps)
        {
            let random = self.sampler.is_some() || self.order == Some(TextOrder::Random);
            let law = if random { OrderLaw::Random } else { OrderLaw::LeftToRight };
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
