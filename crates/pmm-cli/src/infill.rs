//! `pmm infill`: a text with its gaps completed.

use std::io::Read;

use anyhow::Context;

use crate::cli::InfillArgs;
use crate::output::prepare;
use crate::sample::text_drawing;
use crate::terminal::watcher;
use crate::write;

pub(crate) fn run(args: &InfillArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let model = pmm::open_on(&args.model, &device)?.into_text()?;
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input as text")?;
    }
    let drawing = text_drawing(&args.drawing, args.sampler, args.steps)?;
    let infill = model.infill(&text).completions(args.n).seed(args.common.seed()).drawing(drawing);
    write::texts(&infill.texts(&mut watcher(args.common.quiet))?, &args.output)
}
