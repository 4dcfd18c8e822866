//! The likelihood bound in bits per dimension, beside what bytes cost on their own.

use std::num::NonZeroUsize;

use pmm_core::{MonteCarlo, States, Streams, Times, bound};
use pmm_eval::image::Bits;

use super::model::Model;
use super::real::{Real, Set};
use super::terminal::{ByteLaw, learn};
use crate::error::Error;

/// Images whose bound is computed, times drawn for each, and further images from which the law of the last bytes is learned.
const BOUND: (usize, usize, usize) = (128, 8, 128);
/// Images whose bound is computed together.
const CHUNK: usize = 64;

/// The bound, in continuous time.
pub(crate) fn bits(model: &Model, real: &Real, streams: &Streams) -> Result<Bits, Error> {
    let test = &real.test;
    let (scored, others) = test.rows.split_at(BOUND.0.min(test.len() / 2));
    let others = &others[..BOUND.2.min(others.len())];
    let told = model.denoiser.told(test.labels(model, others), 1.0);
    let table = learn(&told, &test.values(model, others), streams)?;
    let draws = NonZeroUsize::new(BOUND.1).unwrap_or(NonZeroUsize::MIN);
    let dimensions = model.images().shape.iter().product::<usize>() as f64 * std::f64::consts::LN_2;
    let (mut bits, mut terminal) = (Vec::new(), 0.0);
    for (chunk, rows) in scored.chunks(CHUNK).enumerate() {
        let labels = test.labels(model, rows);
        let denoiser = model.denoiser.told(labels.clone(), 1.0);
        let states = States::prior(model.denoiser.net().space(), (chunk * CHUNK) as u64, rows.len());
        let law = ByteLaw::new(denoiser.clone(), &table);
        let x = test.values(model, rows);
        let bound = bound(&denoiser, &law, &states, &x, Times::Continuous { draws }, streams)?;
        terminal += bound.terminal.mean * rows.len() as f64 / scored.len() as f64 / dimensions;
        let told = labels.iter().map(|label| class_nats(model, *label));
        bits.extend(bound.rows.iter().zip(told).map(|(nats, class)| (nats + class) / dimensions));
    }
    let MonteCarlo { mean, standard_error } = MonteCarlo::of(&bits);
    let plain = plain(&real.reference, test, scored);
    Ok(Bits { mean, standard_error, terminal, plain, images: scored.len() })
}

/// −log of the share of a class: an image is told with its class, which costs as much.
fn class_nats(model: &Model, label: Option<u32>) -> f64 {
    let counts = &model.images().class_counts;
    let total = counts.iter().sum::<u64>() as f64 + counts.len() as f64;
    label
        .and_then(|label| counts.get(label as usize))
        .map_or(0.0, |&count| (total / (count as f64 + 1.0)).ln())
}

/// Bits of a byte by the frequencies of bytes in other images, each counted once more.
fn plain(reference: &Set, test: &Set, scored: &[usize]) -> f64 {
    let mut counts = [1u64; 256];
    reference.pixels(usize::MAX).into_iter().flatten().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = counts.iter().sum::<u64>() as f64;
    let cost = counts.map(|count| (total / count as f64).log2());
    let bytes = || scored.iter().flat_map(|&row| test.images.pixels(row));
    bytes().map(|byte| cost[usize::from(*byte)]).sum::<f64>() / bytes().count() as f64
}
