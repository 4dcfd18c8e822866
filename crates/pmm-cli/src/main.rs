//! The program `pmm`: generative models of your data. It parses, calls the library and shows.

mod cli;
mod columns;
mod completions;
mod demo;
mod dry_run;
mod eval;
mod fit;
mod given;
mod impute;
mod infill;
mod info;
mod output;
mod predict;
mod sample;
mod terminal;
mod trace;
mod write;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough (`pmm … | head`) is no failure.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::report(&error);
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
        Command::Eval(args) => eval::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
