//! Whether samples show the class that was asked for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::error::ImageScoreError;

/// The share of images whose class a classifier tells as asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassAccuracy {
    /// Right ones over all.
    pub share: f64,
    /// The binomial standard error of the share.
    pub standard_error: f64,
    /// How many images there were.
    pub images: usize,
    /// Right ones and all of each class that was asked for.
    pub classes: BTreeMap<u32, (usize, usize)>,
}

/// Compares the classes asked for with those that a classifier tells, such as `pmm_net::FeatureNet::classes`.
///
/// ```
/// use pmm_eval::image::class_accuracy;
/// let found = class_accuracy(&[0, 0, 2, 2], &[0, 1, 2, 2])?;
/// assert_eq!((found.share, found.classes), (0.75, [(0, (1, 2)), (2, (2, 2))].into()));
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
pub fn class_accuracy(requested: &[u32], told: &[u32]) -> Result<ClassAccuracy, ImageScoreError> {
    if requested.len() != told.len() {
        return Err(ImageScoreError::Classes { requested: requested.len(), told: told.len() });
    }
    let images = requested.len();
    if images == 0 {
        return Err(ImageScoreError::TooFew { score: "an accuracy", least: 1, found: 0 });
    }
    let mut classes = BTreeMap::<u32, (usize, usize)>::new();
    for (requested, told) in requested.iter().zip(told) {
        let (right, all) = classes.entry(*requested).or_default();
        (*right, *all) = (*right + usize::from(requested == told), *all + 1);
    }
    let share = classes.values().map(|(right, _)| right).sum::<usize>() as f64 / images as f64;
    let standard_error = (share * (1.0 - share) / images as f64).sqrt();
    Ok(ClassAccuracy { share, standard_error, images, classes })
}
