//! Texts that grow from left to right, as long as is wanted.

use crate::denoise::TokenPosition;
use crate::draw;
use crate::order_sample::SequentialDenoiser;
use crate::pair::MASK;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::sample::{Filter, TextError, check_logits, count_tokens};

/// Texts that grow side by side, a token at a time. When the denoiser's window is full, its last three quarters are read again as the
/// beginning of the next: a token of a text of any length is drawn given three quarters of a window before it, at least.
///
/// Up to the first window the texts are those of [`in_order`](crate::in_order), left to right.
pub struct GrowingTexts<'d, D: SequentialDenoiser> {
    denoiser: &'d D,
    filter: Filter,
    streams: Streams,
    first_row: u64,
    /// The present window, `[rows, length]`, of which `filled` tokens of each row are there.
    window: Vec<u32>,
    filled: usize,
    /// Tokens of each text so far.
    grown: u64,
    cache: D::Cache,
}

impl<'d, D: SequentialDenoiser> GrowingTexts<'d, D> {
    /// Begins as many texts, all with the same beginning, of which at most a window is looked at. The number of the first text keys its noise.
    pub fn new(
        denoiser: &'d D,
        beginning: &[u32],
        (first_row, rows): (u64, usize),
        filter: Filter,
        streams: &Streams,
    ) -> Result<Self, TextError> {
        let length = denoiser.length();
        count_tokens(1, denoiser.classes(), beginning, false)?;
        let kept = if beginning.len() < length { beginning.len() } else { kept(length) };
        let mut row = beginning[beginning.len() - kept..].to_vec();
        row.resize(length, MASK);
        let window = row.repeat(rows);
        let cache = denoiser.begin(&window);
        let (streams, grown) = (*streams, beginning.len() as u64);
        Ok(Self { denoiser, filter, streams, first_row, window, filled: kept, grown, cache })
    }

    /// One more token of each text.
    pub fn grow(&mut self) -> Result<Vec<u32>, TextError> {
        let (length, classes) = (self.denoiser.length(), self.denoiser.classes());
        if self.filled == length {
            self.slide();
        }
        let place = |row: usize| TokenPosition { row, position: self.filled };
        let wanted: Vec<TokenPosition> = (0..self.window.len() / length).map(place).collect();
        let logits = self.denoiser.step(&mut self.cache, &wanted);
        let mut law = vec![0.0; classes];
        let mut tokens = Vec::with_capacity(wanted.len());
        for (&place, logits) in wanted.iter().zip(logits.chunks_exact(classes)) {
            check_logits(place, logits)?;
            self.filter.law(logits, &mut law);
            let row = self.first_row + place.row as u64;
            let mut rng = self.streams.stream(Purpose::ORDERED_TOKEN, self.grown, row);
            let token = draw::categorical(&law, &mut rng) as u32;
            self.window[place.row * length + place.position] = token;
            self.denoiser.reveal(&mut self.cache, place, token);
            tokens.push(token);
        }
        self.filled += 1;
        self.grown += 1;
        Ok(tokens)
    }

    /// The end of the window becomes the beginning of the next.
    fn slide(&mut self) {
        let length = self.denoiser.length();
        self.filled = kept(length);
        for row in self.window.chunks_exact_mut(length) {
            row.copy_within(length - self.filled.., 0);
            row[self.filled..].fill(MASK);
        }
        self.cache = self.denoiser.begin(&self.window);
    }
}

/// How much of a full window is read again: three quarters, and never all.
fn kept(length: usize) -> usize {
    (length * 3 / 4).min(length - 1)
}
