//! `pmm completions`: a script for the shell.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::output;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pmm", &mut script);
    output::print(&script)
}
