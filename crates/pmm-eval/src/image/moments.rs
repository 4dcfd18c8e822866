//! Sums of features that are added to as images come, and put together from parts.

use super::error::{ImageScoreError, same_dimension};
use super::features::Features;
use super::gaussian::Gaussian;
use super::product::add_product;

/// Rows whose products are summed before they are put together.
const BLOCK: usize = 1024;

/// Count, mean and sum of products about the mean. Parts are put together by the formula of Chan et al. 1979, which loses no
/// digits where features are far from 0.
///
/// ```
/// use pmm_eval::image::{Features, Moments};
/// let mut moments = Moments::new(1);
/// moments.add(&Features::new(1, vec![1.0, 2.0])?)?;
/// moments.add(&Features::new(1, vec![6.0])?)?;
/// let gaussian = moments.gaussian()?;
/// assert_eq!((moments.count(), gaussian.mean()), (3, &[3.0][..]));
/// // (4 + 1 + 9)/2: over one less than the count.
/// assert!((gaussian.covariance()[0] - 7.0).abs() < 1e-12);
/// # Ok::<(), pmm_eval::image::ImageScoreError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    count: usize,
    mean: Vec<f64>,
    products: Vec<f64>,
}

impl Moments {
    /// Of no images.
    pub fn new(dimension: usize) -> Self {
        Self { count: 0, mean: vec![0.0; dimension], products: vec![0.0; dimension * dimension] }
    }

    /// How many images were added.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds images.
    pub fn add(&mut self, features: &Features) -> Result<(), ImageScoreError> {
        same_dimension(self.mean.len(), features.dimension())?;
        let rows: Vec<&[f32]> = features.rows().collect();
        rows.chunks(BLOCK).for_each(|rows| self.add_block(rows));
        Ok(())
    }

    /// Adds the images of another part.
    pub fn merge(&mut self, other: &Self) -> Result<(), ImageScoreError> {
        same_dimension(self.mean.len(), other.mean.len())?;
        self.products.iter_mut().zip(&other.products).for_each(|(sum, more)| *sum += more);
        self.shift(other.count, &other.mean);
        Ok(())
    }

    /// Mean and covariance; the latter divides by one less than the count, as NumPy's `cov` does.
    pub fn gaussian(&self) -> Result<Gaussian, ImageScoreError> {
        if self.count < 2 {
            return Err(ImageScoreError::TooFew { score: "a covariance", least: 2, found: self.count });
        }
        let less_one = (self.count - 1) as f64;
        let covariance = self.products.iter().map(|sum| sum / less_one).collect();
        Gaussian::new(self.mean.clone(), covariance)
    }

    fn add_block(&mut self, rows: &[&[f32]]) {
        let d = self.mean.len();
        let mut mean = vec![0.0; d];
        for row in rows {
            mean.iter_mut().zip(*row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        mean.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
        let centred = rows.iter().flat_map(|row| row.iter().zip(&mean).map(|(x, m)| f64::from(*x) - m));
        let centred: Vec<f64> = centred.collect();
        add_product(&mut self.products, &centred, &centred, [d, d]);
        self.shift(rows.len(), &mean);
    }

    /// Puts another part's count and mean to these: Σ + n m/(n + m) δδᵀ, with δ the difference of the means.
    fn shift(&mut self, count: usize, mean: &[f64]) {
        if count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, count as f64);
        let delta: Vec<f64> = mean.iter().zip(&self.mean).map(|(other, own)| other - own).collect();
        let weight = n * m / (n + m);
        for (row, a) in self.products.chunks_exact_mut(delta.len()).zip(&delta) {
            row.iter_mut().zip(&delta).for_each(|(sum, b)| *sum += weight * a * b);
        }
        self.mean.iter_mut().zip(&delta).for_each(|(own, delta)| *own += m / (n + m) * delta);
        self.count += count;
    }
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    /// A thousand times the deviation away from 0, where Σx² − n x̄² would lose six digits.
    fn example(rows: usize) -> Features {
        let mut stream = Streams::new(1).stream(Purpose::DATA, 0, 0);
        Features::new(3, (0..3 * rows).map(|_| (1000.0 + stream.normal()) as f32).collect()).unwrap()
    }

    #[test]
    fn parts_give_the_same_as_the_whole() {
        let all = example(2500);
        let mut whole = Moments::new(3);
        whole.add(&all).unwrap();
        let values: Vec<f32> = all.rows().flatten().copied().collect();
        let mut parts = Moments::new(3);
        parts.merge(&Moments::new(3)).unwrap();
        for piece in values.chunks(3 * 700) {
            let mut part = Moments::new(3);
            for few in piece.chunks(3 * 11) {
                part.add(&Features::new(3, few.to_vec()).unwrap()).unwrap();
            }
            parts.merge(&part).unwrap();
        }
        assert_eq!(parts.count(), 2500);
        let (whole, parts) = (whole.gaussian().unwrap(), parts.gaussian().unwrap());
        for i in 0..3 {
            let direct = all.rows().map(|row| f64::from(row[i])).sum::<f64>() / 2500.0;
            assert!((whole.mean()[i] - direct).abs() < 1e-9 && (parts.mean()[i] - direct).abs() < 1e-9);
            for j in 0..3 {
                let mean = whole.mean();
                let products =
                    all.rows().map(|row| (f64::from(row[i]) - mean[i]) * (f64::from(row[j]) - mean[j]));
                let direct = products.sum::<f64>() / 2499.0;
                let [a, b] = [&whole, &parts].map(|g| g.covariance()[3 * i + j]);
                assert!((a - direct).abs() < 1e-9 && (b - direct).abs() < 1e-9, "{a} {b} {direct}");
            }
        }
    }

    #[test]
    fn too_few_or_other_features_are_refused() {
        let mut moments = Moments::new(3);
        moments.add(&example(1)).unwrap();
        assert!(matches!(moments.gaussian(), Err(ImageScoreError::TooFew { least: 2, found: 1, .. })));
        assert!(matches!(
            Moments::new(2).add(&example(2)),
            Err(ImageScoreError::Dimensions { first: 2, second: 3 })
        ));
    }
}
