//! How well hidden tokens of held-out passages are recovered, by the model and by a trigram model.

use pmm_core::{MASK, Purpose, Streams, Texts, TokenDenoiser, TokenPosition};
use pmm_eval::text::NGram;

use super::evaluate::spread;
use super::model::Model;

/// Passages with gaps, and the share of their tokens that is hidden.
const GAPS: (usize, f64) = (16, 0.3);

/// How gaps are filled: bits per hidden token, and the share of hidden tokens that the best guess gets right.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Recovery {
    /// Bits per hidden token, one after the other in a random order.
    pub bits: f64,
    /// The share of hidden tokens that the best guess gets right, all at once.
    pub recovered: f64,
}

/// How the model fills gaps, and how a trigram model does: by the chain rule in a random order, and by the best guess for each gap.
pub(super) fn recovery(
    model: &Model,
    test: &[u32],
    judge: Option<&NGram>,
    streams: &Streams,
) -> (Recovery, Option<Recovery>) {
    let denoiser = &model.denoiser;
    let (length, classes) = (denoiser.length(), denoiser.classes());
    let texts = spread(test, length, GAPS.0);
    let rows = texts.len() / length;
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(rows);
    let mut shown = texts.clone();
    for (row, shown) in shown.chunks_exact_mut(length).enumerate() {
        let mut order: Vec<usize> = (0..length).collect();
        streams.stream(Purpose::HIDDEN_TOKENS, 0, row as u64).shuffle(&mut order);
        order.truncate(((GAPS.1 * length as f64) as usize).max(1));
        order.iter().for_each(|&position| shown[position] = MASK);
        orders.push(order);
    }
    let hidden: usize = orders.iter().map(Vec::len).sum();
    let by_ngram = judge.and_then(|judge| ngram_gaps(judge, &texts, &shown, length, hidden));
    // The time at which so many are still masked.
    let time = |masked: usize| {
        let share = masked as f64 / length as f64;
        denoiser.clock().time(-share.ln(), 0.5).clamp(0.0, 1.0)
    };
    let mut times: Vec<f64> = orders.iter().map(|order| time(order.len())).collect();
    let all: Vec<TokenPosition> = orders
        .iter()
        .enumerate()
        .flat_map(|(row, order)| order.iter().map(move |&position| TokenPosition { row, position }))
        .collect();
    let mut logits = vec![0.0; all.len() * classes];
    denoiser.logits(&Texts { tokens: &shown, times: &times }, &all, &mut logits);
    let right = all.iter().zip(logits.chunks_exact(classes)).filter(|(place, logits)| {
        let best = (0..classes).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        best == Some(texts[place.row * length + place.position] as usize)
    });
    let recovered = right.count() as f64 / hidden as f64;
    let mut nats = 0.0;
    for k in 0..orders.iter().map(Vec::len).max().unwrap_or(0) {
        let places: Vec<TokenPosition> = orders
            .iter()
            .enumerate()
            .filter_map(|(row, order)| Some(TokenPosition { row, position: *order.get(k)? }))
            .collect();
        let mut logits = vec![0.0; places.len() * classes];
        denoiser.logits(&Texts { tokens: &shown, times: &times }, &places, &mut logits);
        for (place, logits) in places.iter().zip(logits.chunks_exact(classes)) {
            let at = place.row * length + place.position;
            nats += surprise(logits, texts[at]);
            shown[at] = texts[at];
            times[place.row] = time((orders[place.row].len() - k - 1).max(1));
        }
    }
    let bits = nats / hidden as f64 / std::f64::consts::LN_2;
    (Recovery { bits, recovered }, by_ngram)
}

/// −log softmax(logits)\[token\].
fn surprise(logits: &[f32], token: u32) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - top).exp()).sum();
    sum.ln() - f64::from(logits[token as usize] - top)
}

fn ngram_gaps(judge: &NGram, texts: &[u32], shown: &[u32], length: usize, hidden: usize) -> Option<Recovery> {
    let (mut nats, mut right) = (0.0, 0);
    for (truth, shown) in texts.chunks_exact(length).zip(shown.chunks_exact(length)) {
        let visible: Vec<Option<u32>> = shown.iter().map(|&token| (token != MASK).then_some(token)).collect();
        let filled = judge.infill(&visible, truth)?;
        nats += filled.nats;
        let gaps = truth.iter().zip(shown).filter(|(_, shown)| **shown == MASK).map(|(truth, _)| truth);
        right += gaps.zip(&filled.best).filter(|(truth, best)| truth == best).count();
    }
    Some(Recovery {
        bits: nats / hidden as f64 / std::f64::consts::LN_2,
        recovered: right as f64 / hidden as f64,
    })
}
