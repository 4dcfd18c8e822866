//! The Fréchet distance that endlessly many images would get.

use pmm_core::{Purpose, Streams};

use super::error::{ImageScoreError, same_dimension};
use super::features::Features;
use super::frechet::frechet;
use super::gaussian::Gaussian;
use super::moments::Moments;

/// The images are cut into one, two, … so many parts.
const CUTS: usize = 4;
/// Images for each feature in the smallest part: with fewer the bias is not yet as good as linear in 1/n.
const FOR_EACH: usize = 2;

/// A Fréchet distance of n images is too large by about b/n. Distances of all images, of halves, of thirds and of quarters (means over
/// parts that share no image, cut by `seed`) lie on a line over 1/n; this is where it ends at 1/n = 0 (Chong and Forsyth 2020, who draw subsets at
/// random). It may come out below 0. The bias by the number of images behind `reference` stays.
///
/// It takes eight images for each feature; with fewer there is none.
pub fn frechet_limit(
    features: &Features,
    reference: &Gaussian,
    seed: u64,
) -> Result<Option<f64>, ImageScoreError> {
    same_dimension(features.dimension(), reference.dimension())?;
    if features.len() < CUTS * FOR_EACH * features.dimension() {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..features.len()).collect();
    Streams::new(seed).stream(Purpose::FRECHET_PARTS, 0, 0).shuffle(&mut order);
    let mut points = Vec::new();
    for parts in 1..=CUTS {
        let size = order.len() / parts;
        let distances: Result<Vec<f64>, _> =
            order.chunks_exact(size).map(|part| of_part(features, part, reference)).collect();
        let distances = distances?;
        points.push((1.0 / size as f64, distances.iter().sum::<f64>() / distances.len() as f64));
    }
    Ok(Some(intercept(&points)))
}

fn of_part(features: &Features, part: &[usize], reference: &Gaussian) -> Result<f64, ImageScoreError> {
    let values = part.iter().flat_map(|&row| features.row(row)).copied().collect();
    let mut moments = Moments::new(features.dimension());
    moments.add(&Features::new(features.dimension(), values)?)?;
    frechet(&moments.gaussian()?, reference)
}

/// Where the line of least squares meets 0.
fn intercept(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    y - slope * x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rows: usize, d: usize, shift: f64, row: u64) -> Features {
        let mut stream = Streams::new(3).stream(Purpose::DATA, 0, row);
        Features::new(d, (0..rows * d).map(|_| (shift + stream.normal()) as f32).collect()).unwrap()
    }

    /// 640 images of 20 features from the law of the reference, or shifted by .2 in each feature, whose distance is .8: the plain distance is
    /// too large by about (d² + 5d)/4n = .20; of what is found here the mean over ten seeds has a standard deviation of about .025.
    #[test]
    fn the_bias_is_gone() {
        let d = 20;
        let mut identity = vec![0.0; d * d];
        (0..d).for_each(|i| identity[i * d + i] = 1.0);
        let reference = Gaussian::new(vec![0.0; d], identity).unwrap();
        for (shift, expected) in [(0.0, 0.0), (0.2, 0.8)] {
            let (mut plain, mut limit) = (0.0, 0.0);
            for seed in 0..10 {
                let features = normal(640, d, shift, seed);
                let all: Vec<usize> = (0..640).collect();
                plain += of_part(&features, &all, &reference).unwrap() / 10.0;
                limit += frechet_limit(&features, &reference, seed).unwrap().unwrap() / 10.0;
            }
            assert!(plain - expected > 0.12, "{plain}");
            assert!((limit - expected).abs() < 0.08, "{limit} for {expected}, plain {plain}");
        }
    }

    #[test]
    fn few_images_have_none() {
        let reference = Gaussian::new(vec![0.0], vec![1.0]).unwrap();
        assert_eq!(frechet_limit(&normal(7, 1, 0.0, 0), &reference, 0).unwrap(), None);
        assert!(frechet_limit(&normal(8, 1, 0.0, 0), &reference, 0).unwrap().is_some());
        assert!(frechet_limit(&normal(8, 2, 0.0, 0), &reference, 0).is_err());
    }

    #[test]
    fn a_line_is_found() {
        assert!((intercept(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]) - 3.0).abs() < 1e-12);
    }
}
