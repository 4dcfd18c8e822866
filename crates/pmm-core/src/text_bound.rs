//! The likelihood bound of a text, and the paper's normalised form of it.

use std::num::NonZeroUsize;

use crate::bound::{Bound, MonteCarlo, stratified_time};
use crate::clock::Clock;
use crate::denoise::{Texts, TokenDenoiser, TokenPosition};
use crate::pair::{MASK, Masked, Pair};
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::sample::{TextError, ask_logits, count_texts};

/// A bound in nats per text, and NPC in nats per token.
#[derive(Debug, Clone, PartialEq)]
pub struct TextBound {
    /// The likelihood bound with its terminal term; divide by the length for nats per token, by log 2 for bits.
    pub bound: Bound,
    /// The paper's Σ w (−log x̂\[x\]) / Σ w over masked positions with w = f(t): no bound, but close to nelbo/C when
    /// e^(−A(1)) is small. In nats per token.
    pub npc: MonteCarlo,
}

/// The continuous-time bound of texts (`[rows, length]`), by `draws` stratified times per text. The terminal term is what
/// it costs to draw the positions still masked at t = 1 from the last estimate, each on its own.
pub fn text_bound(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    texts: &[u32],
    first_row: u64,
    draws: NonZeroUsize,
    streams: &Streams,
) -> Result<TextBound, TextError> {
    let (rows, draws) = (count_texts(denoiser, texts, false)?, draws.get());
    let asker = Asker { denoiser, clock, texts, first_row, streams };
    let [mut objective, mut surprise, mut weight] = [(); 3].map(|()| vec![0.0; rows]);
    for stratum in 0..draws {
        let times: Vec<f64> =
            (0..rows).map(|row| stratified_time(stratum, draws, first_row + row as u64, streams)).collect();
        asker.each_masked(&times, stratum as u64, |place, nats| {
            let f = clock.rate(times[place.row], place.position as f64 / denoiser.length() as f64);
            objective[place.row] += f * nats / draws as f64;
            surprise[place.row] += f * nats;
            weight[place.row] += f;
        })?;
    }
    let mut terminal = vec![0.0; rows];
    asker.each_masked(&vec![1.0; rows], u64::MAX, |place, nats| terminal[place.row] += nats)?;
    Ok(TextBound { bound: Bound::new(&objective, &terminal), npc: MonteCarlo::ratio(&surprise, &weight) })
}

struct Asker<'a> {
    denoiser: &'a dyn TokenDenoiser,
    clock: &'a dyn Clock,
    texts: &'a [u32],
    first_row: u64,
    streams: &'a Streams,
}

impl Asker<'_> {
    /// Masks every text as its time says, asks about all masked positions, some at a time, and reports −log x̂\[x\] at each.
    fn each_masked(
        &self,
        times: &[f64],
        step: u64,
        mut report: impl FnMut(TokenPosition, f64),
    ) -> Result<(), TextError> {
        let (length, classes) = (self.denoiser.length(), self.denoiser.classes());
        let tokens = self.mask(times, step);
        let texts = Texts { tokens: &tokens, times };
        let masked = (0..tokens.len()).filter(|&i| tokens[i] == MASK);
        let wanted: Vec<TokenPosition> =
            masked.map(|i| TokenPosition { row: i / length, position: i % length }).collect();
        let mut logits = Vec::new();
        // At most 2²⁴ logits, 64 MB, at once: all places of most batches, a few texts' with a large vocabulary.
        for wanted in wanted.chunks(((1 << 24) / classes).max(length)) {
            ask_logits(self.denoiser, &texts, wanted, &mut logits)?;
            for (&place, logits) in wanted.iter().zip(logits.chunks_exact(classes)) {
                let token = self.texts[place.row * length + place.position] as usize;
                report(place, log_sum_exp(logits) - f64::from(logits[token]));
            }
        }
        Ok(())
    }

    fn mask(&self, times: &[f64], step: u64) -> Vec<u32> {
        let length = self.denoiser.length();
        let mut tokens = vec![MASK; self.texts.len()];
        let Ok(pair) = Masked::new(self.denoiser.classes() as u32) else {
            // A vocabulary of one token: nothing is ever hidden.
            return self.texts.to_vec();
        };
        for (row, tokens) in tokens.chunks_exact_mut(length).enumerate() {
            let mut rng = self.streams.stream(Purpose::STATE, step, self.first_row + row as u64);
            let place = |c: usize| c as f64 / length as f64;
            let a: Vec<f64> = (0..length).map(|c| self.clock.information(times[row], place(c))).collect();
            pair.draw_row(&self.texts[row * length..][..length], &a, tokens, &mut rng);
        }
        tokens
    }
}

pub(crate) fn log_sum_exp(logits: &[f32]) -> f64 {
    let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    top + logits.iter().map(|&l| (f64::from(l) - top).exp()).sum::<f64>().ln()
}
