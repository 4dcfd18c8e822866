//! What the user reads: data on standard output, errors with a hint on standard error.

use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;

use anyhow::Context;
use pmm::table::WriteError;
use pmm::{Device, Error};

use crate::cli::Common;
use crate::data_flags::data_flags;

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// The rank of this process, where several work together.
static RANK: std::sync::OnceLock<usize> = std::sync::OnceLock::new();

/// Says which rank this is: all but rank 0 are silent from here on, unless they alone fail.
pub(crate) fn set_rank(rank: usize) {
    let _ = RANK.set(rank);
}

/// Whether another rank speaks for this one.
pub(crate) fn is_silent() -> bool {
    RANK.get().is_some_and(|rank| *rank > 0)
}

/// A line on standard error. Whoever reads it may have gone: that never costs a result.
pub(crate) fn say(line: impl AsRef<str>) {
    if !is_silent() {
        write_line(line);
    }
}

fn write_line(line: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(line.as_ref()));
}

/// A bug is told of; a panic of a reader in a damaged file becomes an error, and is told of as such.
pub(crate) fn tell_of_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !pmm::table::is_reading_guarded() {
            usual(panic);
        }
    }));
}

/// Notes, unless they are not wanted.
pub(crate) fn say_notes(notes: &[String], quiet: bool) {
    if !quiet {
        notes.iter().for_each(|note| say(format!("note: {note}")));
    }
}

/// Text without characters that a terminal would act on: a stranger's model may hold some.
fn visible(text: &str) -> String {
    let safe = |c: char| !c.is_control() || c == '\n' || c == '\t';
    text.chars().map(|c| if safe(c) { c } else { '\u{fffd}' }).collect()
}

/// Whether whoever reads standard output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |error: &std::io::Error| error.kind() == ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(is_broken)
            || cause.downcast_ref::<WriteError>().is_some_and(WriteError::is_broken_pipe)
    })
}

/// A request that the command line cannot mean, and a hint what to do.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Refusal {
    what: String,
    hint: String,
}

/// Refuses a request.
pub(crate) fn refuse<T>(what: impl Into<String>, hint: impl Into<String>) -> anyhow::Result<T> {
    Err(Refusal { what: what.into(), hint: hint.into() }.into())
}

/// What happened and why, then what to do.
pub(crate) fn report(error: &anyhow::Error) {
    let rank = match RANK.get() {
        Some(rank) if *rank > 0 => {
            // What all ranks fail of, rank 0 tells, and ends this one.
            std::thread::sleep(std::time::Duration::from_secs(2));
            format!("rank {rank}: ")
        }
        _ => String::new(),
    };
    write_line(format!("{rank}error: {}", message(error)));
    if let Some(hint) = hint(error) {
        write_line(format!("{rank}hint: {hint}"));
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
    error.chain().find_map(|cause| {
        let refusal = cause.downcast_ref::<Refusal>().map(|refusal| refusal.hint.clone());
        refusal.or_else(|| cause.downcast_ref::<WriteError>()?.hint()).or_else(|| {
            let error = cause.downcast_ref::<Error>()?;
            flags(error).map(str::to_owned).or_else(|| data_flags(error)).or_else(|| error.remedy())
        })
    })
}

/// What the library says in words, in flags.
fn flags(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::ModelExists { .. } => {
            "--resume goes on with it, --force replaces it, --out DIR chooses another place"
        }
        Error::FolderInUse { .. } | Error::Locked(_) => "choose another place with --out",
        Error::NothingToResume { .. } => "leave out --resume to begin one",
        Error::OtherSettings { .. } | Error::OtherData { .. } => {
            "--resume alone goes on with the data and settings it began with, --force begins anew"
        }
        Error::UnknownSetting { .. } | Error::Setting(_) => {
            "pmm fit --dry-run shows all settings; columns are set by columns.NAME.pair=…"
        }
        Error::Ranks(pmm::RanksError::NoMpi { .. }) => {
            "cargo build --release --features mpi builds a pmm that mpirun can start many of"
        }
        Error::NotAModel { .. } => "pmm fit DATA makes a model",
        Error::Unfinished { .. } => "pmm fit DATA --resume goes on with it",
        Error::NotModelled { .. } => "fit again with --set columns.NAME.kind=… to change that",
        Error::NothingToLearn { why, .. } if why.starts_with("no column") => {
            "--dry-run shows why; --set columns.NAME.kind=category overrides"
        }
        Error::Diverged { .. } | Error::NotFinite => {
            "try --set train.learning_rate=0.0005, and look at the data's extremes with --dry-run"
        }
        Error::OtherKind { found, .. } => match found {
            pmm::DataKind::Table => "pmm sample, impute, predict, eval, trace and info are for tables",
            pmm::DataKind::Text => "pmm sample, infill, eval, trace and info are for texts",
            pmm::DataKind::Image => "pmm sample, eval, trace and info are for images",
        },
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            "check the path, or choose another place with --out"
        }
        _ => return None,
    })
}

/// Sets the number of threads for everything that follows; the first verb of a process decides. Returns the device.
pub(crate) fn prepare(common: &Common) -> anyhow::Result<Device> {
    prepare_threads(common.threads)?;
    Ok(pmm::device(&common.device).map_err(Error::from)?)
}

/// Sets the number of threads alone.
pub(crate) fn prepare_threads(threads: Option<NonZeroUsize>) -> anyhow::Result<()> {
    static DECIDED: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    if DECIDED.set(()).is_ok() {
        let threads = threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.context("cannot start threads")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(visible("a\x1b[31mb\tc\n"), "a\u{fffd}[31mb\tc\n");
    }
}
