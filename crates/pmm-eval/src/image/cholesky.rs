//! A matrix L with L Lᵀ = Σ, also for singular Σ.

use rayon::prelude::*;

use super::error::ImageScoreError;

/// L `[d, rank]`, by rows.
#[derive(Debug)]
pub(super) struct Factor {
    pub(super) values: Vec<f64>,
    pub(super) rank: usize,
}

/// The largest part of the largest variance by which a matrix may fail to be a covariance, as where it was stored in 32 bits.
const SLACK: f64 = 1e-6;

/// Factors a symmetric matrix, the largest variance that is left first, until all that is left is below d ε times the largest:
/// rounding. Where there are fewer images than features that is after as many steps as there are images.
pub(super) fn factor(sigma: &[f64], d: usize) -> Result<Factor, ImageScoreError> {
    let mut left: Vec<f64> = sigma.iter().step_by(d + 1).copied().collect();
    let largest = left.iter().copied().fold(0.0, f64::max);
    // Rows are as long as they can become.
    let mut rows = vec![0.0; d * d];
    let mut rank = 0;
    while rank < d {
        let pivot = (1..d).fold(0, |best, i| if left[i] > left[best] { i } else { best });
        if left[pivot] <= d as f64 * f64::EPSILON * largest {
            break;
        }
        let (root, known) = (left[pivot].sqrt(), rows[pivot * d..][..rank].to_vec());
        let step = |(i, (row, left)): (usize, (&mut [f64], &mut f64))| {
            let value = (sigma[i * d + pivot] - dot(&row[..rank], &known)) / root;
            // A covariance cannot be larger than both deviations allow.
            let most = left.max(0.0).sqrt();
            row[rank] = value.clamp(-most, most);
            *left -= row[rank].powi(2);
            (value.abs() - most) * root
        };
        let excess = rows.par_chunks_mut(d).with_min_len(64).zip(&mut left).enumerate().map(step);
        let excess = excess.reduce(|| 0.0, f64::max);
        if excess > SLACK * largest {
            let reason = format!("it is indefinite by {excess:e}");
            return Err(ImageScoreError::NotCovariance { reason });
        }
        left[pivot] = 0.0;
        rank += 1;
    }
    let values = rows.chunks_exact(d).flat_map(|row| &row[..rank]).copied().collect();
    Ok(Factor { values, rank })
}

/// The sum of products, in eight sums side by side.
#[inline]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sigma: &[f64], d: usize, rank: usize) {
        let found = factor(sigma, d).unwrap();
        assert_eq!(found.rank, rank);
        for i in 0..d {
            for j in 0..d {
                let [a, b] = [i, j].map(|row| &found.values[row * rank..][..rank]);
                assert!((dot(a, b) - sigma[i * d + j]).abs() < 1e-12, "{i} {j}");
            }
        }
    }

    #[test]
    fn the_product_is_the_matrix() {
        check(&[4.0, 2.0, 0.4, 2.0, 3.0, -1.0, 0.4, -1.0, 5.0], 3, 3);
        check(&[1.0, 2.0, 2.0, 4.0], 2, 1);
        check(&[0.0; 9], 3, 0);
        // Rank 2 in 20 dimensions.
        let row = |i: usize| [(i as f64).sin(), (2.0 * i as f64).cos()];
        let sigma: Vec<f64> = (0..400)
            .map(|at| row(at / 20)[0] * row(at % 20)[0] + row(at / 20)[1] * row(at % 20)[1])
            .collect();
        check(&sigma, 20, 2);
    }

    /// Eigenvalues 1 − 2·0.9 and 1.9 twice: every 2 × 2 part is positive, the whole is not.
    #[test]
    fn an_indefinite_matrix_is_refused() {
        let sigma = [1.0, -0.9, -0.9, -0.9, 1.0, -0.9, -0.9, -0.9, 1.0];
        assert!(matches!(factor(&sigma, 3), Err(ImageScoreError::NotCovariance { .. })));
    }
}
