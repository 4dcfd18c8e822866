//! The network of a text with its weights, of either kind.

use pmm_core::{Clock, LogLinear, Texts, TokenDenoiser, TokenPosition};
use pmm_net::text::{OrderedDenoiser, TextDenoiser, TextNetwork};

/// What samplers and scores ask.
#[derive(Debug, Clone)]
pub(crate) enum Denoiser {
    /// Reads tokens in the order of their events.
    Ordered(OrderedDenoiser),
    /// Reads masked texts.
    Masked(TextDenoiser),
}

impl Denoiser {
    pub(crate) fn new(net: &TextNetwork, weights: &[f32]) -> Self {
        match net {
            TextNetwork::Ordered(net) => Self::Ordered(OrderedDenoiser::new(net.clone(), weights.to_vec())),
            TextNetwork::Masked(net) => Self::Masked(TextDenoiser::new(net.clone(), weights.to_vec())),
        }
    }

    /// The clock by which masks are lifted; an ordered network knows no time, so any will do.
    pub(crate) fn clock(&self) -> &dyn Clock {
        match self {
            Self::Ordered(_) => &LogLinear,
            Self::Masked(denoiser) => denoiser.net().clock(),
        }
    }
}

impl TokenDenoiser for Denoiser {
    fn classes(&self) -> usize {
        match self {
            Self::Ordered(denoiser) => TokenDenoiser::classes(denoiser),
            Self::Masked(denoiser) => denoiser.classes(),
        }
    }
    fn length(&self) -> usize {
        match self {
            Self::Ordered(denoiser) => TokenDenoiser::length(denoiser),
            Self::Masked(denoiser) => denoiser.length(),
        }
    }
    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]) {
        match self {
            Self::Ordered(denoiser) => denoiser.logits(texts, wanted, logits),
            Self::Masked(denoiser) => denoiser.logits(texts, wanted, logits),
        }
    }
}
