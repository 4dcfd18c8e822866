//! The training images that are nearest to samples.

use multiversion::multiversion;
use rayon::prelude::*;
use serde::Serialize;

use super::error::{ImageScoreError, same_dimension};
use super::features::Features;

/// A near image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// Its place among those that were searched.
    pub index: usize,
    /// The Euclidean distance of the features.
    pub distance: f64,
}

/// The `count` nearest of `among` for each of `images`, the nearest first; of equally near ones the first. All are compared
/// with all, which takes images · among · dimension operations.
///
/// Beside the distances of samples to training images those of held-out images tell what is natural: samples that are much
/// nearer are copies.
pub fn neighbours(
    images: &Features,
    among: &Features,
    count: usize,
) -> Result<Vec<Vec<Neighbour>>, ImageScoreError> {
    same_dimension(images.dimension(), among.dimension())?;
    let rows: Vec<&[f32]> = images.rows().collect();
    let nearest = |row: &&[f32]| {
        let distance =
            |(index, other): (usize, &[f32])| Neighbour { index, distance: squared_distance(row, other) };
        let mut all: Vec<Neighbour> = among.rows().enumerate().map(distance).collect();
        let order =
            |a: &Neighbour, b: &Neighbour| a.distance.total_cmp(&b.distance).then(a.index.cmp(&b.index));
        if count < all.len() {
            all.select_nth_unstable_by(count, order);
            all.truncate(count);
        }
        all.sort_unstable_by(order);
        all.iter_mut().for_each(|found| found.distance = found.distance.sqrt());
        all
    };
    Ok(rows.par_iter().map(nearest).collect())
}

/// The squared distance, in eight sums side by side.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let square = |a: f32, b: f32| (f64::from(a) - f64::from(b)).powi(2);
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += square(a[i], b[i]);
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| square(*a, *b)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first() {
        let d = 11;
        let images = Features::new(d, [vec![0.0; d], vec![3.0; d]].concat()).unwrap();
        let among = Features::new(d, (0..5).flat_map(|i| vec![i as f32; d]).collect()).unwrap();
        let found = neighbours(&images, &among, 2).unwrap();
        let unit = (d as f64).sqrt();
        let of = |row: usize| -> Vec<(usize, f64)> {
            found[row].iter().map(|near| (near.index, near.distance / unit)).collect()
        };
        assert_eq!((of(0), of(1)), (vec![(0, 0.0), (1, 1.0)], vec![(3, 0.0), (2, 1.0)]));
        assert_eq!(neighbours(&images, &among, 9).unwrap()[0].len(), 5);
        assert!(neighbours(&images, &among, 0).unwrap()[1].is_empty());
        assert!(neighbours(&images, &Features::new(1, vec![]).unwrap(), 1).is_err());
    }
}
