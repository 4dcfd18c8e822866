//! What the user reads: data on standard output, errors with a hint on standard error.

use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pmm_data::{CellError, ImageDataError, OverrideError, ReadError, TextDataError};
use pmm_net::{DeviceError, FeatureError};
use pmm_train::{Model, ModelError, TensorFileError};

use crate::cli::Common;

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Whether whoever reads standard output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |error: &std::io::Error| error.kind() == ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(is_broken))
}

/// An error's context that says what was tried, and a hint what to do.
#[derive(Debug)]
pub(crate) struct Advice {
    what: String,
    hint: String,
}

impl Advice {
    pub(crate) fn new(what: String, hint: impl Into<String>) -> Self {
        Self { what, hint: hint.into() }
    }
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

/// What happened and why, then what to do.
pub(crate) fn report(error: &anyhow::Error) {
    eprintln!("error: {}", message(error));
    if let Some(hint) = hint(error) {
        eprintln!("hint: {hint}");
    }
}

/// An error and its causes, without those that the text before already tells.
fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(|cause| cause.to_string()) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// The hint of an error or of what caused it.
fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(advice) = error.downcast_ref::<Advice>() {
        return Some(advice.hint.clone());
    }
    error.chain().find_map(|cause| {
        cause
            .downcast_ref::<ReadError>()
            .map(ReadError::hint)
            .or_else(|| cause.downcast_ref::<OverrideError>().map(OverrideError::hint))
            .or_else(|| cause.downcast_ref::<CellError>().map(CellError::hint))
            .or_else(|| cause.downcast_ref::<TextDataError>().map(TextDataError::hint))
            .or_else(|| cause.downcast_ref::<ImageDataError>().map(ImageDataError::hint))
            .or_else(|| cause.downcast_ref::<FeatureError>().map(FeatureError::hint))
            .or_else(|| cause.downcast_ref::<DeviceError>().map(DeviceError::hint))
            .or_else(|| cause.downcast_ref::<ModelError>().map(model_hint))
            .or_else(|| cause.downcast_ref::<TensorFileError>().map(checkpoint_hint))?
    })
}

/// Of the files of tensors, only a checkpoint is read without a model around it.
fn checkpoint_hint(error: &TensorFileError) -> Option<String> {
    let hint = match error {
        TensorFileError::Damaged { .. } => "bring back the file as it was, or --force begins anew",
        TensorFileError::Foreign { .. } => {
            "go on with the data and settings it began with, or --force begins anew"
        }
        TensorFileError::Io { .. } => return None,
    };
    Some(hint.to_owned())
}

fn model_hint(error: &ModelError) -> Option<String> {
    let hint = match error {
        ModelError::NotAModel { .. } => "pmm fit DATA makes a model",
        ModelError::Unfinished { .. } => "pmm fit DATA --resume goes on with it",
        ModelError::Tensors(TensorFileError::Damaged { .. } | TensorFileError::Foreign { .. })
        | ModelError::Schema { .. }
        | ModelError::Config { .. } => "bring back the file as it was, or fit again",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Reads a model of a table.
pub(crate) fn load(folder: &Path) -> anyhow::Result<Model> {
    if pmm_train::is_text_model(folder) {
        anyhow::bail!(Advice::new(
            format!("{} is a model of texts", folder.display()),
            "pmm sample, infill, eval, trace and info are for texts"
        ));
    }
    if pmm_train::is_image_model(folder) {
        anyhow::bail!(Advice::new(
            format!("{} is a model of images", folder.display()),
            "pmm sample, eval, trace and info are for images"
        ));
    }
    Ok(Model::load(folder)?)
}

/// Sets the number of threads and the device for everything that follows; the first verb of a process decides.
pub(crate) fn prepare(common: &Common) -> anyhow::Result<()> {
    static DECIDED: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    if DECIDED.set(()).is_err() {
        return Ok(());
    }
    pmm_net::choose_device(&common.device)?;
    let threads = common.threads.map_or(0, NonZeroUsize::get);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")
}

/// A bar with a rate and the time left, on a terminal only.
pub(crate) fn bar(len: u64, what: &str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(len), target(quiet));
    let style = ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len}  {per_sec}  {eta} left  {msg}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_prefix(what.to_owned());
    bar
}

/// Something that moves while the length of a job is not known.
pub(crate) fn spinner(what: &str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target(quiet));
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}
