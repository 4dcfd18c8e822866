//! The ordered network with its weights, as samplers ask it.

use std::sync::Arc;

use pmm_core::{SequentialDenoiser, Texts, TokenDenoiser, TokenPosition};

use super::ordered::OrderedNet;
use super::ordered_cache::OrderedCache;

/// An ordered network with its weights. Step by step it fills texts with a cache ([`SequentialDenoiser`]); asked at once about several
/// positions ([`TokenDenoiser`]) it reads what is known from left to right and answers each as the next.
#[derive(Debug, Clone)]
pub struct OrderedDenoiser {
    net: Arc<OrderedNet>,
    weights: Arc<[f32]>,
}

impl OrderedDenoiser {
    /// A network with weights of its own.
    pub fn new(net: Arc<OrderedNet>, weights: impl Into<Arc<[f32]>>) -> Self {
        Self { net, weights: weights.into() }
    }

    /// The network.
    pub fn net(&self) -> &Arc<OrderedNet> {
        &self.net
    }

    /// The weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }
}

impl SequentialDenoiser for OrderedDenoiser {
    type Cache = OrderedCache;

    fn classes(&self) -> usize {
        self.net.classes()
    }
    fn length(&self) -> usize {
        self.net.length()
    }
    fn begin(&self, tokens: &[u32]) -> OrderedCache {
        self.net.begin(&self.weights, tokens)
    }
    fn step(&self, cache: &mut OrderedCache, wanted: &[TokenPosition]) -> Vec<f32> {
        self.net.step(&self.weights, cache, wanted)
    }
    fn reveal(&self, cache: &mut OrderedCache, place: TokenPosition, token: u32) {
        cache.reveal(place, token);
    }
}

impl TokenDenoiser for OrderedDenoiser {
    fn classes(&self) -> usize {
        self.net.classes()
    }
    fn length(&self) -> usize {
        self.net.length()
    }
    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]) {
        let length = self.net.length();
        // Rows of which nothing is wanted need not be read.
        let mut rows: Vec<usize> = wanted.iter().map(|place| place.row).collect();
        rows.sort_unstable();
        rows.dedup();
        let tokens: Vec<u32> =
            rows.iter().flat_map(|row| &texts.tokens[row * length..][..length]).copied().collect();
        let cache = self.net.begin(&self.weights, &tokens);
        let at = |place: &TokenPosition| TokenPosition {
            row: rows.partition_point(|&row| row < place.row),
            ..*place
        };
        let wanted: Vec<TokenPosition> = wanted.iter().map(at).collect();
        logits.copy_from_slice(&self.net.peek(&self.weights, &cache, &wanted));
    }
}
