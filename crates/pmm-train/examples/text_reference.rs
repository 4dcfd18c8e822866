//! Writes what `bench/text/reference.py` compares with: the initial weights of a small text network, ten batches, and the losses of
//! ten training steps on them. `cargo run --release -p pmm-train --example text_reference -- TEXT FOLDER`.

mod losses;

use std::path::PathBuf;
use std::sync::Arc;

use losses::{Losses, STEPS};
use pmm_core::Streams;
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::TransformerConfig;
use pmm_net::text::{MaskedText, TextNet, TextNetConfig};
use pmm_train::text::{TextConfig, TextTask};
use pmm_train::{State, Task, TrainConfig, save_weights, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [text, folder] =
        <[PathBuf; 2]>::try_from(std::env::args_os().skip(1).map(PathBuf::from).collect::<Vec<_>>())
            .map_err(|_| "usage: text_reference TEXT FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    let source = TextSource::open(&text, &TextOptions::default())?;
    let tokenizer = Tokenizer::characters(&source)?;
    let path = folder.join("tokens.bin");
    Tokens::write(&source, &tokenizer, &path, &mut |_| ())?;
    let tokens = Arc::new(Tokens::open(&path)?);
    let net =
        TransformerConfig { width: 48, blocks: 3, heads: 4, length: 64, condition: 16, ..Default::default() };
    let config = TextConfig {
        batch: 8,
        net: TextNetConfig::Masked(net.clone()),
        train: TrainConfig { steps: STEPS, warmup: 3, ..TextConfig::masked().train },
        ..TextConfig::masked()
    };
    let net = Arc::new(TextNet::new(tokenizer.classes(), &net, config.schedule, pmm_net::Device::flex())?);
    let streams = Streams::new(7);
    let initial = net.initial(&streams);
    save_weights(&folder.join("weights.safetensors"), net.parts(), &initial, &())?;
    let task = TextTask::new(net, tokens, &config, streams);
    let batches: Vec<_> = (0..STEPS).map(|step| batch(&task.batch(step, pmm_train::Shard::WHOLE))).collect();
    let mut losses = Losses::default();
    train(&task, &config.train, &pmm_train::Alone, &mut State::new(initial), &mut losses)?;
    let rates: Vec<f64> = (0..STEPS).map(|step| config.train.rate(step)).collect();
    let value = serde_json::json!({
        "config": config, "classes": tokenizer.classes(), "batches": batches, "losses": losses.0, "rates": rates,
    });
    std::fs::write(folder.join("reference.json"), value.to_string())?;
    Ok(())
}

fn batch(texts: &[MaskedText]) -> serde_json::Value {
    let text = |text: &MaskedText| {
        serde_json::json!({
            "tokens": text.tokens, "clock": text.clock, "wanted": text.wanted, "targets": text.targets, "weights": text.weights,
        })
    };
    serde_json::Value::Array(texts.iter().map(text).collect())
}
