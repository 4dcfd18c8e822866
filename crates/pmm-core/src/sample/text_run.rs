//! Texts that are being sampled: asking the denoiser about masked positions, and drawing their tokens.

use super::TextObserver;
use super::filter::Filter;
use super::prompt::{Prompt, TextError, TextSamples, count_texts};
use crate::clock::Clock;
use crate::denoise::{Texts, TokenDenoiser, TokenPosition};
use crate::draw;
use crate::pair::MASK;
use crate::purpose::Purpose;
use crate::rng::{Stream, Streams};

/// Texts that are being sampled, with the buffers of a call.
pub(super) struct TextRun<'a> {
    denoiser: &'a dyn TokenDenoiser,
    filter: Filter,
    first_row: u64,
    tokens: Vec<u32>,
    pub(super) times: Vec<f64>,
    calls: Vec<usize>,
    logits: Vec<f32>,
    law: Vec<f64>,
    /// The positions of the last call's logits, for orders that choose among them.
    asked: Vec<TokenPosition>,
}

impl<'a> TextRun<'a> {
    pub(super) fn new(
        denoiser: &'a dyn TokenDenoiser,
        prompt: Prompt,
        filter: Filter,
    ) -> Result<Self, TextError> {
        let Prompt { first_row, tokens } = prompt;
        let (rows, classes) = (count_texts(denoiser, &tokens, true)?, denoiser.classes());
        Ok(Self {
            denoiser,
            filter,
            first_row,
            tokens,
            times: vec![0.0; rows],
            calls: vec![0; rows],
            logits: Vec::new(),
            law: vec![0.0; classes],
            asked: Vec::new(),
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.times.len()
    }

    pub(super) fn masked(&self, row: usize) -> impl Iterator<Item = usize> + use<> {
        let length = self.denoiser.length();
        let text = &self.tokens[row * length..][..length];
        let masked: Vec<usize> = (0..length).filter(|&c| text[c] == MASK).collect();
        masked.into_iter()
    }

    pub(super) fn stream(&self, purpose: Purpose, step: u64, row: usize, streams: &Streams) -> Stream {
        streams.stream(purpose, step, self.first_row + row as u64)
    }

    /// The masked positions of a row with their times of revelation, soonest first.
    pub(super) fn event_times(&self, row: usize, clock: &dyn Clock, streams: &Streams) -> Vec<(f64, usize)> {
        let mut rng = self.stream(Purpose::ORDER, 0, row, streams);
        let length = self.denoiser.length() as f64;
        let time = |c: usize| (clock.time(rng.exponential(), c as f64 / length), c);
        let mut queue: Vec<(f64, usize)> = self.masked(row).map(time).collect();
        queue.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        queue
    }

    /// One call for the rows of the wanted positions.
    fn ask(&mut self, wanted: &[TokenPosition]) -> Result<(), TextError> {
        let texts = Texts { tokens: &self.tokens, times: &self.times };
        ask_logits(self.denoiser, &texts, wanted, &mut self.logits)?;
        self.asked = wanted.to_vec();
        for places in wanted.chunk_by(|a, b| a.row == b.row) {
            self.calls[places[0].row] += 1;
        }
        Ok(())
    }

    /// Asks about the wanted positions and draws their tokens.
    pub(super) fn reveal(
        &mut self,
        wanted: &[TokenPosition],
        step: usize,
        streams: &Streams,
        observer: &mut dyn TextObserver,
    ) -> Result<(), TextError> {
        if wanted.is_empty() {
            return Ok(());
        }
        self.ask(wanted)?;
        self.draw_from_cache(wanted, step, streams, observer);
        Ok(())
    }

    /// Draws the tokens of these positions, in the order of the last call, from its logits.
    pub(super) fn draw_from_cache(
        &mut self,
        wanted: &[TokenPosition],
        step: usize,
        streams: &Streams,
        observer: &mut dyn TextObserver,
    ) {
        let (length, classes) = (self.denoiser.length(), self.denoiser.classes());
        let mut rng = None;
        let mut next = wanted.iter().peekable();
        for (index, place) in self.asked.iter().enumerate() {
            if next.next_if(|wanted| *wanted == place).is_none() {
                continue;
            }
            let row = place.row;
            if rng.as_ref().is_none_or(|(of, _)| *of != row) {
                rng = Some((row, streams.stream(Purpose::ADVANCE, step as u64, self.first_row + row as u64)));
            }
            self.filter.law(&self.logits[index * classes..][..classes], &mut self.law);
            if let Some((_, rng)) = &mut rng {
                self.tokens[row * length + place.position] = draw::categorical(&self.law, rng) as u32;
            }
        }
        observer.observe(step, &Texts { tokens: &self.tokens, times: &self.times });
    }

    /// So many masked positions of every row, chosen at random.
    pub(super) fn random_positions(
        &self,
        quota: impl Fn(usize) -> usize,
        call: u64,
        streams: &Streams,
    ) -> Vec<TokenPosition> {
        let choose = |row: usize| {
            let mut masked: Vec<usize> = self.masked(row).collect();
            self.stream(Purpose::ORDER, call, row, streams).shuffle(&mut masked);
            masked.truncate(quota(row));
            masked.sort_unstable();
            masked.into_iter().map(move |position| TokenPosition { row, position })
        };
        (0..self.rows()).flat_map(choose).collect()
    }

    /// So many masked positions of every row, the most confident first; asks about all masked positions.
    pub(super) fn confident_positions(
        &mut self,
        quota: impl Fn(usize) -> usize,
    ) -> Result<Vec<TokenPosition>, TextError> {
        let rows = (0..self.rows()).filter(|&row| quota(row) > 0);
        let all: Vec<TokenPosition> = rows
            .flat_map(|row| self.masked(row).map(move |position| TokenPosition { row, position }))
            .collect();
        if all.is_empty() {
            return Ok(all);
        }
        self.ask(&all)?;
        let classes = self.denoiser.classes();
        let mut chosen = Vec::new();
        let mut start = 0;
        for places in all.chunk_by(|a, b| a.row == b.row) {
            let logits = self.logits[start * classes..].chunks_exact(classes);
            let mut scored: Vec<(f64, TokenPosition)> =
                places.iter().zip(logits).map(|(p, l)| (confidence(l), *p)).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.position.cmp(&b.1.position)));
            let mut best: Vec<TokenPosition> =
                scored[..quota(places[0].row)].iter().map(|scored| scored.1).collect();
            best.sort_unstable_by_key(|place| place.position);
            chosen.extend(best);
            start += places.len();
        }
        Ok(chosen)
    }

    pub(super) fn finish(self) -> TextSamples {
        debug_assert!(self.tokens.iter().all(|&token| token != MASK));
        TextSamples { tokens: self.tokens, calls: self.calls }
    }
}

/// The probability of the likeliest token.
fn confidence(logits: &[f32]) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    1.0 / logits.iter().map(|l| f64::from(l - top).exp()).sum::<f64>()
}

/// Asks for logits at the wanted positions (at least one), and refuses those from which nothing can be drawn.
pub(crate) fn ask_logits(
    denoiser: &dyn TokenDenoiser,
    texts: &Texts<'_>,
    wanted: &[TokenPosition],
    logits: &mut Vec<f32>,
) -> Result<(), TextError> {
    let classes = denoiser.classes();
    logits.resize(wanted.len() * classes, 0.0);
    denoiser.logits(texts, wanted, logits);
    wanted
        .iter()
        .zip(logits.chunks_exact(classes))
        .try_for_each(|(&place, logits)| check_logits(place, logits))
}

/// Refuses logits from which nothing can be drawn.
pub(crate) fn check_logits(place: TokenPosition, logits: &[f32]) -> Result<(), TextError> {
    let bad = logits.iter().copied().find(|l| l.is_nan() || *l == f32::INFINITY);
    if bad.is_some() || logits.iter().all(|l| *l == f32::NEG_INFINITY) {
        let value = bad.unwrap_or(f32::NEG_INFINITY);
        return Err(TextError::Logits { row: place.row, position: place.position, value });
    }
    Ok(())
}
