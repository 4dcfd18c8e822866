//! A model of texts against text it has not seen: likelihood, samples and gaps, each beside real text or an n-gram model.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pmm_core::{MonteCarlo, OrderLaw, Prompt, Purpose, Streams, Texts, text_bound};
use pmm_data::{TextOptions, Tokenizer, Tokens};
use pmm_eval::text::{NGram, TextScores};
use pmm_eval::{AnyOrderLine, BoundLine};
use pmm_net::text::OrderedDenoiser;
use pmm_train::text::split;

use super::data::Data;
use super::denoiser::Denoiser;
use super::drawing::Drawing;
use super::fit::TOKENS;
use super::gpt2::load_gpt2;
use super::model::Model;
use super::recovery::recovery;
use super::report::Report;
use super::score::{ORDERS, mixture_bits};
use crate::error::Error;
use crate::watch::{Event, Watcher};

/// Held-out texts whose bound is computed, and times drawn for each.
const BOUND: (usize, usize) = (128, 8);
/// Texts that are made.
const MADE: usize = 24;
/// Tokens that n-gram models learn from, and held-out tokens that are looked at.
const MOST_TRAINING: u64 = 20_000_000;
const MOST_HELD_OUT: u64 = 2_000_000;
/// Kinds of tokens up to which n-gram models of order 6 are worth their memory.
const FEW_CLASSES: usize = 300;

/// An evaluation to make.
#[derive(Debug, Clone)]
pub struct Evaluate<'m> {
    model: &'m Model,
    test: Data,
    train: Option<Data>,
    samples: Option<Vec<String>>,
    judge: Option<PathBuf>,
    seed: u64,
}

impl<'m> Evaluate<'m> {
    pub(crate) fn new(model: &'m Model, test: Data) -> Self {
        Self { model, test, train: None, samples: None, judge: None, seed: 0 }
    }

    /// The text that was used to fit; a model that was fitted in a folder keeps it.
    pub fn train(mut self, data: impl Into<Data>) -> Self {
        self.train = Some(data.into());
        self
    }

    /// Scores these texts, whoever made them, and nothing else.
    pub fn samples(mut self, texts: Vec<String>) -> Self {
        self.samples = Some(texts);
        self
    }

    /// A folder with GPT-2 and its tokenizer, to judge samples by.
    pub fn judge(mut self, folder: impl Into<PathBuf>) -> Self {
        self.judge = Some(folder.into());
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Computes, makes texts and compares; a stop ends it without a report.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Report<'m>, Error> {
        let (model, length) = (self.model, self.model.length());
        start(watcher, "reading")?;
        let held_out = self.tokens_of(&self.test)?;
        if held_out.len() < 4 * length as u64 {
            let (found, needed) = (held_out.len(), 4 * length as u64);
            return Err(Error::TooFew { data: "the text".into(), found, unit: "tokens", needed });
        }
        let mut notes = Vec::new();
        if held_out.source_digest() == model.fitted.identity.data {
            notes.push("this is the text that the model was fitted to: every score flatters it".to_owned());
        }
        let per_character = held_out.len() as f64 / held_out.characters().max(1) as f64;
        let test = some(&held_out, MOST_HELD_OUT);
        let train = self.training()?;
        if train.is_none() {
            notes.push(
                "the training text is not at hand: the judge of samples is of the held-out text".to_owned(),
            );
        }
        let mut report = Report::new(model, notes);
        if let Some(texts) = &self.samples {
            let tokens = texts.iter().map(|text| model.tokenizer().encode(text.as_bytes()));
            report.samples = tokens.collect::<Result<_, _>>()?;
        } else {
            self.measure(&mut report, &test, train.as_deref(), per_character, watcher)?;
        }
        start(watcher, "scores")?;
        let decode = |tokens: &[u32]| model.text(tokens);
        // Without what was learned, there is no judge and no list of words.
        let learned = train.as_deref().unwrap_or(&[]);
        report.scores =
            TextScores::new(&report.samples, learned, &test, model.tokenizer().classes(), &decode);
        report.perplexity = match &self.judge {
            Some(folder) => perplexity(folder, &report.samples, &decode)?,
            None => None,
        };
        watcher.notice(Event::Finished);
        Ok(report)
    }

    fn measure(
        &self,
        report: &mut Report<'m>,
        test: &[u32],
        train: Option<&[u32]>,
        per_character: f64,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let streams = Streams::new(self.seed);
        start(watcher, "likelihood")?;
        report.bound = Some(self.bound(test, per_character, &streams)?);
        start(watcher, "n-gram models")?;
        let classes = self.model.tokenizer().classes();
        let orders = if classes <= FEW_CLASSES { 6 } else { 3 };
        let judges: Vec<NGram> = match train {
            Some(train) => (1..=orders).map(|order| NGram::fit(train, classes, order)).collect(),
            None => Vec::new(),
        };
        report.ngram_bits =
            (1..).zip(&judges).map(|(order, judge)| (order, judge.bits(test) * per_character)).collect();
        start(watcher, "hidden tokens")?;
        let found = recovery(self.model, test, judges.get(2), &streams);
        (report.recovery, report.recovery_ngram) = (Some(found.scattered), found.scattered_ngram);
        report.gap_recovery = found.one_gap;
        start(watcher, "drawing texts")?;
        report.samples = self.draw(&streams, watcher)?;
        Ok(())
    }

    /// A text as tokens of the model.
    fn tokens_of(&self, data: &Data) -> Result<Tokens, Error> {
        let (model, tokenizer) = (self.model, self.model.tokenizer());
        let options =
            TextOptions { field: model.config().field.clone(), lossy_bytes: tokenizer.name() == "bytes" };
        Ok(Tokens::read(&data.source(&options)?, tokenizer, &mut |_| ())?)
    }

    /// What the model has learned from, if it is at hand.
    fn training(&self) -> Result<Option<Vec<u32>>, Error> {
        if let Some(data) = &self.train {
            return Ok(Some(some(&self.tokens_of(data)?, MOST_TRAINING)));
        }
        let Some(path) = self.model.folder().map(|folder| folder.join(TOKENS)).filter(|path| path.exists())
        else {
            return Ok(None);
        };
        let tokens = Tokens::open(&path)?;
        if tokens.source_digest() != self.model.fitted.identity.data {
            let why = "it holds another text than the model was fitted to".to_owned();
            return Err(Error::DamagedModel { path, why });
        }
        tokens.check_contents()?;
        let (learned, _) = split(tokens.len(), self.model.config().valid, self.model.length());
        Ok(Some(some(&tokens, learned.min(MOST_TRAINING))))
    }

    /// What a held-out text costs: exactly, in two orders, by an ordered network; at most, by a masked one.
    fn bound(&self, test: &[u32], per_character: f64, streams: &Streams) -> Result<BoundLine, Error> {
        let length = self.model.length();
        let texts = spread(test, length, BOUND.0);
        let bits = per_character / std::f64::consts::LN_2;
        let denoiser = match &self.model.denoiser {
            Denoiser::Masked(denoiser) => denoiser,
            Denoiser::Ordered(denoiser) => {
                return Ok(ordered_line(denoiser, &texts, per_character, streams));
            }
        };
        let draws = NonZeroUsize::new(BOUND.1).unwrap_or(NonZeroUsize::MIN);
        let bound = text_bound(denoiser, denoiser.net().clock(), &texts, 0, draws, streams)?;
        Ok(BoundLine {
            bits_per_character: bound.bound.nelbo.mean / length as f64 * bits,
            standard_error: bound.bound.nelbo.standard_error / length as f64 * bits,
            npc_bits: Some(bound.npc.mean * bits),
            any_order: None,
        })
    }

    fn draw(&self, streams: &Streams, watcher: &mut dyn Watcher) -> Result<Vec<Vec<u32>>, Error> {
        let length = self.model.length();
        let mut observe =
            |step: usize, _: &Texts<'_>| watcher.notice(Event::Progress { done: step as u64 + 1 });
        let prompt = Prompt::empty(0, MADE, length);
        let drawn = Drawing::default().draw(self.model, prompt, streams, &mut observe)?;
        Ok(drawn.tokens.chunks_exact(length).map(<[u32]>::to_vec).collect())
    }
}

/// What texts cost an ordered network: from left to right, in random orders, and under the mixture of these.
fn ordered_line(
    denoiser: &OrderedDenoiser,
    texts: &[u32],
    per_character: f64,
    streams: &Streams,
) -> BoundLine {
    let left_to_right = MonteCarlo::of(&ordered_bits(denoiser, texts, &OrderLaw::LeftToRight, 0, streams));
    let orders: Vec<Vec<f64>> = (0..ORDERS as u64)
        .map(|order| ordered_bits(denoiser, texts, &OrderLaw::Random, order, streams))
        .collect();
    let length = denoiser.net().length() as f64;
    let averaged = |text: usize| {
        let whole: Vec<f64> = orders.iter().map(|bits| bits[text] * length).collect();
        mixture_bits(&whole) / length
    };
    let averaged: Vec<f64> = (0..orders[0].len()).map(averaged).collect();
    BoundLine {
        bits_per_character: left_to_right.mean * per_character,
        standard_error: left_to_right.standard_error * per_character,
        npc_bits: None,
        any_order: Some(AnyOrderLine {
            orders: ORDERS,
            random: MonteCarlo::of(&orders.concat()).mean * per_character,
            order_averaged: MonteCarlo::of(&averaged).mean * per_character,
        }),
    }
}

/// −log₂ p per token of each text, in an order of the law: the one of this number.
fn ordered_bits(
    denoiser: &OrderedDenoiser,
    texts: &[u32],
    law: &OrderLaw,
    number: u64,
    streams: &Streams,
) -> Vec<f64> {
    let (net, length) = (denoiser.net(), denoiser.net().length());
    let text = |(row, tokens): (usize, &[u32])| {
        let mut rng = streams.stream(Purpose::SCORED_ORDER, number, row as u64);
        net.text(tokens, &law.draw(length, &mut rng))
    };
    let texts: Vec<_> = texts.chunks_exact(length).enumerate().map(text).collect();
    net.losses(denoiser.weights(), &texts).iter().map(|nats| nats / std::f64::consts::LN_2).collect()
}

/// A part of the job begins, unless it should stop.
fn start(watcher: &mut dyn Watcher, what: &str) -> Result<(), Error> {
    if watcher.wants_stop() {
        return Err(Error::Stopped);
    }
    watcher.notice(Event::Started { what, total: None });
    Ok(())
}

/// The perplexity of samples under GPT-2.
fn perplexity(
    folder: &Path,
    samples: &[Vec<u32>],
    decode: &dyn Fn(&[u32]) -> String,
) -> Result<Option<f64>, Error> {
    let (judge, tokenizer) = (load_gpt2(folder)?, Tokenizer::load(folder)?);
    let (mut nats, mut count) = (0.0, 0);
    for sample in samples {
        let tokens = tokenizer.encode(decode(sample).as_bytes())?;
        if let Some(token) = tokens.iter().find(|token| **token as usize >= judge.classes()) {
            let why = format!("the tokenizer has token {token}, the model {} kinds", judge.classes());
            return Err(Error::DamagedModel { path: folder.into(), why });
        }
        let surprises = judge.surprises(&tokens);
        nats += surprises.iter().sum::<f64>();
        count += surprises.len();
    }
    Ok((count > 0).then(|| (nats / count as f64).exp()))
}

/// The first tokens of many.
fn some(tokens: &Tokens, most: u64) -> Vec<u32> {
    let mut out = vec![0; tokens.len().min(most) as usize];
    tokens.copy(0, &mut out);
    out
}

/// Texts spread evenly over the held-out tokens.
pub(super) fn spread(tokens: &[u32], length: usize, most: usize) -> Vec<u32> {
    let whole = tokens.len() / length;
    let count = whole.min(most);
    (0..count).flat_map(|i| &tokens[i * whole / count * length..][..length]).copied().collect()
}
