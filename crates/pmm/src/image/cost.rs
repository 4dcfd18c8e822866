//! What a fit of images would take, by its network and settings.

use pmm_net::image::ImageNet;
use pmm_train::image::ImageConfig;

use crate::Cost;

/// Operations of the kernels per second of a core of 2024. They add up some convolutions by fewer, and wait for memory in others: 1.4e11
/// for the preset `mnist`, 2.5e11 for `cifar10-tiny`.
const OPERATIONS: f64 = 1.9e11;

/// Seconds of a core for each weight, whenever images go through the network together: its gradient is made and added up, and its
/// share of the optimiser. Of a step of two images of the preset `cifar10`, most of the time.
const SECONDS_PER_WEIGHT: f64 = 13.5e-9;

/// Copies of the weights in training: gradient and its parts, two moments, average, best.
const COPIES: f64 = 10.0;

/// Of the tensors that [`pmm_net::Unet::activations`] counts, those that are there at the same time: the kernels make some anew on the
/// way back. By the memory of whole fits (widths 16 to 192, 28×28 to 64×64 pixels).
const HELD: f64 = 0.21;

/// The program itself, in numbers of four bytes.
const PROGRAM: f64 = 5e6;

/// Cores for which times are told.
const CORES: f64 = 2.0;

/// Weights, memory and time. The images themselves are not counted: they are mapped, and the system may let go of them.
pub(super) fn cost(config: &ImageConfig, net: &ImageNet) -> Cost {
    let (weights, images) = (net.parts().len(), config.batch as f64);
    // A forward pass and twice that on the way back; two operations each.
    let operations_per_step = 6.0 * images * net.unet().multiplications();
    let chunks = config.batch.div_ceil(net.at_once(config.batch)) as f64;
    let in_memory = config.batch.min(net.images_in_memory()) as f64;
    let numbers = PROGRAM + COPIES * weights as f64 + HELD * in_memory * net.unet().activations();
    let step = operations_per_step / OPERATIONS + chunks * SECONDS_PER_WEIGHT * weights as f64;
    Cost {
        weights,
        megabytes: numbers * 4.0 / 1e6,
        operations_per_step,
        minutes: step * config.train.steps as f64 / CORES / 60.0,
    }
}

#[cfg(test)]
mod tests {
    use pmm_net::Device;
    use pmm_net::image::PixelFacts;
    use pmm_train::image::ImageFacts;

    use super::*;

    fn of(preset: &str, change: impl Fn(ImageConfig) -> ImageConfig) -> (Cost, ImageConfig) {
        let config = change(ImageConfig::preset(preset).unwrap());
        let side = config.size.unwrap();
        let shape = [if config.grey == Some(true) { 1 } else { 3 }, side, side];
        let config = config.for_shape(shape, 10);
        let pixels = PixelFacts { mean: 0.0, sd: 0.5 };
        let facts = ImageFacts { count: 1000, shape, classes: vec![], class_counts: vec![], pixels };
        let net = config.network(&facts, &Device::flex()).unwrap();
        (cost(&config, &net), config)
    }

    /// A factor of one and a half, as the measured and the expected may differ.
    #[track_caller]
    fn assert_near(expected: f64, measured: f64) {
        let ratio = expected / measured;
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{expected} where {measured} was measured");
    }

    /// Measured on an AMD Zen 5: milliseconds of a core for an image, and the peak of the process by two threads, in megabytes.
    #[test]
    fn small_presets_cost_what_was_measured() {
        for (preset, milliseconds, megabytes) in [("mnist", 4.3, 99.0), ("cifar10-tiny", 13.0, 257.0)] {
            let (cost, config) = of(preset, |config| config);
            let images = (config.train.steps * config.batch as u64) as f64;
            assert_near(cost.minutes * 60_000.0 * CORES / images, milliseconds);
            assert_near(cost.megabytes, megabytes);
        }
        let wide = |config: ImageConfig| {
            let net = pmm_net::UnetConfig { width: 64, ..config.net.clone() };
            ImageConfig { net, ..config }
        };
        assert_near(of("cifar10-tiny", wide).0.megabytes, 631.0);
        let large = |config: ImageConfig| ImageConfig { size: Some(64), ..config };
        assert_near(of("cifar10-tiny", large).0.megabytes, 391.0);
    }

    /// The paper's network, two images a step: seconds a step of two cores, and the peak of the process.
    #[test]
    fn full_size_costs_what_was_measured() {
        let (cost, config) = of("cifar10", |config| ImageConfig { batch: 2, ..config });
        assert_near(cost.minutes * 60.0 / config.train.steps as f64, 4.9);
        assert_near(cost.megabytes, 11_487.0);
    }
}
