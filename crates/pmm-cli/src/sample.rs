//! `pmm sample`: new rows, texts or images.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pmm::image::{Hole, read_image};
use pmm::{Event, Model, Watcher, image, table, text};

use crate::cli::{Ending, ImageDrawing, SampleArgs, Sampler, TextDrawing, TextOrder};
use crate::output::{prepare, refuse, say_notes};
use crate::terminal::{interrupted, watcher};
use crate::write::Texts;
use crate::{given, write};

/// Pixels of a mask from here on are bright: to be filled in.
const BRIGHT: u8 = 128;

pub(crate) fn run(args: &SampleArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    match pmm::open_on(&args.model, &device)? {
        Model::Table(model) => rows(args, &model),
        Model::Text(model) => texts(args, &model),
        Model::Image(model) => images(args, &model),
    }
}

fn rows(args: &SampleArgs, model: &table::Model) -> anyhow::Result<()> {
    if args.image.is_given() {
        return refuse("--guidance, --mask, --churn and --final are for images", "leave them out");
    }
    if args.text.is_given() || args.length.is_some() || args.sampler.is_some() {
        return refuse(
            "--sampler, --order, --length, --temperature, --top-k and --top-p are not for tables",
            "leave them out",
        );
    }
    let default = if args.given_file.is_some() { 1 } else { 1000 };
    let rows = args.rows.clone().unwrap_or(0..args.n.unwrap_or(default));
    let n = rows.end - rows.start;
    let mut sample = model.sample(n).first_row(rows.start).seed(args.common.seed());
    let names: Vec<&str> = model.schema().columns.iter().map(|column| column.name.as_str()).collect();
    for (column, value) in given::cells(&args.given, &names)? {
        let is_level = |text: &str| {
            model.schema().position(&column).is_some_and(|at| model.schema().columns[at].parse(text).is_ok())
        };
        // A value that the column has is that value, whatever signs it holds.
        sample = match given::wish(&value) {
            given::Wish::Range(low, high) if !is_level(&value) => sample.given_range(&column, low, high),
            given::Wish::List(values) if !is_level(&value) => sample.given_any(&column, values),
            _ => sample.given(&column, value),
        };
    }
    if let Some(file) = &args.given_file {
        sample = sample.given_rows(table::Data::open(file));
    }
    if let Some(steps) = args.steps {
        sample = sample.steps(steps.get());
    }
    if args.no_snap {
        sample = sample.without_snapping();
    }
    say_notes(&sample.notes()?, args.common.quiet);
    let mut writer = write::rows(&args.output, model.schema().delimiter, &sample.columns(), rows.start)?;
    let mut watcher = watcher(args.common.quiet);
    let total = args.given_file.is_none().then_some(n);
    watcher.notice(Event::Started { what: "sampling", total });
    let mut done = 0;
    for batch in sample.rows()? {
        let batch = batch?;
        writer.write(&batch)?;
        done += batch.num_rows() as u64;
        watcher.notice(Event::Progress { done });
        if interrupted().is_set() {
            return Err(pmm::Error::Stopped.into());
        }
    }
    watcher.notice(Event::Finished);
    Ok(writer.finish()?)
}

fn texts(args: &SampleArgs, model: &text::Model) -> anyhow::Result<()> {
    if args.image.is_given() || args.no_snap || args.rows.is_some() || args.given_file.is_some() {
        return refuse(
            "--guidance, --mask, --churn, --final, --rows, --no-snap and --given-file are not for texts",
            "leave them out",
        );
    }
    let drawing = text_drawing(&args.text, args.sampler, args.steps)?;
    let n = args.n.unwrap_or(1);
    let mut sample = model.sample(n).seed(args.common.seed()).given(&args.given.join(",")).drawing(drawing);
    if let Some(tokens) = args.length {
        sample = sample.tokens(tokens.get());
    }
    let plain = write::is_plain_text(&args.output) && !model.is_of_sequences();
    if n == 1 && plain && drawing.writes_left_to_right(model) {
        return write::stream(sample.stream()?);
    }
    let (mut sample, mut watcher) = (sample.texts()?, watcher(args.common.quiet));
    let mut texts = Vec::new();
    while let Some(text) = sample.next_watched(&mut watcher) {
        texts.push(text?);
    }
    write::texts(&Texts::of(model, "sample", texts), &args.output)
}

/// How a text is drawn, by the flags.
pub(crate) fn text_drawing(
    flags: &TextDrawing,
    sampler: Option<Sampler>,
    steps: Option<std::num::NonZeroUsize>,
) -> anyhow::Result<text::Drawing> {
    let sampler = match sampler {
        None => None,
        Some(Sampler::Events) => Some(text::Sampler::Events),
        Some(Sampler::Steps) => Some(text::Sampler::Steps),
        Some(Sampler::Parallel) => Some(text::Sampler::Parallel),
        Some(Sampler::Confident) => Some(text::Sampler::Confident),
        Some(_) => {
            return refuse(
                "this sampler is for images",
                "texts have --sampler events, steps, parallel and confident",
            );
        }
    };
    let TextDrawing { order, temperature, top_k, top_p } = *flags;
    if order.is_some() && (sampler.is_some() || steps.is_some()) {
        return refuse(
            "--order has no use beside --sampler and --steps",
            "--order alone, or --sampler alone",
        );
    }
    let order = order.map(|order| match order {
        TextOrder::LeftToRight => text::TextOrder::LeftToRight,
        TextOrder::Random => text::TextOrder::Random,
    });
    Ok(text::Drawing { order, sampler, steps, temperature, top_k, top_p })
}

fn images(args: &SampleArgs, model: &image::Model) -> anyhow::Result<()> {
    let not_for_images = args.no_snap || args.text.is_given() || args.length.is_some();
    if not_for_images || args.rows.is_some() || args.given_file.is_some() {
        let what = "--no-snap, --rows, --given-file, --order, --length, --temperature, --top-k and --top-p are not for images";
        return refuse(what, "leave them out");
    }
    write::check_images(&args.output)?;
    let drawing = image_drawing(&args.image, args.sampler, args.steps)?;
    let mut sample = model.sample(args.n.unwrap_or(64)).seed(args.common.seed()).drawing(drawing);
    if args.n == Some(0) {
        return refuse("no image is asked for", "-n 1 at least");
    }
    if let Some(weight) = args.image.guidance {
        sample = sample.guidance(weight);
    }
    let mut file = None;
    for text in &args.given {
        match text.split_once('=') {
            Some(("label" | "class", name)) => sample = sample.label(name),
            Some((key, _)) if !Path::new(text).exists() => {
                return refuse(
                    format!("--given {key}=… is not understood: images have a label, no columns"),
                    "--given label=CLASS, or --given IMAGE.png --mask MASK.png",
                );
            }
            _ if file.is_some() => return refuse("--given names two images", "name one"),
            _ => file = Some(Path::new(text)),
        }
    }
    let holes = holes(file, args.image.mask.as_deref(), model)?;
    if args.n.is_none() && holes.len() > 1 {
        sample = sample.count(1);
    }
    for hole in holes {
        sample = sample.hole(hole);
    }
    let (mut sample, mut watcher) = (sample.images()?, watcher(args.common.quiet));
    let mut images = Vec::new();
    while let Some(image) = sample.next_watched(&mut watcher) {
        images.push(image?);
    }
    write::images(&images, model.images(), &args.output)
}

fn image_drawing(
    flags: &ImageDrawing,
    sampler: Option<Sampler>,
    steps: Option<std::num::NonZeroUsize>,
) -> anyhow::Result<image::Drawing> {
    let sampler = match sampler {
        None => None,
        Some(Sampler::Sde) => Some(image::Sampler::Sde),
        Some(Sampler::Sde2) => Some(image::Sampler::Sde2),
        Some(Sampler::Euler) => Some(image::Sampler::Euler),
        Some(Sampler::Heun) => Some(image::Sampler::Heun),
        Some(Sampler::Dpm) => Some(image::Sampler::Dpm),
        Some(Sampler::Leap) => Some(image::Sampler::Leap),
        Some(_) => {
            return refuse("this sampler is for texts", "images have sde, sde2, euler, heun, dpm and leap");
        }
    };
    let ending = flags.ending.map(|ending| match ending {
        Ending::Estimate => image::Ending::Estimate,
        Ending::Mean => image::Ending::Mean,
    });
    Ok(image::Drawing { sampler, calls: steps.map(|steps| steps.get()), churn: flags.churn, ending })
}

/// The image, or those of a folder, that are to be filled in where the mask is bright: one mask, or those of the same names in a folder.
fn holes(file: Option<&Path>, mask: Option<&Path>, model: &image::Model) -> anyhow::Result<Vec<Hole>> {
    let (file, mask) = match (file, mask) {
        (None, None) => return Ok(Vec::new()),
        (Some(file), Some(mask)) => (file, mask),
        (Some(file), None) => {
            return refuse(
                format!("it is not said which pixels of {} are to be filled in", file.display()),
                "--mask FILE: a picture of the same size, bright where pixels are unknown",
            );
        }
        (None, Some(mask)) => {
            return refuse(
                format!("the mask {} has no image", mask.display()),
                "--given FILE: the image that is to be filled in",
            );
        }
    };
    let files = if file.is_dir() { files_of(file)? } else { vec![file.to_owned()] };
    let mask_of = |file: &Path| match (mask.is_dir(), file.file_name()) {
        (true, Some(name)) => mask.join(name),
        _ => mask.to_owned(),
    };
    files.iter().map(|file| hole(file, &mask_of(file), model)).collect()
}

/// The files of a folder, by name.
fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    // Samples have their classes beside them.
    files.retain(|file| file.is_file() && file.file_name().is_none_or(|name| name != "labels.csv"));
    files.sort();
    if files.is_empty() {
        return refuse(
            format!("{} holds no image", folder.display()),
            "name a folder of pictures, or a picture",
        );
    }
    Ok(files)
}

fn hole(file: &Path, mask: &Path, model: &image::Model) -> anyhow::Result<Hole> {
    let [channels, height, width] = model.images().shape;
    let image = read_image(file, [channels, height, width])?;
    let bright = |byte: u8| byte >= BRIGHT;
    let unknown: Vec<bool> = read_image(mask, [1, height, width])?.into_iter().map(bright).collect();
    if !unknown.contains(&true) {
        return refuse(
            format!("{} is dark everywhere, so there is nothing to fill in", mask.display()),
            "paint the unknown pixels white",
        );
    }
    Ok(Hole { image, unknown })
}
