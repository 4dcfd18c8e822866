//! The U-Net: an image and its noise in, an image out.

use burn::tensor::Tensor;
use pmm_core::Streams;

use super::block::Block;
use super::builder::{Builder, Role};
use super::config::{UnetConfig, UnetKind};
use super::dropout::{Dropout, Mask};
use super::embedding::Embedding;
use super::layers::{Conv, Norm, images};
use super::plan::Plan;
use crate::ops::resample::Resample;
use crate::parts::Parts;

/// Images, noises, classes and augmentations in, images out. Weights come with every call.
///
/// A convolution, then residual blocks down to the lowest resolution and up again, of which those on the way up see the
/// outputs of those on the way down, last first, beside their input; then norm, SiLU, convolution.
///
/// Parts bear the names of the public networks, such as `enc.16x16_block0.conv0.weight`. A linear layer is
/// `[input, output]` as everywhere here; a kernel is `[output, input · side²]`, so the last one of an image of one channel
/// has one row and does not decay.
#[derive(Debug, Clone)]
pub struct Unet {
    config: UnetConfig,
    builder: Builder,
    embedding: Embedding,
    first: Conv,
    encoder: Vec<Block>,
    decoder: Vec<Block>,
    norm: Norm,
    last: Conv,
}

impl Unet {
    /// A network of this shape, that passes [`UnetConfig::check`].
    pub fn new(config: &UnetConfig) -> Self {
        let mut builder = Builder::new(config.kind);
        let (size, plan) = (config.size, Plan::new(config));
        let embedding = Embedding::new(&mut builder, config);
        let name = format!("enc.{size}x{size}_conv");
        let first = builder.conv(&name, config.channels_in, plan.first, 3, Role::Inner);
        let encoder = plan.encoder.iter().map(|shape| Block::new(&mut builder, config, shape)).collect();
        let decoder = plan.decoder.iter().map(|shape| Block::new(&mut builder, config, shape)).collect();
        let prefix = match config.kind {
            UnetKind::Adm => "out".to_owned(),
            UnetKind::Ddpmpp => format!("dec.{size}x{size}_aux"),
        };
        let norm = builder.norm(&format!("{prefix}_norm"), plan.last);
        let last = builder.conv(&format!("{prefix}_conv"), plan.last, config.channels_out, 3, Role::Last);
        Self { config: config.clone(), builder, embedding, first, encoder, decoder, norm, last }
    }

    /// Its shape.
    pub fn config(&self) -> &UnetConfig {
        &self.config
    }

    /// Its weights.
    pub fn parts(&self) -> &Parts {
        self.builder.parts()
    }

    /// Initial weights: every residual path and the output (almost) 0, the rest uniform.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        self.builder.initial(streams)
    }

    /// Images `[rows, channels_out, size, size]` of images `[rows, channels_in, size, size]`, the conditioning of their
    /// noise `[rows]`, and where the network is told them classes `[rows, classes]`, 1 at the class, and augmentations
    /// `[rows, augment]`. No class and no augmentation are as good as zeros. Without `dropout` nothing is dropped.
    pub fn forward(
        &self,
        parts: &[Tensor<2>],
        x: Tensor<4>,
        noise: Tensor<1>,
        classes: Option<Tensor<2>>,
        augment: Option<Tensor<2>>,
        dropout: Option<&Dropout>,
    ) -> Tensor<4> {
        let embedding = self.embedding.forward(parts, noise, classes, augment);
        let share = self.config.dropout;
        let dropout = dropout.filter(|_| share > 0.0);
        let mask = |block: usize| dropout.map(|dropout| Mask { dropout, block: block as u32, share });
        let mut x = self.first.forward(parts, images(x, Resample::Keep));
        let mut skips = vec![x.clone()];
        for (k, block) in self.encoder.iter().enumerate() {
            x = block.forward(parts, x, &embedding, mask(k));
            skips.push(x.clone());
        }
        for (k, block) in self.decoder.iter().enumerate() {
            if block.takes_skip {
                x = Tensor::cat([x].into_iter().chain(skips.pop()).collect(), 1);
            }
            x = block.forward(parts, x, &embedding, mask(self.encoder.len() + k));
        }
        self.last.forward(parts, self.norm.silu(parts, x, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};
    use pmm_core::Purpose;

    fn numbers(n: usize, key: u64) -> Vec<f32> {
        let mut stream = Streams::new(5).stream(Purpose::DATA, key, 0);
        (0..n).map(|_| stream.normal() as f32).collect()
    }

    /// Three levels, one of them of an odd number of pixels, with classes, augmentation and dropout.
    fn net(kind: UnetKind) -> Unet {
        let config = UnetConfig {
            kind,
            size: 12,
            channels_in: 2,
            channels_out: 1,
            width: 8,
            multipliers: vec![1, 2, 2],
            blocks: 1,
            attention: vec![6, 3],
            channels_per_head: 8,
            dropout: 0.5,
            classes: 3,
            augment: 2,
        };
        config.check().unwrap();
        Unet::new(&config)
    }

    /// Weights away from the zeros that training starts with, so that every path counts.
    fn weights(net: &Unet) -> Vec<f32> {
        let noise = numbers(net.parts().len(), 9);
        net.initial(&Streams::new(1)).into_iter().zip(noise).map(|(w, z)| w + 0.05 * z).collect()
    }

    /// The outputs of some rows of three images.
    fn forward(net: &Unet, parts: &[Tensor<2>], rows: std::ops::Range<usize>, train: bool) -> Tensor<4> {
        let (device, n) = (parts[0].device(), rows.len());
        let dropout = Dropout { streams: Streams::new(4), step: 7, first_row: rows.start as u64 };
        let cut =
            |width: usize, key: u64| numbers(3 * width, key)[rows.start * width..][..n * width].to_vec();
        let matrix = |width: usize, key: u64| {
            Tensor::<2>::from_data(TensorData::new(cut(width, key), [n, width]), &device)
        };
        let x = matrix(288, 0).reshape([n, 2, 12, 12]);
        let noise = matrix(1, 1).reshape([n]);
        let dropout = train.then_some(&dropout);
        net.forward(parts, x, noise, Some(matrix(3, 2)), Some(matrix(2, 3)), dropout)
    }

    fn values(y: Tensor<4>) -> Vec<f32> {
        y.into_data().try_to_vec().unwrap()
    }

    /// An image's output does not depend on its neighbours, nor its dropout on the cut of the batch.
    #[test]
    fn rows_are_independent() {
        for kind in [UnetKind::Adm, UnetKind::Ddpmpp] {
            let net = net(kind);
            let parts = net.parts().bind(&weights(&net), &Device::flex());
            for train in [false, true] {
                let all = values(forward(&net, &parts, 0..3, train));
                let last = values(forward(&net, &parts, 1..3, train));
                assert_eq!(all.len(), 3 * 144);
                assert!(all[144..].iter().zip(&last).all(|(a, b)| (a - b).abs() < 1e-5));
            }
            let (still, train) = (forward(&net, &parts, 0..3, false), forward(&net, &parts, 0..3, true));
            assert_ne!(values(still), values(train));
        }
    }

    /// Every part has a gradient in training.
    #[test]
    fn all_parts_count() {
        for kind in [UnetKind::Adm, UnetKind::Ddpmpp] {
            let net = net(kind);
            let parts = net.parts().bind(&weights(&net), &Device::flex().autodiff());
            let y = forward(&net, &parts, 0..3, true);
            let mut grads = (y.clone() * y).mean().backward();
            for (part, tensor) in net.parts().iter().zip(&parts) {
                let grad = tensor.grad_remove(&mut grads).map(|grad| grad.abs().max().into_scalar::<f32>());
                assert!(grad.is_some_and(|grad| grad > 1e-9), "{} has no gradient: {grad:?}", part.name);
            }
        }
    }

    /// Before training ADM's output is 0 and DDPM++'s close to it; norms scale by 1; the bounds are those of the layers.
    #[test]
    fn initial_weights() {
        for kind in [UnetKind::Adm, UnetKind::Ddpmpp] {
            let net = net(kind);
            let weights = net.initial(&Streams::new(1));
            let parts = net.parts().bind(&weights, &Device::flex());
            let largest = |values: &[f32]| values.iter().fold(0f32, |most, v| most.max(v.abs()));
            let y = largest(&values(forward(&net, &parts, 0..3, false)));
            let of = |name: &str| {
                let part = net.parts().iter().find(|part| part.name == name).unwrap();
                largest(&weights[part.range.clone()])
            };
            let near = |name: &str, bound: f32| {
                let found = of(name);
                assert!(found <= bound && found > 0.9 * bound, "{name}: {found}, {bound}");
            };
            assert_eq!(of("enc.6x6_down.norm1.weight"), 1.0);
            assert_eq!(of("enc.6x6_down.norm1.bias"), 0.0);
            // 8 channels to 16 by 3×3: fan in 72, fan out 144.
            if kind == UnetKind::Adm {
                assert_eq!(y, 0.0);
                near("enc.6x6_block0.conv0.weight", 72f32.powf(-0.5));
                near("enc.6x6_block0.conv0.bias", 72f32.powf(-0.5));
                near("enc.6x6_block0.qkv.weight", 0.25);
                assert_eq!(of("enc.6x6_block0.proj.weight"), 0.0);
            } else {
                assert!(y < 1e-3, "{y}");
                near("enc.6x6_block0.conv0.weight", (6f32 / 216.0).sqrt());
                assert_eq!(of("enc.6x6_block0.conv0.bias"), 0.0);
                near("enc.6x6_block0.qkv.weight", (0.2f32 * 6.0 / 64.0).sqrt());
                near("enc.6x6_block0.proj.weight", 1e-5 * (6f32 / 32.0).sqrt());
            }
        }
    }
}
