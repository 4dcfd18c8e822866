//! Images in noise, to learn from.

use pmm_core::{Elements, States, Stream, Streams, Values};

use super::net::ImageNet;

/// An image, and what of it the network is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The image, in the pair's unit, `[channels, height, width]`.
    pub x: Vec<f32>,
    /// Which pixels are observed, `[height, width]`.
    pub observed: Vec<bool>,
    /// The class, if the network is told.
    pub label: Option<u32>,
    /// Numbers that tell the network how the image was changed; none for an image as it is.
    pub augment: Vec<f32>,
}

/// An image on its clock, and what is behind the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyImage {
    /// The image, in the pair's unit, `[channels, height, width]`.
    pub x: Vec<f32>,
    /// The statistic S of every pixel; x itself where the pixel is observed.
    pub stat: Vec<f64>,
    /// The clock reading of all pixels that are not observed.
    pub clock: f64,
    /// Which pixels are observed, `[height, width]`.
    pub observed: Vec<bool>,
    /// The class, if the network is told.
    pub label: Option<u32>,
    /// Numbers that tell the network how the image was changed; none for an image as it is.
    pub augment: Vec<f32>,
}

impl NoisyImage {
    /// The image as its clock has it at a time; `place` from 0 to 1 chooses the time by the law of training. Noise depends on
    /// (seed, step, row) only.
    pub fn at(net: &ImageNet, image: Known, place: f64, streams: &Streams, step: u64, row: u64) -> Self {
        let Known { x, observed, label, augment } = image;
        let t = net.time(place);
        let pixels = observed.len();
        let values = Values::new(vec![Elements::from(x)]);
        let mut states = States::prior(net.space(), row, 1);
        let drawn = states
            .observe(&values, |_, _, c| observed[c % pixels])
            .and_then(|()| states.draw(&values, &[t], streams, step));
        drawn.unwrap_or_else(|error| unreachable!("bytes lie on the support of the pair: {error}"));
        let stat = match states.stat(0) {
            Elements::Double(stat) => stat.clone(),
            _ => unreachable!("both pairs have statistics in f64"),
        };
        let x = values.reals(0).to_vec();
        Self { x, stat, clock: net.space().blocks()[0].information(t, 0), observed, label, augment }
    }
}

/// A random part of an image that is observed: all but a hole, all but scattered pixels, or one side.
pub fn region(size: usize, rng: &mut Stream) -> Vec<bool> {
    let kind = rng.below(3);
    let mut within = |length: usize| rng.below(length as u64 + 1) as usize;
    let (top, bottom, left, right) = (within(size), within(size), within(size), within(size));
    let (rows, columns) = (top.min(bottom)..top.max(bottom), left.min(right)..left.max(right));
    let (across, share) = (rng.unit() < 0.5, rng.unit());
    let mut is_observed = |index: usize| {
        let (row, column) = (index / size, index % size);
        match kind {
            0 => !(rows.contains(&row) && columns.contains(&column)),
            1 => rng.unit() < share,
            _ if across => row < top,
            _ => column < left,
        }
    };
    let mut observed: Vec<bool> = (0..size * size).map(&mut is_observed).collect();
    if observed.iter().all(|observed| *observed) {
        // Something must be left to learn.
        observed.fill(false);
    }
    observed
}
