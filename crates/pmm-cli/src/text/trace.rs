//! `pmm trace` for texts: a passage coming out of its masks, live in the terminal and as a picture that moves.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use pmm_core::{MASK, Prompt, Streams, Texts};
use pmm_train::TextModel;

use super::plan::Plan;
use crate::cli::{Drawing, TraceArgs};
use crate::files;
use crate::output::Advice;

/// Characters per line.
const LINE: usize = 64;
/// Seconds that the picture takes, without its pause at the end.
const SECONDS: f64 = 8.0;
const MASKED: &str = "·";

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<()> {
    if !args.columns.is_empty() {
        bail!(Advice::new("a text has no columns".into(), "leave out --columns"));
    }
    let path: PathBuf = args.out.clone().unwrap_or_else(|| args.model.join("trace.svg"));
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        bail!(Advice::new(
            format!("{} is not named .svg: the picture of a text moves, which a PNG cannot", path.display()),
            "--out FILE.svg"
        ));
    }
    let model = TextModel::load(&args.model)?;
    let drawing = Drawing { sampler: None, steps: None, temperature: 1.0, top_k: None, top_p: None };
    let plan = Plan::new(&drawing)?;
    let live = !args.common.quiet && std::io::stderr().is_terminal();
    let length = model.denoiser.net().length();
    // When each position was revealed.
    let mut revealed = vec![0; length];
    let mut calls = 0;
    let mut lines = 0;
    let prompt = Prompt::empty(0, 1, length);
    let mut observe = |step: usize, texts: &Texts<'_>| {
        calls = step + 1;
        for (at, token) in revealed.iter_mut().zip(texts.tokens) {
            if *token == MASK {
                *at = step + 1;
            }
        }
        if live {
            lines = show(&model, texts.tokens, lines);
            std::thread::sleep(Duration::from_millis(15));
        }
    };
    let tokens = plan.draw(&model.denoiser, prompt, &Streams::new(args.common.seed), &mut observe)?.tokens;
    files::write(&path, picture(&model, &tokens, &revealed, calls).as_bytes())?;
    if !args.common.quiet {
        eprintln!("picture: {} (open it in a browser: it moves)", path.display());
    }
    Ok(())
}

/// What a token looks like: itself, with signs for what is not seen.
fn sign(model: &TextModel, token: u32) -> String {
    if token == MASK {
        return MASKED.into();
    }
    let text = String::from_utf8_lossy(&model.tokenizer.decode(&[token])).into_owned();
    text.chars().map(|c| if c.is_control() { '¶' } else { c }).collect()
}

/// Draws the passage over the one before, which took so many lines; returns how many this one takes.
fn show(model: &TextModel, tokens: &[u32], before: usize) -> usize {
    let mut text = String::new();
    if before > 0 {
        let _ = write!(text, "\x1b[{before}A");
    }
    let mut lines = 0;
    for tokens in tokens.chunks(LINE) {
        let line: String = tokens.iter().map(|&token| sign(model, token)).collect();
        let _ = writeln!(text, "\x1b[2K{line}");
        lines += 1;
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
    lines
}

/// An SVG in which every token fades in at the call that revealed it.
fn picture(model: &TextModel, tokens: &[u32], revealed: &[usize], calls: usize) -> String {
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
