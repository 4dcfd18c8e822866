//! A feature network with its weights, whichever it is.

use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use super::channels_last::{Layer, Picture};
use super::efficientnet::{self, Efficientnet};
use super::error::FeatureError;
use super::inception::{self, Inception};
use super::layers::{Conv, mean_of_all};
use super::resize::{Align, resized};
use super::resnet::{self, Resnet};
use super::weights::Weights;
use crate::gpt2::NamedTensor;

/// A network from images to features; see the [list](crate::features).
#[derive(Debug)]
pub struct FeatureNet {
    net: Net,
    device: Device,
}

#[derive(Debug)]
enum Net {
    Resnet(Resnet),
    Efficientnet(Efficientnet<Conv>),
    /// The same on the processor.
    FastEfficientnet(Efficientnet<Layer>),
    Inception(Inception),
}

/// How images become inputs: side, alignment, then (x − mean)/deviation for each channel; and how many go together.
struct Input {
    side: usize,
    align: Align,
    mean: [f32; 3],
    deviation: [f32; 3],
    together: usize,
}

impl FeatureNet {
    /// Reads safetensors, or a file of PyTorch such as `pt_inception-2015-12-05-6726825d.pth`, of which nothing is run; the names of
    /// its tensors tell which network it is.
    pub fn load(path: &Path, device: &Device) -> Result<Self, FeatureError> {
        let refused = |reason| FeatureError::Weights { path: path.into(), reason };
        Self::from_weights(Weights::read(path, device)?, device).map_err(refused)
    }

    /// From tensors by name; the error says what is wrong with them.
    pub fn new(tensors: Vec<NamedTensor>, device: &Device) -> Result<Self, String> {
        Self::from_weights(Weights::new(tensors, device), device)
    }

    fn from_weights(mut weights: Weights, device: &Device) -> Result<Self, String> {
        let net = if weights.has(resnet::MARK) {
            Net::Resnet(Resnet::new(&mut weights)?)
        } else if weights.has(efficientnet::MARK) {
            let net = Efficientnet::new(&mut weights)?;
            match *device == Device::flex() {
                true => Net::FastEfficientnet(net.with_channels_last()),
                false => Net::Efficientnet(net),
            }
        } else if weights.has(inception::MARK) {
            Net::Inception(Inception::new(&mut weights)?)
        } else {
            let marks = [resnet::MARK, efficientnet::MARK, inception::MARK];
            return Err(format!("no tensor is called {}", marks.join(" or ")));
        };
        Ok(Self { net, device: device.clone() })
    }

    /// Which network it is, such as `ResNet-20 of CIFAR-10`.
    pub fn name(&self) -> String {
        match &self.net {
            Net::Resnet(net) => format!("ResNet-{} of CIFAR-10", net.depth()),
            Net::Efficientnet(_) | Net::FastEfficientnet(_) => "EfficientNet-Lite0".into(),
            Net::Inception(_) => "Inception v3 of 2015-12-05".into(),
        }
    }

    /// The name of a Fréchet distance in its features: FID for Inception only.
    pub fn frechet_name(&self) -> String {
        match self.net {
            Net::Inception(_) => "FID".into(),
            _ => format!("Fréchet distance in features of {}", self.name()),
        }
    }

    /// The name of a kernel distance in its features: KID for Inception only.
    pub fn kernel_name(&self) -> String {
        match self.net {
            Net::Inception(_) => "KID".into(),
            _ => format!("kernel distance in features of {}", self.name()),
        }
    }

    /// Features of an image.
    pub fn dimension(&self) -> usize {
        match self.net {
            Net::Resnet(_) => resnet::DIMENSION,
            Net::Efficientnet(_) | Net::FastEfficientnet(_) => efficientnet::DIMENSION,
            Net::Inception(_) => inception::DIMENSION,
        }
    }

    /// Features `[images, dimension]` of images `[channels, height, width]` in bytes, grey or of three colours.
    pub fn features(&self, images: &[&[u8]], shape: [usize; 3]) -> Result<Vec<f32>, FeatureError> {
        check(images, shape)?;
        Ok(self.each(images, shape, |x| self.forward(x)))
    }

    /// The class of each image among CIFAR-10's, in the order of its labels, if the network tells them.
    pub fn classes(&self, images: &[&[u8]], shape: [usize; 3]) -> Result<Vec<u32>, FeatureError> {
        check(images, shape)?;
        let Net::Resnet(net) = &self.net else {
            return Err(FeatureError::NoClasses { network: self.name() });
        };
        let logits = self.each(images, shape, |x| net.logits(net.features(x)));
        let top = |logits: &[f32]| {
            let better = |best: usize, class: usize| if logits[class] > logits[best] { class } else { best };
            (1..logits.len()).fold(0, better) as u32
        };
        Ok(logits.chunks_exact(resnet::CLASSES).map(top).collect())
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        match &self.net {
            Net::Resnet(net) => net.features(x),
            Net::Efficientnet(net) => mean_of_all(net.forward(&x)),
            Net::FastEfficientnet(net) => {
                let [_, channels, height, width] = x.dims();
                let values: Vec<f32> = x.to_data().iter::<f32>().collect();
                let images = values.chunks_exact(channels * height * width);
                let features = |image| net.forward(&Picture::of(image, [channels, height, width])).means();
                let all: Vec<f32> = images.flat_map(features).collect();
                Tensor::from_data(TensorData::new(all, [x.dims()[0], efficientnet::DIMENSION]), &self.device)
            }
            Net::Inception(net) => net.features(x),
        }
    }

    /// The rows of some outputs, a few images at a time.
    fn each(
        &self,
        images: &[&[u8]],
        shape: [usize; 3],
        forward: impl Fn(Tensor<4>) -> Tensor<2> + Sync,
    ) -> Vec<f32> {
        let input = self.input();
        let some = |images: &[&[u8]]| {
            let values: Vec<f32> = images.iter().flat_map(|image| input.values(image, shape)).collect();
            let sizes = [images.len(), 3, input.side, input.side];
            let x = Tensor::from_data(TensorData::new(values, sizes), &self.device);
            forward(x).into_data().iter::<f32>().collect::<Vec<f32>>()
        };
        images.par_chunks(input.together).flat_map_iter(some).collect()
    }

    fn input(&self) -> Input {
        let same = |value| [value; 3];
        match self.net {
            Net::Resnet(_) => Input {
                side: 32,
                align: Align::Centres,
                mean: [0.485, 0.456, 0.406].map(|mean| 255.0 * mean),
                deviation: [0.229, 0.224, 0.225].map(|deviation| 255.0 * deviation),
                together: 32,
            },
            Net::Efficientnet(_) | Net::FastEfficientnet(_) => Input {
                side: 224,
                align: Align::Centres,
                mean: same(127.0),
                deviation: same(128.0),
                together: 4,
            },
            Net::Inception(_) => Input {
                side: 299,
                align: Align::Corner,
                mean: same(128.0),
                deviation: same(128.0),
                together: 4,
            },
        }
    }
}

impl Input {
    fn values(&self, image: &[u8], shape: [usize; 3]) -> Vec<f32> {
        let mut values = resized(image, shape, self.side, self.align);
        for (channel, values) in values.chunks_exact_mut(self.side * self.side).enumerate() {
            let (mean, deviation) = (self.mean[channel], self.deviation[channel]);
            values.iter_mut().for_each(|value| *value = (*value - mean) / deviation);
        }
        values
    }
}

fn check(images: &[&[u8]], shape: [usize; 3]) -> Result<(), FeatureError> {
    let [channels, height, width] = shape;
    let refused = |index, reason| Err(FeatureError::Image { index, reason });
    if !matches!(channels, 1 | 3) {
        return refused(0, format!("it has {channels} channels, not 1 or 3"));
    }
    let size = height.checked_mul(width).and_then(|size| size.checked_mul(channels)).filter(|size| *size > 0);
    let Some(size) = size else {
        return refused(0, format!("it is {height}×{width} pixels large"));
    };
    match images.iter().position(|image| image.len() != size) {
        Some(index) => refused(index, format!("it has {} bytes, not {size}", images[index].len())),
        None => Ok(()),
    }
}
