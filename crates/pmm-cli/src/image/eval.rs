//! `pmm eval` for images: the likelihood bound in bits per dimension, and samples to look at.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, bail};
use pmm::{MonteCarlo, Purpose, States, Store, Streams, Times, Values, bound};
use pmm_data::{ImageOptions, ImageSource, Images};
use pmm_train::ImageModel;

use super::info::shape;
use super::plan::{CHUNK, Plan, bytes, classes};
use super::terminal::{ByteLaw, learn};
use super::write::grid;
use crate::cli::EvalArgs;
use crate::files;
use crate::output::{self, Advice};

/// Images whose bound is computed, times drawn for each, and further images from which the law of the last bytes is learned.
const BOUND: (usize, usize, usize) = (128, 8, 128);
/// With fewer images a score would be noise.
const FEWEST: usize = 8;
/// The stream that chooses images.
const CHOICE: u16 = 53;

/// What a model was found to be worth. Distances between samples and images stand here, too, once there are feature networks.
struct Scores {
    /// Bits per dimension of 8-bit images, over images.
    bits: MonteCarlo,
    /// Of these, what remains to be said at the end of the clock.
    terminal: f64,
    images: usize,
}

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if args.target.is_some() || args.samples.is_some() || args.judge.is_some() || args.train.is_some() {
        bail!(Advice::new(
            "--target, --train, --samples and --judge are not for images".into(),
            "leave them out"
        ));
    }
    let model = ImageModel::load(&args.model)?;
    let bar = output::spinner("reading", args.common.quiet);
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let images = read(&args.data, &model, &scratch.path().join("images"))?;
    let streams = Streams::new(args.common.seed);
    bar.set_message("likelihood");
    let scores = likelihood(&model, &images, &streams)?;
    bar.set_message("sampling");
    let folder = args.out.as_deref().unwrap_or(&args.model);
    files::make_folder(folder)?;
    let path = folder.join("samples.png");
    files::write(&path, &grid(&samples(&model, &streams)?, model.images.shape)?)?;
    bar.finish_and_clear();
    print(args, &scores)?;
    if !args.common.quiet {
        eprintln!("samples: {}", path.display());
    }
    Ok(())
}

fn print(args: &EvalArgs, scores: &Scores) -> anyhow::Result<()> {
    let Scores { bits, terminal, images } = scores;
    if args.json {
        let value = serde_json::json!({
            "bits_per_dimension": bits.mean, "standard_error": bits.standard_error,
            "terminal_bits": terminal, "images": images,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    let text = format!(
        "likelihood: at most {:.3} ± {:.3} bits per dimension, of which {terminal:.3} for the last bytes ({images} images, 8 bits)\n",
        bits.mean, bits.standard_error
    );
    output::print(text.as_bytes())
}

/// A file's images, as the model takes them.
fn read(path: &Path, model: &ImageModel, to: &Path) -> anyhow::Result<Images> {
    let size = model.config.size.map(|size| (size, size));
    let source = ImageSource::open(path, &ImageOptions { size, grey: Some(model.images.shape[0] == 1) })?;
    if source.shape() != model.images.shape {
        bail!(Advice::new(
            format!(
                "{} holds images of {}, the model takes {}",
                source.name(),
                shape(source.shape()),
                shape(model.images.shape)
            ),
            "give images like those that were fitted"
        ));
    }
    Images::write(&source, to, &mut |_| ())?;
    let images = Images::open(to)?;
    if images.len() < FEWEST {
        bail!(Advice::new(
            format!("{} has {} images, too few for a score", source.name(), images.len()),
            format!("give {FEWEST} at least")
        ));
    }
    Ok(images)
}

/// The bound, in continuous time.
fn likelihood(model: &ImageModel, images: &Images, streams: &Streams) -> anyhow::Result<Scores> {
    let mut order: Vec<usize> = (0..images.len()).collect();
    streams.stream(Purpose::custom(CHOICE), 0, 0).shuffle(&mut order);
    let scored = BOUND.0.min(images.len() / 2);
    let (scored, others) = order.split_at(scored);
    let others = &others[..BOUND.2.min(others.len())];
    let (x, labels) = (values(model, images, others), labels_of(model, images, others));
    let table = learn(&model.denoiser.told(labels, 1.0), &x, streams)?;
    let draws = NonZeroUsize::new(BOUND.1).unwrap_or(NonZeroUsize::MIN);
    let dimensions = model.images.shape.iter().product::<usize>() as f64 * std::f64::consts::LN_2;
    let (mut bits, mut terminal) = (Vec::new(), 0.0);
    for (chunk, rows) in scored.chunks(CHUNK).enumerate() {
        let labels = labels_of(model, images, rows);
        let denoiser = model.denoiser.told(labels.clone(), 1.0);
        let states = States::prior(model.denoiser.net().space(), (chunk * CHUNK) as u64, rows.len());
        let law = ByteLaw::new(denoiser.clone(), &table);
        let x = values(model, images, rows);
        let bound = bound(&denoiser, &law, &states, &x, Times::Continuous { draws }, streams)?;
        terminal += bound.terminal.mean * rows.len() as f64 / scored.len() as f64 / dimensions;
        let told = labels.iter().map(|label| class_nats(model, *label));
        bits.extend(bound.rows.iter().zip(told).map(|(nats, class)| (nats + class) / dimensions));
    }
    Ok(Scores { bits: MonteCarlo::of(&bits), terminal, images: scored.len() })
}

fn values(model: &ImageModel, images: &Images, rows: &[usize]) -> Values {
    let x = rows.iter().flat_map(|&row| images.pixels(row)).map(|&byte| model.config.pair.value(byte));
    Values::new(vec![Store::from(x.collect::<Vec<f32>>())])
}

/// The images' classes as the model numbers them; a class that it does not know is not told.
fn labels_of(model: &ImageModel, images: &Images, rows: &[usize]) -> Vec<Option<u32>> {
    let known = |label: u32| {
        let name = images.classes().get(label as usize)?;
        model.images.classes.iter().position(|class| class == name).map(|class| class as u32)
    };
    rows.iter().map(|&row| images.label(row).and_then(known)).collect()
}

/// −log of the share of a class: an image is told with its class, which costs as much.
fn class_nats(model: &ImageModel, label: Option<u32>) -> f64 {
    let counts = &model.images.class_counts;
    let total = counts.iter().sum::<u64>() as f64 + counts.len() as f64;
    label
        .and_then(|label| counts.get(label as usize))
        .map_or(0.0, |&count| (total / (count as f64 + 1.0)).ln())
}

fn samples(model: &ImageModel, streams: &Streams) -> anyhow::Result<Vec<Vec<u8>>> {
    let labels = classes(&model.images, None, 0..CHUNK as u64, streams);
    let denoiser = model.denoiser.told(labels, 1.0);
    let states = States::prior(denoiser.net().space(), 0, CHUNK);
    let values = Plan::of(model.config.pair).draw(&denoiser, states, streams, &mut ())?;
    Ok(bytes(model.config.pair, values.reals(0), model.images.shape.iter().product()))
}
