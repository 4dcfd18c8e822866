//! A passage coming out of its masks: frame by frame, and as a picture that moves.

use std::fmt::Write as _;

use pmm_core::{MASK, Prompt, Streams, Texts};
use serde::Serialize;

use super::drawing::Drawing;
use super::model::Model;
use crate::error::Error;

/// Characters per line.
const LINE: usize = 64;
/// Seconds that the picture takes, without its pause at the end.
const SECONDS: f64 = 8.0;
const MASKED: &str = "·";

/// A passage to draw, and how it comes out of its masks.
#[derive(Debug, Clone)]
pub struct Trace<'m> {
    model: &'m Model,
    seed: u64,
}

/// How a passage came out of its masks.
#[derive(Debug, Clone)]
pub struct TracePicture {
    svg: String,
}

/// The same frame by frame, for a picture of one's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TraceFrames {
    /// The passage after every network call, line by line; `·` is a mask.
    pub frames: Vec<String>,
    /// How many tokens are known by then.
    pub known: Vec<usize>,
    /// How many there are.
    pub tokens: usize,
}

impl<'m> Trace<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, seed: 0 }
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the passage; `frame` sees its lines after every network call.
    pub fn draw(self, mut frame: impl FnMut(&[String])) -> Result<TracePicture, Error> {
        self.walk(|tokens| frame(&lines(self.model, tokens)))
    }

    /// Draws the passage, and keeps what there was after every network call.
    pub fn frames(self) -> Result<TraceFrames, Error> {
        let mut found = TraceFrames { tokens: self.model.length(), ..TraceFrames::default() };
        self.walk(|tokens| {
            found.frames.push(lines(self.model, tokens).join("\n"));
            found.known.push(tokens.iter().filter(|token| **token != MASK).count());
        })?;
        Ok(found)
    }

    fn walk(&self, mut look: impl FnMut(&[u32])) -> Result<TracePicture, Error> {
        let length = self.model.length();
        // When each position was revealed.
        let mut revealed = vec![0; length];
        let mut calls = 0;
        let mut observe = |step: usize, texts: &Texts<'_>| {
            calls = step + 1;
            for (at, token) in revealed.iter_mut().zip(texts.tokens) {
                if *token == MASK {
                    *at = step + 1;
                }
            }
            look(texts.tokens);
        };
        let (prompt, streams) = (Prompt::empty(0, 1, length), Streams::new(self.seed));
        let tokens = Drawing::default().draw(self.model, prompt, &streams, &mut observe)?.tokens;
        Ok(TracePicture { svg: picture(self.model, &tokens, &revealed, calls) })
    }
}

impl TracePicture {
    /// As SVG, which moves.
    pub fn svg(&self) -> &str {
        &self.svg
    }
}

/// A passage as lines of signs.
fn lines(model: &Model, tokens: &[u32]) -> Vec<String> {
    tokens.chunks(LINE).map(|tokens| tokens.iter().map(|&token| sign(model, token)).collect()).collect()
}

/// What a token looks like: itself, with signs for what is not seen.
fn sign(model: &Model, token: u32) -> String {
    if token == MASK {
        return MASKED.into();
    }
    model.text(&[token]).chars().map(|c| if c.is_control() { '¶' } else { c }).collect()
}

/// An SVG in which every token fades in at the call that revealed it.
fn picture(model: &Model, tokens: &[u32], revealed: &[usize], calls: usize) -> String {
    const CELL: (f64, f64) = (9.6, 22.0);
    let longest = tokens.iter().map(|&token| sign(model, token).chars().count()).max().unwrap_or(1).max(1);
    let per_line = (LINE / longest).max(1);
    let step = CELL.0 * longest as f64;
    let (width, height) =
        (step * per_line as f64 + 32.0, CELL.1 * tokens.len().div_ceil(per_line) as f64 + 28.0);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="16"><rect width="100%" height="100%" fill="#ffffff"/>"##
    );
    for (index, (&token, &at)) in tokens.iter().zip(revealed).enumerate() {
        let (x, y) = (16.0 + step * (index % per_line) as f64, 30.0 + CELL.1 * (index / per_line) as f64);
        let begin = SECONDS * at as f64 / calls.max(1) as f64;
        let text = sign(model, token).replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
        let _ = write!(
            svg,
            r##"<text x="{x:.1}" y="{y:.1}" fill="#b8bcc4">{MASKED}<set attributeName="visibility" to="hidden" begin="{begin:.2}s"/></text><text x="{x:.1}" y="{y:.1}" fill="#17324d" opacity="0">{text}<animate attributeName="opacity" from="0" to="1" dur=".3s" begin="{begin:.2}s" fill="freeze"/></text>"##
        );
    }
    svg.push_str("</svg>\n");
    svg
}
