//! `pmm fit` for images.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use pmm_core::Streams;
use pmm_data::{ImageOptions, ImageSource, Images};
use pmm_net::image::ImageNet;
use pmm_train::{
    Facts, ImageConfig, ImageFacts, ImageTask, image_identity, image_network, load_image_settings,
    save_image_settings, save_model_weights, split_images, to_toml, train,
};

use super::info::{classes, shape};
use super::preview::Previewer;
use crate::begin::{Begin, check_data};
use crate::cli::FitArgs;
use crate::fit::{check_folder, conclude, default_folder, interrupted, trial};
use crate::output::{self, Advice};
use crate::{files, settings, valid};

const IMAGES: &str = "state/images.bin";

/// Everything that a fit needs.
struct Fit {
    folder: PathBuf,
    config: ImageConfig,
    facts: ImageFacts,
    images: Arc<Images>,
    net: Arc<ImageNet>,
    identity: Facts,
}

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    if args.target.is_some() || args.schema.is_some() {
        bail!(Advice::new("images have no columns".into(), "leave out --target and --schema"));
    }
    valid::refuse_file(args, "a tenth of the images")?;
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.data));
    check_folder(&folder, args)?;
    let stored = if args.resume { Some(load_image_settings(&folder)?.0) } else { None };
    let given = settings::given(args, &settings::pairs(args)?, stored.is_some())?;
    let base = match (&stored, &args.preset) {
        (Some(stored), _) => stored.clone(),
        (None, Some(name)) => preset(name)?,
        (None, None) => ImageConfig::default(),
    };
    let reading: ImageConfig = settings::merge(&base, &given)?;
    let source = open(args, &reading)?;
    let sized = match (&stored, &args.preset) {
        (Some(_), _) | (_, Some(_)) => base,
        _ => ImageConfig::for_images(source.count(), source.shape()),
    };
    let sized = match (args.steps, &stored) {
        (Some(steps), None) => sized.with_steps(steps),
        _ => sized,
    };
    let config: ImageConfig = settings::merge(&sized, &given)?;
    let config = config.fitted(source.shape(), source.classes().len());
    settings::check(config.problem())?;
    settings::keep_stored(&folder, stored.as_ref(), &config)?;
    // A trial run leaves nothing behind.
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let images = read(args, if args.dry_run { scratch.path() } else { &folder }, &source)?;
    let mut fit = Fit::new(folder, config, images)?;
    if args.dry_run {
        return dry_run(&fit, args);
    }
    if !args.common.quiet {
        say(&fit, args);
    }
    if let (Some(minutes), false) = (args.minutes, args.resume) {
        let steps = trial(&fit.task(), minutes);
        fit.config = settings::merge(&fit.config.clone().with_steps(steps), &given)?;
        fit.identity = image_identity(fit.images.source_digest(), &fit.facts, &fit.config);
    }
    start(&fit, args.resume, args.common.quiet)
}

fn preset(name: &str) -> anyhow::Result<ImageConfig> {
    match ImageConfig::preset(name) {
        Some(config) => Ok(config),
        None => bail!(Advice::new(format!("there is no preset {name} for images"), super::presets())),
    }
}

fn open(args: &FitArgs, config: &ImageConfig) -> anyhow::Result<ImageSource> {
    let bar = output::spinner("looking", args.common.quiet);
    let options = ImageOptions { size: config.size.map(|size| (size, size)), grey: config.grey };
    let source = ImageSource::open(&args.data, &options)?;
    bar.finish_and_clear();
    let [_, height, width] = source.shape();
    if height != width {
        bail!(Advice::new(
            format!(
                "{} holds images of {width}×{height} pixels; the network takes square ones",
                source.name()
            ),
            format!("--set size={} scales and crops them", height.min(width))
        ));
    }
    Ok(source)
}

/// The images, which are kept beside the model.
fn read(args: &FitArgs, folder: &Path, source: &ImageSource) -> anyhow::Result<Images> {
    let bar = output::spinner("reading", args.common.quiet);
    let path = folder.join(IMAGES);
    let state = folder.join("state");
    files::make_folder(&state)?;
    let written = Images::write(source, &path, &mut |images| {
        if images.is_multiple_of(100) {
            bar.set_message(format!("reading, {images} of {} images", source.count()));
        }
    });
    if let Err(error) = written {
        // Folders that hold nothing were made in vain; others stay.
        let _ = std::fs::remove_dir(&state).and_then(|()| std::fs::remove_dir(folder));
        return Err(error.into());
    }
    bar.finish_and_clear();
    Ok(Images::open(&path)?)
}

impl Fit {
    fn new(folder: PathBuf, config: ImageConfig, images: Images) -> anyhow::Result<Self> {
        let facts = ImageFacts::of(&images, config.pair);
        let net = Arc::new(image_network(&facts, &config)?);
        let identity = image_identity(images.source_digest(), &facts, &config);
        Ok(Self { folder, config, facts, images: Arc::new(images), net, identity })
    }

    fn task(&self) -> ImageTask {
        ImageTask::new(self.net.clone(), self.images.clone(), self.config.clone())
    }
}

fn start(fit: &Fit, resume: bool, quiet: bool) -> anyhow::Result<()> {
    if resume {
        check_data(&fit.folder, fit.images.source_digest())?;
    }
    let begin = Begin {
        folder: &fit.folder,
        train: &fit.config.train,
        identity: &fit.identity,
        weights: fit.net.parts().len(),
        resume,
        quiet,
    };
    let initial = || fit.net.initial(&Streams::new(fit.config.seed));
    let (mut state, keeper) =
        begin.begin(initial, || save_image_settings(&fit.folder, &fit.config, &fit.facts))?;
    let task = fit.task();
    let path = fit.folder.join("preview.png");
    let mut watcher = Previewer { keeper, net: &fit.net, facts: &fit.facts, path };
    let outcome = train(&task, &fit.config.train, &mut state, &mut watcher, interrupted());
    let facts = watcher.finish(&state)?;
    save_model_weights(&fit.folder, fit.net.parts(), state.best_weights(), &facts)?;
    files::write(&fit.folder.join("README.md"), card(fit, &facts).as_bytes())?;
    conclude(&fit.folder, &state, outcome, quiet)
}

fn say(fit: &Fit, args: &FitArgs) {
    let facts = &fit.facts;
    eprintln!(
        "{}: {} images of {}; classes: {}",
        args.data.display(),
        facts.count,
        shape(facts.shape),
        classes(&facts.classes),
    );
    let streams = Streams::new(fit.config.seed);
    let (learned, held_out) = split_images(fit.images.len(), fit.config.valid, &streams);
    if learned.len() == fit.images.len() {
        eprintln!("note: no image is held out: validation looks at what is learned");
    } else {
        eprintln!("learned: {} images; held out: {}", learned.len(), held_out.len());
    }
    eprintln!("{} weights; preview: {}", fit.net.parts().len(), fit.folder.join("preview.png").display());
}

fn dry_run(fit: &Fit, args: &FitArgs) -> anyhow::Result<()> {
    let (config, weights) = (&fit.config, fit.net.parts().len());
    // A forward pass and twice that on the way back; two operations each.
    let work = 6.0 * config.batch as f64 * fit.net.unet().multiplications();
    // What the engine does on two cores of 2020, roughly.
    let hours = work * config.train.steps as f64 / 3e10 / 3600.0;
    let in_memory = config.batch.min(fit.net.images_in_memory()) as f64;
    // Weights, gradient and its parts, two moments, average, best.
    let megabytes = (weights as f64 * 10.0 + in_memory * fit.net.unet().activations()) * 4.0 / 1e6;
    if args.json {
        let value = serde_json::json!({
            "data": args.data, "images": fit.facts, "config": config, "weights": weights,
            "megabytes": megabytes.round(), "operations_per_step": work, "hours": (hours * 100.0).round() / 100.0,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    let text = format!(
        "{}: {} images of {}; classes: {}\n\n{}\n{weights} weights; about {megabytes:.0} MB; {work:.2e} operations per step, {hours:.2} hours on two cores\n",
        args.data.display(),
        fit.facts.count,
        shape(fit.facts.shape),
        classes(&fit.facts.classes),
        to_toml(config),
    );
    output::print(text.as_bytes())
}

/// The model's `README.md`.
fn card(fit: &Fit, facts: &Facts) -> String {
    let fact = |name: &str| facts.get(name).map_or("–", String::as_str);
    format!(
        "# A model of images, by Posterior Mean Matching\n\n\
         Fitted by pmm {} to {} images of {}; classes: {}; seed {}; {} weights; {} steps, the best at step {} \
         with a held-out loss of {} per pixel.\n\nData: BLAKE3 {}.\n\n```toml\n{}```\n\n\
         `state/images.bin` holds the images themselves: whoever has this folder can see them. `--resume` makes it anew; \
         eval compares samples with them, the other verbs do not need it. eval --features keeps their features in `cache`, \
         which can be deleted.\n",
        fact("version"),
        fit.facts.count,
        shape(fit.facts.shape),
        classes(&fit.facts.classes),
        fit.config.seed,
        fit.net.parts().len(),
        fact("steps"),
        fact("best_step"),
        fact("valid_loss"),
        fact("data"),
        to_toml(&fit.config),
    )
}
