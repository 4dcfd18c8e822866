//! Writes what `bench/text/ordered_reference.py` compares with: initial weights of a small ordered network, ten batches with their orders, and
//! the losses of ten training steps on them. `cargo run --release -p pmm-train --example ordered_reference -- TEXT FOLDER`.

mod losses;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use losses::{Losses, STEPS};
use pmm_core::Streams;
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::text::{OrderedConfig, OrderedNet, OrderedText, TextNetConfig};
use pmm_train::text::{OrderedTask, TextConfig};
use pmm_train::{State, Task, TrainConfig, train};

fn main() -> Result<(), Box<dyn Error>> {
    let [text, folder] =
        <[PathBuf; 2]>::try_from(std::env::args_os().skip(1).map(PathBuf::from).collect::<Vec<_>>())
            .map_err(|_| "usage: ordered_reference TEXT FOLDER")?;
    std::fs::create_dir_all(&folder)?;
    let source = TextSource::open(&text, &TextOptions::default())?;
    let tokenizer = Tokenizer::characters(&source)?;
    let path = folder.join("tokens.bin");
    Tokens::write(&source, &tokenizer, &path, &mut |_| ())?;
    let tokens = Arc::new(Tokens::open(&path)?);
    let shape = OrderedConfig { width: 48, blocks: 3, heads: 3, length: 80, window: 4, hash_bits: 10 };
    let config = TextConfig {
        batch: 9,
        net: TextNetConfig::Ordered(shape.clone()),
        train: TrainConfig { steps: STEPS, warmup: 3, ..TextConfig::default().train },
        ..TextConfig::default()
    };
    let net = Arc::new(OrderedNet::new(tokenizer.classes(), &shape)?);
    let streams = Streams::new(7);
    let initial = net.initial(&streams);
    let task = OrderedTask::new(net.clone(), tokens, &config, streams)?;
    let batches: Vec<Vec<_>> = (0..STEPS)
        .map(|step| task.batch(step, pmm_train::Shard::WHOLE).texts.iter().map(of).collect())
        .collect();
    let mut losses = Losses::default();
    let mut state = State::new(initial.clone());
    train(&task, &config.train, &pmm_train::Alone, &mut state, &mut losses)?;
    let shares: Vec<f64> = (0..STEPS).map(|step| config.train.share(step)).collect();
    let parts: Vec<_> = net.parts().iter().map(|part| (&part.name, part.shape, part.range.start)).collect();
    for (name, weights) in [("initial.f32", &initial), ("trained.f32", &state.weights)] {
        let bytes: Vec<u8> = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(folder.join(name), bytes)?;
    }
    let value = serde_json::json!({
        "config": config, "classes": tokenizer.classes(), "parts": parts, "batches": batches,
        "losses": losses.0, "shares": shares,
    });
    std::fs::write(folder.join("reference.json"), value.to_string())?;
    Ok(())
}

/// A text: its positions in their order, and the tokens in that order.
fn of(text: &OrderedText) -> serde_json::Value {
    serde_json::json!({ "positions": text.positions().collect::<Vec<_>>(), "tokens": text.tokens() })
}
