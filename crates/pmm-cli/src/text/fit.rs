//! `pmm fit` for texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use pmm_core::Streams;
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::text::TextNet;
use pmm_train::{
    Facts, TextConfig, TextTask, load_text_settings, save_model_weights, save_text_settings, text_identity,
    text_network, to_toml, train,
};

use crate::begin::{Begin, check_data};
use crate::cli::FitArgs;
use crate::fit::{check_folder, conclude, default_folder, interrupted, trial};
use crate::output::{self, Advice};
use crate::{files, settings, valid};

const TOKENS: &str = "state/tokens.bin";

/// Everything that a fit needs.
struct Fit {
    folder: PathBuf,
    config: TextConfig,
    tokenizer: Tokenizer,
    tokens: Arc<Tokens>,
    net: Arc<TextNet>,
    identity: Facts,
}

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    if args.target.is_some() || args.schema.is_some() {
        bail!(Advice::new("a text has no columns".into(), "leave out --target and --schema"));
    }
    valid::refuse_file(args, "the last tenth of the text")?;
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.data));
    check_folder(&folder, args)?;
    let stored = if args.resume { Some(load_text_settings(&folder)?) } else { None };
    let given = settings::given(args, &settings::pairs(args)?, stored.is_some())?;
    let base = match &args.preset {
        Some(name) => TextConfig::preset(name)
            .ok_or_else(|| Advice::new(format!("there is no preset {name} for texts"), super::presets()))
            .map_err(|advice| anyhow::anyhow!("").context(advice))?,
        None => TextConfig::default(),
    };
    let base = stored.as_ref().map_or(base, |(config, _)| config.clone());
    let config: TextConfig = settings::merge(&base, &given)?;
    settings::check(config.problem())?;
    // A trial run leaves nothing behind.
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let place = if args.dry_run { scratch.path().to_owned() } else { folder.clone() };
    let (tokenizer, tokens) = read(args, &place, &config, stored.as_ref().map(|(_, tokenizer)| tokenizer))?;
    let config = match (&stored, &args.preset) {
        (Some(_), _) | (_, Some(_)) => config,
        _ => settings::merge(&TextConfig::for_text(tokens.len(), tokenizer.classes()), &given)?,
    };
    settings::keep_stored(&folder, stored.as_ref().map(|(config, _)| config), &config)?;
    let mut fit = prepare(folder, config, tokenizer, tokens)?;
    if args.dry_run {
        return dry_run(&fit, args);
    }
    if !args.common.quiet {
        say(&fit, args);
    }
    if let (Some(minutes), false) = (args.minutes, args.resume) {
        let steps = trial(&fit.task(), minutes);
        fit.config = settings::merge(&fit.config.clone().with_steps(steps), &given)?;
        fit.identity = text_identity(fit.tokens.source_digest(), &fit.tokenizer, &fit.config);
    }
    start(&fit, args.resume, args.common.quiet)
}

/// The tokenizer and the tokens, which are kept beside the model.
fn read(
    args: &FitArgs,
    place: &Path,
    config: &TextConfig,
    stored: Option<&Tokenizer>,
) -> anyhow::Result<(Tokenizer, Tokens)> {
    let bar = output::spinner("reading", args.common.quiet);
    let options = TextOptions { field: config.field.clone(), lossy_bytes: config.tokenizer == "bytes" };
    let source = TextSource::open(&args.data, &options)?;
    let tokenizer = match (stored, config.tokenizer.as_str()) {
        (Some(stored), _) => stored.clone(),
        (None, "characters") => Tokenizer::characters(&source)?,
        (None, "bytes") => Tokenizer::Bytes,
        (None, "bpe") => Tokenizer::train_bpe(&source, config.vocabulary)?,
        (None, path) => Tokenizer::load(Path::new(path))?,
    };
    let path = place.join(TOKENS);
    files::make_folder(&place.join("state"))?;
    Tokens::write(&source, &tokenizer, &path, &mut |bytes| {
        bar.set_message(format!("reading, {} MB", bytes / 1_000_000));
    })?;
    let tokens = Tokens::open(&path)?;
    bar.finish_and_clear();
    Ok((tokenizer, tokens))
}

fn prepare(folder: PathBuf, config: TextConfig, tokenizer: Tokenizer, tokens: Tokens) -> anyhow::Result<Fit> {
    let (length, found) = (config.net.length, tokens.len());
    if tokenizer.classes() < 2 {
        bail!(Advice::new(
            "the text is one symbol over and over, so there is nothing to learn".into(),
            "a model needs two kinds of characters at least"
        ));
    }
    if found < length as u64 {
        bail!(Advice::new(
            format!("the text has {found} tokens, fewer than net.length = {length}"),
            format!("--set net.length={} or less, or give more text", found.max(2))
        ));
    }
    let net = Arc::new(text_network(tokenizer.classes(), &config)?);
    let identity = text_identity(tokens.source_digest(), &tokenizer, &config);
    Ok(Fit { folder, config, tokenizer, tokens: Arc::new(tokens), net, identity })
}

impl Fit {
    fn task(&self) -> TextTask {
        let streams = Streams::new(self.config.seed);
        TextTask::new(self.net.clone(), self.tokens.clone(), self.config.valid, self.config.batch, streams)
    }
}

fn start(fit: &Fit, resume: bool, quiet: bool) -> anyhow::Result<()> {
    if resume {
        check_data(&fit.folder, fit.tokens.source_digest())?;
    }
    let begin = Begin {
        folder: &fit.folder,
        train: &fit.config.train,
        identity: &fit.identity,
        weights: fit.net.parts().len(),
        resume,
        quiet,
    };
    let initial = || fit.net.initial(&Streams::new(fit.config.seed));
    let (mut state, mut keeper) =
        begin.begin(initial, || save_text_settings(&fit.folder, &fit.config, &fit.tokenizer))?;
    let task = fit.task();
    let outcome = train(&task, &fit.config.train, &mut state, &mut keeper, interrupted());
    let mut facts = keeper.finish(&state)?;
    facts.insert("tokens".into(), fit.tokens.len().to_string());
    facts.insert("characters".into(), fit.tokens.characters().to_string());
    save_model_weights(&fit.folder, fit.net.parts(), state.best_weights(), &facts)?;
    files::write(&fit.folder.join("README.md"), card(fit, &facts).as_bytes())?;
    conclude(&fit.folder, &state, outcome, quiet)
}

fn say(fit: &Fit, args: &FitArgs) {
    eprintln!(
        "{}: {} characters, {} tokens ({}, {} kinds); texts of {} tokens",
        args.data.display(),
        fit.tokens.characters(),
        fit.tokens.len(),
        fit.tokenizer.name(),
        fit.tokenizer.classes(),
        fit.config.net.length,
    );
    let (learned, first) = pmm_train::split(fit.tokens.len(), fit.config.valid, fit.config.net.length);
    if first == 0 {
        eprintln!("note: the text is too short to hold some out: validation looks at what is learned");
    } else {
        eprintln!("learned: the first {learned} tokens; held out: the last {}", fit.tokens.len() - learned);
    }
}

fn dry_run(fit: &Fit, args: &FitArgs) -> anyhow::Result<()> {
    let weights = fit.net.parts().len();
    let config = &fit.config;
    // A forward pass and twice that on the way back, at half of the positions masked; two operations each.
    let work = 6.0 * config.batch as f64 * fit.net.transformer().multiplications(config.net.length / 2);
    let hours = work * config.train.steps as f64 / 1.2e11 / 3600.0;
    // Weights, gradient, two moments, average, best; activations of eight texts at a time.
    let activations = 27 * config.net.width * config.net.length * config.net.blocks * 8;
    let megabytes = (weights * 6 + activations) as f64 * 4.0 / 1e6;
    if args.json {
        let value = serde_json::json!({
            "data": args.data, "characters": fit.tokens.characters(), "tokens": fit.tokens.len(),
            "tokenizer": fit.tokenizer.name(), "classes": fit.tokenizer.classes(), "config": config,
            "weights": weights, "megabytes": megabytes.round(), "operations_per_step": work,
            "hours": (hours * 100.0).round() / 100.0,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    let text = format!(
        "{}: {} characters, {} tokens ({}, {} kinds)\n\n{}\n{weights} weights; about {megabytes:.0} MB; {:.2e} operations per step, {hours:.2} hours on two cores\n",
        args.data.display(),
        fit.tokens.characters(),
        fit.tokens.len(),
        fit.tokenizer.name(),
        fit.tokenizer.classes(),
        to_toml(config),
        work,
    );
    output::print(text.as_bytes())
}

/// The model's `README.md`.
fn card(fit: &Fit, facts: &Facts) -> String {
    let fact = |name: &str| facts.get(name).map_or("–", String::as_str);
    format!(
        "# A model of texts, by Posterior Mean Matching\n\n\
         Fitted by pmm {} to {} characters ({} tokens, {}, {} kinds); seed {}; {} weights; {} steps, the best at step {} \
         with a held-out loss of {} nats per token.\n\nData: BLAKE3 {}.\n\n```toml\n{}```\n\n\
         `state/tokens.bin` is the text itself: whoever has this folder can read it. `--resume` needs it; the other verbs do not.\n",
        fact("version"),
        fact("characters"),
        fact("tokens"),
        fit.tokenizer.name(),
        fit.tokenizer.classes(),
        fit.config.seed,
        fit.net.parts().len(),
        fact("steps"),
        fact("best_step"),
        fact("valid_loss"),
        fact("data"),
        to_toml(&fit.config),
    )
}
