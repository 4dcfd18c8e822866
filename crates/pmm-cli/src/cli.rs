//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Generative models of your data by Posterior Mean Matching.
///
/// Data are watched through noise on an information clock; a conjugate Bayesian model turns what has been seen into a
/// posterior mean. Letting that inference run on observations drawn from an estimate of the data makes new data.
#[derive(Debug, Parser)]
#[command(name = "pmm", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Completions(CompletionsArgs),
}

/// Show the method at work on targets that are known exactly: no data, no set-up.
///
/// For each of the four conjugate pairs, posterior means are drawn as they converge to a known target, and a table says
/// how far samples are from that target as the number of steps grows. Writes pictures and a page that shows them, and prints
/// the table.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to write to; it is made if need be
    #[arg(long, value_name = "DIR", default_value = "pmm-demo")]
    pub(crate) out: PathBuf,
    /// Fixes every random number, for any number of threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Samples per cell of the table
    #[arg(long, value_name = "N", default_value = "20000")]
    pub(crate) rows: NonZeroUsize,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Print the table as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Print a completion script for your shell.
///
/// For example: pmm completions bash > ~/.local/share/bash-completion/completions/pmm
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
