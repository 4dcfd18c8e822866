//! What scores of images cannot be made of.

use thiserror::Error;

/// Features or statistics of which no score can be made.
#[derive(Debug, Error)]
pub enum ImageScoreError {
    /// Values that are not rows of features.
    #[error("{values} values are not rows of {dimension} features")]
    Rows {
        /// How many values there are.
        values: usize,
        /// Features of an image.
        dimension: usize,
    },
    /// A feature that is no number.
    #[error("feature {feature} of image {image} is {value}")]
    NotFinite {
        /// The image.
        image: usize,
        /// The feature.
        feature: usize,
        /// Its value.
        value: f32,
    },
    /// Features of two networks.
    #[error("{first} features cannot be compared with {second}")]
    Dimensions {
        /// Those of the first.
        first: usize,
        /// Those of the second.
        second: usize,
    },
    /// Too few images for a score.
    #[error("{score} takes at least {least} images, there are {found}")]
    TooFew {
        /// The score.
        score: &'static str,
        /// How many it takes.
        least: usize,
        /// How many there are.
        found: usize,
    },
    /// A matrix that no images have.
    #[error("sigma is not a covariance: {reason}")]
    NotCovariance {
        /// The violated condition.
        reason: String,
    },
    /// A class for each image is wanted.
    #[error("{requested} classes were asked for, {told} were told")]
    Classes {
        /// Those asked for.
        requested: usize,
        /// Those told.
        told: usize,
    },
    /// An archive without the statistics.
    #[error("{path} has no statistics of features: {reason}")]
    NotStatistics {
        /// The file.
        path: String,
        /// The violated condition.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] pmm_data::ArrayFileError),
}

/// Whether two sets have as many features.
pub(super) fn same_dimension(first: usize, second: usize) -> Result<(), ImageScoreError> {
    if first == second { Ok(()) } else { Err(ImageScoreError::Dimensions { first, second }) }
}
