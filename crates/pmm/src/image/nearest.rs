//! The training images that are nearest to samples: by features, or by pixels where there is no feature network.

use pmm_eval::image::{Beside, Features, Nearest, Neighbour, neighbours};

use super::distances::Found;
use super::real::Real;
use super::scored::Scored;
use crate::error::Error;

/// Samples whose neighbours are sought.
const SOUGHT: usize = 1000;
/// Samples that are shown, and neighbours of each.
const SHOWN: (usize, usize) = (8, 3);
/// Pixels of all images that are searched, at most: 200 megabytes.
const MOST_PIXELS: usize = 50_000_000;

pub(crate) struct NearestImages {
    pub(crate) score: Nearest,
    /// A row of samples, those nearest to a training image; below each its neighbours, the nearest first.
    pub(crate) images: Vec<Vec<u8>>,
    pub(crate) columns: usize,
}

pub(crate) fn nearest(
    drawn: &Scored,
    real: &Real,
    found: Option<&Found<'_>>,
) -> Result<NearestImages, Error> {
    let count = SOUGHT.min(drawn.images.len()).min(real.test.len());
    let (unit, per_pixel, [samples, held_out, among]) = match found {
        Some(found) => {
            let unit = format!("in features of {}", found.net.name());
            let first = |features: &Features| {
                Features::new(features.dimension(), features.rows().take(count).flatten().copied().collect())
            };
            (unit, 1.0, [first(&found.samples)?, first(&found.held_out)?, found.reference.clone()])
        }
        None => {
            let pixels = drawn.images.first().map_or(1, Vec::len);
            let most = (MOST_PIXELS / pixels).max(1);
            let sets =
                [drawn.pixels(count), real.test.pixels(count), real.reference.pixels(most)].map(|images| {
                    Features::new(pixels, images.into_iter().flatten().map(|byte| f32::from(*byte)).collect())
                });
            let [samples, held_out, among] = sets;
            let unit = "in grey levels of 255, root mean square".to_owned();
            (unit, (pixels as f64).sqrt(), [samples?, held_out?, among?])
        }
    };
    let of_samples = neighbours(&samples, &among, SHOWN.1)?;
    let of_real = neighbours(&held_out, &among, 1)?;
    let score = Nearest {
        near_copies: near_copies(&of_samples, &of_real),
        distance: Beside { samples: median(&of_samples) / per_pixel, held_out: median(&of_real) / per_pixel },
        unit,
        images: count,
        among: among.len(),
    };
    let mut order: Vec<usize> = (0..of_samples.len()).collect();
    order.sort_by(|&a, &b| first(&of_samples[a]).total_cmp(&first(&of_samples[b])));
    order.truncate(SHOWN.0);
    let mut images: Vec<Vec<u8>> = order.iter().map(|&sample| drawn.images[sample].clone()).collect();
    for place in 0..SHOWN.1 {
        let near = order.iter().filter_map(|&sample| of_samples[sample].get(place));
        images
            .extend(near.map(|near| real.reference.images.pixels(real.reference.rows[near.index]).to_vec()));
    }
    Ok(NearestImages { score, images, columns: order.len() })
}

fn first(neighbours: &[Neighbour]) -> f64 {
    neighbours.first().map_or(f64::NAN, |near| near.distance)
}

/// The share of samples that are nearer to their nearest than 99 in 100 real images are to theirs.
fn near_copies(samples: &[Vec<Neighbour>], real: &[Vec<Neighbour>]) -> f64 {
    let mut distances: Vec<f64> = real.iter().map(|near| first(near)).collect();
    distances.sort_by(f64::total_cmp);
    let bound = distances.get(distances.len() / 100).copied().unwrap_or(0.0);
    samples.iter().filter(|near| first(near) < bound).count() as f64 / samples.len().max(1) as f64
}

/// The median distance to the nearest.
fn median(found: &[Vec<Neighbour>]) -> f64 {
    let mut distances: Vec<f64> = found.iter().map(|near| first(near)).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 200 real images two are nearer than 2; three of four samples are no copies.
    #[test]
    fn copies_are_nearer_than_real_images_are() {
        let at = |distances: &[f64]| -> Vec<Vec<Neighbour>> {
            distances.iter().map(|&distance| vec![Neighbour { index: 0, distance }]).collect()
        };
        let real: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(near_copies(&at(&[0.5, 2.0, 40.0, 300.0]), &at(&real)), 0.25);
        assert_eq!(near_copies(&[], &at(&real)), 0.0);
    }
}
