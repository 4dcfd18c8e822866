//! Texts filled one token at a time, in an order, by a denoiser that remembers what came before.

use crate::denoise::{Texts, TokenPosition};
use crate::draw;
use crate::order::OrderLaw;
use crate::pair::MASK;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::sample::{Filter, Prompt, TextError, TextObserver, TextSamples, check_logits, count_tokens};

/// The seam for texts that grow token by token: what was computed of earlier tokens is kept, so that a step costs one token and not a
/// pass over the text.
pub trait SequentialDenoiser: Sync {
    /// Texts on their way, with what is kept of them.
    type Cache;
    /// The vocabulary size V.
    fn classes(&self) -> usize;
    /// The length of a text.
    fn length(&self) -> usize;
    /// Begins texts, `[rows, length]` tokens or [`MASK`].
    fn begin(&self, tokens: &[u32]) -> Self::Cache;
    /// Logits `[wanted, V]` at masked places, at most one a row.
    fn step(&self, cache: &mut Self::Cache, wanted: &[TokenPosition]) -> Vec<f32>;
    /// Says which token was drawn where a row was asked last.
    fn reveal(&self, cache: &mut Self::Cache, place: TokenPosition, token: u32);
}

/// Completes texts one token a step, each row in an order of its own: the masked positions as the law has them. With the default filter
/// the texts have exactly the denoiser's law given what is known, in that order.
pub fn in_order<D: SequentialDenoiser>(
    denoiser: &D,
    law: &OrderLaw,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
    observer: &mut dyn TextObserver,
) -> Result<TextSamples, TextError> {
    let length = denoiser.length();
    let rows = count_tokens(length, denoiser.classes(), &prompt.tokens, true)?;
    let queues: Vec<Vec<usize>> = (0..rows)
        .map(|row| {
            let mut rng = streams.stream(Purpose::EVENT_ORDER, 0, prompt.first_row + row as u64);
            let positions = law.draw(length, &mut rng).positions.into_iter().map(|p| p as usize);
            positions.filter(|&position| prompt.tokens[row * length + position] == MASK).collect()
        })
        .collect();
    let filled = fill_positions(denoiser, &queues, prompt, filter, streams, observer)?;
    Ok(TextSamples { tokens: filled.tokens, calls: queues.iter().map(Vec::len).collect() })
}

/// Texts with some positions filled.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledPositions {
    /// Tokens, `[rows, length]`; [`MASK`] where nothing was known nor wanted.
    pub tokens: Vec<u32>,
    /// For each row, the logarithm of the probability with which its tokens were drawn.
    pub log_probabilities: Vec<f64>,
}

/// Fills masked positions of each row in the order in which they are named; others stay as they are.
///
/// # Panics
/// If there are fewer lists of positions than rows.
pub fn fill_positions<D: SequentialDenoiser>(
    denoiser: &D,
    queues: &[Vec<usize>],
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
    observer: &mut dyn TextObserver,
) -> Result<FilledPositions, TextError> {
    let Prompt { first_row, mut tokens } = prompt;
    let (length, classes) = (denoiser.length(), denoiser.classes());
    let rows = count_tokens(length, classes, &tokens, true)?;
    let mut cache = denoiser.begin(&tokens);
    let mut probabilities = vec![0.0; classes];
    let mut log_probabilities = vec![0.0; rows];
    for step in 0..queues.iter().map(Vec::len).max().unwrap_or(0) {
        let place = |row: usize| queues[row].get(step).map(|&position| TokenPosition { row, position });
        let wanted: Vec<TokenPosition> = (0..rows).filter_map(place).collect();
        let logits = denoiser.step(&mut cache, &wanted);
        for (&place, logits) in wanted.iter().zip(logits.chunks_exact(classes)) {
            check_logits(place, logits)?;
            filter.law(logits, &mut probabilities);
            let row = first_row + place.row as u64;
            let mut rng = streams.stream(Purpose::ORDERED_TOKEN, place.position as u64, row);
            let token = draw::categorical(&probabilities, &mut rng);
            let total: f64 = probabilities.iter().sum();
            log_probabilities[place.row] += (probabilities[token] / total).ln();
            tokens[place.row * length + place.position] = token as u32;
            denoiser.reveal(&mut cache, place, token as u32);
        }
        observer.observe(step, &Texts { tokens: &tokens, times: &vec![0.0; rows] });
    }
    Ok(FilledPositions { tokens, log_probabilities })
}
