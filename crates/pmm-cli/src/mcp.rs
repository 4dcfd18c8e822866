//! `pmm mcp`: the same verbs as tools for an assistant.

use pmm_serve::{Assistant, serve_assistant};

use crate::cli::McpArgs;
use crate::output::prepare_threads;
use crate::serve::runtime;

pub(crate) fn run(args: &McpArgs) -> anyhow::Result<()> {
    prepare_threads(args.threads)?;
    let assistant = Assistant::new(&args.folder, args.read_only)?;
    runtime()?.block_on(serve_assistant(assistant)).map_err(anyhow::Error::msg)
}
