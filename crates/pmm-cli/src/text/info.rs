//! `pmm info` for texts.

use std::path::Path;

use pmm_train::TextModel;

use crate::info::{bytes, page, seconds, size};

/// Names and values.
fn facts_of(folder: &Path, model: &TextModel) -> Vec<(&'static str, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let net = model.denoiser.net();
    let (all, state) = (size(folder), size(&folder.join("state")));
    let mut facts = vec![
        ("model", folder.display().to_string()),
        ("text", format!("{} characters, {} tokens", fact("characters"), fact("tokens"))),
        ("tokenizer", format!("{}, {} kinds", model.tokenizer.name(), model.tokenizer.classes())),
        ("length", format!("{} tokens", net.length())),
        ("weights", net.parts().len().to_string()),
        ("size", format!("{}, of which {} to go on training", bytes(all), bytes(state))),
        ("steps", format!("{}, the best at {}", fact("steps"), fact("best_step"))),
        ("held-out loss", format!("{} nats per token", fact("valid_loss"))),
    ];
    facts.extend(seconds(folder).map(|seconds| ("training", format!("{seconds:.0} seconds"))));
    facts.push(("seed", model.config.seed.to_string()));
    facts.push(("version", format!("pmm {}", fact("version"))));
    facts.push(("data", format!("BLAKE3 {}", fact("data"))));
    facts
}

pub(crate) fn text(folder: &Path, model: &TextModel) -> String {
    page(facts_of(folder, model), "", &model.config)
}

pub(crate) fn json(folder: &Path, model: &TextModel) -> String {
    let value = serde_json::json!({
        "model": folder,
        "kind": "text",
        "config": model.config,
        "tokenizer": model.tokenizer.name(),
        "classes": model.tokenizer.classes(),
        "weights": model.denoiser.net().parts().len(),
        "bytes": size(folder),
        "seconds": seconds(folder),
        "facts": model.facts,
    });
    format!("{value:#}\n")
}
