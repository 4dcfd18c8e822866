//! Texts with gaps: `____` and `[MASK:12]`.

use anyhow::bail;
use pmm_core::{MASK, Prompt, Streams, Texts};
use pmm_train::TextModel;

use super::plan::Plan;
use super::write::write;
use crate::cli::InfillArgs;
use crate::output::{self, Advice};

/// Underscores from which on they are a gap.
const LEAST: usize = 3;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Kept to the byte.
    Fixed(String),
    /// So many tokens are wanted.
    Gap(usize),
}

/// `pmm infill`.
pub(crate) fn run(args: &InfillArgs, text: &str) -> anyhow::Result<()> {
    let model = TextModel::load(&args.model)?;
    let pieces = pieces(text);
    if !pieces.iter().any(|piece| matches!(piece, Piece::Gap(_))) {
        bail!(Advice::new(
            "the text has no gap".into(),
            "write ____ (one underscore for each token, at least three) or [MASK:12]"
        ));
    }
    let bar = output::spinner("filling", args.common.quiet);
    let plan = Plan::new(&args.drawing)?;
    let texts = fill(&model, &pieces, args.n, &plan, &Streams::new(args.common.seed), || bar.tick())?;
    bar.finish_and_clear();
    write(&texts, &args.output)
}

/// Cuts a text into what is fixed and what is wanted.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
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
            pieces.push(Piece::Fixed(std::mem::take(&mut fixed)));
        }
        pieces.push(Piece::Gap(tokens));
        rest = &rest[len..];
    }
    if !fixed.is_empty() {
        pieces.push(Piece::Fixed(fixed));
    }
    pieces
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

/// Fills the gaps of a text `draws` times. A text longer than the model's is filled window by window, from left to right.
pub(super) fn fill(
    model: &TextModel,
    pieces: &[Piece],
    draws: usize,
    plan: &Plan,
    streams: &Streams,
    mut progress: impl FnMut(),
) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut tokens = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Fixed(text) => tokens.extend(model.tokenizer.encode(text.as_bytes())?),
            Piece::Gap(count) => tokens.resize(tokens.len() + count, MASK),
        }
    }
    let length = model.denoiser.net().length();
    let mut rows = vec![tokens.clone(); draws];
    let mut from = 0;
    while let Some(gap) = tokens[from..].iter().position(|&token| token == MASK).map(|at| from + at) {
        // A quarter of the window looks back; a short text leaves the rest of its window to the model.
        let start = gap.saturating_sub(length / 4).min(tokens.len().saturating_sub(length));
        let end = tokens.len().min(start + length);
        let mut window = Vec::with_capacity(draws * length);
        for row in &rows {
            window.extend_from_slice(&row[start..end]);
            window.resize(window.len() + length - (end - start), MASK);
        }
        let prompt = Prompt { first_row: (start * draws) as u64, tokens: window };
        let filled = plan.draw(&model.denoiser, prompt, streams, &mut |_, _: &Texts<'_>| progress())?.tokens;
        for (row, filled) in rows.iter_mut().zip(filled.chunks_exact(length)) {
            row[start..end].copy_from_slice(&filled[..end - start]);
        }
        from = end;
    }
    // Tokens decode to exactly the text they were encoded from, so what is fixed comes out as it went in.
    Ok(rows.iter().map(|row| model.tokenizer.decode(row)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found() {
        let fixed = |text: &str| Piece::Fixed(text.into());
        assert_eq!(
            pieces("the ____ of é[MASK:12]"),
            [fixed("the "), Piece::Gap(4), fixed(" of é"), Piece::Gap(12)]
        );
        assert_eq!(pieces("a_b __init__ [MASK:x] [MASK:0]"), [fixed("a_b __init__ [MASK:x] [MASK:0]")]);
        assert_eq!(pieces("___"), [Piece::Gap(3)]);
        assert_eq!(pieces(""), []);
    }
}
