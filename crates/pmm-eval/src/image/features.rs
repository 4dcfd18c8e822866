//! Features of images: a row of finite numbers each.

use super::error::ImageScoreError;

/// Features of images, `[images, dimension]`.
///
/// ```
/// use pmm_eval::image::Features;
/// let features = Features::new(2, vec![1.0, 2.0, 3.0, 4.0])?;
/// assert_eq!((features.len(), features.row(1)), (2, &[3.0, 4.0][..]));
/// assert!(Features::new(2, vec![1.0]).is_err() && Features::new(1, vec![f32::NAN]).is_err());
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    dimension: usize,
    values: Vec<f32>,
}

impl Features {
    /// Rows of `dimension` values, one after the other; they must be finite.
    pub fn new(dimension: usize, values: Vec<f32>) -> Result<Self, ImageScoreError> {
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            return Err(ImageScoreError::Rows { values: values.len(), dimension });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(ImageScoreError::NotFinite {
                image: at / dimension,
                feature: at % dimension,
                value: values[at],
            }),
            None => Ok(Self { dimension, values }),
        }
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Features of an image.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The features of one image.
    ///
    /// # Panics
    /// If there is no such image.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dimension..][..self.dimension]
    }

    /// Row by row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension)
    }
}
