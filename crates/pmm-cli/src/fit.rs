//! `pmm fit`: from a table to a model's folder; texts and images go their own ways.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, bail};
use pmm_core::Streams;
use pmm_data::{Overrides, ReadOptions, Schema, Source, Table};
use pmm_net::table::TableNet;
use pmm_train::{
    BatchConfig, Facts, FitConfig, Outcome, State, TableTask, Task, TrainError, identity, load_settings,
    network, note_trims, save_model_weights, save_settings, train,
};

use crate::begin::{Begin, check_data};
use crate::cli::FitArgs;
use crate::output::{self, Advice};
use crate::{card, columns, files, image, settings, text, valid};

/// Modelled cells that are kept in memory, at most: two gigabytes.
const MOST_CELLS: usize = 160_000_000;
/// Below so many rows none is held out: validation then looks at the rows it learns from.
const LEAST_ROWS_TO_HOLD_OUT: usize = 40;

/// Everything that a fit needs.
pub(crate) struct Fit {
    pub(crate) folder: PathBuf,
    pub(crate) schema: Arc<Schema>,
    pub(crate) config: FitConfig,
    pub(crate) table: Arc<Table>,
    /// Rows of another file to validate on, in place of some of the table.
    pub(crate) held_out: Option<Table>,
    pub(crate) net: Arc<TableNet>,
    pub(crate) identity: Facts,
}

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    refuse_nothing(&args.data)?;
    if image::is_image(args) {
        return image::fit::run(args);
    }
    if text::is_text(args) {
        return text::fit::run(args);
    }
    if let Some(preset) = &args.preset {
        let hint = format!("{}, {}", text::presets(), image::presets());
        bail!(Advice::new(format!("there is no preset {preset}"), hint));
    }
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.data));
    check_folder(&folder, args)?;
    let bar = output::spinner("reading", args.common.quiet);
    let (source, overrides, settings) = open(args)?;
    let valid = valid::open(args, &source)?;
    let digest = valid::digest(&source, valid.as_ref())?;
    let stored = if args.resume { Some(stored(&folder, &digest)?) } else { None };
    let schema = match &stored {
        Some((_, schema)) if overrides == Overrides::default() => schema.clone(),
        _ => Schema::infer(&source, &overrides)?,
    };
    bar.set_message("coding");
    // Which rows of a very large file are kept does not depend on the seed: a fit that goes on must see the same.
    let (table, notes) = Table::read(&source, &schema, MOST_CELLS, &Streams::new(0))?;
    let mut notes: Vec<String> = source.notes().iter().cloned().chain(notes.messages()).collect();
    let held_out = match &valid {
        Some(valid) => {
            let (rows, noticed) = valid::read(valid, &schema)?;
            notes.extend(noticed);
            Some(rows)
        }
        None => None,
    };
    bar.finish_and_clear();
    let data = Data { name: source.name(), digest: &digest, schema, table, held_out };
    let mut fit = prepare(folder, args, data, settings, stored.map(|(config, _)| config))?;
    if args.dry_run {
        return crate::dry_run::print(&fit, &source, args.json);
    }
    if !args.common.quiet {
        say(&fit, &source, valid.as_ref(), &notes);
    }
    // Time was turned into steps when the fit began.
    if let (Some(minutes), false) = (args.minutes, args.resume) {
        fit.config.train.steps = trial(&fit.task()?, minutes);
        fit.config.train.validate_every = (fit.config.train.steps / 30).max(10);
        fit.config.train.warmup = (fit.config.train.steps / 20).min(200);
        fit.identity = identity(&digest, &fit.schema, &fit.config)?;
    }
    start(&fit, args.resume, args.common.quiet)
}

/// Refuses a folder without a file in it, or in the folders in it, whatever kind it was meant to be.
fn refuse_nothing(data: &Path) -> anyhow::Result<()> {
    if data.is_dir() && !holds_a_file(data) {
        bail!(Advice::new(
            format!("{} is an empty folder: there is nothing to learn from", data.display()),
            "put texts (.txt) or images (PNG, JPEG, WebP) into it, or name a file, such as a table"
        ));
    }
    Ok(())
}

/// What cannot be looked into may hold files.
fn holds_a_file(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => holds_a_file(&entry.path()),
        _ => true,
    })
}

/// `penguins.csv.gz` → `penguins.pmm`.
pub(crate) fn default_folder(data: &Path) -> PathBuf {
    let name = data.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned());
    let name = name.split('.').find(|part| !part.is_empty()).filter(|name| *name != "-").unwrap_or("model");
    PathBuf::from(format!("{name}.pmm"))
}

pub(crate) fn check_folder(folder: &Path, args: &FitArgs) -> anyhow::Result<()> {
    let exists = folder.join("config.toml").exists();
    if args.resume && !exists {
        bail!(Advice::new(
            format!("{} has no fit to go on with", folder.display()),
            "leave out --resume to begin one"
        ));
    }
    if exists && !args.resume && !args.force && !args.dry_run {
        bail!(Advice::new(
            format!("{} is already a model", folder.display()),
            "--resume goes on with it, --force replaces it, --out DIR chooses another place"
        ));
    }
    Ok(())
}

/// Keys and values that are not about columns.
type Settings = Vec<(String, String)>;

/// The source with what the user says about its columns, and the settings that are not about columns.
fn open(args: &FitArgs) -> anyhow::Result<(Source, Overrides, Settings)> {
    let mut overrides = match &args.schema {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Overrides::from_json(&text).with_context(|| path.display().to_string())?
        }
        None => Overrides::default(),
    };
    let mut rest = Vec::new();
    let mut options = ReadOptions::default();
    for (key, value) in settings::pairs(args)? {
        match key.as_str() {
            "header" | "delimiter" => settings::set_reading(&mut options, &key, &value)?,
            "missing" => overrides.set(&key, &value)?,
            // Said already, by coming here.
            "kind" if value == "table" => {}
            _ if key.starts_with("columns.") => overrides.set(&key, &value)?,
            _ => rest.push((key, value)),
        }
    }
    Ok((Source::open(&args.data, &options)?, overrides, rest))
}

/// Settings and schema of a fit that goes on, if it was begun with these data.
fn stored(folder: &Path, digest: &str) -> anyhow::Result<(FitConfig, Schema)> {
    check_data(folder, digest)?;
    Ok(load_settings(folder)?)
}

/// What was read.
struct Data<'a> {
    name: &'a str,
    digest: &'a str,
    schema: Schema,
    table: Table,
    held_out: Option<Table>,
}

fn prepare(
    folder: PathBuf,
    args: &FitArgs,
    data: Data<'_>,
    settings: Vec<(String, String)>,
    stored: Option<FitConfig>,
) -> anyhow::Result<Fit> {
    let Data { name, digest, schema, table, held_out } = data;
    let schema = Arc::new(schema);
    if !schema.columns.iter().any(pmm_data::Column::is_modelled) {
        bail!(Advice::new(
            format!("{name} has no column that a model could learn"),
            "--dry-run shows why; --set columns.NAME.kind=category overrides"
        ));
    }
    let sized = |config: &FitConfig| -> anyhow::Result<FitConfig> {
        let net = network(&schema, config)?;
        Ok(FitConfig::for_table(table.rows as u64, config.net.kind, net.columns()))
    };
    let given = settings::given(args, &settings, stored.is_some())?;
    let config: FitConfig = match &stored {
        Some(stored) => settings::merge(stored, &given)?,
        // Once over the plain defaults, to know the network; once over those of its size.
        None => settings::merge(&sized(&settings::merge(&FitConfig::default(), &given)?)?, &given)?,
    };
    settings::check(config.problem())?;
    if let Some(target) = &config.target {
        columns::find_modelled(&schema, target)?;
    }
    settings::keep_stored(&folder, stored.as_ref(), &config)?;
    let net = Arc::new(network(&schema, &config)?);
    let identity = identity(digest, &schema, &config)?;
    Ok(Fit { folder, schema, config, table: Arc::new(table), held_out, net, identity })
}

impl Fit {
    /// The task: rows to learn and rows to validate on.
    fn task(&self) -> anyhow::Result<TableTask> {
        let streams = Streams::new(self.config.seed);
        let (train, valid) = match &self.held_out {
            Some(held_out) => (places(self.table.rows), places(held_out.rows)),
            None => split(self.table.rows, self.config.valid, &streams),
        };
        let valid = (self.held_out.as_ref().unwrap_or(&self.table), &valid[..]);
        let target = self.config.target.as_deref().and_then(|name| {
            let index = self.schema.position(name)?;
            self.net.coordinates().columns.iter().position(|place| place.column == index)
        });
        let config = BatchConfig { rows: self.config.batch, dropout: self.config.net.dropout, target };
        Ok(TableTask::new(self.net.clone(), self.table.clone(), train, valid, config, streams)?)
    }
}

fn places(rows: usize) -> Vec<u32> {
    (0..rows as u32).collect()
}

/// Rows to learn from and rows held out, the same for the same seed.
fn split(rows: usize, share: f64, streams: &Streams) -> (Vec<u32>, Vec<u32>) {
    let mut all = places(rows);
    let held_out = (share * rows as f64).round() as usize;
    if rows < LEAST_ROWS_TO_HOLD_OUT || held_out == 0 {
        return (all.clone(), all);
    }
    streams.stream(pmm_core::Purpose::TABLE_SPLIT, 0, 0).shuffle(&mut all);
    let valid = all.split_off(rows - held_out.min(valid::MOST_ROWS));
    (all, valid)
}

/// How many steps fit into so many minutes, by a few of them.
pub(crate) fn trial(task: &impl Task, minutes: f64) -> u64 {
    let weights = task.initial();
    let mut gradient = vec![0.0; weights.len()];
    let mut step = |n: u64| {
        task.gradient(&weights, task.batch(n), &mut gradient);
    };
    (0..2).for_each(&mut step);
    let start = Instant::now();
    (2..10).for_each(&mut step);
    let seconds = start.elapsed().as_secs_f64() / 8.0;
    ((minutes * 60.0 / seconds / 1.15) as u64).max(10)
}

/// Trains, from the start or from a checkpoint, and leaves a model; Ctrl-C does so early, and is no failure.
pub(crate) fn start(fit: &Fit, resume: bool, quiet: bool) -> anyhow::Result<()> {
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
        begin.begin(initial, || save_settings(&fit.folder, &fit.config, &fit.schema))?;
    let task = fit.task()?;
    let outcome = train(&task, &fit.config.train, &mut state, &mut keeper, interrupted());
    let mut facts = keeper.finish(&state)?;
    facts.insert("rows".into(), fit.table.rows.to_string());
    let weights = task.calibrated(state.best_weights());
    note_trims(&mut facts, &task.trims(&weights));
    save_model_weights(&fit.folder, fit.net.parts(), &weights, &facts)?;
    let card = card::text(&fit.schema, &fit.config, &facts, fit.net.parts().len());
    files::write(&fit.folder.join("README.md"), card.as_bytes())?;
    conclude(&fit.folder, &state, outcome, quiet)
}

/// Says how a run has ended, once everything is on disk.
pub(crate) fn conclude(
    folder: &Path,
    state: &State,
    outcome: Result<Outcome, TrainError<anyhow::Error>>,
    quiet: bool,
) -> anyhow::Result<()> {
    match outcome {
        Ok(Outcome::Interrupted) => {
            eprintln!("stopped at step {}; the model can be used, and --resume goes on", state.step);
            Ok(())
        }
        Ok(outcome) => {
            if !quiet {
                done(folder, state, outcome);
            }
            Ok(())
        }
        Err(TrainError::Watcher(error)) => Err(error),
        Err(error @ TrainError::Diverged { .. }) => Err(anyhow::anyhow!("{error}").context(Advice::new(
            format!("the fit of {} was given up; the best model so far is kept", folder.display()),
            "try --set train.learning_rate=0.0005, and look at the data's extremes with --dry-run",
        ))),
    }
}

/// Set by Ctrl-C; a second one ends the program at once.
pub(crate) fn interrupted() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, std::sync::atomic::Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    &STOP
}

fn say(fit: &Fit, source: &Source, valid: Option<&Source>, notes: &[String]) {
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    eprintln!("{}: {} rows, {} columns", source.name(), fit.schema.rows, fit.schema.columns.len());
    if let (Some(valid), Some(rows)) = (valid, &fit.held_out) {
        eprintln!("held out: {}, {} rows", valid.name(), rows.rows);
    }
    eprintln!("{}", columns::table(&fit.schema));
}

fn done(folder: &Path, state: &State, outcome: Outcome) {
    if state.skipped > 0 {
        eprintln!(
            "note: {} of {} steps were skipped because their loss was not finite",
            state.skipped, state.step
        );
    }
    if state.horizon > 0 {
        eprintln!(
            "note: held-out data gained nothing more after {} steps, so a second, shorter run of {} was made",
            state.begun, state.horizon
        );
    }
    if outcome == Outcome::Converged {
        eprintln!("stopped after {} steps: held-out data gained nothing more", state.step);
    }
    let folder = folder.display();
    eprintln!("model: {folder}; try: pmm sample {folder} -n 10");
}
