//! Texts whose gaps are completed: `____`, `[MASK:12]` and `[MASK]`.

use pmm_core::{MASK, Prompt, Streams, Texts};

use super::denoiser::Denoiser;
use super::drawing::Drawing;
use super::gap_lengths::{GapLength, OpenGaps};
use super::gaps::{Part, parts};
use super::model::Model;
use super::score::left_to_right_bits;
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Tokens of all gaps, at most.
const MOST_TOKENS: usize = 1 << 20;
/// The longest open gap that is tried, unless another bound is given.
const LONGEST: usize = 24;
/// How often a completion is drawn until its words are whole, at most.
const ROUNDS: u64 = 16;

/// Gaps to complete. All else is kept to the byte.
#[derive(Debug, Clone)]
pub struct Infill<'m> {
    model: &'m Model,
    text: String,
    completions: usize,
    candidates: Option<usize>,
    gap_length: GapLength,
    longest: usize,
    whole_words: bool,
    seed: u64,
    drawing: Drawing,
}

/// A completed text.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text: bytes, since a byte-level model may make any.
    pub text: Vec<u8>,
    /// −log₂ p of the whole text, read from left to right, where completions were ranked.
    pub bits: Option<f64>,
}

impl<'m> Infill<'m> {
    pub(crate) fn new(model: &'m Model, text: &str) -> Self {
        Self {
            model,
            text: text.to_owned(),
            completions: 1,
            candidates: None,
            gap_length: GapLength::default(),
            longest: LONGEST,
            whole_words: false,
            seed: 0,
            drawing: Drawing::default(),
        }
    }

    /// How many completions are wanted; 1 by default.
    pub fn completions(mut self, completions: usize) -> Self {
        self.completions = completions;
        self
    }

    /// Draws so many, and gives the likeliest of those that differ, the likeliest first.
    pub fn candidates(mut self, candidates: usize) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// How the length of a gap is settled that is written `[MASK]`; drawn by default.
    pub fn gap_length(mut self, gap_length: GapLength) -> Self {
        self.gap_length = gap_length;
        self
    }

    /// The most tokens of such a gap; 24 by default, and no more than half of the model's window.
    pub fn longest(mut self, tokens: usize) -> Self {
        self.longest = tokens;
        self
    }

    /// Words beside a gap stay as they are: no letter or digit of a filling touches one of theirs.
    pub fn whole_words(mut self) -> Self {
        self.whole_words = true;
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
        Ok(self.ranked(watcher)?.into_iter().map(|completion| completion.text).collect())
    }

    /// The completed texts with their likelihoods, if [`candidates`](Self::candidates) are asked for.
    pub fn ranked(self, watcher: &mut dyn Watcher) -> Result<Vec<Completion>, Error> {
        let parts = parts(&self.text);
        self.check(&parts)?;
        watcher.notice(Event::Started { what: "filling", total: None });
        let completions = self.complete(&parts, watcher);
        watcher.notice(Event::Finished);
        completions
    }

    fn check(&self, parts: &[Part]) -> Result<(), Error> {
        let gap = |part: &Part| match part {
            Part::Fixed(_) => 0,
            Part::Gap(tokens) => *tokens,
            Part::OpenGap => self.longest.max(1),
        };
        let wanted = parts.iter().map(gap).fold(0usize, usize::saturating_add);
        if wanted == 0 {
            return Err(Error::request(
                "the text has no gap",
                "write ____ (one underscore for each token, at least three), [MASK:12], or [MASK] for any length",
            ));
        }
        let rows = self.candidates.unwrap_or(self.completions);
        if wanted.saturating_mul(rows) > MOST_TOKENS {
            return Err(Error::request(
                format!("{rows} gaps of {wanted} tokens in all are too many"),
                format!("ask for {MOST_TOKENS} tokens at most"),
            ));
        }
        let open = parts.contains(&Part::OpenGap);
        if open && self.longest == 0 {
            return Err(Error::request("gaps of at most 0 tokens are none", "allow for 1 token at least"));
        }
        self.drawing.check(self.model)?;
        if open && self.drawing.left_to_right(self.model).is_none() {
            return Err(Error::request(
                "gaps without a length are filled from left to right only, by an ordered network",
                "write [MASK:12] for twelve tokens, or leave out what asks for another order",
            ));
        }
        if self.candidates.is_some() && matches!(self.model.denoiser, Denoiser::Masked(_)) {
            return Err(Error::request(
                "a masked network has no exact likelihood to rank completions by",
                "ask for several completions, or fit an ordered network (net.kind = ordered)",
            ));
        }
        Ok(())
    }

    /// Draws until there are enough, and ranks them if asked to.
    fn complete(&self, parts: &[Part], watcher: &mut dyn Watcher) -> Result<Vec<Completion>, Error> {
        let wanted = self.candidates.unwrap_or(self.completions);
        let mut found: Vec<Vec<u32>> = Vec::new();
        let rounds = if self.whole_words { ROUNDS } else { 1 };
        for round in 0..rounds {
            if found.len() >= wanted {
                break;
            }
            for filled in self.fill(parts, wanted, round, watcher)? {
                if !self.whole_words || self.has_whole_words(parts, &filled)? {
                    found.push(filled.tokens);
                }
            }
        }
        found.truncate(wanted);
        if found.is_empty() && wanted > 0 {
            return Err(Error::request(
                format!(
                    "of {} completions none kept the words beside its gaps whole",
                    wanted as u64 * ROUNDS
                ),
                "leave a space between a word and a gap, or let words be completed",
            ));
        }
        // A sequence is filled between its ends, which are known.
        let known = usize::from(self.model.sequence_end().is_some());
        let text = |row: &Vec<u32>| self.model.tokenizer().decode(&row[known..row.len() - known]);
        match (&self.model.denoiser, self.candidates) {
            (Denoiser::Ordered(denoiser), Some(_)) => {
                found.sort();
                found.dedup();
                let mut ranked: Vec<Completion> = found
                    .iter()
                    .map(|row| Completion {
                        text: text(row),
                        bits: Some(left_to_right_bits(denoiser, row)[known..].iter().sum()),
                    })
                    .collect();
                ranked.sort_by(|a, b| a.bits.partial_cmp(&b.bits).unwrap_or(std::cmp::Ordering::Equal));
                ranked.truncate(self.completions);
                Ok(ranked)
            }
            _ => Ok(found.iter().map(|row| Completion { text: text(row), bits: None }).collect()),
        }
    }

    /// Texts with all gaps filled; what is fixed decodes to exactly what it was.
    fn fill(
        &self,
        parts: &[Part],
        rows: usize,
        round: u64,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<Filled>, Error> {
        let pieces = self.pieces(parts)?;
        let streams = Streams::new(self.seed);
        let first = round * rows as u64;
        let (mut texts, mut lengths) = (vec![pieces[0].clone(); rows], vec![Vec::new(); rows]);
        if let (Some(denoiser), true) = (self.drawing.left_to_right(self.model), pieces.len() > 1) {
            let open = OpenGaps {
                denoiser,
                drawing: self.drawing,
                by: self.gap_length,
                longest: self.longest,
                streams,
            };
            for (row, filled) in (first..).zip(texts.iter_mut().zip(&mut lengths)) {
                (*filled.0, *filled.1) = open.fill(&pieces, row)?;
                watcher.notice(Event::Progress { done: row + 1 });
            }
        }
        // Gaps of known lengths that are still there: side by side, where all texts are as long.
        let each = if pieces.len() == 1 { rows.max(1) } else { 1 };
        for (group, texts) in texts.chunks_mut(each).enumerate() {
            self.fill_windows(texts, first + (group * each) as u64, &streams, watcher)?;
        }
        Ok(texts.into_iter().zip(lengths).map(|(tokens, open)| Filled { tokens, open }).collect())
    }

    /// The tokens between open gaps; masks in gaps whose lengths are given.
    fn pieces(&self, parts: &[Part]) -> Result<Vec<Vec<u32>>, Error> {
        let end = self.model.sequence_end();
        let mut pieces = Vec::new();
        let mut piece: Vec<u32> = end.into_iter().collect();
        for part in parts {
            match part {
                Part::Fixed(text) => piece.extend(self.tokens(text)?),
                Part::Gap(count) => piece.resize(piece.len() + count, MASK),
                Part::OpenGap => pieces.push(std::mem::take(&mut piece)),
            }
        }
        piece.extend(end);
        pieces.push(piece);
        Ok(pieces)
    }

    /// The tokens of what is fixed; the letters of a sequence are raised.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, Error> {
        let raised = self.model.is_of_sequences().then(|| text.to_ascii_uppercase());
        Ok(self.model.tokenizer().encode(raised.as_deref().unwrap_or(text).as_bytes())?)
    }

    /// Fills the gaps of texts of one length. Those longer than the model's window are filled window by window, from left to right.
    fn fill_windows(
        &self,
        rows: &mut [Vec<u32>],
        first: u64,
        streams: &Streams,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let (length, tokens) = (self.model.length(), rows[0].clone());
        let (mut from, mut calls) = (0, 0);
        while let Some(gap) = tokens[from..].iter().position(|&token| token == MASK).map(|at| from + at) {
            // A quarter of the window looks back; a short text leaves the rest of its window to the model.
            let start = gap.saturating_sub(length / 4).min(tokens.len().saturating_sub(length));
            let end = tokens.len().min(start + length);
            let mut window = Vec::with_capacity(rows.len() * length);
            for row in &*rows {
                window.extend_from_slice(&row[start..end]);
                window.resize(window.len() + length - (end - start), MASK);
            }
            let prompt = Prompt { first_row: ((start as u64) << 32) + first, tokens: window };
            let mut observe = |_: usize, _: &Texts<'_>| {
                calls += 1;
                watcher.notice(Event::Progress { done: calls });
            };
            let filled = self.drawing.draw(self.model, prompt, streams, &mut observe)?.tokens;
            for (row, filled) in rows.iter_mut().zip(filled.chunks_exact(length)) {
                row[start..end].copy_from_slice(&filled[..end - start]);
            }
            from = end;
        }
        Ok(())
    }

    /// Whether no filling joins a word beside its gap.
    fn has_whole_words(&self, parts: &[Part], filled: &Filled) -> Result<bool, Error> {
        let mut open = filled.open.iter();
        let mut at = usize::from(self.model.sequence_end().is_some());
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            let (tokens, is_gap) = match part {
                Part::Fixed(text) => (self.tokens(text)?.len(), false),
                Part::Gap(tokens) => (*tokens, true),
                Part::OpenGap => (open.next().copied().unwrap_or(0), true),
            };
            let bytes = self.model.tokenizer().decode(&filled.tokens[at..at + tokens]);
            pieces.push((is_gap, String::from_utf8_lossy(&bytes).into_owned()));
            at += tokens;
        }
        Ok(keeps_words(&pieces))
    }
}

/// A text whose gaps are filled.
struct Filled {
    tokens: Vec<u32>,
    /// The tokens of each gap that had no length.
    open: Vec<usize>,
}

/// Whether, where a filling (`true`) meets what is beside it, not both are letters or digits.
fn keeps_words(pieces: &[(bool, String)]) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    pieces.windows(2).all(|pair| {
        let [(left_gap, left), (right_gap, right)] = pair else { return true };
        let joined = is_word(left.chars().last()) && is_word(right.chars().next());
        !joined || !(*left_gap || *right_gap)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_a_gap_are_kept() {
        let keeps =
            |pieces: [(bool, &str); 4]| keeps_words(&pieces.map(|(gap, text)| (gap, text.to_owned())));
        assert!(keeps([(false, "the cat"), (true, " that "), (false, "sat"), (true, ".")]));
        assert!(!keeps([(false, "the cat"), (true, "s "), (false, "sat"), (true, ".")]), "an s joins cat");
        assert!(!keeps([(false, "the cat"), (true, ", un"), (false, "sat"), (true, ".")]), "un joins sat");
        assert!(!keeps([(false, "the cat"), (true, " "), (false, "sat"), (true, "ed")]));
        // What comes after a gap may stand in its filling, too.
        assert!(!keeps([(false, "a "), (true, "b un"), (false, "b"), (true, " ")]), "un joins b");
    }
}
