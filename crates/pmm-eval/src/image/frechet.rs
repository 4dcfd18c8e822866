//! The Fréchet distance of two Gaussians.

use super::cholesky::factor;
use super::error::{ImageScoreError, same_dimension};
use super::gaussian::Gaussian;
use super::product::add_product;
use super::singular::nuclear_norm;

/// |μ₁ − μ₂|² + tr(Σ₁ + Σ₂ − 2 (Σ₁Σ₂)^½): the squared 2-Wasserstein distance of two Gaussians (Dowson and Landau 1982). In
/// Inception's features this is FID (Heusel et al. 2017).
///
/// With Σ₁ = L₁L₁ᵀ and Σ₂ = L₂L₂ᵀ the trace of the root is the sum of the singular values of L₁ᵀL₂, since those squared
/// are the eigenvalues of L₁ᵀΣ₂L₁, which are those of Σ₁Σ₂. Nothing is inverted and no root is taken of a matrix that rounding
/// has made indefinite, so singular covariances (fewer images than features) need no offset.
///
/// ```
/// use pmm_eval::image::{Gaussian, frechet};
/// let normal = |mean, variance| Gaussian::new(vec![mean], vec![variance]);
/// // (5 − 2)² + (3 − 1)²: means and deviations.
/// assert!((frechet(&normal(5.0, 9.0)?, &normal(2.0, 1.0)?)? - 13.0).abs() < 1e-12);
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
pub fn frechet(first: &Gaussian, second: &Gaussian) -> Result<f64, ImageScoreError> {
    same_dimension(first.dimension(), second.dimension())?;
    let d = first.dimension();
    let (one, two) = (factor(first.covariance(), d)?, factor(second.covariance(), d)?);
    let mut product = vec![0.0; one.rank * two.rank];
    add_product(&mut product, &one.values, &two.values, [one.rank, two.rank]);
    let root = nuclear_norm(&product, one.rank, two.rank);
    let means: f64 = first.mean().iter().zip(second.mean()).map(|(a, b)| (a - b).powi(2)).sum();
    // Rounding may leave less than nothing where the two are equal.
    Ok((means + first.trace() + second.trace() - 2.0 * root).max(0.0))
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::super::{Features, Moments};
    use super::*;

    /// Features made of uniform numbers u: xⱼ = uⱼ + uⱼ₊₁ · uⱼ₊₂, with indices that wrap.
    fn example(row: u64, images: usize, d: usize) -> Gaussian {
        let mut stream = Streams::new(7).stream(Purpose::DATA, 0, row);
        let mut values = Vec::new();
        for _ in 0..images {
            let u: Vec<f64> = (0..d).map(|_| stream.unit()).collect();
            values.extend((0..d).map(|j| (u[j] + u[(j + 1) % d] * u[(j + 2) % d]) as f32));
        }
        let mut moments = Moments::new(d);
        moments.add(&Features::new(d, values).unwrap()).unwrap();
        moments.gaussian().unwrap()
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found}, {expected}");
    }

    /// NumPy and SciPy 1.17.1, whose Philox gives the same numbers:
    /// ```python
    /// def gaussian(row, n, d):
    ///     u = np.random.Generator(np.random.Philox(key=[7, 1], counter=(row << 128) - 1)).random(n * d).reshape(n, d)
    ///     x = (u + np.roll(u, -1, 1) * np.roll(u, -2, 1)).astype("f4").astype("f8")
    ///     return x.mean(0), np.cov(x, rowvar=False)
    /// def distance(a, b):
    ///     return ((a[0] - b[0])**2).sum() + np.trace(a[1] + b[1] - 2 * scipy.linalg.sqrtm(a[1] @ b[1]).real)
    /// ```
    #[test]
    fn agrees_with_scipy() {
        for (images, d, expected) in SCIPY {
            let found = frechet(&example(1, images, d), &example(2, images, d)).unwrap();
            close(found, expected, 1e-10);
        }
    }

    const SCIPY: [(usize, usize, f64); 3] =
        [(50, 3, 0.0094133075151355), (200, 8, 0.02864829396172223), (300, 64, 0.748286472587713)];

    /// 20 images of 40 features. NumPy, from the centred images: the trace of the root is
    /// `np.linalg.svd(X1 @ X2.T, compute_uv=False).sum() / 19`. SciPy's `sqrtm` gives 3.70661351.
    #[test]
    fn fewer_images_than_features() {
        let (a, b) = (example(1, 20, 40), example(2, 20, 40));
        close(frechet(&a, &b).unwrap(), SINGULAR, 1e-7);
        close(frechet(&b, &a).unwrap(), SINGULAR, 1e-7);
        close(frechet(&a, &a).unwrap(), 0.0, 1e-7);
    }

    const SINGULAR: f64 = 3.7066136199285573;

    #[test]
    fn equal_gaussians_are_at_no_distance() {
        for d in [1, 5, 33] {
            let gaussian = example(3, 200, d);
            close(frechet(&gaussian, &gaussian).unwrap(), 0.0, 1e-12);
        }
        let none = Gaussian::new(vec![1.0; 2], vec![0.0; 4]).unwrap();
        assert_eq!(frechet(&none, &none).unwrap(), 0.0);
    }

    /// Covariances with the same eigenvectors: |μ₁ − μ₂|² + Σ (√λ₁ − √λ₂)².
    #[test]
    fn commuting_covariances() {
        let (c, s) = (0.3f64.cos(), 0.3f64.sin());
        let turned = |mean: [f64; 2], a: f64, b: f64| {
            let across = (a - b) * c * s;
            let sigma = vec![a * c * c + b * s * s, across, across, a * s * s + b * c * c];
            Gaussian::new(mean.to_vec(), sigma).unwrap()
        };
        let found = frechet(&turned([0.0, 1.0], 4.0, 9.0), &turned([2.0, 1.0], 1.0, 0.0)).unwrap();
        close(found, 4.0 + 1.0 + 9.0, 1e-12);
    }

    #[test]
    fn other_features_are_refused() {
        let (a, b) = (example(1, 5, 2), example(1, 5, 3));
        assert!(matches!(frechet(&a, &b), Err(ImageScoreError::Dimensions { first: 2, second: 3 })));
    }
}
