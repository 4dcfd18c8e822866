//! What texts cost: how many bits, in which order, and where.

use pmm_core::{OrderLaw, Purpose, Streams};
use pmm_data::Document;
use pmm_net::text::OrderedDenoiser;

use super::data::Data;
use super::denoiser::Denoiser;
use super::gap_lengths::left_to_right;
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Random orders in which a text is read, unless another number is given.
pub(super) const ORDERS: usize = 8;

/// Texts to score by their exact likelihoods, which an ordered network has.
#[derive(Debug, Clone)]
pub struct Score<'m> {
    model: &'m Model,
    data: Data,
    orders: usize,
    seed: u64,
}

/// What a document costs.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentScore {
    /// Its name, where its source has one for it: a record of FASTA.
    pub name: Option<String>,
    /// Its tokens; for a sequence, its end among them.
    pub tokens: usize,
    /// Its characters.
    pub characters: usize,
    /// −log₂ p of all of it, read from left to right. Beyond the first window a token is read given half of a window, at least.
    pub left_to_right: f64,
    /// −log₂ p in random orders: the mean over orders. A document longer than the model's window is cut into windows.
    pub random: f64,
    /// −log₂ of the mean over random orders of p: the likelihood under the mixture of orders, at most `random`.
    pub order_averaged: f64,
    /// −log₂ p of each token given those to its left; their sum is `left_to_right`.
    pub surprises: Vec<f64>,
}

impl DocumentScore {
    /// Bits per character, from left to right.
    pub fn bits_per_character(&self) -> f64 {
        self.left_to_right / self.characters.max(1) as f64
    }
}

impl<'m> Score<'m> {
    pub(crate) fn new(model: &'m Model, data: Data) -> Self {
        Self { model, data, orders: ORDERS, seed: 0 }
    }

    /// How many random orders a text is read in; 8 by default. 0: from left to right only, and the two others are NaN.
    pub fn orders(mut self, orders: usize) -> Self {
        self.orders = orders;
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Scores every document.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Vec<DocumentScore>, Error> {
        let Denoiser::Ordered(denoiser) = &self.model.denoiser else {
            return Err(Error::request(
                "a masked network has no exact likelihood of a text, only a bound",
                "evaluate the model for its bound, or fit an ordered network (net.kind = ordered)",
            ));
        };
        let documents = self.data.documents(self.model.config())?;
        watcher.notice(Event::Started { what: "scoring", total: Some(documents.len() as u64) });
        let mut scores = Vec::with_capacity(documents.len());
        for (number, document) in (0..).zip(documents) {
            if watcher.wants_stop() {
                return Err(Error::Stopped);
            }
            scores.push(self.document(denoiser, document, number)?);
            watcher.notice(Event::Progress { done: number + 1 });
        }
        watcher.notice(Event::Finished);
        Ok(scores)
    }

    fn document(
        &self,
        denoiser: &OrderedDenoiser,
        document: Document,
        number: u64,
    ) -> Result<DocumentScore, Error> {
        let Document { name, bytes: text } = document;
        let mut tokens = self.model.tokenizer().encode(&text)?;
        let mut known = 0;
        if let Some(end) = self.model.sequence_end() {
            tokens.insert(0, end);
            tokens.push(end);
            known = 1;
        }
        let surprises = left_to_right_bits(denoiser, &tokens)[known..].to_vec();
        let streams = Streams::new(self.seed);
        let bits: Vec<f64> = (0..self.orders as u64)
            .map(|order| random_bits(denoiser, &tokens, &streams, order, number))
            .collect();
        let random = bits.iter().sum::<f64>() / bits.len() as f64;
        Ok(DocumentScore {
            name,
            tokens: tokens.len() - known,
            characters: String::from_utf8_lossy(&text).chars().count(),
            left_to_right: surprises.iter().sum(),
            random,
            order_averaged: mixture_bits(&bits),
            surprises,
        })
    }
}

/// −log₂ p of each token given those to its left: all of them in the first window, at least half a window's further on.
pub(super) fn left_to_right_bits(denoiser: &OrderedDenoiser, tokens: &[u32]) -> Vec<f64> {
    let (net, length) = (denoiser.net(), denoiser.net().length());
    let fresh = (length / 2).max(1);
    let mut starts = vec![0];
    while starts.last().is_some_and(|start| start + length < tokens.len()) {
        starts.extend(starts.last().map(|start| start + fresh));
    }
    let windows: Vec<&[u32]> =
        starts.iter().map(|&start| &tokens[start..tokens.len().min(start + length)]).collect();
    let read: Vec<_> =
        windows.iter().map(|window| net.beginning(window, &left_to_right(window.len()))).collect();
    let mut bits = Vec::with_capacity(tokens.len());
    for (start, log_p) in starts.into_iter().zip(net.log_probabilities(denoiser.weights(), &read)) {
        let known = bits.len() - start;
        bits.extend(log_p[known..].iter().map(|log_p| -log_p / std::f64::consts::LN_2));
    }
    bits
}

/// −log₂ p of tokens in a random order, window by window.
fn random_bits(
    denoiser: &OrderedDenoiser,
    tokens: &[u32],
    streams: &Streams,
    order: u64,
    document: u64,
) -> f64 {
    let net = denoiser.net();
    let read: Vec<_> = (0..)
        .zip(tokens.chunks(net.length()))
        .map(|(window, tokens): (u64, &[u32])| {
            let mut rng = streams.stream(Purpose::SCORED_ORDER, 1 + order, (document << 32) + window);
            net.beginning(tokens, &OrderLaw::Random.draw(tokens.len(), &mut rng))
        })
        .collect();
    let log_p = net.log_probabilities(denoiser.weights(), &read);
    -log_p.iter().flatten().sum::<f64>() / std::f64::consts::LN_2
}

/// −log₂ of the mean of 2^−bits; NaN of none.
pub(super) fn mixture_bits(bits: &[f64]) -> f64 {
    let least = bits.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = bits.iter().map(|bits| (least - bits).exp2()).sum();
    least - (sum / bits.len() as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_costs_at_most_the_mean_and_at_least_the_best() {
        assert!((mixture_bits(&[3.0, 3.0]) - 3.0).abs() < 1e-12);
        // (2^−1000 + 2^−1001)/2 = 2^−1000 · 3/4
        assert!((mixture_bits(&[1000.0, 1001.0]) - (1000.0 - 0.75f64.log2())).abs() < 1e-9);
        assert!(mixture_bits(&[]).is_nan());
    }
}
