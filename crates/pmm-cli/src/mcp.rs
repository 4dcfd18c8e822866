//! `pmm mcp`: the same verbs as tools for an assistant.

use pmm_serve::Assistant;

use crate::cli::McpArgs;
use crate::output::prepare_threads;

pub(crate) fn run(args: &McpArgs) -> anyhow::Result<()> {
    prepare_threads(args.threads)?;
    Ok(Assistant::new(&args.folder, args.read_only)?.serve(std::io::stdin(), std::io::stdout())?)
}
