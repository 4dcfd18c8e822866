//! Images as a task: images in noise, and what the network should say is behind it.

use std::ops::Range;
use std::sync::Arc;

use pmm_core::{Purpose, Streams};
use pmm_data::Images;
use pmm_net::Part;
use pmm_net::image::{ImageNet, Known, NoisyImage, region};
use rayon::prelude::*;

use super::augment::Augmentation;
use super::config::ImageConfig;
use super::split::split;
use crate::optimiser::{Rule, Rules};
use crate::shard::Shard;
use crate::task::Task;

/// Images on which the network is validated: so many at least, if need be the same ones at several noise levels.
const VALIDATION: (usize, usize) = (64, 256);
/// Validation's noise; steps of training count from 0: far from this.
const VALIDATION_STEP: u64 = u64::MAX;

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
        let (train, held_out) = split(images.len(), config.valid, &streams);
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

    /// Muon moves what is inside blocks: kernels, and the matrices by which blocks are told of noise and class.
    fn rule(&self, part: &Part) -> Rule {
        let config = self.config.muon;
        let inside = part.shape[0] > 1 && part.name.split('.').count() == 4;
        match part.name.contains(".affine.") {
            _ if !inside => Rule::AdamW,
            true => Rule::Muon { shape: part.shape, pieces: 1, config },
            false => Rule::MuonKernel { shape: part.shape, config },
        }
    }

    /// An image of a batch, changed if the settings say so. What is observed of it is chosen on the changed image.
    fn augmented(&self, image: Known, step: u64, row: u64) -> Known {
        if self.config.augment == 0.0 {
            return image;
        }
        let mut rng = self.streams.stream(Purpose::AUGMENT, step, row);
        let mut change = Augmentation::draw(self.config.augment, &mut rng);
        // An image that may be mirrored untold is as good as its mirror image: nothing is left to tell.
        change.mirrored &= !self.config.flips;
        let augment = change.numbers().to_vec();
        Known { x: change.apply(image.x, self.net.shape()), augment, ..image }
    }
}

impl Task for ImageTask {
    type Batch = (u64, u64, Vec<NoisyImage>);

    /// The step, the number of the first image in the batch, and the images.
    fn batch(&self, step: u64, shard: Shard) -> Self::Batch {
        let shift = self.streams.stream(Purpose::TIME, step, 0).unit();
        let image = |row: usize| {
            let mut rng = self.streams.stream(Purpose::IMAGE_CHOICE, step, row as u64);
            let index = self.train[rng.below(self.train.len() as u64) as usize] as usize;
            let flip = rng.unit() < 0.5 && self.config.flips;
            let told = rng.unit() >= self.config.label_dropout;
            let label = self.images.label(index).filter(|_| told);
            let is_shown = rng.unit() < self.config.observed;
            let observed = if is_shown { region(self.net.shape()[1], &mut rng) } else { self.unobserved() };
            // Stratified: one place in each of as many strata as there are images.
            let place = (row as f64 + shift) / self.config.batch as f64;
            let image = self.augmented(self.known(index, flip, label, observed), step, row as u64);
            NoisyImage::at(&self.net, image, place, &self.streams, step, row as u64)
        };
        let rows = shard.rows(self.config.batch);
        (step, rows.start as u64, rows.into_par_iter().map(image).collect())
    }

    fn batch_rows(&self) -> usize {
        self.config.batch
    }

    fn gradient(&self, weights: &[f32], (step, first, images): Self::Batch, gradient: &mut [f32]) -> f64 {
        self.net.gradient(weights, &images, self.streams, (step, first), gradient)
    }

    fn initial(&self) -> Vec<f32> {
        self.net.initial(&self.streams)
    }

    /// As many images as the network looks at together.
    fn pieces(&self) -> usize {
        self.validation.len().div_ceil(self.net.at_once(self.validation.len()))
    }

    fn losses(&self, weights: &[f32], pieces: Range<usize>) -> Vec<f64> {
        let (count, piece) = (self.validation.len(), self.net.at_once(self.validation.len()));
        let images = (pieces.start * piece).min(count)..(pieces.end * piece).min(count);
        self.net.losses_together(weights, &self.validation[images], piece)
    }

    fn decayed(&self) -> Vec<f32> {
        self.net.parts().decayed()
    }

    fn rules(&self) -> Rules {
        if self.config.muon.is_off() {
            return Rules::new();
        }
        self.net.parts().iter().map(|part| (part.range.clone(), self.rule(part))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::ImageFacts;
    use crate::muon::MuonConfig;
    use pmm_data::{ImageOptions, ImageSource, grid_png};
    use pmm_net::image::ImagePair;

    /// Sixty noisy images of 8×8 pixels to learn, by these settings.
    fn task(settings: ImageConfig) -> ImageTask {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("images")).unwrap();
        for row in 0..60 {
            let mut rng = Streams::new(4).stream(Purpose::DATA, 0, row);
            let pixels = (0..64).map(|_| rng.below(256) as u8).collect();
            let png = grid_png(&[pixels], [1, 8, 8], 1).unwrap();
            std::fs::write(folder.path().join(format!("images/{row:02}.png")), png).unwrap();
        }
        let source = ImageSource::open(&folder.path().join("images"), &ImageOptions::default()).unwrap();
        let path = folder.path().join("packed");
        Images::write(&source, &path, &mut |_| ()).unwrap();
        let images = Arc::new(Images::open(&path).unwrap());
        let mut config = ImageConfig { batch: 200, ..settings };
        (config.net.width, config.net.multipliers) = (8, vec![1, 2]);
        let config = config.for_shape(images.shape(), 0);
        config.check().unwrap();
        let net = config.network(&ImageFacts::of(&images, config.pair), &pmm_net::Device::flex()).unwrap();
        ImageTask::new(Arc::new(net), images, config)
    }

    /// Whether an image is one that is learned, and whether its mirror image is.
    fn found(task: &ImageTask, x: &[f32]) -> (bool, bool) {
        let is = |flip: bool| {
            let known = |index: &u32| task.known(*index as usize, flip, None, Vec::new()).x;
            task.train.iter().any(|index| known(index) == x)
        };
        (is(false), is(true))
    }

    #[test]
    fn without_augmentation_nothing_changes_and_nothing_is_told() {
        let task = task(ImageConfig::default());
        for image in task.batch(3, Shard::WHOLE).2 {
            assert_eq!((found(&task, &image.x), image.augment), ((true, false), vec![]));
        }
    }

    /// A mirror image is told, and what is told is one. The probability is so small that nothing else happens.
    #[test]
    fn a_flip_told_is_a_flip() {
        let task = task(ImageConfig { augment: 1e-12, ..ImageConfig::default() });
        let mut told = 0;
        for image in task.batch(3, Shard::WHOLE).2 {
            assert_eq!(image.augment[1..], [0.0; 8]);
            assert_eq!(found(&task, &image.x), (image.augment[0] == 0.0, image.augment[0] == 1.0));
            told += usize::from(image.augment[0] == 1.0);
        }
        // 200 fair coins: six standard deviations.
        assert!((58..=142).contains(&told), "{told}");
    }

    /// Where images are mirrored untold, mirrors are not told.
    #[test]
    fn flips_are_not_told() {
        let task = task(ImageConfig { augment: 1e-12, flips: true, ..ImageConfig::default() });
        let images = task.batch(3, Shard::WHOLE).2;
        assert!(images.iter().all(|image| image.augment == [0.0; 9]));
        let mirrored = images.iter().filter(|image| found(&task, &image.x).1).count();
        assert!((58..=142).contains(&mirrored), "{mirrored}");
    }

    /// Observed pixels are those of the image as it was changed, and validation is on images as they are.
    #[test]
    fn what_is_observed_is_the_changed_image() {
        for pair in [ImagePair::Normal, ImagePair::Poisson] {
            let task = task(ImageConfig { augment: 0.5, observed: 1.0, pair, ..ImageConfig::default() });
            let images = task.batch(0, Shard::WHOLE).2;
            let changed = images.iter().filter(|image| found(&task, &image.x) == (false, false)).count();
            assert!(changed > 120, "{changed}");
            for image in &images {
                let pixels = image.observed.iter().zip(&image.x).zip(&image.stat);
                let wrong = pixels.filter(|((observed, x), stat)| **observed && f64::from(**x) != **stat);
                assert_eq!(wrong.count(), 0);
            }
            assert!(images.iter().any(|image| image.observed.contains(&true)));
            assert!(task.validation.iter().all(|image| image.augment.is_empty()));
        }
    }

    /// A batch is a function of its step: whatever the threads, and for a fit that goes on.
    #[test]
    fn augmented_batches_depend_on_the_step_only() {
        let settings = || ImageConfig { augment: 0.5, ..ImageConfig::default() };
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let first = task(settings());
        let batches: Vec<_> =
            pool(1).install(|| (0..3).map(|step| first.batch(step, Shard::WHOLE)).collect());
        let anew = task(settings());
        assert!(pool(3).install(|| anew.batch(2, Shard::WHOLE)) == batches[2]);
        let told = |batch: usize| -> Vec<Vec<f32>> {
            batches[batch].2.iter().map(|image| image.augment.clone()).collect()
        };
        assert_ne!(told(1), told(2));
    }

    /// Muon moves kernels and matrices inside blocks, and nothing else; without it there are no rules.
    #[test]
    fn muon_moves_the_insides_of_blocks() {
        let adamw = ImageConfig { muon: MuonConfig::off(), ..ImageConfig::default() };
        assert!(task(adamw).rules().is_empty());
        let task = task(ImageConfig::default());
        let names = |found: fn(&Rule) -> bool| -> Vec<String> {
            let rules = task.rules().into_iter().zip(task.net.parts().iter());
            rules.filter(|((_, rule), _)| found(rule)).map(|(_, part)| part.name.clone()).collect()
        };
        let matrices = names(|rule| matches!(rule, Rule::Muon { .. }));
        assert!(!matrices.is_empty() && matrices.iter().all(|name| name.ends_with(".affine.weight")));
        let kernels = names(|rule| matches!(rule, Rule::MuonKernel { .. }));
        let inside = ["conv0", "conv1", "skip", "qkv", "proj"].map(|part| format!(".{part}.weight"));
        assert!(inside.iter().all(|part| kernels.iter().any(|name| name.ends_with(part))), "{kernels:?}");
        assert!(kernels.iter().all(|name| inside.iter().any(|part| name.ends_with(part))), "{kernels:?}");
        let rest = names(|rule| *rule == Rule::AdamW);
        for name in
            ["map_layer0.weight", "enc.8x8_conv.weight", "out_conv.weight", "enc.8x8_block0.norm0.weight"]
        {
            assert!(rest.iter().any(|found| found == name), "{name}: {rest:?}");
        }
    }

    #[test]
    fn what_is_held_out_is_not_learned() {
        let (train, valid) = split(200, 0.1, &Streams::new(0));
        assert_eq!((train.len(), valid.len()), (180, 20));
        assert!(valid.iter().all(|index| !train.contains(index)));
        let (train, valid) = split(20, 0.1, &Streams::new(0));
        assert_eq!((train.len(), valid.len()), (20, 20));
    }
}
