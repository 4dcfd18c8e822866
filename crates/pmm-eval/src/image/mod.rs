//! Scores of images in the features of a network: how far samples are from real images, and from those learnt from.
//!
//! | score | question | best |
//! |---|---|---|
//! | [`frechet`] | do features have the right mean and covariance? | that of held-out images |
//! | [`frechet_limit`] | the same, without the bias of few images | about 0 |
//! | [`kernel_distance`] | do they have the right law? (unbiased, also for few images) | 0 within its error |
//! | [`precision_recall`] | are samples like real images, and are all kinds of these drawn? | those of held-out images |
//! | [`neighbours`] | are samples copies of training images? | no closer than held-out images |
//! | [`class_accuracy`] | do samples show the class that was asked for? | that of held-out images |
//!
//! Features come from `pmm_net::FeatureNet`, which also names the distances: they are called FID and KID with Inception's
//! features only. Statistics of a set of images are made once and kept as an archive of `mu` and `sigma`
//! ([`Gaussian::save`]), as is customary, so that files made elsewhere with the same network can be compared with.
//!
//! ```
//! use pmm_eval::image::{Features, Moments, frechet, neighbours};
//! let real = Features::new(2, vec![0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 2.0, 2.0])?;
//! let samples = Features::new(2, vec![3.0, 0.0, 5.0, 0.0, 3.0, 2.0, 5.0, 2.0])?;
//! let gaussian = |features: &Features| {
//!     let mut moments = Moments::new(2);
//!     moments.add(features)?;
//!     moments.gaussian()
//! };
//! // The same covariance, and means that are 3 apart.
//! assert!((frechet(&gaussian(&real)?, &gaussian(&samples)?)? - 9.0).abs() < 1e-12);
//! let nearest = &neighbours(&samples, &real, 1)?[0][0];
//! assert_eq!((nearest.index, nearest.distance), (1, 1.0));
//! # Ok::<(), pmm_eval::image::ImageScoreError>(())
//! ```

mod accuracy;
mod cholesky;
mod error;
mod features;
mod frechet;
mod frechet_limit;
mod gaussian;
mod gaussian_file;
mod kernel;
mod moments;
mod neighbours;
mod precision;
mod product;
mod scores;
mod singular;

pub use accuracy::{ClassAccuracy, class_accuracy};
pub use error::ImageScoreError;
pub use features::Features;
pub use frechet::frechet;
pub use frechet_limit::frechet_limit;
pub use gaussian::Gaussian;
pub use kernel::{KernelDistance, kernel_distance};
pub use moments::Moments;
pub use neighbours::{Neighbour, neighbours};
pub use precision::{PrecisionRecall, precision_recall};
pub use scores::{Beside, Bits, Distances, ImageScores, Nearest};
