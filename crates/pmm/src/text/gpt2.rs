//! GPT-2 from files: a judge of texts that users bring along.

use std::path::Path;

use pmm_net::{Gpt2, NamedTensor};
use safetensors::{Dtype, SafeTensors};

use crate::error::Error;

const WEIGHTS: &str = "model.safetensors";

/// Reads GPT-2 (any size) from a folder with `model.safetensors` and, if it is there, `config.json`.
pub fn load_gpt2(folder: &Path) -> Result<Gpt2, Error> {
    let path = folder.join(WEIGHTS);
    if !path.exists() {
        return Err(Error::NotAModel { path: folder.into(), missing: WEIGHTS });
    }
    let bytes = std::fs::read(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
    let damaged = |why: String| Error::DamagedModel { path: path.clone(), why };
    let file = SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
    let mut tensors: Vec<NamedTensor> = Vec::new();
    for (name, view) in file.tensors() {
        // Masks of the attention, which some files hold, are no weights.
        if name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") {
            continue;
        }
        if view.dtype() != Dtype::F32 {
            return Err(damaged(format!("{name} is {:?}, not F32", view.dtype())));
        }
        let values = view.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        tensors.push((name, view.shape().to_vec(), values.collect()));
    }
    Gpt2::new(tensors, heads(folder)).map_err(damaged)
}

/// `n_head` of `config.json`; 0 without.
fn heads(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("config.json")).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    value["n_head"].as_u64().unwrap_or(0) as usize
}
