//! The program `pmm`: generative models of your data. It parses, calls the library and shows. A library, so that the Python
//! package can bring the same program along.

mod cli;
mod columns;
mod completions;
mod cut_file;
mod data;
mod data_flags;
mod demo;
mod dry_run;
mod eval;
mod fit;
mod given;
mod impute;
mod infill;
mod info;
#[cfg(feature = "serve")]
mod mcp;
mod output;
mod predict;
mod sample;
mod score;
mod score_texts;
#[cfg(feature = "serve")]
mod serve;
mod terminal;
mod trace;
mod write;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// Runs the program with the arguments of a command line, the program's name first. What cannot be parsed ends the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    output::tell_of_panics();
    cut_file::tell_of_cut_files();
    match run(Cli::parse_from(arguments)) {
        Ok(()) => {
            pmm::finish_ranks();
            ExitCode::SUCCESS
        }
        // A reader that has seen enough (`pmm … | head`) is no failure.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
            // Other ranks would wait for this one.
            pmm::abort_ranks();
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Impute(args) => impute::run(&args),
        Command::Infill(args) => infill::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Info(args) => info::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "serve")]
        Command::Mcp(args) => mcp::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
