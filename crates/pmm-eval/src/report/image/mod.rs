//! The report on a model of images.

mod denoising;
mod rows;

use super::summary::aligned;
use super::{Picture, SummaryRow, TrainingPoint, training, with_facts};
use crate::Page;
use crate::image::ImageScores;

pub use denoising::DenoisingPoint;

/// Everything a report on an image model may show. Parts left empty are left out.
///
/// ```
/// use pmm_eval::image::{Bits, ImageScores};
/// use pmm_eval::{ImageReport, Raster};
/// let bits = Bits { mean: 1.52, standard_error: 0.01, terminal: 0.3, plain: 3.1, images: 128 };
/// let report = ImageReport {
///     name: "digits".into(),
///     scores: ImageScores { bits: Some(bits), ..ImageScores::default() },
///     samples: Some(Raster { png: vec![1, 2, 3], width: 64, alt: "samples".into(), caption: "64 samples".into() }),
///     ..ImageReport::default()
/// };
/// assert!(report.html().contains("base64,AQID"));
/// assert!(report.summary().contains("1.520 ± 0.010"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageReport {
    /// The heading.
    pub name: String,
    /// A sentence or two under it.
    pub lead: String,
    /// The scores.
    pub scores: ImageScores,
    /// What should be known about the scores, a sentence each.
    pub notes: Vec<String>,
    /// Samples side by side.
    pub samples: Option<Raster>,
    /// Samples above their nearest training images.
    pub nearest: Option<Raster>,
    /// How far the network is off, by noise level.
    pub denoising: Vec<DenoisingPoint>,
    /// The loss in the course of training.
    pub curve: Vec<TrainingPoint>,
    /// What the model is: names and values, in this order.
    pub facts: Vec<(String, String)>,
}

/// A picture of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// A PNG file.
    pub png: Vec<u8>,
    /// Pixels of the page across.
    pub width: usize,
    /// What it shows, for readers who do not see it.
    pub alt: String,
    /// The line under it.
    pub caption: String,
}

impl ImageReport {
    /// The report as one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        let mut page = Page::new(self.name.clone());
        if !self.lead.is_empty() {
            page = page.lead(&self.lead);
        }
        page = with_raster(page, "Samples", self.samples.as_ref());
        page = self.verdict(page);
        page = with_raster(page, "Nearest training images", self.nearest.as_ref());
        for (heading, name) in [("Denoising", "denoising"), ("Training", "training")] {
            if let Some(picture) = self.pictures().into_iter().find(|picture| picture.name == name) {
                page = page.section(heading).figure(&picture.figure.svg(), &picture.alt);
            }
        }
        with_facts(page, &self.facts).html()
    }

    /// All charts, in the order of the page.
    pub fn pictures(&self) -> Vec<Picture> {
        let pictures =
            [denoising::picture(&self.denoising), training::picture(&self.curve, "per pixel", "images")];
        pictures.into_iter().flatten().collect()
    }

    /// The headline figures, a row each.
    pub fn rows(&self) -> Vec<SummaryRow> {
        rows::rows(&self.scores)
    }

    /// The headline figures as a table for a terminal; empty without figures.
    pub fn summary(&self) -> String {
        aligned(&self.rows())
    }

    fn verdict(&self, page: Page) -> Page {
        let rows = self.rows();
        if rows.is_empty() && self.notes.is_empty() {
            return page;
        }
        let sentences = rows::sentences(&self.scores);
        let page = sentences.iter().fold(page.section("Verdict"), |page, sentence| page.text(sentence));
        let row = |r: SummaryRow| [r.name, r.value, r.baseline, r.meaning];
        let rows: Vec<[String; 4]> = rows.into_iter().map(row).collect();
        let page =
            if rows.is_empty() { page } else { page.table(&["", "here", "baseline", "meaning"], &rows) };
        self.notes.iter().fold(page, |page, note| page.text(&format!("Note: {note}.")))
    }
}

fn with_raster(page: Page, heading: &str, raster: Option<&Raster>) -> Page {
    let Some(Raster { png, width, alt, caption }) = raster else { return page };
    page.section(heading).raster(png, *width, alt, caption)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Beside, Bits, Distances, KernelDistance, Nearest, PrecisionRecall, class_accuracy};

    fn report() -> ImageReport {
        let covered = |precision| PrecisionRecall { precision, recall: 0.7 };
        let kernel = |distance| KernelDistance { distance, standard_error: 0.002, subsets: 10, size: 100 };
        let scores = ImageScores {
            bits: Some(Bits { mean: 3.21, standard_error: 0.04, terminal: 0.9, plain: 7.3, images: 128 }),
            distances: Some(Distances {
                network: "ResNet-20 of CIFAR-10".into(),
                frechet_name: "Fréchet distance in features of ResNet-20 of CIFAR-10".into(),
                kernel_name: "kernel distance in features of ResNet-20 of CIFAR-10".into(),
                frechet: Beside { samples: 4.5, held_out: 0.31 },
                frechet_limit: Some(Beside { samples: 4.2, held_out: 0.01 }),
                kernel: Some(Beside { samples: kernel(0.31), held_out: kernel(-0.001) }),
                precision: Some(Beside { samples: covered(0.61), held_out: covered(0.83) }),
                images: 1000,
                reference: 10_000,
            }),
            accuracy: class_accuracy(&[1, 1, 2], &[1, 1, 3])
                .ok()
                .map(|found| Beside { samples: found.clone(), held_out: found }),
            nearest: Some(Nearest {
                distance: Beside { samples: 12.0, held_out: 11.5 },
                near_copies: 0.012,
                unit: "grey levels <of> 255".into(),
                images: 256,
                among: 10_000,
            }),
        };
        let raster = |caption: &str| {
            Some(Raster { png: vec![0], width: 10, alt: "pixels".into(), caption: caption.into() })
        };
        let point = |i: i32| DenoisingPoint {
            sigma: 0.03 * 1.8f64.powi(i),
            error: 5.0 * 1.2f64.powi(i),
            plain: 8.0 * 1.25f64.powi(i),
        };
        ImageReport {
            name: "digits <&>".into(),
            lead: "A model of digits.".into(),
            scores,
            notes: vec!["half of the images stand in".into()],
            samples: raster("64 samples"),
            nearest: raster("above the samples"),
            denoising: (0..12).map(point).collect(),
            curve: (0..20)
                .map(|step| TrainingPoint {
                    step: 10 * step,
                    train: 1.0 / (step + 1) as f64,
                    valid: Some(0.1),
                })
                .collect(),
            facts: vec![("seed".into(), "0".into())],
        }
    }

    #[test]
    fn a_whole_image_report_is_written() {
        let report = report();
        let html = report.html();
        for part in ["Samples", "Verdict", "Nearest training images", "Denoising", "Training", "Model"] {
            assert!(html.contains(&format!("<h2>{part}</h2>")), "{part}");
        }
        assert!(html.contains("Note: half of the images stand in.") && html.contains("digits &lt;&amp;&gt;"));
        assert!(html.contains("levels &lt;of&gt; 255") && !html.contains("NaN") && !html.contains("FID"));
        let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.name).collect();
        assert_eq!(names, ["denoising", "training"]);
        assert_eq!(report.summary().lines().count(), 10, "{}", report.summary());
    }

    #[test]
    fn an_empty_image_report_is_a_page() {
        let report = ImageReport { name: "nothing".into(), ..ImageReport::default() };
        assert!(report.html().contains("<h1>nothing</h1>") && !report.html().contains("<h2>"));
        assert!(report.pictures().is_empty() && report.summary().is_empty());
    }
}
