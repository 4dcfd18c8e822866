//! The kernel distance: a squared maximum mean discrepancy with a polynomial kernel.

use pmm_core::{Purpose, Streams};
use serde::Serialize;

use super::error::{ImageScoreError, same_dimension};
use super::features::Features;
use super::product::add_product;

/// The least number of subsets, for the standard error.
const SUBSETS: usize = 10;

/// A kernel distance with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KernelDistance {
    /// The mean over the subsets; its expectation is the distance, so that it may be negative.
    pub distance: f64,
    /// The standard error of the mean: subsets share no images, so that they are independent.
    pub standard_error: f64,
    /// How many subsets there were.
    pub subsets: usize,
    /// Images of a subset, of each kind.
    pub size: usize,
}

/// The unbiased estimate of MMD² with k(x, y) = (⟨x, y⟩/d + 1)³, the mean over subsets (Bińkowski et al. 2018). In Inception's
/// features this is KID.
///
/// Subsets are drawn by `seed` and have up to `size` images of each kind (1,000 is customary), or a tenth of the images where
/// there are fewer than ten times as many. None shares an image with another, which is not customary: where images are drawn
/// again and again the spread of the subsets says little about the error.
///
/// ```
/// use pmm_eval::image::{Features, kernel_distance};
/// let apart = |offset: f32| Features::new(1, (0..40).map(|i| (i % 4) as f32 + offset).collect());
/// let found = kernel_distance(&apart(0.0)?, &apart(9.0)?, 1000, 0)?;
/// assert_eq!((found.subsets, found.size), (10, 4));
/// assert!(found.distance > 3.0 * found.standard_error);
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
pub fn kernel_distance(
    first: &Features,
    second: &Features,
    size: usize,
    seed: u64,
) -> Result<KernelDistance, ImageScoreError> {
    same_dimension(first.dimension(), second.dimension())?;
    let images = first.len().min(second.len());
    let size = size.min(images / SUBSETS);
    if size < 2 {
        let least = 2 * SUBSETS;
        return Err(ImageScoreError::TooFew { score: "a kernel distance", least, found: images });
    }
    let (one, two) = (order(first.len(), seed, 0), order(second.len(), seed, 1));
    let subset = |(one, two): (&[usize], &[usize])| discrepancy(first, one, second, two);
    let found: Vec<f64> = one.chunks_exact(size).zip(two.chunks_exact(size)).map(subset).collect();
    let n = found.len() as f64;
    let distance = found.iter().sum::<f64>() / n;
    let variance = found.iter().map(|x| (x - distance).powi(2)).sum::<f64>() / (n - 1.0);
    Ok(KernelDistance { distance, standard_error: (variance / n).sqrt(), subsets: found.len(), size })
}

/// Images in a random order.
fn order(images: usize, seed: u64, row: u64) -> Vec<usize> {
    let mut stream = Streams::new(seed).stream(Purpose::KERNEL_SUBSET, 0, row);
    let mut order: Vec<usize> = (0..images).collect();
    for place in (1..images).rev() {
        order.swap(place, stream.below(place as u64 + 1) as usize);
    }
    order
}

fn discrepancy(first: &Features, one: &[usize], second: &Features, two: &[usize]) -> f64 {
    let (a, b) = (columns(first, one), columns(second, two));
    let m = one.len();
    let pairs = |a: &[f64], b: &[f64], among: bool| {
        let mut products = vec![0.0; m * m];
        add_product(&mut products, a, b, [m, m]);
        let kernel = |x: &f64| (x / first.dimension() as f64 + 1.0).powi(3);
        let all: f64 = products.iter().map(kernel).sum();
        // An image is no pair with itself.
        if among { all - products.iter().step_by(m + 1).map(kernel).sum::<f64>() } else { all }
    };
    let (m, within) = (m as f64, pairs(&a, &a, true) + pairs(&b, &b, true));
    within / (m * (m - 1.0)) - 2.0 * pairs(&a, &b, false) / (m * m)
}

/// The chosen images as columns, `[dimension, images]`.
fn columns(features: &Features, chosen: &[usize]) -> Vec<f64> {
    let value = |j: usize| chosen.iter().map(move |&image| f64::from(features.row(image)[j]));
    (0..features.dimension()).flat_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(images: usize, d: usize, row: u64, mean: f64) -> Features {
        let mut stream = Streams::new(5).stream(Purpose::DATA, 0, row);
        Features::new(d, (0..images * d).map(|_| (mean + stream.normal()) as f32).collect()).unwrap()
    }

    /// All pairs by the definition.
    #[test]
    fn a_subset_is_the_definition() {
        let (a, b) = (normal(6, 3, 0, 0.0), normal(6, 3, 1, 0.5));
        let k = |x: &[f32], y: &[f32]| {
            (x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>() / 3.0 + 1.0).powi(3)
        };
        let mut expected = 0.0;
        for i in 0..6 {
            for j in 0..6 {
                expected -= 2.0 * k(a.row(i), b.row(j)) / 36.0;
                if i != j {
                    expected += (k(a.row(i), a.row(j)) + k(b.row(i), b.row(j))) / 30.0;
                }
            }
        }
        let all: Vec<usize> = (0..6).collect();
        assert!((discrepancy(&a, &all, &b, &all) - expected).abs() < 1e-12);
    }

    /// Equal laws: 40 tests of the mean of 40 subsets, each at |t| > 5.5 (by Student's law with 39 degrees 2.6e-6, in all
    /// 1e-4; the subsets' law is skewed, but 4,000 trials in NumPy stayed within −4.4 and 3.4). Counting the pairs of images
    /// with themselves puts t at 15.
    #[test]
    fn equal_laws_are_at_no_distance() {
        let mut sum = 0.0;
        for trial in 0..40 {
            let (a, b) = (normal(800, 4, 2 * trial, 0.0), normal(800, 4, 2 * trial + 1, 0.0));
            let found = kernel_distance(&a, &b, 20, trial).unwrap();
            assert_eq!((found.subsets, found.size), (40, 20));
            let t = found.distance / found.standard_error;
            assert!(t.abs() < 5.5, "{t}");
            sum += t;
        }
        // In NumPy t has mean −.09 and deviation 1.05: the mean of 40 is off by .8 in 4 deviations.
        assert!((sum / 40.0).abs() < 0.8, "{}", sum / 40.0);
    }

    #[test]
    fn other_laws_are_seen() {
        let found = kernel_distance(&normal(800, 4, 0, 0.0), &normal(900, 4, 1, 0.5), 20, 0).unwrap();
        assert!(found.distance > 5.0 * found.standard_error, "{found:?}");
        assert_eq!(found, kernel_distance(&normal(800, 4, 0, 0.0), &normal(900, 4, 1, 0.5), 20, 0).unwrap());
    }

    #[test]
    fn too_few_images_are_refused() {
        let found = kernel_distance(&normal(19, 1, 0, 0.0), &normal(50, 1, 1, 0.0), 1000, 0).unwrap_err();
        assert_eq!(found.to_string(), "a kernel distance takes at least 20 images, there are 19");
        assert!(kernel_distance(&normal(50, 1, 0, 0.0), &normal(50, 2, 1, 0.0), 1000, 0).is_err());
    }
}
