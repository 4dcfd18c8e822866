//! New texts.

use pmm_core::{MASK, Prompt, Streams, Texts};

use super::drawing::Drawing;
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Texts drawn together.
const CHUNK: u64 = 32;

/// New texts to draw. Text number r of a seed is the same whatever is drawn beside it.
#[derive(Debug, Clone)]
pub struct Sample<'m> {
    model: &'m Model,
    texts: u64,
    given: String,
    seed: u64,
    drawing: Drawing,
}

impl<'m> Sample<'m> {
    pub(crate) fn new(model: &'m Model, texts: u64) -> Self {
        Self { model, texts, given: String::new(), seed: 0, drawing: Drawing::default() }
    }

    /// The beginning of every text.
    pub fn given(mut self, beginning: &str) -> Self {
        self.given = beginning.to_owned();
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
        let (prefix, length) = (self.model.tokenizer().encode(self.given.as_bytes())?, self.model.length());
        if prefix.len() >= length {
            return Err(Error::request(
                format!("the beginning has {} tokens, a text of this model {length}", prefix.len()),
                "give a shorter beginning",
            ));
        }
        Ok(SampledTexts {
            model: self.model,
            prefix,
            drawing: self.drawing,
            streams: Streams::new(self.seed),
            next: 0,
            end: self.texts,
            ready: Vec::new().into_iter(),
        })
    }
}

/// Texts in the making: bytes, since a byte-level model may make any.
pub struct SampledTexts<'m> {
    model: &'m Model,
    prefix: Vec<u32>,
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
        match self.draw(rows, watcher) {
            Ok(texts) => self.ready = texts.into_iter(),
            Err(error) => return Some(Err(error)),
        }
        self.ready.next().map(Ok)
    }

    fn draw(&mut self, rows: u64, watcher: &mut dyn Watcher) -> Result<Vec<Vec<u8>>, Error> {
        let length = self.model.length();
        let mut row = self.prefix.clone();
        row.resize(length, MASK);
        let prompt = Prompt { first_row: self.next, tokens: row.repeat(rows as usize) };
        self.next += rows;
        watcher.notice(Event::Started { what: "drawing", total: Some(length as u64) });
        let mut observe =
            |step: usize, _: &Texts<'_>| watcher.notice(Event::Progress { done: step as u64 + 1 });
        let drawn = self.drawing.draw(self.model, prompt, &self.streams, &mut observe)?;
        watcher.notice(Event::Finished);
        Ok(drawn.tokens.chunks_exact(length).map(|tokens| self.model.tokenizer().decode(tokens)).collect())
    }
}

impl Iterator for SampledTexts<'_> {
    type Item = Result<Vec<u8>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_watched(&mut ())
    }
}
