//! Texts whose gaps are completed: `____` and `[MASK:12]`.

use pmm_core::{MASK, Prompt, Streams, Texts};

use super::drawing::Drawing;
use super::model::Model;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Underscores from which on they are a gap.
const LEAST: usize = 3;
/// Tokens of all gaps, at most.
const MOST_TOKENS: usize = 1 << 20;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Kept to the byte.
    Fixed(String),
    /// So many tokens are wanted.
    Gap(usize),
}

/// Gaps to complete. All else is kept to the byte.
#[derive(Debug, Clone)]
pub struct Infill<'m> {
    model: &'m Model,
    text: String,
    completions: usize,
    seed: u64,
    drawing: Drawing,
}

impl<'m> Infill<'m> {
    pub(crate) fn new(model: &'m Model, text: &str) -> Self {
        Self { model, text: text.to_owned(), completions: 1, seed: 0, drawing: Drawing::default() }
    }

    /// How many completions are wanted; 1 by default.
    pub fn completions(mut self, completions: usize) -> Self {
        self.completions = completions;
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

    /// The completed texts.
    pub fn texts(self, watcher: &mut dyn Watcher) -> Result<Vec<Vec<u8>>, Error> {
        let parts = parts(&self.text);
        let gaps = parts.iter().map(|part| if let Part::Gap(tokens) = part { *tokens } else { 0 });
        let wanted = gaps.fold(0usize, usize::saturating_add);
        if wanted == 0 {
            return Err(Error::request(
                "the text has no gap",
                "write ____ (one underscore for each token, at least three) or [MASK:12]",
            ));
        }
        if wanted.saturating_mul(self.completions) > MOST_TOKENS {
            return Err(Error::request(
                format!("{} gaps of {wanted} tokens in all are too many", self.completions),
                format!("ask for {MOST_TOKENS} tokens at most"),
            ));
        }
        watcher.notice(Event::Started { what: "filling", total: None });
        let texts = self.fill(&parts, watcher);
        watcher.notice(Event::Finished);
        texts
    }

    /// Fills the gaps. A text longer than the model's is filled window by window, from left to right.
    fn fill(&self, parts: &[Part], watcher: &mut dyn Watcher) -> Result<Vec<Vec<u8>>, Error> {
        let tokenizer = self.model.tokenizer();
        let mut tokens = Vec::new();
        for part in parts {
            match part {
                Part::Fixed(text) => tokens.extend(tokenizer.encode(text.as_bytes())?),
                Part::Gap(count) => tokens.resize(tokens.len() + count, MASK),
            }
        }
        let (length, streams) = (self.model.length(), Streams::new(self.seed));
        let mut rows = vec![tokens.clone(); self.completions];
        let (mut from, mut calls) = (0, 0);
        while let Some(gap) = tokens[from..].iter().position(|&token| token == MASK).map(|at| from + at) {
            // A quarter of the window looks back; a short text leaves the rest of its window to the model.
            let start = gap.saturating_sub(length / 4).min(tokens.len().saturating_sub(length));
            let end = tokens.len().min(start + length);
            let mut window = Vec::with_capacity(rows.len() * length);
            for row in &rows {
                window.extend_from_slice(&row[start..end]);
                window.resize(window.len() + length - (end - start), MASK);
            }
            let prompt = Prompt { first_row: (start * rows.len()) as u64, tokens: window };
            let mut observe = |_: usize, _: &Texts<'_>| {
                calls += 1;
                watcher.notice(Event::Progress { done: calls });
            };
            let filled = self.drawing.draw(self.model, prompt, &streams, &mut observe)?.tokens;
            for (row, filled) in rows.iter_mut().zip(filled.chunks_exact(length)) {
                row[start..end].copy_from_slice(&filled[..end - start]);
            }
            from = end;
        }
        // Tokens decode to exactly the text they were encoded from, so what is fixed comes out as it went in.
        Ok(rows.iter().map(|row| tokenizer.decode(row)).collect())
    }
}

/// Cuts a text into what is fixed and what is wanted.
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut fixed = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (tokens, len) = gap(rest);
        if tokens == 0 {
            fixed.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if !fixed.is_empty() {
            parts.push(Part::Fixed(std::mem::take(&mut fixed)));
        }
        parts.push(Part::Gap(tokens));
        rest = &rest[len..];
    }
    if !fixed.is_empty() {
        parts.push(Part::Fixed(fixed));
    }
    parts
}

/// Tokens and bytes of the gap at the start of a text; (0, _) if there is none.
fn gap(text: &str) -> (usize, usize) {
    let underscores = text.bytes().take_while(|byte| *byte == b'_').count();
    if underscores >= LEAST {
        return (underscores, underscores);
    }
    let number = text.strip_prefix("[MASK:").and_then(|text| text.split_once(']')).map(|(number, _)| number);
    match number.and_then(|number| Some((number.parse::<usize>().ok()?, number.len()))) {
        Some((tokens, digits)) => (tokens, "[MASK:]".len() + digits),
        None => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found() {
        let fixed = |text: &str| Part::Fixed(text.into());
        assert_eq!(
            parts("the ____ of é[MASK:12]"),
            [fixed("the "), Part::Gap(4), fixed(" of é"), Part::Gap(12)]
        );
        assert_eq!(parts("a_b __init__ [MASK:x] [MASK:0]"), [fixed("a_b __init__ [MASK:x] [MASK:0]")]);
        assert_eq!(parts("___"), [Part::Gap(3)]);
        assert_eq!(parts(""), []);
    }
}
