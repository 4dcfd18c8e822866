//! `pmm fit`: from data to a model's folder.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pmm::table::{Header, Overrides, ReadOptions};
use pmm::{AllRanks, DataKind, Device, Error, FitOutcome, FitSummary, Settings, image, table, text};

use crate::cli::{FitArgs, HeldOut};
use crate::data::data;
use crate::output::{refuse, say};
use crate::terminal::watcher;
use crate::{columns, dry_run, output};

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    let ranks = pmm::ranks().map_err(Error::from)?;
    output::set_rank(ranks.rank());
    // A fit that goes on is in a folder that one process may look at.
    if args.dry_run && args.resume && ranks.rank() > 0 {
        return Ok(());
    }
    let device = output::prepare(&args.common)?;
    let set = pairs(args)?;
    match kind(args, &set)? {
        DataKind::Table => fit_table(args, &set, device, ranks),
        DataKind::Text => fit_text(args, &set, device, ranks),
        DataKind::Image => fit_images(args, &set, device, ranks),
    }
}

/// Rules that are shown, at most.
const RULES: usize = 12;

/// `--set` as keys and values.
type Set = Vec<(String, String)>;

fn pairs(args: &FitArgs) -> anyhow::Result<Set> {
    let pair = |setting: &String| match setting.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => refuse(format!("--set {setting} has no ="), "write --set key=value"),
    };
    args.set.iter().map(pair).collect()
}

/// Of what kind the data are: as the user says, as those of a fit that goes on, else by what is there.
fn kind(args: &FitArgs, set: &Set) -> anyhow::Result<DataKind> {
    match set.iter().rev().find(|(key, _)| key == "kind") {
        None if args.query.sql.is_some() => Ok(DataKind::Table),
        None => match args.resume.then(|| pmm::kind_of_model(&folder(args))).flatten() {
            Some(kind) => Ok(kind),
            None => Ok(pmm::recognise(&args.data, args.preset.as_deref())?),
        },
        Some((_, name)) => match DataKind::from_name(name) {
            Some(kind) => Ok(kind),
            None => refuse(format!("--set kind={name} is not understood"), "kind is table, text or image"),
        },
    }
}

/// What all kinds of fits take: settings from a file and from flags.
fn settings<'a>(args: &FitArgs, set: impl Iterator<Item = &'a (String, String)>) -> anyhow::Result<Settings> {
    let mut settings = match &args.config {
        Some(path) => Settings::read(path)?,
        None => Settings::new(),
    };
    if let Some(seed) = args.common.seed {
        settings.set("seed", i64::try_from(seed).context("seeds are below 2^63")?)?;
    }
    for (key, value) in set.filter(|(key, _)| key != "kind") {
        settings.set_text(key, value)?;
    }
    if let Some(HeldOut::Share(share)) = args.valid {
        settings.set("valid", share)?;
    }
    Ok(settings)
}

/// Applies what all kinds of fits take; a dry run leaves nothing behind.
macro_rules! configured {
    ($fit:expr, $args:expr, $settings:expr, ($device:expr, $ranks:expr), $folder:expr) => {{
        let mut fit = $fit.settings(&$settings).device($device);
        if !$args.dry_run {
            fit = fit.ranks($ranks);
        }
        if let Some(steps) = $args.steps {
            fit = fit.steps(steps);
        }
        if let Some(minutes) = $args.minutes {
            fit = fit.minutes(minutes);
        }
        if let Some(preset) = &$args.preset {
            fit = fit.preset(preset);
        }
        match () {
            () if $args.resume => fit.resume($folder),
            () if $args.force => fit.replace($folder),
            () => fit.at($folder),
        }
    }};
}

/// What ranks would gain, which all of them measure and rank 0 tells.
macro_rules! gain {
    ($prepared:expr, $args:expr, $ranks:expr) => {{
        let rank = $ranks.rank();
        let gain = if $args.resume { None } else { $prepared.gain($ranks)? };
        if rank > 0 {
            return Ok(());
        }
        gain
    }};
}

/// Where the model goes; for a dry run, somewhere that goes with it.
fn place(args: &FitArgs) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    if args.dry_run && !args.resume {
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        return Ok((scratch.path().join("model.pmm"), Some(scratch)));
    }
    if args.resume && args.minutes.is_some() && !args.common.quiet {
        say("note: --minutes is not looked at: the number of steps was set when the fit began");
    }
    Ok((folder(args), None))
}

/// The model's folder.
fn folder(args: &FitArgs) -> PathBuf {
    args.out.clone().unwrap_or_else(|| default_folder(&args.data))
}

fn fit_table(args: &FitArgs, set: &Set, device: Device, ranks: AllRanks) -> anyhow::Result<()> {
    let (overrides, options, rest) = reading(args, set)?;
    let settings = settings(args, rest.into_iter())?;
    let (folder, _scratch) = place(args)?;
    let mut fit =
        table::Fit::new(data(&args.data, args.query.sql.as_deref()).reading(options)).columns(overrides);
    if let Some(target) = &args.target {
        fit = fit.target(target);
    }
    if let Some(HeldOut::File(path)) = &args.valid {
        fit = fit.held_out(table::Data::open(path));
    }
    for rule in &args.rule {
        fit = fit.rule(rule);
    }
    for name in &args.no_rule {
        fit = fit.without_rule(name);
    }
    let mut watcher = watcher(args.common.quiet);
    let fit = configured!(fit, args, settings, (device, ranks.clone()), folder);
    let prepared = fit.prepare(&mut watcher)?;
    if args.dry_run {
        return dry_run::table(&prepared, gain!(prepared, args, ranks), args.json);
    }
    if !args.common.quiet {
        let (schema, (_, held_out)) = (prepared.schema(), prepared.rows());
        say(format!("{}: {} rows, {} columns", prepared.name(), schema.rows, schema.columns.len()));
        if let (Some(HeldOut::File(path)), Some(rows)) = (&args.valid, held_out) {
            say(format!("held out: {}, {rows} rows", path.display()));
        }
        say(columns::table(schema));
        let rules = prepared.rules();
        if !rules.is_empty() {
            say("rules that hold in these rows, and that made rows keep:");
        }
        for found in rules.iter().take(RULES) {
            let share = found.evidence.share();
            let share =
                if share < 1.0 { format!(", in {:.1} % of rows", 100.0 * share) } else { String::new() };
            say(format!("  {}{share}", found.rule.sentence()));
        }
        if rules.len() > RULES {
            say(format!("  … and {} more", rules.len() - RULES));
        }
        if args.minutes.is_none() && !args.resume {
            let (steps, time) = (prepared.config().train.steps, dry_run::time(prepared.cost().minutes));
            say(format!(
                "up to {steps} steps, about {time} of two cores; fewer if held-out rows stop gaining"
            ));
        }
    }
    let model = prepared.run(&mut watcher)?;
    conclude(args, model.folder(), model.summary());
    Ok(())
}

fn fit_text(args: &FitArgs, set: &Set, device: Device, ranks: AllRanks) -> anyhow::Result<()> {
    refuse_columns(args, "a text has no columns", "the last tenth of the text")?;
    let (settings, (folder, _scratch)) = (settings(args, set.iter())?, place(args)?);
    let mut watcher = watcher(args.common.quiet);
    let fit = text::Fit::new(text::Data::open(&args.data));
    let fit = configured!(fit, args, settings, (device, ranks.clone()), folder);
    let prepared = fit.prepare(&mut watcher)?;
    if args.dry_run {
        return dry_run::text(&prepared, gain!(prepared, args, ranks), args.json);
    }
    if !args.common.quiet {
        let (tokens, tokenizer) = (prepared.tokens(), prepared.tokenizer());
        say(format!(
            "{}: {} characters, {} tokens ({}, {} kinds); texts of {} tokens",
            prepared.name(),
            tokens.characters(),
            tokens.len(),
            tokenizer.name(),
            tokenizer.classes(),
            prepared.config().net.length(),
        ));
        let (learned, first) = prepared.split();
        if first > 0 {
            let held_out = tokens.len() - learned;
            say(format!("learned: the first {learned} tokens; held out: the last {held_out}"));
        }
    }
    let model = prepared.run(&mut watcher)?;
    conclude(args, model.folder(), model.summary());
    Ok(())
}

fn fit_images(args: &FitArgs, set: &Set, device: Device, ranks: AllRanks) -> anyhow::Result<()> {
    refuse_columns(args, "images have no columns", "a tenth of the images")?;
    let (settings, (folder, _scratch)) = (settings(args, set.iter())?, place(args)?);
    let mut watcher = watcher(args.common.quiet);
    let fit = image::Fit::new(image::Data::open(&args.data));
    let fit = configured!(fit, args, settings, (device, ranks.clone()), folder.clone());
    let prepared = fit.prepare(&mut watcher)?;
    if args.dry_run {
        return dry_run::images(&prepared, gain!(prepared, args, ranks), args.json);
    }
    if !args.common.quiet {
        let (images, (learned, held_out)) = (prepared.images(), prepared.split());
        let (shape, classes) = (image::shape_words(images.shape), image::class_list(&images.classes));
        let count = image::image_count(images.count);
        say(format!("{}: {count} of {shape}; classes: {classes}", prepared.name()));
        if held_out > 0 {
            say(format!("learned: {}; held out: {held_out}", image::image_count(learned as u64)));
        }
        let weights = prepared.cost().weights;
        say(format!("{weights} weights; preview: {}", folder.join("preview.png").display()));
    }
    let model = prepared.run(&mut watcher)?;
    conclude(args, model.folder(), model.summary());
    Ok(())
}

/// Refuses what only tables have.
fn refuse_columns(args: &FitArgs, why: &str, share: &str) -> anyhow::Result<()> {
    if args.target.is_some() || args.schema.is_some() || args.missing.is_some() || args.query.sql.is_some() {
        return refuse(why, "leave out --target, --schema, --missing and --sql");
    }
    if let Some(HeldOut::File(path)) = &args.valid {
        return refuse(
            format!("--valid {}: a file of its own to hold out is for tables only", path.display()),
            format!("--valid 0.1 holds out {share}"),
        );
    }
    Ok(())
}

type Reading<'a> = (Overrides, ReadOptions, Vec<&'a (String, String)>);

/// What the user says about columns and the file, and the settings that are about neither.
fn reading<'a>(args: &FitArgs, set: &'a Set) -> anyhow::Result<Reading<'a>> {
    let mut overrides = match &args.schema {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Overrides::from_json(&text).with_context(|| path.display().to_string())?
        }
        None => Overrides::default(),
    };
    if let Some(markers) = &args.missing {
        overrides.set("missing", markers).map_err(Error::from)?;
    }
    let (mut options, mut rest) = (ReadOptions::default(), Vec::new());
    for setting in set {
        match setting.0.as_str() {
            "header" | "delimiter" => set_reading(&mut options, &setting.0, &setting.1)?,
            "missing" => overrides.set(&setting.0, &setting.1).map_err(Error::from)?,
            key if key.starts_with("columns.") => overrides.set(key, &setting.1).map_err(Error::from)?,
            _ => rest.push(setting),
        }
    }
    Ok((overrides, options, rest))
}

fn set_reading(options: &mut ReadOptions, key: &str, value: &str) -> anyhow::Result<()> {
    match (key, value) {
        ("header", "yes") => options.header = Header::Yes,
        ("header", "no") => options.header = Header::No,
        ("delimiter", "tab" | "\\t") => options.delimiter = Some('\t'),
        ("delimiter", text) if text.chars().count() == 1 => options.delimiter = text.chars().next(),
        _ => {
            return refuse(
                format!("--set {key}={value} is not understood"),
                "header is yes or no, delimiter is one character or tab",
            );
        }
    }
    Ok(())
}

/// `penguins.csv.gz` → `penguins.pmm`; of a pattern, by the last folder before it.
fn default_folder(data: &Path) -> PathBuf {
    let whole = data.ancestors().find(|path| !pmm::table::is_pattern(path)).unwrap_or(data);
    let name = whole.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned());
    let name = name.split('.').find(|part| !part.is_empty()).filter(|name| *name != "-").unwrap_or("model");
    PathBuf::from(format!("{name}.pmm"))
}

/// Says how a fit has ended, once everything is on disk.
fn conclude(args: &FitArgs, folder: Option<&Path>, fit: &FitSummary) {
    if fit.outcome == FitOutcome::Stopped {
        say(format!("stopped at step {}; the model can be used, and --resume goes on", fit.steps));
        return;
    }
    if args.common.quiet {
        return;
    }
    if fit.skipped > 0 {
        say(format!(
            "note: {} of {} steps were skipped because their loss was not finite",
            fit.skipped, fit.steps
        ));
    }
    if let Some((after, steps)) = fit.second_attempt {
        say(format!(
            "note: held-out data gained nothing more after {after} steps, so a second, shorter run of {steps} was made"
        ));
    }
    if fit.outcome == FitOutcome::Converged {
        say(format!("stopped after {} steps: held-out data gained nothing more", fit.steps));
    }
    if let Some(folder) = folder.map(Path::display) {
        say(format!("model: {folder}; try: pmm sample {folder} -n 10"));
    }
}
