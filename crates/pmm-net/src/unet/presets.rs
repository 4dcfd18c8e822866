//! Full-size networks.

use super::config::{UnetConfig, UnetKind};

impl UnetConfig {
    /// ADM for CIFAR-10, as the paper's appendix has it: 279,631,875 weights.
    pub fn cifar10() -> Self {
        Self { size: 32, classes: 10, ..adm() }
    }

    /// ADM for FFHQ at 64×64, which has no classes.
    pub fn ffhq64() -> Self {
        Self { size: 64, ..adm() }
    }

    /// ADM for AFHQv2 at 64×64, with its three classes: cats, dogs and wild animals.
    pub fn afhqv2() -> Self {
        Self { size: 64, classes: 3, ..adm() }
    }

    /// DDPM++ for CIFAR-10, as the paper's main text has it: 55,735,299 weights.
    pub fn ddpmpp_cifar10() -> Self {
        Self { size: 32, multipliers: vec![2, 2, 2], classes: 10, dropout: 0.13, ..ddpmpp() }
    }

    /// DDPM++ for images of 64×64 without classes: 61,805,571 weights.
    pub fn ddpmpp_64() -> Self {
        Self { size: 64, multipliers: vec![1, 2, 2, 2], dropout: 0.05, ..ddpmpp() }
    }
}

fn adm() -> UnetConfig {
    UnetConfig {
        kind: UnetKind::Adm,
        width: 192,
        multipliers: vec![1, 2, 3, 4],
        blocks: 3,
        attention: vec![32, 16, 8],
        channels_per_head: 64,
        dropout: 0.1,
        ..UnetConfig::default()
    }
}

fn ddpmpp() -> UnetConfig {
    UnetConfig {
        kind: UnetKind::Ddpmpp,
        width: 128,
        blocks: 4,
        attention: vec![16],
        augment: 9,
        ..UnetConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unet::Unet;

    /// The counts of the public networks.
    #[test]
    fn counts() {
        let classes = |classes: usize, config: UnetConfig| UnetConfig { classes, ..config };
        for (config, count) in [
            (UnetConfig::cifar10(), 279_631_875),
            (classes(1000, UnetConfig::ffhq64()), 295_899_267),
            (UnetConfig::ffhq64(), 295_899_267 - 1000 * 768),
            (UnetConfig::afhqv2(), 295_899_267 - 997 * 768),
            (UnetConfig::ddpmpp_cifar10(), 55_735_299),
            (UnetConfig::ddpmpp_64(), 61_805_571),
        ] {
            config.check().unwrap();
            assert_eq!(Unet::new(&config).parts().len(), count, "{config:?}");
        }
    }
}
