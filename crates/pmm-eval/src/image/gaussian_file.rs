//! Statistics in a file: an archive of `mu` and `sigma`, as programs for FID keep them.

use std::path::Path;

use pmm_data::{NamedArray, read_npz, write_npz};

use super::error::ImageScoreError;
use super::gaussian::Gaussian;

impl Gaussian {
    /// Writes `mu` and `sigma` to an archive (`.npz`).
    ///
    /// ```
    /// use pmm_eval::image::Gaussian;
    /// let folder = std::env::temp_dir().join(format!("pmm-statistics-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// let gaussian = Gaussian::new(vec![1.0, 2.0], vec![2.0, 1.0, 1.0, 3.0])?;
    /// gaussian.save(&folder.join("cifar10.npz"))?;
    /// assert_eq!(Gaussian::load(&folder.join("cifar10.npz"))?, gaussian);
    /// std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: &Path) -> Result<(), ImageScoreError> {
        let d = self.dimension();
        let array = |name: &str, shape, values: &[f64]| NamedArray {
            name: name.into(),
            shape,
            values: values.to_vec(),
        };
        let arrays = [array("mu", vec![d], self.mean()), array("sigma", vec![d, d], self.covariance())];
        Ok(write_npz(path, &arrays)?)
    }

    /// Reads `mu` and `sigma` of an archive.
    pub fn load(path: &Path) -> Result<Self, ImageScoreError> {
        let mut arrays = read_npz(path)?;
        let refused = |reason| ImageScoreError::NotStatistics { path: path.display().to_string(), reason };
        let mut take = |name: &str| {
            let place = arrays.iter().position(|array| array.name == name);
            place.map(|place| arrays.swap_remove(place)).ok_or_else(|| refused(format!("it has no {name}")))
        };
        let (mu, sigma) = (take("mu")?, take("sigma")?);
        let d = mu.values.len();
        if mu.shape.len() != 1 || sigma.shape != [d, d] {
            return Err(refused(format!("mu is {:?} and sigma {:?}", mu.shape, sigma.shape)));
        }
        Self::new(mu.values, sigma.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
    }

    /// `numpy.savez(…, mu=mu, sigma=sigma)` and `numpy.savez_compressed(…, mu=mu, sigma=sigma.astype("f4").T)`.
    #[test]
    fn files_of_numpy_are_read() {
        for name in ["statistics.npz", "statistics_compressed.npz"] {
            let found = Gaussian::load(&path(name)).unwrap();
            assert_eq!(found.mean(), [0.5, -1.25, 3.0]);
            assert_eq!(found.covariance(), [2.0, 0.5, 0.25, 0.5, 1.0, -0.125, 0.25, -0.125, 4.0]);
        }
    }

    #[test]
    fn other_archives_are_refused() {
        let file = std::env::temp_dir().join(format!("pmm-other-{}.npz", std::process::id()));
        let refused = |arrays: &[(&str, Vec<usize>)], reason: &str| {
            let array = |(name, shape): &(&str, Vec<usize>)| {
                let values = vec![0.0; shape.iter().product()];
                NamedArray { name: (*name).into(), shape: shape.clone(), values }
            };
            write_npz(&file, &arrays.iter().map(array).collect::<Vec<_>>()).unwrap();
            let message = Gaussian::load(&file).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        };
        refused(&[("mu", vec![2])], "it has no sigma");
        refused(&[("mu", vec![2]), ("sigma", vec![2, 3])], "mu is [2] and sigma [2, 3]");
        refused(&[("mu", vec![2, 1]), ("sigma", vec![2, 2])], "mu is [2, 1]");
        refused(&[("mu", vec![0]), ("sigma", vec![0, 0])], "0 numbers for 0 features");
        std::fs::remove_file(&file).unwrap();
        assert!(matches!(Gaussian::load(&file), Err(ImageScoreError::File(_))));
    }
}
