//! Precision and recall: how much of what is drawn is real, and how much of what is real is drawn.

use rayon::prelude::*;
use serde::Serialize;

use super::error::{ImageScoreError, same_dimension};
use super::features::Features;
use super::neighbours::{neighbours, squared_distance};

/// Neighbours that reach out, as is customary.
const REACH: usize = 3;

/// How far two sets of images cover each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrecisionRecall {
    /// The share of samples that lie where real images do.
    pub precision: f64,
    /// The share of real images that lie where samples do.
    pub recall: f64,
}

/// Around every image of a set lies a ball that reaches to its third nearest neighbour in the set; an image lies where the set does if any of
/// these balls holds it (Kynkäänniemi et al. 2019). Precision falls with broken samples, recall with missing kinds. Both depend on the
/// number of images, which should be the same in both sets.
///
/// ```
/// use pmm_eval::image::{Features, precision_recall};
/// let line = |from: i32, to: i32| Features::new(1, (from..to).map(|x| x as f32).collect());
/// // Half of the samples are far off; all real images have samples nearby.
/// let samples = Features::new(1, (0..10).chain(500..510).map(|x| x as f32).collect())?;
/// let found = precision_recall(&samples, &line(0, 10)?)?;
/// assert_eq!((found.precision, found.recall), (0.5, 1.0));
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
pub fn precision_recall(samples: &Features, real: &Features) -> Result<PrecisionRecall, ImageScoreError> {
    same_dimension(samples.dimension(), real.dimension())?;
    let least = samples.len().min(real.len());
    if least <= REACH {
        return Err(ImageScoreError::TooFew { score: "precision", least: REACH + 1, found: least });
    }
    Ok(PrecisionRecall { precision: covered(samples, real)?, recall: covered(real, samples)? })
}

/// The share of images that lie where a set does.
fn covered(images: &Features, set: &Features) -> Result<f64, ImageScoreError> {
    // The nearest is the image itself.
    let reach = neighbours(set, set, REACH + 1)?.into_iter().map(|near| near[REACH].distance.powi(2));
    let reach: Vec<f64> = reach.collect();
    let rows: Vec<&[f32]> = images.rows().collect();
    // A hair more: the root and its square may have lost the last digit.
    let lies = |row: &&&[f32]| {
        set.rows().zip(&reach).any(|(other, reach)| squared_distance(row, other) <= reach * (1.0 + 1e-9))
    };
    Ok(rows.par_iter().filter(lies).count() as f64 / images.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: impl Iterator<Item = i32>) -> Features {
        Features::new(1, values.map(|x| x as f32).collect()).unwrap()
    }

    /// Of two kinds of images one is never drawn: all samples are real, and half of the real ones are covered.
    #[test]
    fn a_missing_kind_is_missed() {
        let found = precision_recall(&line(0..20), &line((0..10).chain(900..910))).unwrap();
        assert_eq!((found.precision, found.recall), (0.65, 0.5));
    }

    #[test]
    fn few_images_are_refused() {
        let error = precision_recall(&line(0..3), &line(0..9)).unwrap_err();
        assert!(matches!(error, ImageScoreError::TooFew { least: 4, found: 3, .. }));
    }
}
