//! What the blocks are told: the noise as waves, the class and the augmentation.

use burn::tensor::{Tensor, TensorData, activation};

use super::builder::{Builder, Role};
use super::config::{UnetConfig, UnetKind};
use super::layers::Linear;

/// The longest wave is so many times the shortest.
const BASE: f64 = 10_000.0;
/// Numbers of the embedding per channel of the network.
const EXPANSION: usize = 4;

/// Noise, class and augmentation in, `[rows, 4 · width]` out.
///
/// ADM: SiLU(L₁ SiLU(L₀ (waves + augment)) + class). DDPM++: SiLU(L₁ SiLU(L₀ (waves + √classes · class + augment))).
#[derive(Debug, Clone)]
pub(super) struct Embedding {
    kind: UnetKind,
    frequencies: Vec<f32>,
    first: Linear,
    second: Linear,
    class: Option<(Linear, usize)>,
    augment: Option<Linear>,
}

impl Embedding {
    pub(super) fn new(builder: &mut Builder, config: &UnetConfig) -> Self {
        let (width, wide) = (config.width, Self::width(config));
        let classes = config.classes;
        let class = (classes > 0).then(|| match config.kind {
            UnetKind::Adm => builder.linear_without_bias("map_label", classes, wide, Role::Inner),
            UnetKind::Ddpmpp => builder.linear("map_label", classes, width),
        });
        // To ADM augmentation is nothing at first, like the ends of its other paths.
        let role = if config.kind == UnetKind::Adm { Role::Last } else { Role::Inner };
        let augment = (config.augment > 0)
            .then(|| builder.linear_without_bias("map_augment", config.augment, width, role));
        Self {
            kind: config.kind,
            frequencies: frequencies(config.kind, width / 2),
            first: builder.linear("map_layer0", width, wide),
            second: builder.linear("map_layer1", wide, wide),
            class: class.map(|layer| (layer, classes)),
            augment,
        }
    }

    /// Numbers of the embedding.
    pub(super) fn width(config: &UnetConfig) -> usize {
        EXPANSION * config.width
    }

    /// The embedding of noises `[rows]`, classes `[rows, classes]` and augmentations `[rows, augment]`.
    pub(super) fn forward(
        &self,
        parts: &[Tensor<2>],
        noise: Tensor<1>,
        classes: Option<Tensor<2>>,
        augment: Option<Tensor<2>>,
    ) -> Tensor<2> {
        let class = self.class(parts, &noise, classes);
        let mut e = self.waves(noise);
        if let (Some(layer), Some(augment)) = (&self.augment, augment) {
            e = e + layer.forward(parts, augment);
        }
        let silu = activation::silu::<2>;
        match self.kind {
            UnetKind::Adm => {
                let e = self.second.forward(parts, silu(self.first.forward(parts, e)));
                silu(plus(e, class))
            }
            UnetKind::Ddpmpp => {
                let e = silu(self.first.forward(parts, plus(e, class)));
                silu(self.second.forward(parts, e))
            }
        }
    }

    /// What the class adds; without a class, what a row of zeros adds.
    fn class(&self, parts: &[Tensor<2>], noise: &Tensor<1>, classes: Option<Tensor<2>>) -> Option<Tensor<2>> {
        let (layer, count) = self.class.as_ref()?;
        let classes = classes.unwrap_or_else(|| Tensor::zeros([noise.dims()[0], *count], &noise.device()));
        let scale = match self.kind {
            UnetKind::Adm => 1.0,
            UnetKind::Ddpmpp => (*count as f64).sqrt(),
        };
        Some(layer.forward(parts, classes * scale))
    }

    /// Cosines and sines of the noise at all frequencies; DDPM++ has the sines first.
    fn waves(&self, noise: Tensor<1>) -> Tensor<2> {
        let count = self.frequencies.len();
        let data = TensorData::new(self.frequencies.clone(), [1, count]);
        let angles = noise.clone().reshape([-1, 1]) * Tensor::<2>::from_data(data, &noise.device());
        let (cosines, sines) = (angles.clone().cos(), angles.sin());
        match self.kind {
            UnetKind::Adm => Tensor::cat(vec![cosines, sines], 1),
            UnetKind::Ddpmpp => Tensor::cat(vec![sines, cosines], 1),
        }
    }
}

fn plus(e: Tensor<2>, class: Option<Tensor<2>>) -> Tensor<2> {
    match class {
        Some(class) => e + class,
        None => e,
    }
}

/// 10000^(−i/n) for ADM, which stops short of the end, and 10000^(−i/(n−1)) for DDPM++, which does not.
fn frequencies(kind: UnetKind, count: usize) -> Vec<f32> {
    let last = match kind {
        UnetKind::Adm => count,
        UnetKind::Ddpmpp => count - 1,
    };
    (0..count).map(|i| BASE.powf(-(i as f64) / last as f64) as f32).collect()
}
