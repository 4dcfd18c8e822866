//! Fitting a model to a text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::Device;
use pmm_net::text::TextNetConfig;
use pmm_train::text::{TEXT_PRESETS, TextConfig, split};

use super::data::Data;
use super::kind::{Text, TextFacts};
use super::model::Model;
use super::task::AnyTask;
use crate::error::Error;
use crate::fitted::load_settings;
use crate::fitting::{Options, Prepared, check_data, fit_options};
use crate::folder::WorkFolder;
use crate::settings::Settings;
use crate::watch::{Event, Watcher};
use crate::{Cost, DataKind};

/// Where a folder keeps the tokens.
pub(crate) const TOKENS: &str = "state/tokens.bin";

/// A fit of a text, with its settings.
#[derive(Debug, Clone)]
pub struct Fit {
    data: Data,
    options: Options,
}

/// What a fit would be: tokens, settings, size and time. [`run`](Self::run) begins it.
pub struct PreparedFit {
    prepared: Prepared<Text>,
    tokens: Arc<Tokens>,
    given: Settings,
    minutes: Option<f64>,
    name: String,
}

impl Fit {
    /// A fit of a text.
    pub fn new(data: impl Into<Data>) -> Self {
        Self { data: data.into(), options: Options::default() }
    }

    fit_options!();

    /// Fits, and leaves a model. A watcher that stops it early gets the best model so far.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        self.prepare(watcher)?.run(watcher)
    }

    /// Reads the text and settles everything, without training.
    pub fn prepare(mut self, watcher: &mut dyn Watcher) -> Result<PreparedFit, Error> {
        self.options.check()?;
        self.options = self.options.of_rank()?;
        let work = match &self.options.place {
            Some(place) => Some(place.take()?),
            None => None,
        };
        let stored = match work.as_ref().filter(|_| self.options.is_resumed()) {
            Some(work) => Some(load_settings::<Text>(&work.path)?),
            None => None,
        };
        let given = self.options.given()?;
        let base = self.preset_config()?;
        let first: TextConfig = match &stored {
            Some((config, _)) => self.options.resolve_stored(config, &given)?,
            None => self.options.resolve(base.clone().unwrap_or_default(), &given)?,
        };
        let options = TextOptions { field: first.field.clone(), lossy_bytes: first.tokenizer == "bytes" };
        let source = self.data.source(&options)?;
        let sequences = source.sequences()?;
        if let Some(found) = &sequences {
            watcher.notice(Event::Note(&found.to_string()));
        }
        watcher.notice(Event::Started { what: "reading", total: None });
        let tokenizer = match &stored {
            Some((_, tokenizer)) => tokenizer.clone(),
            None => tokenizer(&source, &first)?,
        };
        let tokens = self.tokens(&source, &tokenizer, work.as_ref(), watcher)?;
        watcher.notice(Event::Finished);
        let mut config = match (&stored, &base) {
            (Some(_), _) => first,
            (None, Some(preset)) => match of_its_kind(preset, &first) {
                true => first,
                false => {
                    watcher.notice(Event::Note(
                        "the preset is for the other kind of network: all settings but steps, batch, length and tokenizer are those \
                         recommended for the kind that is asked for",
                    ));
                    self.options.resolve(for_other_kind(preset, &first), &given)?
                }
            },
            (None, None) => {
                let fitting = recommended(&first, &tokens, &tokenizer);
                let fitting = if sequences.is_some() { fitting.for_sequences() } else { fitting };
                self.options.resolve(fitting, &given)?
            }
        };
        config.sequences = sequences.is_some();
        refuse_unlearnable(&source.name(), &config, &tokenizer, &tokens)?;
        let digest = tokens.source_digest().to_owned();
        Ok(PreparedFit {
            prepared: Prepared::new(work, &self.options, config, Arc::new(tokenizer), &digest)?,
            tokens: Arc::new(tokens),
            given,
            minutes: self.options.minutes.filter(|_| stored.is_none()),
            name: source.name(),
        })
    }

    fn preset_config(&self) -> Result<Option<TextConfig>, Error> {
        let Some(name) = self.options.preset.as_ref().filter(|_| !self.options.is_resumed()) else {
            return Ok(None);
        };
        let unknown = || Error::UnknownPreset {
            name: name.clone(),
            kind: DataKind::Text,
            known: TEXT_PRESETS.to_vec(),
        };
        TextConfig::preset(name).ok_or_else(unknown).map(Some)
    }

    /// The tokens: in memory, or kept beside the model. Those of a fit that goes on are never written over.
    fn tokens(
        &self,
        source: &TextSource,
        tokenizer: &Tokenizer,
        work: Option<&WorkFolder>,
        watcher: &mut dyn Watcher,
    ) -> Result<Tokens, Error> {
        let mut progress = |bytes: u64| watcher.notice(Event::Progress { done: bytes });
        let Some(work) = work else { return Ok(Tokens::read(source, tokenizer, &mut progress)?) };
        let path = work.path.join(TOKENS);
        if let Some(place) = self.options.place.as_ref().filter(|_| self.options.is_resumed()) {
            let digest = source.digest()?;
            check_data(work, &place.folder, &digest)?;
            let kept = Tokens::open(&path).ok();
            let is_same = |tokens: &Tokens| {
                tokens.source_digest() == digest
                    && tokens.tokenizer_digest() == tokenizer.digest()
                    && tokens.check_contents().is_ok()
            };
            if let Some(tokens) = kept.filter(is_same) {
                return Ok(tokens);
            }
            if self.options.follows() {
                return Ok(Tokens::read(source, tokenizer, &mut progress)?);
            }
        }
        Tokens::write(source, tokenizer, &path, &mut progress)?;
        Ok(Tokens::open(&path)?)
    }
}

fn tokenizer(source: &TextSource, config: &TextConfig) -> Result<Tokenizer, Error> {
    Ok(match config.tokenizer.as_str() {
        "characters" => Tokenizer::characters(source)?,
        "bytes" => Tokenizer::Bytes,
        "bpe" => Tokenizer::train_bpe(source, config.vocabulary)?,
        path => Tokenizer::load(Path::new(path))?,
    })
}

/// The settings for a text of this size, by the kind of network that is asked for.
fn recommended(asked: &TextConfig, tokens: &Tokens, tokenizer: &Tokenizer) -> TextConfig {
    let ordered = TextConfig::for_text(tokens.len(), tokenizer.classes());
    if !matches!(asked.net, TextNetConfig::Masked(_)) {
        return ordered;
    }
    let masked = TextConfig::masked();
    let net = masked.net.clone().with_length(ordered.net.length());
    TextConfig { net, ..masked }.with_steps(ordered.train.steps)
}

/// Whether a preset is for the kind of network that is asked for.
fn of_its_kind(preset: &TextConfig, asked: &TextConfig) -> bool {
    matches!(preset.net, TextNetConfig::Masked(_)) == matches!(asked.net, TextNetConfig::Masked(_))
}

/// The settings recommended for the kind of network that is asked for, with what of a preset for the other kind is about the text and
/// the time.
fn for_other_kind(preset: &TextConfig, asked: &TextConfig) -> TextConfig {
    let kind = match asked.net {
        TextNetConfig::Masked(_) => TextConfig::masked(),
        TextNetConfig::Ordered(_) => TextConfig::default(),
    };
    let config = TextConfig {
        tokenizer: preset.tokenizer.clone(),
        vocabulary: preset.vocabulary,
        batch: preset.batch,
        net: kind.net.clone().with_length(preset.net.length()),
        ..kind
    };
    config.with_steps(preset.train.steps)
}

fn refuse_unlearnable(
    name: &str,
    config: &TextConfig,
    tokenizer: &Tokenizer,
    tokens: &Tokens,
) -> Result<(), Error> {
    let refused =
        |why: String, remedy: String| Err(Error::NothingToLearn { data: name.to_owned(), why, remedy });
    if tokenizer.classes() < 2 {
        return refused(
            "it is one symbol over and over, so there is nothing to learn".into(),
            "a model needs two kinds of characters at least".into(),
        );
    }
    let (length, found) = (config.net.length(), tokens.len());
    if found < length as u64 {
        return refused(
            format!("it has {found} tokens, fewer than net.length = {length}"),
            format!("set net.length to {} or less, or give more text", found.max(2)),
        );
    }
    Ok(())
}

impl PreparedFit {
    /// The settings.
    pub fn config(&self) -> &TextConfig {
        &self.prepared.config
    }

    /// Text ⇄ tokens.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.prepared.description
    }

    /// The tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// The name of the data.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many tokens are learned, and where those that are held out begin; 0 if none are.
    pub fn split(&self) -> (u64, u64) {
        split(self.tokens.len(), self.prepared.config.valid, self.prepared.config.net.length())
    }

    /// What it would take.
    pub fn cost(&self) -> Cost {
        let (config, weights) = (&self.prepared.config, self.prepared.weights());
        // A forward pass and twice that on the way back; two operations each.
        let operations_per_step = 6.0 * config.batch as f64 * self.prepared.net.multiplications();
        let (width, blocks) = match &config.net {
            TextNetConfig::Ordered(net) => (net.width, net.blocks),
            TextNetConfig::Masked(net) => (net.width, net.blocks),
        };
        // Weights, gradient, two moments, average, best; activations of eight texts at a time.
        let activations = 27.0 * (width * config.net.length() * blocks) as f64 * 8.0;
        Cost {
            weights,
            megabytes: (weights as f64 * 6.0 + activations) * 4.0 / 1e6,
            operations_per_step,
            minutes: operations_per_step * config.train.steps as f64 / 1.2e11 / 60.0,
        }
    }

    /// What the ranks of this job would gain, by a few steps that all of them take; none where there is one.
    pub fn gain(&self, ranks: crate::AllRanks) -> Result<Option<crate::Gain>, Error> {
        Ok(pmm_train::measure_gain(&self.task()?, &self.prepared.config.train, ranks)?)
    }

    /// Trains, and leaves a model.
    pub fn run(mut self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        if self.split().1 == 0 {
            watcher.notice(Event::Note(
                "the text is too short to hold some out: validation looks at what is learned",
            ));
        }
        if let Some(minutes) = self.minutes {
            let task = self.task()?;
            self.prepared.set_minutes(minutes, &task, &self.given)?;
        }
        let task = self.task()?;
        let facts = TextFacts { tokens: self.tokens.len(), characters: self.tokens.characters() };
        let finish = |weights: &[f32]| (weights.to_vec(), facts.clone());
        Ok(Model::new(self.prepared.run(&task, &finish, watcher)?))
    }

    fn task(&self) -> Result<AnyTask, Error> {
        Ok(AnyTask::new(&self.prepared.net, &self.tokens, &self.prepared.config)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Muon and a large learning rate are for ordered networks.
    #[test]
    fn a_preset_for_the_other_kind_gives_no_optimiser() {
        let preset = |name| TextConfig::preset(name).unwrap();
        let (ordered, masked) = (TextConfig::default(), TextConfig::masked());
        let found = for_other_kind(&preset("shakespeare"), &masked);
        assert_eq!((found.muon.rate, found.train.learning_rate, found.train.steps), (0.0, 1e-3, 1600));
        assert_eq!(found.train.schedule, masked.train.schedule);
        let found = for_other_kind(&preset("text8-tiny-masked"), &ordered);
        assert_eq!((&found.muon, found.train.learning_rate), (&ordered.muon, ordered.train.learning_rate));
        assert!(
            of_its_kind(&preset("shakespeare"), &ordered) && !of_its_kind(&preset("shakespeare"), &masked)
        );
    }
}
