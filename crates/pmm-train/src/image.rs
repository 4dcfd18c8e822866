//! Images as a task: images in noise, and what the network should say is behind it.

use std::sync::Arc;

use pmm::{Purpose, Streams};
use pmm_data::Images;
use pmm_net::image::{ImageNet, Known, NoisyImage, region};
use rayon::prelude::*;

use crate::image_config::ImageConfig;
use crate::run::Task;

/// Images on which the network is validated: so many at least, if need be the same ones at several noise levels.
const VALIDATION: (usize, usize) = (64, 256);
/// Validation's noise; steps of training count from 0: far from this.
const VALIDATION_STEP: u64 = u64::MAX;
/// Below so many images none is held out: validation then looks at the images it learns from.
const LEAST_TO_HOLD_OUT: usize = 40;

const SPLIT: u16 = 50;
const CHOICE: u16 = 51;

/// Images to learn.
#[derive(Debug)]
pub struct ImageTask {
    net: Arc<ImageNet>,
    images: Arc<Images>,
    train: Vec<u32>,
    validation: Vec<NoisyImage>,
    config: ImageConfig,
    streams: Streams,
}

impl ImageTask {
    /// Learns all images but a share, and validates on some of those.
    pub fn new(net: Arc<ImageNet>, images: Arc<Images>, config: ImageConfig) -> Self {
        let streams = Streams::new(config.seed);
        let (train, held_out) = split_images(images.len(), config.valid, &streams);
        let mut task = Self { net, images, train, validation: Vec::new(), config, streams };
        let count = held_out.len().clamp(VALIDATION.0, VALIDATION.1);
        let image = |row: usize| {
            let index = held_out[row % held_out.len()] as usize;
            let image = task.known(index, false, task.images.label(index), task.unobserved());
            let place = (row as f64 + 0.5) / count as f64;
            NoisyImage::at(&task.net, image, place, &streams, VALIDATION_STEP, row as u64)
        };
        task.validation = (0..count).into_par_iter().map(image).collect();
        task
    }

    fn unobserved(&self) -> Vec<bool> {
        let [_, height, width] = self.net.shape();
        vec![false; height * width]
    }

    fn known(&self, index: usize, flip: bool, label: Option<u32>, observed: Vec<bool>) -> Known {
        let (bytes, pair, [_, _, width]) = (self.images.pixels(index), self.net.pair(), self.net.shape());
        let value = |&byte: &u8| pair.value(byte);
        let x = if flip {
            bytes.chunks_exact(width).flat_map(|line| line.iter().rev()).map(value).collect()
        } else {
            bytes.iter().map(value).collect()
        };
        Known { x, observed, label, augment: Vec::new() }
    }
}

/// Images to learn from and images held out (at most 4,000), the same for the same seed.
pub fn split_images(count: usize, valid: f64, streams: &Streams) -> (Vec<u32>, Vec<u32>) {
    let mut all: Vec<u32> = (0..count as u32).collect();
    let held_out = (valid * count as f64).round() as usize;
    if count < LEAST_TO_HOLD_OUT || held_out == 0 {
        return (all.clone(), all);
    }
    streams.stream(Purpose::custom(SPLIT), 0, 0).shuffle(&mut all);
    let valid = all.split_off(count - held_out.min(4_000));
    (all, valid)
}

impl Task for ImageTask {
    type Batch = (u64, Vec<NoisyImage>);

    fn batch(&self, step: u64) -> Self::Batch {
        let shift = self.streams.stream(Purpose::TIME, step, 0).unit();
        let image = |row: usize| {
            let mut rng = self.streams.stream(Purpose::custom(CHOICE), step, row as u64);
            let index = self.train[rng.below(self.train.len() as u64) as usize] as usize;
            let flip = rng.unit() < 0.5 && self.config.flips;
            let told = rng.unit() >= self.config.label_dropout;
            let label = self.images.label(index).filter(|_| told);
            let is_shown = rng.unit() < self.config.observed;
            let observed = if is_shown { region(self.net.shape()[1], &mut rng) } else { self.unobserved() };
            // Stratified: one place in each of as many strata as there are images.
            let place = (row as f64 + shift) / self.config.batch as f64;
            NoisyImage::at(
                &self.net,
                self.known(index, flip, label, observed),
                place,
                &self.streams,
                step,
                row as u64,
            )
        };
        (step, (0..self.config.batch).into_par_iter().map(image).collect())
    }

    fn gradient(&self, weights: &[f32], (step, images): Self::Batch, gradient: &mut [f32]) -> f64 {
        self.net.gradient(weights, &images, self.streams, step, gradient)
    }

    fn initial(&self) -> Vec<f32> {
        self.net.initial(&self.streams)
    }

    fn validate(&self, weights: &[f32]) -> f64 {
        let losses = self.net.losses(weights, &self.validation);
        losses.iter().sum::<f64>() / losses.len() as f64
    }

    fn decayed(&self) -> Vec<f32> {
        self.net.parts().decayed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_out_is_not_learned() {
        let (train, valid) = split_images(200, 0.1, &Streams::new(0));
        assert_eq!((train.len(), valid.len()), (180, 20));
        assert!(valid.iter().all(|index| !train.contains(index)));
        let (train, valid) = split_images(20, 0.1, &Streams::new(0));
        assert_eq!((train.len(), valid.len()), (20, 20));
    }
}
