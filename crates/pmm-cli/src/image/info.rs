//! `pmm info` for images.

use std::path::Path;

use pmm_train::ImageModel;

use crate::info::{bytes, page, seconds, size};

/// Names and values.
fn facts_of(folder: &Path, model: &ImageModel) -> Vec<(&'static str, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let net = model.denoiser.net();
    let (all, state) = (size(folder), size(&folder.join("state")));
    let mut facts = vec![
        ("model", folder.display().to_string()),
        ("images", format!("{}, {}", model.images.count, shape(model.images.shape))),
        ("classes", classes(&model.images.classes)),
        ("weights", net.parts().len().to_string()),
        ("size", format!("{}, of which {} to go on training", bytes(all), bytes(state))),
        ("steps", format!("{}, the best at {}", fact("steps"), fact("best_step"))),
        ("held-out loss", format!("{} per pixel", fact("valid_loss"))),
    ];
    facts.extend(seconds(folder).map(|seconds| ("training", format!("{seconds:.0} seconds"))));
    facts.push(("seed", model.config.seed.to_string()));
    facts.push(("version", format!("pmm {}", fact("version"))));
    facts.push(("data", format!("BLAKE3 {}", fact("data"))));
    facts
}

/// `28×28 pixels, grey`.
pub(super) fn shape([channels, height, width]: [usize; 3]) -> String {
    format!("{width}×{height} pixels, {}", if channels == 1 { "grey" } else { "colour" })
}

/// The classes in a line.
pub(super) fn classes(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        few if few.len() <= 12 => format!("{}: {}", few.len(), few.join(", ")),
        many => format!("{}: {}, …", many.len(), many[..12].join(", ")),
    }
}

pub(crate) fn text(folder: &Path, model: &ImageModel) -> String {
    page(facts_of(folder, model), "", &model.config)
}

pub(crate) fn json(folder: &Path, model: &ImageModel) -> String {
    let value = serde_json::json!({
        "model": folder,
        "kind": "image",
        "config": model.config,
        "images": model.images,
        "weights": model.denoiser.net().parts().len(),
        "bytes": size(folder),
        "seconds": seconds(folder),
        "facts": model.facts,
    });
    format!("{value:#}\n")
}
