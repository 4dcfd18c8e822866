//! New texts.

use pmm_core::{GrowingTexts, MASK, Prompt, Streams, Texts};
use pmm_net::text::OrderedDenoiser;

use super::drawing::Drawing;
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Texts drawn together.
const CHUNK: u64 = 32;
/// The windows of the longest sequence, unless another length is given.
const SEQUENCE_WINDOWS: usize = 4;

/// New texts to draw. Text number r of a seed is the same whatever is drawn beside it.
#[derive(Debug, Clone)]
pub struct Sample<'m> {
    model: &'m Model,
    texts: u64,
    tokens: usize,
    given: String,
    seed: u64,
    drawing: Drawing,
}

impl<'m> Sample<'m> {
    pub(crate) fn new(model: &'m Model, texts: u64) -> Self {
        let windows = if model.is_of_sequences() { SEQUENCE_WINDOWS } else { 1 };
        let tokens = windows * model.length();
        Self { model, texts, tokens, given: String::new(), seed: 0, drawing: Drawing::default() }
    }

    /// The beginning of every text.
    pub fn given(mut self, beginning: &str) -> Self {
        self.given = beginning.to_owned();
        self
    }

    /// Tokens of a text, its beginning among them; those of the model's window by default. A sequence has so many at most, four windows by
    /// default. An ordered network that writes from left to
    /// right goes on as long as is wanted, and looks back over three quarters of its window at least.
    pub fn tokens(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How they are drawn.
    pub fn drawing(mut self, drawing: Drawing) -> Self {
        self.drawing = drawing;
        self
    }

    /// The texts, one after the other.
    pub fn texts(self) -> Result<SampledTexts<'m>, Error> {
        self.drawing.check(self.model)?;
        let beginning = self.beginning()?;
        let length = self.model.length();
        let left_to_right = self.drawing.left_to_right(self.model);
        if left_to_right.is_none() && self.tokens > length && !self.model.is_of_sequences() {
            return Err(Error::request(
                format!("texts of {} tokens are wanted, the model's window has {length}", self.tokens),
                "longer texts are written from left to right only, by an ordered network",
            ));
        }
        Ok(SampledTexts {
            model: self.model,
            left_to_right,
            beginning,
            tokens: self.tokens,
            drawing: self.drawing,
            streams: Streams::new(self.seed),
            next: 0,
            end: self.texts,
            ready: Vec::new().into_iter(),
        })
    }

    /// The first of the texts as it is made: its beginning, if one is given, and then a token at a time. The pieces together are
    /// the text that [`texts`](Self::texts) gives.
    pub fn stream(self) -> Result<TextStream<'m>, Error> {
        self.drawing.check(self.model)?;
        let beginning = self.beginning()?;
        let Some(denoiser) = self.drawing.left_to_right(self.model) else {
            return Err(Error::request(
                "a text that is not made from left to right has no beginning to show while it is made",
                "leave out what asks for another order, or wait for the whole text",
            ));
        };
        let (filter, streams) = (self.drawing.filter()?, Streams::new(self.seed));
        Ok(TextStream {
            model: self.model,
            growing: GrowingTexts::new(denoiser, &beginning, (0, 1), filter, &streams)?,
            left: self.tokens - beginning.len(),
            end: self.model.sequence_end(),
            beginning: Some(self.given.into_bytes()).filter(|given| !given.is_empty()),
        })
    }

    /// The tokens that are given, fewer than those of a text.
    fn beginning(&self) -> Result<Vec<u32>, Error> {
        let mut beginning: Vec<u32> = self.model.sequence_end().into_iter().collect();
        beginning.extend(self.model.tokenizer().encode(self.given.as_bytes())?);
        if beginning.len() >= self.tokens {
            return Err(Error::request(
                format!("the beginning has {} tokens, the whole text {}", beginning.len(), self.tokens),
                "give a shorter beginning, or ask for a longer text",
            ));
        }
        Ok(beginning)
    }
}

/// Texts in the making: bytes, since a byte-level model may make any.
pub struct SampledTexts<'m> {
    model: &'m Model,
    /// What writes them, if it does so from left to right with a memory.
    left_to_right: Option<&'m OrderedDenoiser>,
    beginning: Vec<u32>,
    tokens: usize,
    drawing: Drawing,
    streams: Streams,
    next: u64,
    end: u64,
    ready: std::vec::IntoIter<Vec<u8>>,
}

impl SampledTexts<'_> {
    /// The next text, while a watcher hears of every network call.
    pub fn next_watched(&mut self, watcher: &mut dyn Watcher) -> Option<Result<Vec<u8>, Error>> {
        if let Some(text) = self.ready.next() {
            return Some(Ok(text));
        }
        let rows = CHUNK.min(self.end - self.next);
        if rows == 0 {
            return None;
        }
        if watcher.wants_stop() {
            return Some(Err(Error::Stopped));
        }
        watcher.notice(Event::Started { what: "drawing", total: Some(self.tokens as u64) });
        let drawn = match self.left_to_right {
            Some(denoiser) => self.grow(denoiser, rows, watcher),
            None => self.draw(rows, watcher),
        };
        watcher.notice(Event::Finished);
        match drawn {
            Ok(texts) => self.ready = texts.into_iter(),
            Err(error) => return Some(Err(error)),
        }
        self.next += rows;
        self.ready.next().map(Ok)
    }

    /// From left to right.
    fn grow(
        &self,
        denoiser: &OrderedDenoiser,
        rows: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let (rows, filter) = ((self.next, rows as usize), self.drawing.filter()?);
        let mut growing = GrowingTexts::new(denoiser, &self.beginning, rows, filter, &self.streams)?;
        let mut texts = vec![self.beginning.clone(); rows.1];
        for step in self.beginning.len()..self.tokens {
            if watcher.wants_stop() {
                return Err(Error::Stopped);
            }
            texts.iter_mut().zip(growing.grow()?).for_each(|(text, token)| text.push(token));
            watcher.notice(Event::Progress { done: step as u64 + 1 });
            if self.model.sequence_end().is_some_and(|end| texts.iter().all(|text| text[1..].contains(&end)))
            {
                break;
            }
        }
        Ok(texts.iter().map(|tokens| self.text(tokens)).collect())
    }

    /// A text; of a sequence what is between its ends.
    fn text(&self, tokens: &[u32]) -> Vec<u8> {
        let inside = match self.model.sequence_end() {
            Some(end) => tokens[1..].split(|&token| token == end).next().unwrap_or_default(),
            None => tokens,
        };
        self.model.tokenizer().decode(inside)
    }

    /// In any other way: windows, of which the beginning is kept.
    fn draw(&self, rows: u64, watcher: &mut dyn Watcher) -> Result<Vec<Vec<u8>>, Error> {
        let length = self.model.length();
        let mut row = self.beginning.clone();
        row.resize(length, MASK);
        let prompt = Prompt { first_row: self.next, tokens: row.repeat(rows as usize) };
        let mut observe =
            |step: usize, _: &Texts<'_>| watcher.notice(Event::Progress { done: step as u64 + 1 });
        let drawn = self.drawing.draw(self.model, prompt, &self.streams, &mut observe)?;
        let texts = drawn.tokens.chunks_exact(length).map(|tokens| &tokens[..self.tokens.min(length)]);
        Ok(texts.map(|tokens| self.text(tokens)).collect())
    }
}

impl Iterator for SampledTexts<'_> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_watched(&mut ())
    }
}

/// A text as it is made, piece by piece. A piece may end within a character, where tokens do.
pub struct TextStream<'m> {
    model: &'m Model,
    growing: GrowingTexts<'m, OrderedDenoiser>,
    left: usize,
    /// The token that ends the text, if one does.
    end: Option<u32>,
    beginning: Option<Vec<u8>>,
}

impl Iterator for TextStream<'_> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(beginning) = self.beginning.take() {
            return Some(Ok(beginning));
        }
        self.left = self.left.checked_sub(1)?;
        match self.growing.grow() {
            Ok(tokens) if self.end.is_some() && tokens.first() == self.end.as_ref() => {
                self.left = 0;
                None
            }
            Ok(tokens) => Some(Ok(self.model.tokenizer().decode(&tokens))),
            Err(error) => Some(Err(error.into())),
        }
    }
}
