//! What a model of images was found to be worth.

use serde::Serialize;

use super::accuracy::ClassAccuracy;
use super::kernel::KernelDistance;
use super::precision::PrecisionRecall;

/// A score of samples beside that of real images which the model has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beside<T> {
    /// That of samples.
    pub samples: T,
    /// That of as many held-out images.
    pub held_out: T,
}

/// All scores; those that were not asked for, or cannot be had, are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImageScores {
    /// What an image costs to write down.
    pub bits: Option<Bits>,
    /// How far samples are from real images.
    pub distances: Option<Distances>,
    /// How often samples show the class that was asked for.
    pub accuracy: Option<Beside<ClassAccuracy>>,
    /// How near the nearest training image is.
    pub nearest: Option<Nearest>,
}

/// The likelihood bound on held-out images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bits {
    /// Bits per dimension of 8-bit images, at most.
    pub mean: f64,
    /// Its standard error over images.
    pub standard_error: f64,
    /// Of these, what remains to be said at the end of the clock.
    pub terminal: f64,
    /// What the same images cost byte by byte, with the law of all bytes of other images.
    pub plain: f64,
    /// How many images were scored.
    pub images: usize,
}

/// Distances to real images in the features of a network. Samples and held-out images are as many and are compared with the
/// same images, so that the bias of the Fréchet distance with few images is in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// The feature network.
    pub network: String,
    /// What the Fréchet distance is called: FID only in Inception's features.
    pub frechet_name: String,
    /// What the kernel distance is called: KID only in Inception's features.
    pub kernel_name: String,
    /// The Fréchet distances.
    pub frechet: Beside<f64>,
    /// What they would be for endlessly many samples, if there are enough to tell.
    pub frechet_limit: Option<Beside<f64>>,
    /// The kernel distances, if there are enough images.
    pub kernel: Option<Beside<KernelDistance>>,
    /// How far samples and as many of the images that they are compared with cover each other, if there are enough.
    pub precision: Option<Beside<PrecisionRecall>>,
    /// How many samples, and as many held-out images.
    pub images: usize,
    /// How many images they were compared with.
    pub reference: usize,
}

/// How near the nearest training image is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// The median distances.
    pub distance: Beside<f64>,
    /// The share of samples that are nearer to a training image than 99 in 100 held-out images are: near copies. One in a hundred is what
    /// a model would get that copies nothing.
    pub near_copies: f64,
    /// What it is measured in.
    pub unit: String,
    /// How many samples, and as many held-out images.
    pub images: usize,
    /// How many training images were searched.
    pub among: usize,
}
