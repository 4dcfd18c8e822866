//! Samplers: functions of (denoiser, states, grid, streams, observer) that return data.
//!
//! All start from [`States`](crate::States), usually at the prior; coordinates already observed there (clock ∞) stay as they
//! are, so every sampler conditions on any subset of coordinates. All finish: what is returned lies on the support,
//! never a mask, never NaN. A row's result depends on the seed and its number only, not on the batch or the threads.

mod filter;
mod flow;
mod leap;
mod ode;
mod online;
mod prompt;
mod reveal;
mod second_order;
mod text;
mod text_run;

pub use filter::Filter;
pub use leap::leap;
pub use ode::{Churn, Solver, ode};
pub use online::{Finish, online};
pub use prompt::{Prompt, TextError, TextSamples};
pub(crate) use prompt::{count_texts, count_tokens};
pub use reveal::{Group, reveal};
pub use second_order::second_order;
pub use text::{Order, Parallel, events, parallel, steps};
pub(crate) use text_run::{ask_logits, check_logits};

use crate::denoise::{Estimates, Texts};
use crate::states::States;

/// Is shown every state of a sampler; `()` does nothing with it.
pub trait Observer {
    /// Called after the denoiser's answer at step `step`, before the states move on, and once more at the end.
    fn observe(&mut self, step: usize, states: &States, estimates: &Estimates);
}

/// Is shown texts as their tokens are revealed; `()` does nothing with them.
pub trait TextObserver {
    /// Called after every call of the denoiser, with the texts as they are then.
    fn observe(&mut self, step: usize, texts: &Texts<'_>);
}

impl TextObserver for () {
    fn observe(&mut self, _: usize, _: &Texts<'_>) {}
}

impl<F: FnMut(usize, &Texts<'_>)> TextObserver for F {
    fn observe(&mut self, step: usize, texts: &Texts<'_>) {
        self(step, texts);
    }
}

impl Observer for () {
    fn observe(&mut self, _: usize, _: &States, _: &Estimates) {}
}

impl<F: FnMut(usize, &States, &Estimates)> Observer for F {
    fn observe(&mut self, step: usize, states: &States, estimates: &Estimates) {
        self(step, states, estimates);
    }
}
