//! What the scores of images say, in rows and sentences.

use super::super::number::{number, percent};
use super::SummaryRow;
use crate::image::{Beside, Bits, ClassAccuracy, Distances, ImageScores, KernelDistance, Nearest};

/// The headline figures.
pub(super) fn rows(scores: &ImageScores) -> Vec<SummaryRow> {
    let mut rows: Vec<SummaryRow> = scores.bits.iter().map(bits).collect();
    rows.extend(scores.distances.iter().flat_map(distances));
    rows.extend(scores.accuracy.iter().map(accuracy));
    rows.extend(scores.nearest.iter().flat_map(nearest));
    rows
}

fn row(name: &str, value: String, baseline: String, meaning: String) -> SummaryRow {
    SummaryRow { name: name.to_owned(), value, baseline, meaning }
}

fn bits(bits: &Bits) -> SummaryRow {
    row(
        "bits per dimension",
        format!("{:.3} ± {:.3}", bits.mean, bits.standard_error),
        format!("{:.3}", bits.plain),
        format!(
            "cost of {} held-out images of 8 bits, at most; {:.3} for the last bytes; baseline: bytes on their own",
            bits.images, bits.terminal
        ),
    )
}

fn distances(found: &Distances) -> Vec<SummaryRow> {
    let Distances { network, frechet, images, reference, .. } = found;
    // In Inception's features the name says all.
    let short =
        |name: &str, plain: &str| if name.contains(network) { plain.to_owned() } else { name.to_owned() };
    let what = format!("of {images} samples to {reference} real images; baseline: {images} held-out images");
    let mut rows = vec![row(
        &short(&found.frechet_name, "Fréchet distance"),
        number(frechet.samples),
        number(frechet.held_out),
        format!("{what}; features of {network}"),
    )];
    rows.extend(found.frechet_limit.map(|Beside { samples, held_out }| {
        let meaning = "what it would be for endlessly many images: about 0 for the same law".to_owned();
        row("its limit", number(samples), number(held_out), meaning)
    }));
    rows.extend(found.kernel.map(|Beside { samples, held_out }| {
        let show =
            |found: KernelDistance| format!("{} ± {}", number(found.distance), number(found.standard_error));
        let meaning = "the same by a kernel, unbiased: about 0 for the same law".to_owned();
        row(&short(&found.kernel_name, "kernel distance"), show(samples), show(held_out), meaning)
    }));
    rows.extend(found.precision.into_iter().flat_map(|Beside { samples, held_out }| {
        let show = |share: f64| format!("{:.1} %", 100.0 * share);
        [
            row(
                "precision",
                show(samples.precision),
                show(held_out.precision),
                "samples that lie where real images do: falls with broken images".into(),
            ),
            row(
                "recall",
                show(samples.recall),
                show(held_out.recall),
                "real images that lie where samples do: falls with missing kinds".into(),
            ),
        ]
    }));
    rows
}

fn accuracy(found: &Beside<ClassAccuracy>) -> SummaryRow {
    let show =
        |found: &ClassAccuracy| format!("{:.1} ± {:.1} %", 100.0 * found.share, 100.0 * found.standard_error);
    row(
        "right class",
        show(&found.samples),
        show(&found.held_out),
        "samples in which the classifier sees the class that was asked for; baseline: held-out images".into(),
    )
}

fn nearest(found: &Nearest) -> [SummaryRow; 2] {
    [
        row(
            "nearest",
            number(found.distance.samples),
            number(found.distance.held_out),
            format!(
                "median distance to the nearest of {} training images, {}; much below the baseline: copies",
                found.among, found.unit
            ),
        ),
        row(
            "near copies",
            format!("{:.1} %", 100.0 * found.near_copies),
            "1.0 %".into(),
            format!("of {} samples, nearer to a training image than 99 in 100 held-out images", found.images),
        ),
    ]
}

/// The verdicts, a sentence each.
pub(super) fn sentences(scores: &ImageScores) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(bits) = &scores.bits {
        out.push(format!(
            "To write down a held-out image takes at most {:.3} ± {:.3} bits per dimension with this model, and {:.3} byte by byte.",
            bits.mean, bits.standard_error, bits.plain
        ));
    }
    if let Some(found) = &scores.distances {
        out.push(format!(
            "{}: {} for samples, {} for as many real images that the model has not seen, which is what a perfect model would get.",
            found.frechet_name,
            number(found.frechet.samples),
            number(found.frechet.held_out)
        ));
    }
    if let Some(found) = &scores.accuracy {
        out.push(format!(
            "A classifier sees the class that was asked for in {} of the samples, and the right one in {} of real images.",
            percent(found.samples.share),
            percent(found.held_out.share)
        ));
    }
    out
}
