//! Models of images: one file a verb.

pub(crate) mod eval;
pub(crate) mod fit;
mod given;
pub(crate) mod info;
mod plan;
mod preview;
pub(crate) mod sample;
pub(crate) mod trace;
mod write;

use pmm_train::IMAGE_PRESETS;

use crate::cli::FitArgs;

/// Whether the data of a fit are images: by what the user says, else by what is there.
pub(crate) fn is_image(args: &FitArgs) -> bool {
    if let Some(kind) = args.set.iter().rev().find_map(|set| set.strip_prefix("kind=")) {
        return kind == "image";
    }
    if let Some(preset) = args.preset.as_deref() {
        return IMAGE_PRESETS.iter().any(|(name, _)| *name == preset);
    }
    pmm_data::holds_images(&args.data)
}

/// The presets in words.
pub(crate) fn presets() -> String {
    let list: Vec<String> = IMAGE_PRESETS.iter().map(|(name, what)| format!("{name} ({what})")).collect();
    format!("presets of images are {}", list.join(", "))
}
