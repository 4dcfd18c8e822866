//! `pmm sample` for images.

use anyhow::bail;
use pmm_core::{Estimates, States, Streams};
use pmm_train::ImageModel;

use super::given::Given;
use super::plan::{CHUNK, Plan, bytes, classes};
use super::write;
use crate::cli::SampleArgs;
use crate::output::{self, Advice};

/// Images drawn if no number is asked for.
const COUNT: usize = 64;

pub(crate) fn run(args: &SampleArgs) -> anyhow::Result<()> {
    if args.no_snap {
        bail!(Advice::new("--no-snap is for tables".into(), "leave it out"));
    }
    write::check(&args.output)?;
    let model = ImageModel::load(&args.model)?;
    let plan = Plan::new(&args.drawing, &args.picturing, model.config.pair)?;
    let given = Given::read(args, &model)?;
    let guidance = guidance(args, &model)?;
    let n = args.n.unwrap_or(COUNT);
    if n == 0 {
        bail!(Advice::new("no image is asked for".into(), "-n 1 at least"));
    }
    let streams = Streams::new(args.common.seed);
    let bar = output::bar(n as u64, "sampling", args.common.quiet);
    let mut images = Vec::with_capacity(n);
    for first in (0..n).step_by(CHUNK) {
        let rows = CHUNK.min(n - first);
        let rows_drawn = first as u64..(first + rows) as u64;
        let labels = match given.needs_no_class(&model) {
            true => vec![None; rows],
            false => classes(&model.images, given.label, rows_drawn, &streams),
        };
        let denoiser = model.denoiser.told(labels, guidance);
        let states = given.states(&model, first as u64, rows)?;
        let mut observe = |step: usize, _: &States, _: &Estimates| bar.set_message(format!("step {step}"));
        let values = plan.draw(&denoiser, states, &streams, &mut observe)?;
        images.extend(bytes(model.config.pair, values.reals(0), model.images.shape.iter().product()));
        bar.inc(rows as u64);
    }
    bar.finish_and_clear();
    write::write(&images, model.images.shape, &args.output)
}

fn guidance(args: &SampleArgs, model: &ImageModel) -> anyhow::Result<f64> {
    let Some(guidance) = args.picturing.guidance else { return Ok(1.0) };
    if model.images.classes.is_empty() {
        bail!(Advice::new(
            "there is nothing to guide by: the images have no classes".into(),
            "leave out --guidance"
        ));
    }
    if model.config.label_dropout == 0.0 && guidance != 1.0 {
        bail!(Advice::new(
            "this model cannot be guided: it was fitted with label_dropout = 0".into(),
            "leave out --guidance, or fit a model with --set label_dropout=0.1"
        ));
    }
    if !(0.0..=1000.0).contains(&guidance) {
        bail!(Advice::new(
            format!("--guidance {guidance} is not between 0 and 1000"),
            "1 is the class as learned, 2 to 4 are usual"
        ));
    }
    Ok(guidance)
}
