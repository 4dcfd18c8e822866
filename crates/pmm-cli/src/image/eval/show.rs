//! An evaluation as the user sees it: table, JSON, report.

use pmm_data::grid_png;
use pmm_eval::image::ImageScores;
use pmm_eval::{DenoisingPoint, ImageReport, Raster};
use pmm_train::ImageModel;

use super::super::info::{classes, shape};
use super::drawn::Drawn;
use super::nearest::NearestImages;
use crate::cli::EvalArgs;
use crate::{eval, output};

/// Samples that are shown, and how many side by side.
const GRID: (usize, usize) = (64, 8);
/// Pixels of the page across, at most.
const PAGE: usize = 704;

pub(super) fn report(
    args: &EvalArgs,
    model: &ImageModel,
    scores: ImageScores,
    notes: Vec<String>,
    drawn: &Drawn,
    nearest: Option<&NearestImages>,
    denoising: Vec<DenoisingPoint>,
) -> anyhow::Result<ImageReport> {
    let name = args.model.file_stem().map_or_else(|| "images".into(), |name| name.to_string_lossy());
    let shown = &drawn.images[..GRID.0.min(drawn.images.len())];
    let samples = raster(
        shown,
        model.images.shape,
        GRID.1,
        "Samples of the model",
        format!("The first {} of {} samples, as they came.", shown.len(), drawn.images.len()),
    )?;
    let nearest = nearest.map(|nearest| beside(nearest, model.images.shape)).transpose()?;
    Ok(ImageReport {
        name: format!("How good is the model “{name}”?"),
        lead: format!(
            "{} images made by the model, held against images that it has not seen. Scores stand beside a baseline: the same score \
             for real images, which is what a perfect model would get, or for a model that does not look at the whole image.",
            drawn.images.len()
        ),
        scores,
        notes,
        samples: Some(samples),
        nearest,
        denoising,
        curve: eval::curve(&args.model),
        facts: facts(args, model),
    })
}

/// Samples above their nearest training images.
fn beside(nearest: &NearestImages, shape: [usize; 3]) -> anyhow::Result<Raster> {
    let score = &nearest.score;
    let caption = format!(
        "First row: of {} samples those that are nearest to a training image; below each the nearest of {} training images, {}. \
         A sample that equals what is below it is a copy.",
        score.images, score.among, score.unit
    );
    raster(&nearest.images, shape, nearest.columns, "Samples above their nearest training images", caption)
}

/// Scores of samples that others have drawn.
pub(super) fn bare(scores: ImageScores, notes: Vec<String>) -> ImageReport {
    ImageReport { scores, notes, ..ImageReport::default() }
}

fn raster(
    images: &[Vec<u8>],
    shape: [usize; 3],
    columns: usize,
    alt: &str,
    caption: String,
) -> anyhow::Result<Raster> {
    let png = grid_png(images, shape, columns.max(1))?;
    let across = columns.min(images.len()).max(1) * shape[2];
    Ok(Raster { png, width: across * (PAGE / across).max(1), alt: alt.into(), caption })
}

fn facts(args: &EvalArgs, model: &ImageModel) -> Vec<(String, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let facts = [
        ("fitted to", format!("{} images of {}", model.images.count, shape(model.images.shape))),
        ("classes", classes(&model.images.classes)),
        ("scored on", args.data.display().to_string()),
        ("weights", model.denoiser.net().parts().len().to_string()),
        ("steps", format!("{}, the best at {}", fact("steps"), fact("best_step"))),
        ("held-out loss", format!("{} per pixel", fact("valid_loss"))),
        ("seed", format!("{} (fit), {} (scores)", model.config.seed, args.common.seed)),
        ("version", format!("pmm {}", fact("version"))),
        ("data", format!("BLAKE3 {}", fact("data"))),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The scores on standard output, what should be known about them on standard error.
pub(super) fn print(args: &EvalArgs, report: &ImageReport) -> anyhow::Result<()> {
    let ImageReport { scores, notes, denoising, .. } = report;
    if args.json {
        let value = serde_json::json!({
            "bits_per_dimension": scores.bits.map(|bits| bits.mean),
            "standard_error": scores.bits.map(|bits| bits.standard_error),
            "terminal_bits": scores.bits.map(|bits| bits.terminal),
            "plain_bits": scores.bits.map(|bits| bits.plain),
            "images": scores.bits.map(|bits| bits.images),
            "distances": scores.distances, "accuracy": scores.accuracy, "nearest": scores.nearest,
            "denoising": denoising, "seed": args.common.seed, "notes": notes,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    output::print(report.summary().as_bytes())?;
    if !args.common.quiet {
        notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    Ok(())
}
