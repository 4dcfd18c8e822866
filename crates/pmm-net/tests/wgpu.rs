//! On a graphics card (or a driver that plays one) the networks give what they give on the processor:
//! `cargo test -p pmm-net --features wgpu --test wgpu`.
#![cfg(feature = "wgpu")]

use burn::tensor::Device;
use pmm_core::{Purpose, Streams};
use pmm_net::image::{ImageNet, ImagePair, ImageShape, Known, NoisyImage, Parametrisation, PixelFacts};
use pmm_net::text::{MaskedText, Schedule, TextNet};
use pmm_net::{Parts, Positions, TransformerConfig, Trunk, TrunkConfig, TrunkKind, UnetConfig, UnetKind};

/// Losses and gradients of all three networks, side by side; in one test, since a card is opened once.
#[test]
#[ignore = "needs a graphics card, or a software driver of one"]
fn card_agrees_with_the_processor() {
    let card = match pmm_net::device("wgpu") {
        Ok(card) => card,
        Err(error) => panic!("this test needs a graphics card or a software driver of one: {error}"),
    };
    assert!(card != Device::flex());
    for kind in [TrunkKind::Mlp, TrunkKind::Attention] {
        agree("a table", trunk(kind, Device::flex()), trunk(kind, card.clone()));
    }
    agree("a text", text(Device::flex()), text(card.clone()));
    for pair in [ImagePair::Normal, ImagePair::Poisson] {
        agree("images", image(pair, Device::flex()), image(pair, card.clone()));
    }
}

type Found = (f64, Vec<f32>);

fn agree(what: &str, (loss, gradient): Found, (card_loss, card_gradient): Found) {
    assert!((loss - card_loss).abs() < 1e-4 * loss.abs(), "{what}: {loss} {card_loss}");
    let most = gradient.iter().fold(0f32, |most, g| most.max(g.abs()));
    let apart = gradient.iter().zip(&card_gradient).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
    println!("{what}: losses {loss:.6} {card_loss:.6}, gradients apart {apart:.1e} of {most:.1e}");
    assert!(most > 1e-3 && apart < 5e-4 * most, "{what}: {apart} of {most}");
}

/// Weights away from the zeros that training starts with, so that every path counts.
fn weights(parts: &Parts) -> Vec<f32> {
    let mut rng = Streams::new(3).stream(Purpose::DATA, 0, 0);
    parts.initial(&Streams::new(1)).into_iter().map(|w| w + 0.05 * rng.normal() as f32).collect()
}

fn trunk(kind: TrunkKind, device: Device) -> Found {
    let config = TrunkConfig { kind, width: 24, blocks: 2, dropout: 0.0 };
    let trunk = Trunk::new(&[(3, 1), (4, 4)], vec![2, 3], &config, device);
    let weights = weights(trunk.parts());
    let mut rng = Streams::new(5).stream(Purpose::DATA, 1, 0);
    let x = (0..150 * 7).map(|_| rng.normal() as f32).collect();
    let mut gradient = vec![0.0; weights.len()];
    let half_squares = |_: usize, y: &[f32], slope: &mut [f32]| {
        slope.copy_from_slice(y);
        y.iter().map(|y| f64::from(y * y) / 2.0).sum()
    };
    let loss = trunk.backward(&weights, x, vec![], half_squares, &mut gradient);
    (loss, gradient)
}

/// More texts than the card takes at once.
fn text(device: Device) -> Found {
    let config = TransformerConfig {
        width: 24,
        blocks: 2,
        heads: 3,
        length: 512,
        condition: 8,
        positions: Positions::Rotary,
        time: true,
    };
    let net = TextNet::new(7, &config, Schedule::LogLinear, device).unwrap();
    let weights = weights(net.parts());
    let streams = Streams::new(5);
    let text = |row: u64| {
        let mut rng = streams.stream(Purpose::DATA, 1, row);
        let tokens: Vec<u32> = (0..512).map(|_| rng.below(7) as u32).collect();
        MaskedText::at(&net, &tokens, (row as f64 + 0.5) / 11.0, &streams, 0, row)
    };
    let texts: Vec<MaskedText> = (0..11).map(text).collect();
    let mut gradient = vec![0.0; weights.len()];
    let loss = net.gradient(&weights, &texts, &mut gradient);
    let mean = net.losses(&weights, &texts).iter().sum::<f64>() / 11.0;
    assert!((loss - mean).abs() < 1e-4 * mean, "{loss} {mean}");
    (loss, gradient)
}

fn image(pair: ImagePair, device: Device) -> Found {
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
        dropout: 0.0,
        classes: 3,
        augment: 0,
    };
    let facts = PixelFacts { mean: -0.2, sd: 0.6 };
    let shape = ImageShape { pair, parametrisation: Parametrisation::Edm, facts };
    let net = ImageNet::new(&config, &shape, device).unwrap();
    let weights = weights(net.parts());
    let streams = Streams::new(5);
    let image = |row: u64| {
        let mut rng = streams.stream(Purpose::DATA, 1, row);
        let x = (0..64).map(|_| net.pair().value(rng.below(256) as u8)).collect();
        let known = Known { x, observed: vec![false; 64], label: Some(row as u32 % 3), augment: vec![] };
        NoisyImage::at(&net, known, (row as f64 + 0.5) / 40.0, &streams, 0, row)
    };
    let images: Vec<NoisyImage> = (0..40).map(image).collect();
    let mut gradient = vec![0.0; weights.len()];
    let loss = net.gradient(&weights, &images, streams, (0, 0), &mut gradient);
    (loss, gradient)
}
