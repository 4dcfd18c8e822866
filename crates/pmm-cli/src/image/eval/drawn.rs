//! Samples: drawn from the model, or read from files.

use std::path::Path;

use anyhow::bail;
use pmm_core::{Estimates, States, Streams};
use pmm_train::ImageModel;

use super::super::plan::{CHUNK, Plan, bytes, classes};
use super::real::{Set, read};
use crate::cli::EvalArgs;
use crate::output::{self, Advice};

/// Samples that are drawn if no number is asked for: to look at, and to measure distances.
const COUNT: (usize, usize) = (64, 1000);

#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) images: Vec<Vec<u8>>,
    /// The classes that were asked for, as the model numbers them.
    pub(super) labels: Vec<Option<u32>>,
}

impl Drawn {
    /// Draws as many as asked for: by default with a feature network 1000, or as many as there are real images.
    pub(super) fn draw(
        args: &EvalArgs,
        model: &ImageModel,
        real: usize,
        streams: &Streams,
    ) -> anyhow::Result<Self> {
        let default = if args.features.is_some() { COUNT.1.min(real).max(COUNT.0) } else { COUNT.0 };
        let n = args.n.map_or(default, |n| n.get());
        let mut plan = Plan::of(model.config.pair);
        if let Some(calls) = args.steps {
            if calls.get() < 2 {
                bail!(Advice::new("one network call draws no image".into(), "--steps 2 at least"));
            }
            plan = plan.with_calls(calls.get());
        }
        let bar = output::bar(n as u64, "sampling", args.common.quiet);
        let (mut images, mut all) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for first in (0..n).step_by(CHUNK) {
            let rows = CHUNK.min(n - first);
            let labels = classes(&model.images, None, first as u64..(first + rows) as u64, streams);
            let denoiser = model.denoiser.told(labels.clone(), 1.0);
            let states = States::prior(denoiser.net().space(), first as u64, rows);
            let mut observe =
                |step: usize, _: &States, _: &Estimates| bar.set_message(format!("step {step}"));
            let values = plan.draw(&denoiser, states, streams, &mut observe)?;
            images.extend(bytes(model.config.pair, values.reals(0), model.images.shape.iter().product()));
            all.extend(labels);
            bar.inc(rows as u64);
        }
        bar.finish_and_clear();
        Ok(Self { images, labels: all })
    }

    /// Images of a file or folder, whoever made them.
    pub(super) fn read(
        path: &Path,
        model: &ImageModel,
        args: &EvalArgs,
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        if args.n.is_some() || args.steps.is_some() {
            bail!(Advice::new("with --samples none are drawn".into(), "leave out -n and --steps"));
        }
        let images = read(path, model, &scratch.join("samples"))?;
        let set = Set { rows: (0..images.len()).collect(), images };
        let labels = set.labels(model, &set.rows);
        Ok(Self { images: set.pixels(usize::MAX).into_iter().map(<[u8]>::to_vec).collect(), labels })
    }

    pub(super) fn pixels(&self, most: usize) -> Vec<&[u8]> {
        self.images.iter().take(most).map(Vec::as_slice).collect()
    }
}
