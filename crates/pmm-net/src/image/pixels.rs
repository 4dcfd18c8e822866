//! Bytes of images as coordinates of a pair.

use pmm_core::{AnyPair, Normal, ParameterError, Poisson};
use serde::{Deserialize, Serialize};

/// The pair by which pixels are watched.
///
/// | | x of a byte v | prior |
/// |---|---|---|
/// | Normal | 2v/255 − 1, from −1 to 1 | N(mean of the pixels, 1/2) |
/// | Poisson | 4v/255, from 0 to 4 | Γ(shape .1, rate 2) |
///
/// With white at 4 a Poisson pixel is known as well at the end of the clock as a Normal one: its noise is √(x/a) = 2/√a in
/// a range of 4, as it is 1/√a in a range of 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImagePair {
    /// Brightness through Gaussian noise.
    Normal,
    /// Brightness as the rate at which light arrives.
    Poisson,
}

/// The mean and the standard deviation of all pixels of the data, in the pair's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PixelFacts {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, above 0.
    pub sd: f64,
}

/// The Poisson intensity of white.
pub(super) const WHITE: f64 = 4.0;
/// The prior precision b of the Normal pair, as in the paper.
const PRECISION: f64 = 2.0;
/// The prior shape and rate of the Poisson pair, as in the paper.
pub(super) const GAMMA: (f64, f64) = (0.1, 2.0);

impl ImagePair {
    /// A byte as a coordinate.
    ///
    /// ```
    /// use pmm_net::image::ImagePair;
    /// assert_eq!([0, 255].map(|byte| ImagePair::Normal.value(byte)), [-1.0, 1.0]);
    /// assert_eq!([0, 255].map(|byte| ImagePair::Poisson.value(byte)), [0.0, 4.0]);
    /// assert!((0..=255).all(|byte| ImagePair::Normal.byte(ImagePair::Normal.value(byte)) == byte));
    /// ```
    pub fn value(self, byte: u8) -> f32 {
        match self {
            Self::Normal => f32::from(byte) / 127.5 - 1.0,
            Self::Poisson => f32::from(byte) * (WHITE as f32 / 255.0),
        }
    }

    /// The nearest byte of a coordinate.
    pub fn byte(self, x: f32) -> u8 {
        let level = match self {
            Self::Normal => (x + 1.0) * 127.5,
            Self::Poisson => x * (255.0 / WHITE as f32),
        };
        // Beyond the ends the cast stops at them.
        level.round() as u8
    }

    /// Mean and standard deviation of pixels, of which there are so many of each byte. One even colour has no spread: it gets
    /// that of one step of a byte.
    pub fn facts(self, counts: &[u64; 256]) -> PixelFacts {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let sum = |power: i32| -> f64 {
            let terms = counts
                .iter()
                .zip(0..=255)
                .map(|(&n, byte): (_, u8)| n as f64 * f64::from(self.value(byte)).powi(power));
            terms.sum::<f64>() / total
        };
        let (mean, square) = (sum(1), sum(2));
        let least = f64::from(self.value(1) - self.value(0));
        PixelFacts { mean, sd: (square - mean * mean).max(least * least).sqrt() }
    }

    /// The conjugate pair.
    pub(super) fn pair(self, facts: PixelFacts) -> Result<AnyPair, ParameterError> {
        Ok(match self {
            Self::Normal => Normal::new(PRECISION, facts.mean)?.into(),
            Self::Poisson => Poisson::new(GAMMA.0, GAMMA.1)?.intensities().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_ends_hold() {
        for pair in [ImagePair::Normal, ImagePair::Poisson] {
            assert!((0..=255).all(|byte| pair.byte(pair.value(byte)) == byte));
            assert_eq!((pair.byte(-9.0), pair.byte(9.0)), (0, 255));
        }
    }

    #[test]
    fn facts_by_hand() {
        let mut counts = [0; 256];
        (counts[0], counts[255]) = (3, 1);
        let facts = ImagePair::Normal.facts(&counts);
        assert!((facts.mean + 0.5).abs() < 1e-12 && (facts.sd - 0.75f64.sqrt()).abs() < 1e-12);
        assert!(ImagePair::Poisson.facts(&[0; 256]).sd > 0.0);
    }
}
