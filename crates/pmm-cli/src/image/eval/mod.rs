//! `pmm eval` for images: the likelihood bound, and samples beside real images.

mod accuracy;
mod denoising;
mod distances;
mod drawn;
mod likelihood;
mod nearest;
mod real;
mod show;
mod terminal;

use anyhow::{Context, bail};
use pmm_core::Streams;
use pmm_eval::image::ImageScores;
use pmm_net::FeatureNet;
use pmm_train::ImageModel;

use crate::cli::EvalArgs;
use crate::files;
use crate::output::{self, Advice};
use drawn::Drawn;
use real::Real;

pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<()> {
    if args.target.is_some() || args.judge.is_some() {
        bail!(Advice::new("--target and --judge are not for images".into(), "leave them out"));
    }
    let model = ImageModel::load(&args.model)?;
    // What cannot be read is refused before anything is drawn.
    let net = match &args.features {
        Some(path) => Some(FeatureNet::load(path, &pmm_net::device())?),
        None => None,
    };
    let bar = output::spinner("reading", args.common.quiet);
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let streams = Streams::new(args.common.seed);
    let mut notes = Vec::new();
    let real = Real::read(args, &model, scratch.path(), &streams, &mut notes)?;
    let drawn = match &args.samples {
        Some(path) => Some(Drawn::read(path, &model, args, scratch.path())?),
        None => None,
    };
    let mut scores = ImageScores::default();
    if drawn.is_none() {
        bar.set_message("likelihood");
        scores.bits = Some(likelihood::bits(&model, &real, &streams)?);
    }
    bar.finish_and_clear();
    let drawn = match drawn {
        Some(drawn) => drawn,
        None => Drawn::draw(args, &model, real.test.len(), &streams)?,
    };
    let bar = output::spinner("features", args.common.quiet);
    let features = match &net {
        Some(net) => Some(distances::features(net, &model, &drawn, &real, args, &bar)?),
        None => None,
    };
    match &features {
        Some(features) => {
            scores.distances = Some(distances::distances(features, args.common.seed, &mut notes)?);
            match accuracy::accuracy(features.net, &model, &drawn, &real)? {
                Ok(found) => scores.accuracy = Some(found),
                Err(reason) => notes.push(format!("no class accuracy: {reason}")),
            }
        }
        None => notes.push(
            "no distance between samples and images: --features FILE measures it, with the weights of a ResNet of \
             CIFAR-10, of EfficientNet-Lite0 or of FID's Inception"
                .into(),
        ),
    }
    bar.set_message("nearest images");
    // Images that stand in for training images cannot have been copied.
    let nearest = match real.is_trained {
        true => Some(nearest::nearest(&drawn, &real, features.as_ref())?),
        false => None,
    };
    scores.nearest = nearest.as_ref().map(|nearest| nearest.score.clone());
    if args.samples.is_some() {
        bar.finish_and_clear();
        return show::print(args, &show::bare(scores, notes));
    }
    bar.set_message("denoising");
    let denoising = denoising::curve(&model, &real, &streams)?;
    bar.finish_and_clear();
    let report = show::report(args, &model, scores, notes, &drawn, nearest.as_ref(), denoising)?;
    let folder = args.out.as_deref().unwrap_or(&args.model);
    files::make_folder(folder)?;
    if let Some(samples) = &report.samples {
        files::write(&folder.join("samples.png"), &samples.png)?;
    }
    let path = folder.join("report.html");
    files::write(&path, report.html().as_bytes())?;
    show::print(args, &report)?;
    if !args.common.quiet {
        eprintln!("report: open {}", path.display());
    }
    Ok(())
}
