//! `pmm eval` for texts: likelihood, samples and gaps, each beside real text or an n-gram model.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, bail};
use pmm::{MASK, Place, Prompt, Purpose, Streams, Texts, TokenDenoiser, text_bound};
use pmm_data::{TextOptions, TextSource, Tokens};
use pmm_eval::text::{NGram, TextScores};
use pmm_eval::{BoundLine, TextReport};
use pmm_train::TextModel;

use super::plan::Plan;
use crate::cli::{Drawing, EvalArgs};
use crate::output::{self, Advice};
use crate::{eval, files};

/// Held-out texts whose bound is computed, and times drawn for each.
const BOUND: (usize, usize) = (128, 8);
/// Texts that are made.
const MADE: usize = 24;
/// Passages with gaps, and the share of their tokens that is hidden.
const GAPS: (usize, f64) = (16, 0.3);
/// Tokens that n-gram models learn from, and held-out tokens that are looked at.
const MOST_TRAINING: u64 = 10_000_000;
const MOST_HELD_OUT: u64 = 2_000_000;
/// Kinds of tokens up to which n-gram models of order 6 are worth their memory.
const FEW_CLASSES: usize = 300;

/// How gaps are filled: bits per hidden token, and the share of hidden tokens that the best guess gets right.
#[derive(Debug, Clone, Copy, serde::Serialize)]
struct Gaps {
    bits: f64,
    recovered: f64,
}

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if args.target.is_some() {
        bail!(Advice::new("a text has no columns".into(), "leave out --target"));
    }
    let model = TextModel::load(&args.model)?;
    let bar = output::spinner("reading", args.common.quiet);
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let held_out = tokens_of(&args.data, &model, &scratch.path().join("data"))?;
    let length = model.denoiser.net().length();
    if held_out.len() < 4 * length as u64 {
        bail!(Advice::new(
            format!("{} has {} tokens, too few for texts of {length}", args.data.display(), held_out.len()),
            format!("give {} at least", 4 * length)
        ));
    }
    let per_character = held_out.len() as f64 / held_out.characters().max(1) as f64;
    let test = some(&held_out, MOST_HELD_OUT);
    let train = training(args, &model, &scratch.path().join("train"))?;
    let streams = Streams::new(args.common.seed);
    bar.set_message("likelihood");
    let bound = bound(&model, &test, per_character, &streams)?;
    bar.set_message("n-gram models");
    let classes = model.tokenizer.classes();
    let orders = if classes <= FEW_CLASSES { 6 } else { 3 };
    let judges: Vec<NGram> = match &train {
        Some(train) => (1..=orders).map(|order| NGram::fit(train, classes, order)).collect(),
        None => Vec::new(),
    };
    let ngram_bits: Vec<(usize, f64)> =
        judges.iter().enumerate().map(|(i, judge)| (i + 1, judge.bits(&test) * per_character)).collect();
    bar.set_message("gaps");
    let gaps = gaps(&model, &test, judges.get(2), &streams);
    bar.set_message("sampling");
    let samples = samples(&model, &streams, || bar.tick())?;
    bar.set_message("scores");
    let decode = |tokens: &[u32]| String::from_utf8_lossy(&model.tokenizer.decode(tokens)).into_owned();
    // Without what was learned, there is no judge and no list of words.
    let scores = TextScores::new(&samples, train.as_deref().unwrap_or(&[]), &test, classes, &decode);
    bar.finish_and_clear();
    let report = TextReport {
        name: args.model.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        lead: lead(&gaps),
        bound: Some(bound),
        scores,
        ngram_bits,
        curve: eval::curve(&args.model),
        loss_unit: "nats per token".into(),
        samples: samples.iter().take(6).map(|tokens| decode(tokens)).collect(),
        facts: facts(&model, &gaps, train.is_some()),
    };
    let folder = args.out.as_deref().unwrap_or(&args.model);
    files::make_folder(folder)?;
    let path = folder.join("report.html");
    files::write(&path, report.html().as_bytes())?;
    if args.json {
        let value = serde_json::json!({
            "bits_per_character": bound.bits_per_character, "standard_error": bound.standard_error,
            "npc_bits": bound.npc_bits, "ngram_bits": report.ngram_bits, "scores": report.scores,
            "gaps": gaps.0, "gaps_ngram": gaps.1, "report": path,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    output::print(format!("{}\n{}\n", report.summary().trim_end(), report.lead).as_bytes())?;
    if !args.common.quiet {
        eprintln!("report: {}", path.display());
    }
    Ok(())
}

/// A file as tokens of the model.
fn tokens_of(path: &Path, model: &TextModel, to: &Path) -> anyhow::Result<Tokens> {
    let options =
        TextOptions { field: model.config.field.clone(), lossy_bytes: model.tokenizer.name() == "bytes" };
    let source = TextSource::open(path, &options)?;
    Tokens::write(&source, &model.tokenizer, to, &mut |_| ())?;
    Ok(Tokens::open(to)?)
}

/// The first tokens of many.
fn some(tokens: &Tokens, most: u64) -> Vec<u32> {
    let mut out = vec![0; tokens.len().min(most) as usize];
    tokens.copy(0, &mut out);
    out
}

/// What the model has learned from, if it is at hand.
fn training(args: &EvalArgs, model: &TextModel, to: &Path) -> anyhow::Result<Option<Vec<u32>>> {
    if let Some(path) = &args.train {
        return Ok(Some(some(&tokens_of(path, model, to)?, MOST_TRAINING)));
    }
    let path = args.model.join("state/tokens.bin");
    if !path.exists() {
        return Ok(None);
    }
    let tokens = Tokens::open(&path)?;
    let length = model.denoiser.net().length();
    let (learned, _) = pmm_train::split(tokens.len(), model.config.valid, length);
    Ok(Some(some(&tokens, learned.min(MOST_TRAINING))))
}

/// Texts spread evenly over the held-out tokens.
fn spread(tokens: &[u32], length: usize, most: usize) -> Vec<u32> {
    let whole = tokens.len() / length;
    let count = whole.min(most);
    (0..count).flat_map(|i| &tokens[i * whole / count * length..][..length]).copied().collect()
}

fn bound(
    model: &TextModel,
    test: &[u32],
    per_character: f64,
    streams: &Streams,
) -> anyhow::Result<BoundLine> {
    let length = model.denoiser.net().length();
    let texts = spread(test, length, BOUND.0);
    let draws = NonZeroUsize::new(BOUND.1).unwrap_or(NonZeroUsize::MIN);
    let clock = model.denoiser.net().clock();
    let bound = text_bound(&model.denoiser, clock, &texts, 0, draws, streams)?;
    let bits = per_character / std::f64::consts::LN_2;
    Ok(BoundLine {
        bits_per_character: bound.bound.nelbo.mean / length as f64 * bits,
        standard_error: bound.bound.nelbo.standard_error / length as f64 * bits,
        npc_bits: bound.npc.mean * bits,
    })
}

fn samples(model: &TextModel, streams: &Streams, mut tick: impl FnMut()) -> anyhow::Result<Vec<Vec<u32>>> {
    let length = model.denoiser.net().length();
    let drawing = Drawing { sampler: None, steps: None, temperature: 1.0, top_k: None, top_p: None };
    let prompt = Prompt::empty(0, MADE, length);
    let drawn =
        Plan::new(&drawing)?.draw(&model.denoiser, prompt, streams, &mut |_, _: &Texts<'_>| tick())?;
    Ok(drawn.tokens.chunks_exact(length).map(<[u32]>::to_vec).collect())
}

/// How the model fills gaps, and how a trigram model does: by the chain rule in a random order, and by the best guess for each gap.
fn gaps(model: &TextModel, test: &[u32], judge: Option<&NGram>, streams: &Streams) -> (Gaps, Option<Gaps>) {
    let denoiser = &model.denoiser;
    let (length, classes) = (denoiser.length(), denoiser.classes());
    let texts = spread(test, length, GAPS.0);
    let rows = texts.len() / length;
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(rows);
    let mut shown = texts.clone();
    for (row, shown) in shown.chunks_exact_mut(length).enumerate() {
        let mut order: Vec<usize> = (0..length).collect();
        streams.stream(Purpose::ORDER, 0, row as u64).shuffle(&mut order);
        order.truncate(((GAPS.1 * length as f64) as usize).max(1));
        order.iter().for_each(|&position| shown[position] = MASK);
        orders.push(order);
    }
    let hidden: usize = orders.iter().map(Vec::len).sum();
    let by_ngram = judge.and_then(|judge| ngram_gaps(judge, &texts, &shown, length, hidden));
    // The time at which so many are still masked.
    let time = |masked: usize| {
        let share = masked as f64 / length as f64;
        denoiser.net().clock().time(-share.ln(), 0.5).clamp(0.0, 1.0)
    };
    let mut times: Vec<f64> = orders.iter().map(|order| time(order.len())).collect();
    let all: Vec<Place> = orders
        .iter()
        .enumerate()
        .flat_map(|(row, order)| order.iter().map(move |&position| Place { row, position }))
        .collect();
    let mut logits = vec![0.0; all.len() * classes];
    denoiser.logits(&Texts { tokens: &shown, times: &times }, &all, &mut logits);
    let right = all.iter().zip(logits.chunks_exact(classes)).filter(|(place, logits)| {
        let best = (0..classes).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        best == Some(texts[place.row * length + place.position] as usize)
    });
    let recovered = right.count() as f64 / hidden as f64;
    let mut nats = 0.0;
    for k in 0..orders.iter().map(Vec::len).max().unwrap_or(0) {
        let places: Vec<Place> = orders
            .iter()
            .enumerate()
            .filter_map(|(row, order)| Some(Place { row, position: *order.get(k)? }))
            .collect();
        let mut logits = vec![0.0; places.len() * classes];
        denoiser.logits(&Texts { tokens: &shown, times: &times }, &places, &mut logits);
        for (place, logits) in places.iter().zip(logits.chunks_exact(classes)) {
            let at = place.row * length + place.position;
            nats += surprise(logits, texts[at]);
            shown[at] = texts[at];
            times[place.row] = time((orders[place.row].len() - k - 1).max(1));
        }
    }
    let bits = nats / hidden as f64 / std::f64::consts::LN_2;
    (Gaps { bits, recovered }, by_ngram)
}

/// −log softmax(logits)\[token\].
fn surprise(logits: &[f32], token: u32) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - top).exp()).sum();
    sum.ln() - f64::from(logits[token as usize] - top)
}

fn ngram_gaps(judge: &NGram, texts: &[u32], shown: &[u32], length: usize, hidden: usize) -> Option<Gaps> {
    let (mut nats, mut right) = (0.0, 0);
    for (truth, shown) in texts.chunks_exact(length).zip(shown.chunks_exact(length)) {
        let visible: Vec<Option<u32>> = shown.iter().map(|&token| (token != MASK).then_some(token)).collect();
        let filled = judge.infill(&visible, truth)?;
        nats += filled.nats;
        let gaps = truth.iter().zip(shown).filter(|(_, shown)| **shown == MASK).map(|(truth, _)| truth);
        right += gaps.zip(&filled.best).filter(|(truth, best)| truth == best).count();
    }
    Some(Gaps {
        bits: nats / hidden as f64 / std::f64::consts::LN_2,
        recovered: right as f64 / hidden as f64,
    })
}

fn lead((ours, ngram): &(Gaps, Option<Gaps>)) -> String {
    let beside = ngram.map_or_else(String::new, |gaps| {
        format!(" (a trigram model: {:.0} % and {:.2} bits)", 100.0 * gaps.recovered, gaps.bits)
    });
    format!(
        "Gaps: with 30 % of the tokens of held-out passages hidden, the best guess recovers {:.0} % of them, at {:.2} bits per hidden token{beside}.",
        100.0 * ours.recovered,
        ours.bits
    )
}

fn facts(model: &TextModel, gaps: &(Gaps, Option<Gaps>), judged: bool) -> Vec<(String, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let mut facts = vec![
        ("trained on".to_owned(), format!("{} characters", fact("characters"))),
        ("tokenizer".to_owned(), format!("{}, {} kinds", model.tokenizer.name(), model.tokenizer.classes())),
        ("length of a text".to_owned(), format!("{} tokens", model.denoiser.net().length())),
        ("weights".to_owned(), model.denoiser.net().parts().len().to_string()),
        ("steps".to_owned(), fact("steps")),
        ("gaps recovered".to_owned(), format!("{:.1} %", 100.0 * gaps.0.recovered)),
        ("bits per hidden token".to_owned(), format!("{:.3}", gaps.0.bits)),
    ];
    if !judged {
        facts.push((
            "judge".to_owned(),
            "the training text is not at hand: the judge is of the held-out text".into(),
        ));
    }
    facts
}
