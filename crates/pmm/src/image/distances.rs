//! Fréchet and kernel distances in the features of a network.
//!
//! Samples and as many held-out images are each compared with the same reference, training images: with few images a Fréchet
//! distance is too large, and the second one tells by how much.

use std::path::{Path, PathBuf};

use pmm_data::{NamedArray, read_npz, write_npz};
use pmm_eval::image::{
    Beside, Distances, Features, Gaussian, Moments, PrecisionRecall, frechet, frechet_limit, kernel_distance,
    precision_recall,
};
use pmm_net::FeatureNet;

use super::model::Model;
use super::real::{Real, Set};
use super::scored::Scored;
use crate::error::Error;
use crate::folder;
use crate::watch::{Event, Watcher};

/// Images whose features are computed between two looks at the clock.
const CHUNK: usize = 128;
/// Images of a subset for the kernel distance, as is customary.
const SUBSET: usize = 1000;
/// Relative difference of features that were computed in another company.
const ROUNDING: f64 = 1e-3;

/// Features of samples, as many held-out images, and the reference with its statistics.
pub(crate) struct Found<'a> {
    pub(crate) net: &'a FeatureNet,
    pub(crate) samples: Features,
    pub(crate) held_out: Features,
    pub(crate) reference: Features,
    gaussian: Gaussian,
}

pub(crate) fn features<'a>(
    net: &'a FeatureNet,
    model: &Model,
    drawn: &Scored,
    real: &Real,
    notes: &mut Vec<String>,
    watcher: &mut dyn Watcher,
) -> Result<Found<'a>, Error> {
    let count = drawn.images.len().min(real.test.len());
    let shape = model.images().shape;
    let samples = ask(net, &drawn.pixels(count), shape, watcher, "of samples")?;
    let held_out = ask(net, &real.test.pixels(count), shape, watcher, "of held-out images")?;
    let folder = model.folder().filter(|_| real.is_trained);
    let cache = folder.map(|folder| cache_path(folder, net, &real.reference));
    if let Some(path) = &cache
        && let Some((reference, gaussian)) = cached(path, net, &real.reference, shape)
    {
        return Ok(Found { net, samples, held_out, reference, gaussian });
    }
    let reference =
        ask(net, &real.reference.pixels(usize::MAX), shape, watcher, "of images to compare with")?;
    let gaussian = gaussian(&reference)?;
    if let Some(path) = &cache
        && let Err(error) = keep(path, &reference, &gaussian)
    {
        // Only time is lost.
        notes.push(format!("features are not kept for the next time: {error}"));
    }
    Ok(Found { net, samples, held_out, reference, gaussian })
}

fn ask(
    net: &FeatureNet,
    images: &[&[u8]],
    shape: [usize; 3],
    watcher: &mut dyn Watcher,
    what: &str,
) -> Result<Features, Error> {
    let total = Some(images.len() as u64);
    watcher.notice(Event::Started { what: &format!("features {what}"), total });
    let mut values = Vec::with_capacity(images.len() * net.dimension());
    for (chunk, some) in images.chunks(CHUNK).enumerate() {
        if watcher.wants_stop() {
            return Err(Error::Stopped);
        }
        watcher.notice(Event::Progress { done: (chunk * CHUNK) as u64 });
        values.extend(net.features(some, shape)?);
    }
    Ok(Features::new(net.dimension(), values)?)
}

fn gaussian(features: &Features) -> Result<Gaussian, Error> {
    let mut moments = Moments::new(features.dimension());
    moments.add(features)?;
    Ok(moments.gaussian()?)
}

pub(crate) fn distances(found: &Found<'_>, seed: u64, notes: &mut Vec<String>) -> Result<Distances, Error> {
    let to_reference =
        |features: &Features| -> Result<f64, Error> { Ok(frechet(&gaussian(features)?, &found.gaussian)?) };
    let kernel = |features: &Features| kernel_distance(features, &found.reference, SUBSET, seed);
    let kernel = match (kernel(&found.samples), kernel(&found.held_out)) {
        (Ok(samples), Ok(held_out)) => Some(Beside { samples, held_out }),
        (Err(error), _) | (_, Err(error)) => {
            notes.push(format!("no kernel distance: {error}"));
            None
        }
    };
    let limit = |features: &Features| frechet_limit(features, &found.gaussian, seed);
    let limits = (limit(&found.samples)?, limit(&found.held_out)?);
    let frechet_limit = match limits {
        (Some(samples), Some(held_out)) => Some(Beside { samples, held_out }),
        _ => None,
    };
    Ok(Distances {
        frechet_limit,
        precision: precision(found, notes)?,
        network: found.net.name(),
        frechet_name: found.net.frechet_name(),
        kernel_name: found.net.kernel_name(),
        frechet: Beside { samples: to_reference(&found.samples)?, held_out: to_reference(&found.held_out)? },
        kernel,
        images: found.samples.len(),
        reference: found.reference.len(),
    })
}

/// Precision and recall, against as many images of the reference as there are samples; none where there are too few.
fn precision(found: &Found<'_>, notes: &mut Vec<String>) -> Result<Option<Beside<PrecisionRecall>>, Error> {
    let count = found.samples.len();
    let some = found.reference.rows().take(count).flatten().copied().collect();
    let real = Features::new(found.reference.dimension(), some)?;
    match (precision_recall(&found.samples, &real), precision_recall(&found.held_out, &real)) {
        (Ok(samples), Ok(held_out)) => Ok(Some(Beside { samples, held_out })),
        (Err(error), _) | (_, Err(error)) => {
            notes.push(format!("no precision and recall: {error}"));
            Ok(None)
        }
    }
}

/// By network and data: `cache/resnet-20-of-cifar-10-0123456789abcdef.npz` in the model's folder.
fn cache_path(model: &Path, net: &FeatureNet, reference: &Set) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let network: String = net.name().chars().map(plain).collect();
    let digest: String = reference.images.source_digest().chars().take(16).collect();
    model.join("cache").join(format!("{network}-{digest}.npz"))
}

/// `mu` and `sigma`, as is customary, and the features themselves.
fn keep(path: &Path, features: &Features, gaussian: &Gaussian) -> Result<(), Error> {
    let d = features.dimension();
    let array =
        |name: &str, shape: Vec<usize>, values: Vec<f64>| NamedArray { name: name.into(), shape, values };
    let values = features.rows().flatten().map(|value| f64::from(*value)).collect();
    let arrays = [
        array("mu", vec![d], gaussian.mean().to_vec()),
        array("sigma", vec![d, d], gaussian.covariance().to_vec()),
        array("features", vec![features.len(), d], values),
    ];
    path.parent().map_or(Ok(()), folder::make)?;
    Ok(write_npz(path, &arrays)?)
}

/// What was kept, unless it is of other images or another network: as many images, and the same features of the first.
fn cached(path: &Path, net: &FeatureNet, reference: &Set, shape: [usize; 3]) -> Option<(Features, Gaussian)> {
    let arrays = read_npz(path).ok()?;
    let array = |name: &str| arrays.iter().find(|array| array.name == name);
    let kept = array("features")?;
    if kept.shape != [reference.len(), net.dimension()] {
        return None;
    }
    let values = kept.values.iter().map(|value| *value as f32).collect();
    let features = Features::new(net.dimension(), values).ok()?;
    let gaussian = Gaussian::new(array("mu")?.values.clone(), array("sigma")?.values.clone()).ok()?;
    let first = net.features(&reference.pixels(1), shape).ok()?;
    let size = |values: &[f32]| values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    let difference: Vec<f32> = first.iter().zip(features.row(0)).map(|(a, b)| a - b).collect();
    (size(&difference) <= ROUNDING * size(&first)).then_some((features, gaussian))
}
