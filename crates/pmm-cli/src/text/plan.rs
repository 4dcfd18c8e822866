//! How a text is drawn: the sampler, its number of calls, and the filter.

use std::num::NonZeroUsize;

use anyhow::bail;
use pmm_core::{
    Filter, Order, Parallel, Prompt, Streams, TextObserver, TextSamples, TimeGrid, TokenDenoiser, events,
    parallel, steps,
};
use pmm_net::text::TextDenoiser;

use crate::cli::{Drawing, Sampler};
use crate::output::Advice;

/// Texts drawn together.
pub(super) const CHUNK: usize = 32;

pub(super) struct Plan {
    sampler: Sampler,
    steps: Option<NonZeroUsize>,
    filter: Filter,
}

impl Plan {
    pub(super) fn new(drawing: &Drawing) -> anyhow::Result<Self> {
        if drawing.sampler.is_some_and(Sampler::is_of_images) {
            bail!(Advice::new(
                "this sampler is for images".into(),
                "texts have --sampler events, steps, parallel and confident"
            ));
        }
        let by_steps = if drawing.steps.is_some() { Sampler::Steps } else { Sampler::Events };
        Ok(Self {
            sampler: drawing.sampler.unwrap_or(by_steps),
            steps: drawing.steps,
            filter: Filter::new(drawing.temperature, drawing.top_k, drawing.top_p)?,
        })
    }

    /// Completes a prompt.
    pub(super) fn draw(
        &self,
        denoiser: &TextDenoiser,
        prompt: Prompt,
        streams: &Streams,
        observer: &mut dyn TextObserver,
    ) -> anyhow::Result<TextSamples> {
        let (clock, filter) = (denoiser.net().clock(), self.filter);
        let calls = self.steps.or(NonZeroUsize::new(denoiser.length())).unwrap_or(NonZeroUsize::MIN);
        let side_by_side = |order: Order| Parallel { calls, order };
        Ok(match self.sampler {
            Sampler::Events => events(denoiser, clock, prompt, filter, streams, observer)?,
            Sampler::Steps => {
                steps(denoiser, clock, &TimeGrid::uniform(calls.get())?, prompt, filter, streams, observer)?
            }
            Sampler::Parallel => {
                parallel(denoiser, clock, side_by_side(Order::Random), prompt, filter, streams, observer)?
            }
            _ => {
                parallel(denoiser, clock, side_by_side(Order::Confidence), prompt, filter, streams, observer)?
            }
        })
    }
}
