//! A Gaussian by its mean and covariance.

use super::error::ImageScoreError;

/// Mean and covariance of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Gaussian {
    /// From a mean of d numbers and a covariance of d × d, stored by rows. The matrix must be finite and symmetric, and no
    /// 2 × 2 part of it may be indefinite; what is smaller than rounding is evened out.
    pub fn new(mean: Vec<f64>, mut covariance: Vec<f64>) -> Result<Self, ImageScoreError> {
        let d = mean.len();
        let refused = |reason: String| Err(ImageScoreError::NotCovariance { reason });
        if d == 0 || covariance.len() != d * d {
            return refused(format!("it has {} numbers for {d} features", covariance.len()));
        }
        if let Some(value) = mean.iter().chain(&covariance).find(|value| !value.is_finite()) {
            return refused(format!("{value} is among its numbers or those of mu"));
        }
        let largest = (0..d).map(|i| covariance[i * d + i]).fold(0.0, f64::max);
        let slack = 1e-6 * largest;
        for i in 0..d {
            let own = covariance[i * d + i];
            if own < -slack {
                return refused(format!("the variance of feature {i} is {own}"));
            }
            for j in 0..i {
                let [above, below] = [covariance[j * d + i], covariance[i * d + j]];
                let most = (own.max(0.0) * covariance[j * d + j].max(0.0)).sqrt();
                if (above - below).abs() > slack || above.abs().max(below.abs()) > most + slack {
                    return refused(format!("features {j} and {i} have {above} and {below}"));
                }
                let even = 0.5 * (above + below);
                (covariance[j * d + i], covariance[i * d + j]) = (even, even);
            }
        }
        Ok(Self { mean, covariance })
    }

    /// Features of an image.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance, by rows.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// The sum of the variances.
    pub(super) fn trace(&self) -> f64 {
        self.covariance.iter().step_by(self.dimension() + 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_images_have_is_refused() {
        let refused = |mean: &[f64], covariance: &[f64], reason: &str| {
            let message = Gaussian::new(mean.to_vec(), covariance.to_vec()).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        };
        refused(&[], &[], "0 numbers for 0 features");
        refused(&[0.0; 2], &[1.0; 3], "3 numbers for 2");
        refused(&[0.0], &[f64::NAN], "NaN is among");
        refused(&[f64::INFINITY], &[1.0], "inf is among");
        refused(&[0.0; 2], &[1.0, 0.0, 0.0, -1.0], "variance of feature 1 is -1");
        refused(&[0.0; 2], &[1.0, 0.5, 0.2, 1.0], "features 0 and 1");
        refused(&[0.0; 2], &[0.0, 1.0, 1.0, 0.0], "features 0 and 1");
        let even = Gaussian::new(vec![0.0; 2], vec![1.0, 0.5 + 1e-9, 0.5 - 1e-9, 1.0]).unwrap();
        assert_eq!((even.covariance(), even.trace()), (&[1.0, 0.5, 0.5, 1.0][..], 2.0));
    }
}
