//! How well hidden tokens of held-out passages are recovered, by the model and by a trigram model.

use pmm_core::{MASK, Purpose, SequentialDenoiser, Streams, Texts, TokenDenoiser, TokenPosition};
use pmm_eval::text::NGram;

use super::denoiser::Denoiser;
use super::evaluate::spread;
use super::model::Model;

/// Passages with scattered gaps, and the share of their tokens that is hidden.
const SCATTERED: (usize, f64) = (16, 0.3);
/// Passages with one gap, and its tokens.
const ONE_GAP: (usize, usize) = (64, 20);

/// How gaps are filled: bits per hidden token, and the share of hidden tokens that the best guess gets right.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Recovery {
    /// Bits per hidden token, one after the other, each given those before: from left to right by an ordered network, in a random order by
    /// the others.
    pub bits: f64,
    /// The share of hidden tokens that the best guess gets right, all at once.
    pub recovered: f64,
    /// Bits per hidden token, all at once: each given only what is not hidden.
    pub at_once_bits: Option<f64>,
    /// The share of hidden tokens that the best guess gets right, one after the other, each given the truth before.
    pub in_turn_recovered: Option<f64>,
}

/// What was found of a model, with a trigram model beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Recoveries {
    /// 30 % of the tokens hidden.
    pub(super) scattered: Recovery,
    pub(super) scattered_ngram: Option<Recovery>,
    /// Gaps of 20 tokens with text on both sides.
    pub(super) one_gap: Option<Recovery>,
}

/// Passages of which some tokens are hidden.
struct Passages {
    length: usize,
    texts: Vec<u32>,
    /// With masks.
    shown: Vec<u32>,
    /// The hidden positions of each, in the order in which they are asked.
    hidden: Vec<Vec<usize>>,
}

/// How the model fills gaps, and how a trigram model does.
pub(super) fn recovery(model: &Model, test: &[u32], judge: Option<&NGram>, streams: &Streams) -> Recoveries {
    let (denoiser, length) = (&model.denoiser, model.length());
    let in_turn = matches!(denoiser, Denoiser::Ordered(_));
    let scattered = Passages::new(spread(test, length, SCATTERED.0), length, |row| {
        let mut order: Vec<usize> = (0..length).collect();
        streams.stream(Purpose::HIDDEN_TOKENS, 0, row).shuffle(&mut order);
        order.truncate(((SCATTERED.1 * length as f64) as usize).max(1));
        if in_turn {
            order.sort_unstable();
        }
        order
    });
    // A gap has as much text on both sides, together, as it has tokens at least.
    let one_gap = (length >= 2 * ONE_GAP.1).then(|| {
        Passages::new(spread(test, length, ONE_GAP.0), length, |row| {
            let starts = (length - ONE_GAP.1 + 1) as u64;
            let start = streams.stream(Purpose::HIDDEN_TOKENS, 1, row).below(starts) as usize;
            (start..start + ONE_GAP.1).collect()
        })
    });
    Recoveries {
        scattered_ngram: judge.and_then(|judge| scattered.by_ngram(judge)),
        scattered: scattered.by_model(denoiser),
        one_gap: one_gap.map(|passages| passages.by_model(denoiser)),
    }
}

impl Passages {
    fn new(texts: Vec<u32>, length: usize, hidden: impl Fn(u64) -> Vec<usize>) -> Self {
        let hidden: Vec<Vec<usize>> = (0..(texts.len() / length) as u64).map(hidden).collect();
        let mut shown = texts.clone();
        for (shown, hidden) in shown.chunks_exact_mut(length).zip(&hidden) {
            hidden.iter().for_each(|&position| shown[position] = MASK);
        }
        Self { length, texts, shown, hidden }
    }

    fn by_model(&self, denoiser: &Denoiser) -> Recovery {
        let (at_once, one_by_one) = (self.at_once(denoiser), self.one_by_one(denoiser));
        Recovery {
            bits: one_by_one.bits(),
            recovered: at_once.share(),
            at_once_bits: Some(at_once.bits()),
            in_turn_recovered: Some(one_by_one.share()),
        }
    }

    /// The time at which so many are still masked.
    fn time(&self, denoiser: &Denoiser, masked: usize) -> f64 {
        let share = masked as f64 / self.length as f64;
        denoiser.clock().time(-share.ln(), 0.5).clamp(0.0, 1.0)
    }

    fn at_once(&self, denoiser: &Denoiser) -> Tally {
        let times: Vec<f64> = self.hidden.iter().map(|hidden| self.time(denoiser, hidden.len())).collect();
        let places: Vec<TokenPosition> = (0..)
            .zip(&self.hidden)
            .flat_map(|(row, hidden)| hidden.iter().map(move |&position| TokenPosition { row, position }))
            .collect();
        let mut logits = vec![0.0; places.len() * denoiser.classes()];
        denoiser.logits(&Texts { tokens: &self.shown, times: &times }, &places, &mut logits);
        let mut tally = Tally::default();
        tally.add(self, &places, &logits);
        tally
    }

    fn one_by_one(&self, denoiser: &Denoiser) -> Tally {
        let mut tally = Tally::default();
        let rounds = self.hidden.iter().map(Vec::len).max().unwrap_or(0);
        let places = |round: usize| -> Vec<TokenPosition> {
            let place = |(row, hidden): (usize, &Vec<usize>)| {
                Some(TokenPosition { row, position: *hidden.get(round)? })
            };
            self.hidden.iter().enumerate().filter_map(place).collect()
        };
        if let Denoiser::Ordered(denoiser) = denoiser {
            let mut cache = denoiser.begin(&self.shown);
            for places in (0..rounds).map(places) {
                let logits = denoiser.step(&mut cache, &places);
                tally.add(self, &places, &logits);
                places.iter().for_each(|&place| denoiser.reveal(&mut cache, place, self.truth(place)));
            }
            return tally;
        }
        let mut shown = self.shown.clone();
        let mut times: Vec<f64> =
            self.hidden.iter().map(|hidden| self.time(denoiser, hidden.len())).collect();
        for (round, places) in (0..rounds).map(places).enumerate() {
            let mut logits = vec![0.0; places.len() * denoiser.classes()];
            denoiser.logits(&Texts { tokens: &shown, times: &times }, &places, &mut logits);
            tally.add(self, &places, &logits);
            for &place in &places {
                shown[place.row * self.length + place.position] = self.truth(place);
                let left = self.hidden[place.row].len() - round - 1;
                times[place.row] = self.time(denoiser, left.max(1));
            }
        }
        tally
    }

    fn truth(&self, place: TokenPosition) -> u32 {
        self.texts[place.row * self.length + place.position]
    }

    fn by_ngram(&self, judge: &NGram) -> Option<Recovery> {
        let mut tally = Tally::default();
        for (truth, shown) in self.texts.chunks_exact(self.length).zip(self.shown.chunks_exact(self.length)) {
            let visible: Vec<Option<u32>> =
                shown.iter().map(|&token| (token != MASK).then_some(token)).collect();
            let filled = judge.infill(&visible, truth)?;
            let gaps = truth.iter().zip(shown).filter(|(_, shown)| **shown == MASK).map(|(truth, _)| truth);
            tally.right += gaps.zip(&filled.best).filter(|(truth, best)| truth == best).count();
            tally.nats += filled.nats;
        }
        tally.count = self.hidden.iter().map(Vec::len).sum();
        let (bits, recovered) = (tally.bits(), tally.share());
        Some(Recovery { bits, recovered, at_once_bits: None, in_turn_recovered: None })
    }
}

/// What hidden tokens have cost so far, and how many were guessed.
#[derive(Default)]
struct Tally {
    nats: f64,
    right: usize,
    count: usize,
}

impl Tally {
    fn add(&mut self, passages: &Passages, places: &[TokenPosition], logits: &[f32]) {
        let classes = logits.len() / places.len().max(1);
        for (&place, logits) in places.iter().zip(logits.chunks_exact(classes.max(1))) {
            let truth = passages.truth(place);
            let best = (0..classes).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            self.right += usize::from(best == Some(truth as usize));
            self.nats += surprise(logits, truth);
            self.count += 1;
        }
    }

    fn bits(&self) -> f64 {
        self.nats / self.count as f64 / std::f64::consts::LN_2
    }

    fn share(&self) -> f64 {
        self.right as f64 / self.count as f64
    }
}

/// −log softmax(logits)\[token\].
fn surprise(logits: &[f32], token: u32) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - top).exp()).sum();
    sum.ln() - f64::from(logits[token as usize] - top)
}
