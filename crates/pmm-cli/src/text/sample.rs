//! `pmm sample` for texts.

use anyhow::bail;
use pmm_core::{MASK, Prompt, Streams, Texts};
use pmm_train::TextModel;

use super::plan::{CHUNK, Plan};
use super::write::write;
use crate::cli::SampleArgs;
use crate::output::{self, Advice};

pub(crate) fn run(args: &SampleArgs) -> anyhow::Result<()> {
    if args.no_snap {
        bail!(Advice::new("--no-snap is for tables".into(), "leave it out"));
    }
    let model = TextModel::load(&args.model)?;
    let plan = Plan::new(&args.drawing)?;
    let length = model.denoiser.net().length();
    let prefix = model.tokenizer.encode(args.given.join(",").as_bytes())?;
    if prefix.len() >= length {
        bail!(Advice::new(
            format!("--given has {} tokens, a text of this model {length}", prefix.len()),
            "give a shorter beginning"
        ));
    }
    let n = args.n.unwrap_or(1);
    let streams = Streams::new(args.common.seed);
    let bar = output::bar(n.div_ceil(CHUNK) as u64 * length as u64, "calls", args.common.quiet);
    let mut texts = Vec::with_capacity(n);
    for first in (0..n).step_by(CHUNK) {
        let rows = CHUNK.min(n - first);
        let mut tokens = Vec::with_capacity(rows * length);
        for _ in 0..rows {
            tokens.extend_from_slice(&prefix);
            tokens.resize(tokens.len() + length - prefix.len(), MASK);
        }
        let prompt = Prompt { first_row: first as u64, tokens };
        let drawn = plan.draw(&model.denoiser, prompt, &streams, &mut |_, _: &Texts<'_>| bar.inc(1))?;
        texts.extend(drawn.tokens.chunks_exact(length).map(|tokens| model.tokenizer.decode(tokens)));
    }
    bar.finish_and_clear();
    write(&texts, &args.output)
}
