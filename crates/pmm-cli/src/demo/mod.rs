//! `pmm demo`: every verb on a table that comes with the program, or the method itself on known targets.

mod method;
mod penguins;

use crate::cli::DemoArgs;

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    if args.method { method::run(args) } else { penguins::run(args) }
}
