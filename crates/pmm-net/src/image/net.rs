//! A U-Net as the network of images on their clocks: losses and gradients.

use burn::tensor::{Device, Tensor, TensorData};
use pmm_core::{Block, Exponential, ParameterError, Space, Streams};
use rayon::prelude::*;

use super::level::{Level, Levels, Parametrisation};
use super::noisy::NoisyImage;
use super::pixels::{ImagePair, PixelFacts};
use crate::parts::Parts;
use crate::unet::{Dropout, Unet, UnetConfig};

/// Images of a calculation that are looked at together by one thread.
const CHUNK: usize = 16;
/// The same on a graphics card.
const ON_CARD: usize = 32;
/// Numbers in the widest layer of such a chunk, at most (but one image at least).
const WIDEST: usize = 1_000_000;
/// Chunks whose gradients are made side by side and then added up in order.
const WAVE: usize = 2;
/// Images of one call in sampling. A call is always filled up to so many, so that an image does not depend on how many are drawn.
const CALL: usize = 4;

/// What an image is: the shape of its pixels, their pair and their parametrisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageShape {
    /// The pair.
    pub pair: ImagePair,
    /// What the network's answer means, for the Normal pair.
    pub parametrisation: Parametrisation,
    /// Mean and spread of the data's pixels.
    pub facts: PixelFacts,
}

/// The network of an image; its weights come with every call.
///
/// All pixels run on the paper's exponential clock. With one more channel coming in than going out, the network is also told
/// which pixels are observed (clock ∞), and is shown these as they are.
#[derive(Debug)]
pub struct ImageNet {
    unet: Unet,
    levels: Levels,
    space: Space,
    device: Device,
}

/// One image as the network sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// S, or x where observed, `[channels, height, width]`.
    pub(super) stat: &'a [f64],
    pub(super) clock: f64,
    /// `[height, width]`.
    pub(super) observed: &'a [bool],
    pub(super) label: Option<u32>,
    /// How it was changed; nothing for an image as it is.
    pub(super) augment: &'a [f32],
}

impl ImageNet {
    /// A network whose shape passes [`UnetConfig::check`].
    pub fn new(config: &UnetConfig, shape: &ImageShape, device: Device) -> Result<Self, ParameterError> {
        let ImageShape { pair, parametrisation, facts } = *shape;
        let coordinates = config.channels_out * config.size * config.size;
        let block = Block::new(pair.pair(facts)?, coordinates, Exponential::default())?;
        let levels = Levels { pair, parametrisation, facts };
        Ok(Self { unet: Unet::new(config), levels, space: Space::new(vec![block]), device })
    }

    /// The space of one image: a block of pixels.
    pub fn space(&self) -> &Space {
        &self.space
    }
    /// The pair.
    pub fn pair(&self) -> ImagePair {
        self.levels.pair
    }
    /// Channels, height and width.
    pub fn shape(&self) -> [usize; 3] {
        let config = self.unet.config();
        [config.channels_out, config.size, config.size]
    }
    /// Classes that the network is told.
    pub fn classes(&self) -> usize {
        self.unet.config().classes
    }
    /// Whether it is told which pixels are observed.
    pub fn sees_observed(&self) -> bool {
        self.unet.config().channels_in > self.unet.config().channels_out
    }
    /// Its weights.
    pub fn parts(&self) -> &Parts {
        self.unet.parts()
    }
    /// Initial weights.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        self.unet.initial(streams)
    }
    /// The U-Net.
    pub fn unet(&self) -> &Unet {
        &self.unet
    }
    /// The time of training at a place from 0 to 1.
    pub fn time(&self, place: f64) -> f64 {
        self.levels.time(self.space.blocks()[0].clock(), place)
    }
    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The mean loss of images per pixel, and its gradient. Dropout's masks are those of a step, for images from a place in its batch on.
    pub fn gradient(
        &self,
        weights: &[f32],
        images: &[NoisyImage],
        streams: Streams,
        (step, place): (u64, u64),
        gradient: &mut [f32],
    ) -> f64 {
        gradient.fill(0.0);
        let chunk = self.at_once(images.len());
        let chunks: Vec<(usize, &[NoisyImage])> =
            images.chunks(chunk).enumerate().map(|(k, images)| (k * chunk, images)).collect();
        let mut loss = 0.0;
        for wave in chunks.chunks(WAVE) {
            let part = |(first, images): &(usize, &[NoisyImage])| {
                let dropout = Dropout { streams, step, first_row: place + *first as u64 };
                self.chunk_gradient(weights, images, &dropout)
            };
            let parts: Vec<(f64, Vec<f32>)> = wave.par_iter().map(part).collect();
            for (part_loss, part) in parts {
                loss += part_loss;
                gradient.par_iter_mut().zip(&part).with_min_len(1 << 14).for_each(|(sum, g)| *sum += g);
            }
        }
        let share = 1.0 / images.len().max(1) as f32;
        gradient.par_iter_mut().with_min_len(1 << 14).for_each(|g| *g *= share);
        loss / images.len().max(1) as f64
    }

    /// Images whose activations are in memory at the same time in training.
    pub fn images_in_memory(&self) -> usize {
        WAVE * self.largest_chunk()
    }

    fn largest_chunk(&self) -> usize {
        let config = self.unet.config();
        if self.device != Device::flex() {
            return ON_CARD;
        }
        (WIDEST / (config.width * config.size * config.size)).clamp(1, CHUNK)
    }

    /// Images that go through the network together, of so many: whole waves of chunks of about one size.
    pub fn at_once(&self, images: usize) -> usize {
        let chunks = images.div_ceil(self.largest_chunk()).next_multiple_of(WAVE);
        images.div_ceil(chunks).max(1)
    }

    /// The sum of losses of a few images, and its gradient.
    fn chunk_gradient(&self, weights: &[f32], images: &[NoisyImage], dropout: &Dropout) -> (f64, Vec<f32>) {
        let device = self.device.clone().autodiff();
        let parts = self.parts().bind(weights, &device);
        let views: Vec<View<'_>> = images.iter().map(NoisyImage::view).collect();
        let y = self.answers(&parts, &views, Some(dropout));
        let (mut slope, mut loss) = (numbers(y.clone()), 0.0);
        for (image, slope) in images.iter().zip(slope.chunks_exact_mut(self.coordinates())) {
            loss += self.image_loss(image, slope);
        }
        // ⟨y, slope⟩ with a fixed slope has the gradient of the loss.
        let slope = Tensor::from_data(TensorData::new(slope, y.dims()), &device);
        let mut grads = (y * slope).sum().backward();
        let mut gradient = vec![0.0; weights.len()];
        for (part, tensor) in self.parts().iter().zip(&parts) {
            if let Some(grad) = tensor.grad_remove(&mut grads) {
                gradient[part.range.clone()].copy_from_slice(&numbers(grad));
            }
        }
        (loss, gradient)
    }

    /// The mean loss of an image's unobserved pixels; its derivative takes the place of the answers.
    fn image_loss(&self, image: &NoisyImage, answers: &mut [f32]) -> f64 {
        let level = self.levels.at(image.clock);
        let pixels = image.observed.len();
        let hidden = image.observed.iter().filter(|observed| !**observed).count();
        let share = 1.0 / (hidden * self.shape()[0]).max(1) as f64;
        let mut sum = 0.0;
        for (c, answer) in answers.iter_mut().enumerate() {
            if image.observed[c % pixels] {
                *answer = 0.0;
                continue;
            }
            let (loss, slope) = level.loss(image.x[c], image.stat[c], *answer);
            sum += loss;
            *answer = (slope * share) as f32;
        }
        sum * share
    }

    /// The loss of each image, per pixel.
    pub fn losses(&self, weights: &[f32], images: &[NoisyImage]) -> Vec<f64> {
        self.losses_together(weights, images, self.at_once(images.len()))
    }

    /// The same, so many images at a time.
    pub fn losses_together(&self, weights: &[f32], images: &[NoisyImage], together: usize) -> Vec<f64> {
        let parts = self.parts().bind(weights, &self.device);
        let chunk = |images: &[NoisyImage]| -> Vec<f64> {
            let views: Vec<View<'_>> = images.iter().map(NoisyImage::view).collect();
            let mut y = numbers(self.answers(&parts, &views, None));
            let rows = images.iter().zip(y.chunks_exact_mut(self.coordinates()));
            rows.map(|(image, answers)| self.image_loss(image, answers)).collect()
        };
        images.par_chunks(together).flat_map_iter(chunk).collect()
    }

    fn coordinates(&self) -> usize {
        self.space.blocks()[0].width()
    }

    /// The weights as tensors, once for many calls of [`ImageNet::estimates`].
    pub(super) fn bind(&self, weights: &[f32]) -> Vec<Tensor<2>> {
        self.parts().bind(weights, &self.device)
    }

    /// Estimates of all pixels of images.
    pub(super) fn estimates(&self, parts: &[Tensor<2>], views: &[View<'_>], x_hat: &mut [f32]) {
        let width = self.coordinates();
        let chunks = views.par_chunks(CALL).zip(x_hat.par_chunks_mut(CALL * width));
        chunks.for_each(|(views, x_hat)| {
            let mut filled = views.to_vec();
            filled.resize(CALL, views[0]);
            let y = numbers(self.answers(parts, &filled, None));
            for ((view, answers), x_hat) in views.iter().zip(y.chunks(width)).zip(x_hat.chunks_mut(width)) {
                let level = self.levels.at(view.clock);
                for ((x_hat, s), answer) in x_hat.iter_mut().zip(view.stat).zip(answers) {
                    *x_hat = self.levels.held(level.estimate(*s, *answer).0 as f32);
                }
            }
        });
    }

    /// The network's answers to a few images.
    fn answers(&self, parts: &[Tensor<2>], views: &[View<'_>], dropout: Option<&Dropout>) -> Tensor<4> {
        let config = self.unet.config();
        let (rows, classes, numbers) = (views.len(), config.classes, config.augment);
        let mut x = Vec::with_capacity(rows * config.channels_in * config.size * config.size);
        let (mut noise, mut labels) = (Vec::with_capacity(rows), vec![0f32; rows * classes]);
        // Images as they are, such as samples, are told zeros.
        let mut augment = vec![0f32; rows * numbers];
        for (row, view) in views.iter().enumerate() {
            let level = self.levels.at(view.clock);
            self.show(view, &level, &mut x);
            noise.push(level.noise());
            if let Some(label) = view.label.map(|label| label as usize).filter(|label| *label < classes) {
                labels[row * classes + label] = 1.0;
            }
            augment[row * numbers..][..numbers]
                .iter_mut()
                .zip(view.augment)
                .for_each(|(to, told)| *to = *told);
        }
        let device = parts[0].device();
        let shape = [rows, config.channels_in, config.size, config.size];
        let x = Tensor::from_data(TensorData::new(x, shape), &device);
        let noise = Tensor::from_data(TensorData::new(noise, [rows]), &device);
        let labels =
            (classes > 0).then(|| Tensor::from_data(TensorData::new(labels, [rows, classes]), &device));
        let augment =
            (numbers > 0).then(|| Tensor::from_data(TensorData::new(augment, [rows, numbers]), &device));
        self.unet.forward(parts, x, noise, labels, augment, dropout)
    }

    /// The channels of an image, and that of what is observed.
    fn show(&self, view: &View<'_>, level: &Level, x: &mut Vec<f32>) {
        let pixels = view.observed.len();
        x.extend(
            view.stat.iter().enumerate().map(|(c, &s)| {
                if view.observed[c % pixels] { self.levels.observed(s) } else { level.input(s) }
            }),
        );
        if self.sees_observed() {
            x.extend(view.observed.iter().map(|observed| f32::from(u8::from(*observed))));
        }
    }
}

impl NoisyImage {
    fn view(&self) -> View<'_> {
        View {
            stat: &self.stat,
            clock: self.clock,
            observed: &self.observed,
            label: self.label,
            augment: &self.augment,
        }
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor
        .into_data()
        .try_to_vec()
        .unwrap_or_else(|error| unreachable!("the engine's numbers are f32: {error:?}"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::noisy::{Known, region};
    use super::*;
    use crate::unet::UnetKind;
    use pmm_core::Purpose;

    /// A small network that is told classes, what is observed and how images were changed.
    pub(in crate::image) fn net(pair: ImagePair, dropout: f64) -> ImageNet {
        let config = UnetConfig {
            kind: UnetKind::Adm,
            size: 8,
            channels_in: 2,
            channels_out: 1,
            width: 8,
            multipliers: vec![1, 2],
            blocks: 1,
            attention: vec![4],
            channels_per_head: 8,
            dropout,
            classes: 3,
            augment: 2,
        };
        config.check().unwrap();
        let (mean, sd) = if pair == ImagePair::Normal { (-0.2, 0.6) } else { (1.6, 1.2) };
        let facts = PixelFacts { mean, sd };
        let shape = ImageShape { pair, parametrisation: Parametrisation::Edm, facts };
        ImageNet::new(&config, &shape, Device::flex()).unwrap()
    }

    /// Weights away from the zeros that training starts with, so that every path counts.
    pub(in crate::image) fn weights(net: &ImageNet) -> Vec<f32> {
        let mut rng = Streams::new(3).stream(Purpose::DATA, 0, 0);
        net.initial(&Streams::new(1)).into_iter().map(|w| w + 0.05 * rng.normal() as f32).collect()
    }

    fn images(net: &ImageNet, count: u64) -> Vec<NoisyImage> {
        let streams = Streams::new(5);
        let image = |row: u64| {
            let mut rng = streams.stream(Purpose::DATA, 1, row);
            let x = (0..64).map(|_| net.pair().value(rng.below(256) as u8)).collect();
            let observed = if row.is_multiple_of(2) { vec![false; 64] } else { region(8, &mut rng) };
            let place = (row as f64 + 0.5) / count as f64;
            let augment = if row % 3 == 1 { vec![] } else { vec![row as f32, -0.5] };
            let image = Known { x, observed, label: Some(row as u32 % 3), augment };
            NoisyImage::at(net, image, place, &streams, 0, row)
        };
        (0..count).map(image).collect()
    }

    /// The gradient is that of the losses: along a random direction, against a difference.
    #[test]
    fn gradient_is_the_losses_slope() {
        for pair in [ImagePair::Normal, ImagePair::Poisson] {
            let net = net(pair, 0.0);
            let (weights, images) = (weights(&net), images(&net, 6));
            let mut gradient = vec![f32::NAN; weights.len()];
            let loss = net.gradient(&weights, &images, Streams::new(0), (0, 0), &mut gradient);
            let mean = |weights: &[f32]| net.losses(weights, &images).iter().sum::<f64>() / 6.0;
            assert!((loss - mean(&weights)).abs() < 1e-5 * loss, "{loss} {}", mean(&weights));
            let mut rng = Streams::new(8).stream(Purpose::DATA, 0, 0);
            let direction: Vec<f32> = weights.iter().map(|_| rng.normal() as f32).collect();
            let moved =
                |h: f32| mean(&weights.iter().zip(&direction).map(|(w, d)| w + h * d).collect::<Vec<_>>());
            let difference = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(g * d)).sum();
            assert!(
                (slope - difference).abs() < 0.02 * difference.abs().max(0.1),
                "{pair:?}: {slope} {difference}"
            );
        }
    }

    /// What the network is told of a change counts; no change is zeros, to the bit.
    #[test]
    fn augmentation_is_told() {
        let net = net(ImagePair::Normal, 0.0);
        let (weights, images) = (weights(&net), images(&net, 4));
        let told = |augment: &[f32]| {
            let tell = |image: &NoisyImage| NoisyImage { augment: augment.to_vec(), ..image.clone() };
            net.losses(&weights, &images.iter().map(tell).collect::<Vec<_>>())
        };
        assert_eq!(told(&[]), told(&[0.0, 0.0]));
        assert!(told(&[1.0, 0.0]).iter().zip(told(&[])).all(|(with, without)| *with != without));
        assert_ne!(told(&[1.0, 0.0]), told(&[0.0, 1.0]));
    }

    /// One thread or three: the same bits, with dropout and several chunks.
    #[test]
    fn threads_change_nothing() {
        let net = net(ImagePair::Normal, 0.3);
        let (weights, images) = (weights(&net), images(&net, 35));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut gradient = vec![0.0; weights.len()];
                let loss = net.gradient(&weights, &images, Streams::new(0), (7, 0), &mut gradient);
                (loss, gradient)
            })
        };
        assert_eq!(run(1), run(3));
    }

    /// An untrained network says what the pair knows by itself; the loss is then of order 1 at every level.
    #[test]
    fn losses_begin_at_unit_size() {
        for pair in [ImagePair::Normal, ImagePair::Poisson] {
            let net = net(pair, 0.0);
            let losses = net.losses(&net.initial(&Streams::new(1)), &images(&net, 40));
            let most = losses.iter().fold(0f64, |most, loss| most.max(*loss));
            assert!(losses.iter().all(|loss| loss.is_finite()) && most < 20.0, "{pair:?}: {losses:?}");
        }
    }
}
