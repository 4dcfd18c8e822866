//! Writes what `bench/images/reference.py` compares with: the initial weights of a small network of images, ten batches, and the
//! losses of ten training steps on them. `cargo run --release -p pmm-train --example image_reference -- IMAGES FOLDER adm`.

mod losses;

use std::path::Path;
use std::sync::Arc;

use losses::{Losses, STEPS};
use pmm_data::{ImageOptions, ImageSize, ImageSource, Images};
use pmm_net::image::NoisyImage;
use pmm_net::{UnetConfig, UnetKind};
use pmm_train::image::{ImageConfig, ImageFacts, ImageTask};
use pmm_train::{State, Task, TrainConfig, save_weights, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [images, folder, kind] = <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>())
        .map_err(|_| "usage: image_reference IMAGES FOLDER adm|ddpmpp")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let source = ImageSource::open(
        Path::new(&images),
        &ImageOptions { size: ImageSize::Fixed((16, 16)), ..Default::default() },
    )?;
    let path = folder.join("images.bin");
    Images::write(&source, &path, &mut |_| ())?;
    let images = Arc::new(Images::open(&path)?);
    let kind = if kind == "adm" { UnetKind::Adm } else { UnetKind::Ddpmpp };
    let net = UnetConfig {
        kind,
        width: 16,
        multipliers: vec![1, 2],
        blocks: 1,
        attention: vec![8],
        channels_per_head: 16,
        dropout: 0.0,
        ..UnetConfig::default()
    };
    let config = ImageConfig {
        seed: 7,
        batch: 8,
        net,
        train: TrainConfig { steps: STEPS, warmup: 3, ..ImageConfig::default().train },
        ..ImageConfig::default()
    };
    let config = config.for_shape(images.shape(), images.classes().len());
    let facts = ImageFacts::of(&images, config.pair);
    let net = Arc::new(config.network(&facts, &pmm_net::Device::flex())?);
    let task = ImageTask::new(net.clone(), images, config.clone());
    let initial = task.initial();
    save_weights(&folder.join("weights.safetensors"), net.parts(), &initial, &())?;
    let batches: Vec<_> =
        (0..STEPS).map(|step| batch(&task.batch(step, pmm_train::Shard::WHOLE).2)).collect();
    let mut losses = Losses::default();
    train(&task, &config.train, &pmm_train::Alone, &mut State::new(initial), &mut losses)?;
    let rates: Vec<f64> = (0..STEPS).map(|step| config.train.rate(step)).collect();
    let value = serde_json::json!({
        "config": config, "facts": facts, "batches": batches, "losses": losses.0, "rates": rates,
    });
    std::fs::write(folder.join("reference.json"), value.to_string())?;
    Ok(())
}

fn batch(images: &[NoisyImage]) -> serde_json::Value {
    let image = |image: &NoisyImage| {
        serde_json::json!({
            "x": image.x, "stat": image.stat, "clock": image.clock, "observed": image.observed, "label": image.label,
        })
    };
    serde_json::Value::Array(images.iter().map(image).collect())
}
