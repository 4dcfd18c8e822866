//! Samplers of texts: one masked block, revealed position by position.

use thiserror::Error;

use crate::clock::{Clock, Grid};
use crate::denoise::{Place, Texts, TokenDenoiser};
use crate::draw;
use crate::error::ParameterError;
use crate::pair::{MASK, reveal_probability};
use crate::rng::{Purpose, Stream, Streams};

/// Texts to complete: `[rows, length]` tokens, [`MASK`] where unknown. What is not masked stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The number of the first row in the whole; noise is keyed by it.
    pub first_row: u64,
    /// Tokens or masks.
    pub tokens: Vec<u32>,
}

impl Prompt {
    /// Nothing known: `rows` texts of this length, all masks.
    pub fn empty(first_row: u64, rows: usize, length: usize) -> Self {
        Self { first_row, tokens: vec![MASK; rows * length] }
    }
}

/// Completed texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSamples {
    /// Tokens, `[rows, length]`.
    pub tokens: Vec<u32>,
    /// How often the denoiser was asked about each row.
    pub calls: Vec<usize>,
}

/// What a text sampler refuses.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TextError {
    /// A prompt that does not consist of whole texts.
    #[error("a prompt must hold whole texts of {length} tokens, got {tokens} tokens")]
    Length {
        /// The length of a text.
        length: usize,
        /// The number of tokens given.
        tokens: usize,
    },
    /// A token beyond the vocabulary.
    #[error(
        "row {row}, position {position}: a token must be below the vocabulary size {classes}, got {token}"
    )]
    Token {
        /// The row.
        row: usize,
        /// The position.
        position: usize,
        /// The token.
        token: u32,
        /// The vocabulary size.
        classes: usize,
    },
    /// Logits from which nothing can be drawn.
    #[error("row {row}, position {position}: the denoiser's logits hold {value} or rule out every token")]
    Logits {
        /// The row.
        row: usize,
        /// The position.
        position: usize,
        /// NaN or +∞, if there is one.
        value: f32,
    },
}

/// How logits become a law to draw from: temperature, then top-k, then top-p. The default changes nothing and is exact.
///
/// ```
/// use pmm::Filter;
/// let mut law = [0.0; 4];
/// let filter = Filter::new(1.0, Some(2), None)?;
/// filter.law(&[0.0, 2f32.ln(), 3f32.ln(), -1.0], &mut law);
/// assert!((law[2] - 0.6).abs() < 1e-6 && law[0] == 0.0 && law[3] == 0.0);
/// # Ok::<(), pmm::ParameterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    temperature: f64,
    top_k: Option<usize>,
    top_p: Option<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: None }
    }
}

impl Filter {
    /// Temperature ≥ 0 (0 takes the likeliest token), the k ≥ 1 likeliest tokens, and of these the fewest that hold a share
    /// of 0 < p ≤ 1.
    pub fn new(temperature: f64, top_k: Option<usize>, top_p: Option<f64>) -> Result<Self, ParameterError> {
        let warm = temperature >= 0.0 && temperature.is_finite();
        ParameterError::unless(warm, "the temperature", "at least 0 and finite", temperature)?;
        let (k, p) = (top_k.unwrap_or(1), top_p.unwrap_or(1.0));
        ParameterError::unless(k >= 1, "top-k", "at least 1", k as f64)?;
        ParameterError::unless(p > 0.0 && p <= 1.0, "top-p", "above 0 and at most 1", p)?;
        Ok(Self { temperature, top_k, top_p })
    }

    /// Writes the law (it sums to 1) for these logits.
    pub fn law(&self, logits: &[f32], law: &mut [f64]) {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (p, &logit) in law.iter_mut().zip(logits) {
            let below = f64::from(logit) - f64::from(top);
            *p = if below == 0.0 { 1.0 } else { (below / self.temperature).exp() };
        }
        self.keep(law);
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
    }

    /// Zeroes what top-k and top-p leave out; of equally likely tokens the first is kept.
    fn keep(&self, law: &mut [f64]) {
        if self.top_k.is_none() && self.top_p.is_none() {
            return;
        }
        let mut order: Vec<usize> = (0..law.len()).collect();
        order.sort_by(|&i, &j| law[j].total_cmp(&law[i]));
        let mut kept = self.top_k.unwrap_or(law.len()).min(law.len());
        if let Some(share) = self.top_p {
            let total: f64 = order[..kept].iter().map(|&i| law[i]).sum();
            let mut sum = 0.0;
            let enough = order[..kept].iter().position(|&i| {
                sum += law[i];
                sum >= share * total
            });
            kept = enough.map_or(kept, |last| last + 1);
        }
        order[kept..].iter().for_each(|&i| law[i] = 0.0);
    }
}

/// In which order [`parallel`] reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Any order is as likely as any other.
    Random,
    /// The positions whose likeliest token is most probable first.
    Confidence,
}

/// Exact event simulation: every masked position has its own time of revelation, drawn from the clock; positions are
/// revealed in that order, each with one call that sees all before it. A text with m masks takes m calls, none wasted.
/// Positions whose time lies after t = 1 follow in the same order, still one by one.
///
/// With a perfect denoiser and the default filter the texts have exactly the target's law.
pub fn events(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
) -> Result<TextSamples, TextError> {
    let length = denoiser.length();
    let mut run = Run::new(denoiser, prompt, filter)?;
    let queues: Vec<Vec<(f64, usize)>> =
        (0..run.rows()).map(|row| run.event_times(row, clock, streams)).collect();
    for event in 0..length {
        let mut wanted = Vec::new();
        for (row, queue) in queues.iter().enumerate() {
            if let Some(&(t, position)) = queue.get(event) {
                run.times[row] = t.min(1.0);
                wanted.push(Place { row, position });
            }
        }
        run.reveal(&wanted, event as u64, streams)?;
    }
    Ok(run.finish())
}

/// Fixed steps: in each interval of the grid a masked position is revealed with probability 1 − e^(−ΔA), all those of one
/// interval from one call. No call is made for a row in whose interval nothing is revealed. What is left at t = 1 is
/// drawn from one last call.
///
/// Positions revealed together are drawn independently: exact as steps shrink.
pub fn steps(
    denoiser: &dyn TokenDenoiser,
    clock: &dyn Clock,
    grid: &Grid,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
) -> Result<TextSamples, TextError> {
    let length = denoiser.length();
    let mut run = Run::new(denoiser, prompt, filter)?;
    for (step, times) in grid.times().windows(2).enumerate() {
        let reveal: Vec<f64> = (0..length)
            .map(|c| {
                let place = c as f64 / length as f64;
                reveal_probability(clock.information(times[1], place) - clock.information(times[0], place))
            })
            .collect();
        let last = step + 1 == grid.steps();
        let mut wanted = Vec::new();
        for row in 0..run.rows() {
            run.times[row] = times[0];
            let mut rng = run.stream(Purpose::ORDER, step as u64, row, streams);
            let masked = run.masked(row).filter(|&c| draw::bernoulli(reveal[c], &mut rng) || last);
            wanted.extend(masked.map(|position| Place { row, position }));
        }
        run.reveal(&wanted, step as u64, streams)?;
    }
    Ok(run.finish())
}

/// Several positions per call, **approximate**: a text with m masks is completed in at most `calls` calls, the positions of
/// one call drawn independently of each other. With as many calls as masks it is exact for either order, since the choice
/// of the next position looks only at what is already revealed.
pub fn parallel(
    denoiser: &dyn TokenDenoiser,
    calls: usize,
    order: Order,
    prompt: Prompt,
    filter: Filter,
    streams: &Streams,
) -> Result<TextSamples, TextError> {
    let mut run = Run::new(denoiser, prompt, filter)?;
    let calls = calls.max(1);
    let masks: Vec<usize> = (0..run.rows()).map(|row| run.masked(row).count()).collect();
    for call in 0..calls {
        // After call k of n, the share (k + 1)/n of the masks is gone.
        let quota = |row: usize| masks[row] * (call + 1) / calls - masks[row] * call / calls;
        let wanted = match order {
            Order::Random => run.random_places(quota, call as u64, streams),
            Order::Confidence => run.confident_places(quota, call as f64 / calls as f64)?,
        };
        wanted.iter().for_each(|place| run.times[place.row] = call as f64 / calls as f64);
        match order {
            Order::Random => run.reveal(&wanted, call as u64, streams)?,
            Order::Confidence => run.draw_from_cache(&wanted, call as u64, streams),
        }
    }
    Ok(run.finish())
}

/// Texts on their way, with the buffers of a call.
struct Run<'a> {
    denoiser: &'a dyn TokenDenoiser,
    filter: Filter,
    first_row: u64,
    tokens: Vec<u32>,
    times: Vec<f64>,
    calls: Vec<usize>,
    logits: Vec<f32>,
    law: Vec<f64>,
    /// Where the logits of the last call belong, for orders that look before they choose.
    asked: Vec<Place>,
}

impl<'a> Run<'a> {
    fn new(denoiser: &'a dyn TokenDenoiser, prompt: Prompt, filter: Filter) -> Result<Self, TextError> {
        let (length, classes) = (denoiser.length(), denoiser.classes());
        let Prompt { first_row, tokens } = prompt;
        if tokens.len() % length != 0 {
            return Err(TextError::Length { length, tokens: tokens.len() });
        }
        if let Some(at) = tokens.iter().position(|&token| token != MASK && token as usize >= classes) {
            let (row, position) = (at / length, at % length);
            return Err(TextError::Token { row, position, token: tokens[at], classes });
        }
        let rows = tokens.len() / length;
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

    fn rows(&self) -> usize {
        self.times.len()
    }

    fn masked(&self, row: usize) -> impl Iterator<Item = usize> + use<> {
        let length = self.denoiser.length();
        let text = &self.tokens[row * length..][..length];
        let masked: Vec<usize> = (0..length).filter(|&c| text[c] == MASK).collect();
        masked.into_iter()
    }

    fn stream(&self, purpose: Purpose, step: u64, row: usize, streams: &Streams) -> Stream {
        streams.stream(purpose, step, self.first_row + row as u64)
    }

    /// The masked positions of a row with their times of revelation, soonest first.
    fn event_times(&self, row: usize, clock: &dyn Clock, streams: &Streams) -> Vec<(f64, usize)> {
        let mut rng = self.stream(Purpose::ORDER, 0, row, streams);
        let length = self.denoiser.length() as f64;
        let time = |c: usize| (clock.time(rng.exponential(), c as f64 / length), c);
        let mut queue: Vec<(f64, usize)> = self.masked(row).map(time).collect();
        queue.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        queue
    }

    /// One call for the rows of the wanted places.
    fn ask(&mut self, wanted: &[Place]) -> Result<(), TextError> {
        let classes = self.denoiser.classes();
        self.logits.resize(wanted.len() * classes, 0.0);
        let texts = Texts { tokens: &self.tokens, times: &self.times };
        self.denoiser.logits(&texts, wanted, &mut self.logits);
        self.asked = wanted.to_vec();
        for (place, logits) in wanted.iter().zip(self.logits.chunks_exact(classes)) {
            let bad = logits.iter().copied().find(|l| l.is_nan() || *l == f32::INFINITY);
            if bad.is_some() || logits.iter().all(|l| *l == f32::NEG_INFINITY) {
                let value = bad.unwrap_or(f32::NEG_INFINITY);
                return Err(TextError::Logits { row: place.row, position: place.position, value });
            }
        }
        let mut before = None;
        for row in wanted.iter().map(|place| place.row).filter(|row| before.replace(*row) != Some(*row)) {
            self.calls[row] += 1;
        }
        Ok(())
    }

    /// Asks about the wanted places and draws their tokens.
    fn reveal(&mut self, wanted: &[Place], step: u64, streams: &Streams) -> Result<(), TextError> {
        if wanted.is_empty() {
            return Ok(());
        }
        self.ask(wanted)?;
        self.draw_from_cache(wanted, step, streams);
        Ok(())
    }

    /// Draws the tokens of these places, in the order of the last call, from its logits.
    fn draw_from_cache(&mut self, wanted: &[Place], step: u64, streams: &Streams) {
        let (length, classes) = (self.denoiser.length(), self.denoiser.classes());
        let mut rng = None;
        let mut next = wanted.iter().peekable();
        for (index, place) in self.asked.iter().enumerate() {
            if next.next_if(|wanted| *wanted == place).is_none() {
                continue;
            }
            let row = place.row;
            if rng.as_ref().is_none_or(|(of, _)| *of != row) {
                rng = Some((row, streams.stream(Purpose::ADVANCE, step, self.first_row + row as u64)));
            }
            self.filter.law(&self.logits[index * classes..][..classes], &mut self.law);
            if let Some((_, rng)) = &mut rng {
                self.tokens[row * length + place.position] = draw::categorical(&self.law, rng) as u32;
            }
        }
    }

    /// So many masked positions of every row, chosen at random.
    fn random_places(&self, quota: impl Fn(usize) -> usize, call: u64, streams: &Streams) -> Vec<Place> {
        let choose = |row: usize| {
            let mut masked: Vec<usize> = self.masked(row).collect();
            self.stream(Purpose::ORDER, call, row, streams).shuffle(&mut masked);
            masked.truncate(quota(row));
            masked.sort_unstable();
            masked.into_iter().map(move |position| Place { row, position })
        };
        (0..self.rows()).flat_map(choose).collect()
    }

    /// So many masked positions of every row, the most confident first; asks about all masked positions.
    fn confident_places(&mut self, quota: impl Fn(usize) -> usize, t: f64) -> Result<Vec<Place>, TextError> {
        let rows = (0..self.rows()).filter(|&row| quota(row) > 0);
        let all: Vec<Place> =
            rows.flat_map(|row| self.masked(row).map(move |position| Place { row, position })).collect();
        if all.is_empty() {
            return Ok(all);
        }
        all.iter().for_each(|place| self.times[place.row] = t);
        self.ask(&all)?;
        let classes = self.denoiser.classes();
        let mut chosen = Vec::new();
        let mut start = 0;
        for places in all.chunk_by(|a, b| a.row == b.row) {
            let logits = self.logits[start * classes..].chunks_exact(classes);
            let mut scored: Vec<(f64, Place)> =
                places.iter().zip(logits).map(|(p, l)| (confidence(l), *p)).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.position.cmp(&b.1.position)));
            let mut best: Vec<Place> = scored[..quota(places[0].row)].iter().map(|scored| scored.1).collect();
            best.sort_unstable_by_key(|place| place.position);
            chosen.extend(best);
            start += places.len();
        }
        Ok(chosen)
    }

    fn finish(self) -> TextSamples {
        debug_assert!(self.tokens.iter().all(|&token| token != MASK));
        TextSamples { tokens: self.tokens, calls: self.calls }
    }
}

/// The probability of the likeliest token.
fn confidence(logits: &[f32]) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    1.0 / logits.iter().map(|l| f64::from(l - top).exp()).sum::<f64>()
}
