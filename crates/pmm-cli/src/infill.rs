//! `pmm infill`: a text with its gaps completed.

use std::io::Read;

use anyhow::Context;
use pmm::text::GapLength;

use crate::cli::InfillArgs;
use crate::output::prepare;
use crate::sample::text_drawing;
use crate::terminal::watcher;
use crate::write::{self, Texts};

pub(crate) fn run(args: &InfillArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let model = pmm::open_on(&args.model, &device)?.into_text()?;
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input as text")?;
    }
    let drawing = text_drawing(&args.drawing, args.sampler, args.steps)?;
    let mut infill = model.infill(&text).completions(args.n).seed(args.common.seed()).drawing(drawing);
    if let Some(candidates) = args.candidates {
        infill = infill.candidates(candidates.get());
    }
    if let Some(longest) = args.longest {
        infill = infill.longest(longest.get());
    }
    if args.likeliest_length {
        infill = infill.gap_length(GapLength::Likeliest);
    }
    if args.whole_words {
        infill = infill.whole_words();
    }
    let found = infill.ranked(&mut watcher(args.common.quiet))?;
    let bits = found.iter().map(|completion| completion.bits).collect();
    let texts = found.into_iter().map(|completion| completion.text).collect();
    write::texts(&Texts::of(&model, "completion", texts).with_bits(bits), &args.output)
}
