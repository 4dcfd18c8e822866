//! How long a gap is that does not say so.

use pmm_core::{EventOrder, MASK, Prompt, Purpose, Streams, fill_positions};
use pmm_net::text::OrderedDenoiser;

use super::drawing::Drawing;
use crate::error::Error;

/// How the length of an open gap is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GapLength {
    /// Drawn: a length n has the weight p(before, filling, after)/q(filling), where the filling is drawn with the probability q given both
    /// sides and n. Its mean is the probability of what is before and after with a gap of n tokens in between.
    #[default]
    Drawn,
    /// The filling that makes the whole the likeliest.
    Likeliest,
}

/// Fills open gaps, one after the other from left to right.
pub(super) struct OpenGaps<'m> {
    pub(super) denoiser: &'m OrderedDenoiser,
    pub(super) drawing: Drawing,
    pub(super) by: GapLength,
    /// The longest gap that is tried.
    pub(super) longest: usize,
    pub(super) streams: Streams,
}

/// An open gap between two texts of which each may have gaps of known lengths.
struct Between<'t> {
    before: &'t [u32],
    after: &'t [u32],
}

impl OpenGaps<'_> {
    /// The parts of a text with its open gaps between them, in one, and the tokens of each gap; number `row` of several. Other gaps near
    /// an open one are filled with it.
    pub(super) fn fill(&self, parts: &[Vec<u32>], row: u64) -> Result<(Vec<u32>, Vec<usize>), Error> {
        let Some((first, others)) = parts.split_first() else { return Ok(Default::default()) };
        let (mut text, mut lengths) = (first.clone(), Vec::with_capacity(others.len()));
        for (gap, after) in (0..).zip(others) {
            let length = self.denoiser.net().length();
            let longest = self.longest.min(length / 2);
            // What is before gets half of what the gap leaves, and more where there is little after it.
            let room = length - longest;
            let before = text.len().min(room - after.len().min(room / 2));
            let after_seen = after.len().min(room - before);
            let start = text.len() - before;
            let between = Between { before: &text[start..], after: &after[..after_seen] };
            let filled = self.one(&between, longest, (gap, row))?;
            lengths.push(filled.len() - before - after_seen);
            text.truncate(start);
            text.extend(filled);
            text.extend_from_slice(&after[after_seen..]);
        }
        Ok((text, lengths))
    }

    /// Both sides with the gap filled.
    fn one(&self, between: &Between<'_>, longest: usize, (gap, row): (u64, u64)) -> Result<Vec<u32>, Error> {
        let net = self.denoiser.net();
        let (length, sides) = (net.length(), between.before.len() + between.after.len());
        let mut tokens = Vec::with_capacity(longest * length);
        let mut queues = Vec::with_capacity(longest);
        for wanted in 1..=longest {
            let window = between.with_gap(wanted);
            queues.push((0..window.len()).filter(|&c| window[c] == MASK).collect());
            tokens.extend(&window);
            tokens.resize(wanted * length, MASK);
        }
        // A text may have 2^16 open gaps of 2^16 tokens before rows share their noise.
        let prompt = Prompt { first_row: (row << 32) + (gap << 16), tokens };
        let filter = self.drawing.filter()?;
        let filled = fill_positions(self.denoiser, &queues, prompt, filter, &self.streams, &mut ())?;
        let texts: Vec<&[u32]> =
            (1..).zip(filled.tokens.chunks_exact(length)).map(|(n, text)| &text[..sides + n]).collect();
        let read = texts.iter().map(|text| net.beginning(text, &left_to_right(text.len())));
        let log_p = net.log_probabilities(self.denoiser.weights(), &read.collect::<Vec<_>>());
        let likelihoods: Vec<f64> = log_p.iter().map(|log_p| log_p.iter().sum()).collect();
        let chosen = match self.by {
            GapLength::Likeliest => best(&likelihoods),
            GapLength::Drawn => {
                let weights = likelihoods.iter().zip(&filled.log_probabilities).map(|(p, q)| p - q);
                // Gumbel's trick: the largest of log w + g, where g = −log(exponential), is drawn with probability ∝ w.
                let mut rng = self.streams.stream(Purpose::GAP_LENGTH, gap, row);
                best(&weights.map(|weight| weight - rng.exponential().ln()).collect::<Vec<_>>())
            }
        };
        Ok(texts[chosen].to_vec())
    }
}

impl Between<'_> {
    fn with_gap(&self, tokens: usize) -> Vec<u32> {
        let mut window = self.before.to_vec();
        window.resize(window.len() + tokens, MASK);
        window.extend_from_slice(self.after);
        window
    }
}

/// The order 0, 1, 2, ….
pub(super) fn left_to_right(length: usize) -> EventOrder {
    EventOrder::sorted(&(0..length).map(|c| c as f64 / length as f64).collect::<Vec<_>>())
}

/// Where the largest is; the first of several.
fn best(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}
