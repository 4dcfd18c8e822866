//! `pmm eval` for texts: likelihood, samples and gaps, each beside real text or an n-gram model.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, bail};
use pmm_core::{Prompt, Streams, Texts, text_bound};
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_eval::text::{NGram, TextScores};
use pmm_eval::{BoundLine, TextReport};
use pmm_train::TextModel;

use super::plan::Plan;
use super::recover::{Gaps, gaps};
use crate::cli::{Drawing, EvalArgs};
use crate::output::{self, Advice};
use crate::{eval, files};

/// Held-out texts whose bound is computed, and times drawn for each.
const BOUND: (usize, usize) = (128, 8);
/// Texts that are made.
const MADE: usize = 24;
/// Tokens that n-gram models learn from, and held-out tokens that are looked at.
const MOST_TRAINING: u64 = 20_000_000;
const MOST_HELD_OUT: u64 = 2_000_000;
/// Kinds of tokens up to which n-gram models of order 6 are worth their memory.
const FEW_CLASSES: usize = 300;

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
    let classes = model.tokenizer.classes();
    let decode = |tokens: &[u32]| String::from_utf8_lossy(&model.tokenizer.decode(tokens)).into_owned();
    // Without what was learned, there is no judge and no list of words.
    let score = |samples: &[Vec<u32>]| {
        TextScores::new(samples, train.as_deref().unwrap_or(&[]), &test, classes, &decode)
    };
    if let Some(path) = &args.samples {
        let samples = read_samples(path, &model)?;
        let report = TextReport { scores: score(&samples), ..TextReport::default() };
        bar.finish_and_clear();
        let perplexity = perplexity(args, &samples, &decode)?;
        return print(args, &report, None, perplexity);
    }
    let streams = Streams::new(args.common.seed);
    bar.set_message("likelihood");
    let bound = bound(&model, &test, per_character, &streams)?;
    bar.set_message("n-gram models");
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
    let scores = score(&samples);
    let perplexity = perplexity(args, &samples, &decode)?;
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
    print(args, &report, Some(&gaps), perplexity)?;
    if !args.common.quiet {
        eprintln!("report: {}", path.display());
    }
    Ok(())
}

/// The scores on standard output.
fn print(
    args: &EvalArgs,
    report: &TextReport,
    gaps: Option<&(Gaps, Option<Gaps>)>,
    perplexity: Option<f64>,
) -> anyhow::Result<()> {
    if args.json {
        let value = serde_json::json!({
            "bits_per_character": report.bound.map(|bound| bound.bits_per_character),
            "standard_error": report.bound.map(|bound| bound.standard_error),
            "npc_bits": report.bound.map(|bound| bound.npc_bits),
            "ngram_bits": report.ngram_bits, "scores": report.scores,
            "gaps": gaps.map(|gaps| gaps.0), "gaps_ngram": gaps.and_then(|gaps| gaps.1),
            "gpt2_perplexity": perplexity,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    let mut text = format!("{}\n{}", report.summary().trim_end(), report.lead);
    if let Some(perplexity) = perplexity {
        text += &format!("\nGenerative perplexity of the samples under GPT-2: {perplexity:.1} per token.");
    }
    output::print(format!("{}\n", text.trim_end()).as_bytes())
}

/// The perplexity of samples under GPT-2, if the user has brought it along.
fn perplexity(
    args: &EvalArgs,
    samples: &[Vec<u32>],
    decode: &dyn Fn(&[u32]) -> String,
) -> anyhow::Result<Option<f64>> {
    let Some(folder) = &args.judge else { return Ok(None) };
    let (judge, tokenizer) = (pmm_train::load_gpt2(folder)?, Tokenizer::load(folder)?);
    let (mut nats, mut count) = (0.0, 0);
    for sample in samples {
        let tokens = tokenizer.encode(decode(sample).as_bytes())?;
        if let Some(token) = tokens.iter().find(|token| **token as usize >= judge.classes()) {
            bail!(
                "{}: the tokenizer has token {token}, the model {} kinds",
                folder.display(),
                judge.classes()
            );
        }
        let surprises = judge.surprises(&tokens);
        nats += surprises.iter().sum::<f64>();
        count += surprises.len();
    }
    Ok((count > 0).then(|| (nats / count as f64).exp()))
}

/// Texts of JSON lines as tokens of the model.
fn read_samples(path: &Path, model: &TextModel) -> anyhow::Result<Vec<Vec<u32>>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let sample = |(line, text): (usize, &str)| {
        let place = || format!("{}, line {}", path.display(), line + 1);
        let value: serde_json::Value = serde_json::from_str(text).with_context(place)?;
        let text = value["text"].as_str().with_context(|| format!("{} has no field \"text\"", place()))?;
        model.tokenizer.encode(text.as_bytes()).with_context(place)
    };
    text.lines().enumerate().map(sample).collect()
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
pub(super) fn spread(tokens: &[u32], length: usize, most: usize) -> Vec<u32> {
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
