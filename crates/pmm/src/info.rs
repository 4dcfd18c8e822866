//! What a model is, how it was trained and how big it is.

use std::path::PathBuf;

use pmm_train::to_toml;
use serde::Serialize;

use crate::fitted::{FitSummary, Fitted};
use crate::kind::{DataKind, Kind};
use crate::{folder, log};

/// Facts about a model.
#[derive(Debug, Clone, Serialize)]
pub struct Info {
    /// Its folder, where it has one.
    pub model: Option<PathBuf>,
    /// Of what kind it is.
    pub kind: DataKind,
    /// What it was fitted to, in words: (name, value).
    #[serde(skip)]
    pub about: Vec<(&'static str, String)>,
    /// What the data are: columns, tokenizer, images.
    #[serde(flatten)]
    pub details: serde_json::Value,
    /// BLAKE3 of the data.
    pub data: String,
    /// The network's weights.
    pub weights: usize,
    /// Bytes of the folder.
    pub bytes: u64,
    /// Bytes of it that only serve to go on training.
    pub bytes_for_training: u64,
    /// How the fit went.
    pub fit: FitSummary,
    /// The unit of its loss.
    pub loss_unit: &'static str,
    /// Seconds of training.
    pub seconds: Option<f64>,
    /// Its seed.
    pub seed: u64,
    /// The settings.
    pub config: serde_json::Value,
    /// The settings as in `config.toml`.
    #[serde(skip)]
    pub config_toml: String,
}

impl<K: Kind> Fitted<K> {
    /// Facts about the model.
    pub(crate) fn info(&self) -> Info {
        let size = |part: &str| self.folder.as_ref().map_or(0, |path| folder::size(&path.join(part)));
        Info {
            model: self.folder.clone(),
            kind: K::KIND,
            about: K::about(self),
            details: K::details(self),
            data: self.identity.data.clone(),
            weights: self.weights.len(),
            bytes: size(""),
            bytes_for_training: size("state"),
            fit: self.fit.clone(),
            loss_unit: K::LOSS_UNIT,
            seconds: self.folder.as_deref().and_then(log::training_seconds),
            seed: K::seed(&self.config),
            config: serde_json::to_value(&self.config).unwrap_or_default(),
            config_toml: to_toml(&self.config),
        }
    }
}

impl Info {
    /// All facts in words: (name, value).
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        facts.extend(self.model.as_ref().map(|model| ("model", model.display().to_string())));
        facts.extend(self.about.iter().cloned());
        facts.push(("weights", self.weights.to_string()));
        if self.bytes > 0 {
            let (all, state) = (bytes(self.bytes), bytes(self.bytes_for_training));
            facts.push(("size", format!("{all}, of which {state} to go on training")));
        }
        facts.push(("fit", self.fit.sentence(self.loss_unit)));
        facts.extend(self.seconds.map(|seconds| ("training", format!("{seconds:.0} seconds"))));
        facts.extend((self.fit.skipped > 0).then(|| ("skipped steps", self.fit.skipped.to_string())));
        facts.push(("seed", self.seed.to_string()));
        facts.push(("version", format!("pmm {}", self.fit.version)));
        facts.push(("data", format!("BLAKE3 {}", self.data)));
        facts
    }
}

/// Bytes in words.
fn bytes(bytes: u64) -> String {
    match bytes {
        n if n < 1_000_000 => format!("{:.0} kB", (n as f64 / 1e3).ceil()),
        n if n < 1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        n => format!("{:.1} GB", n as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([900, 12_345, 2_500_000, 3_210_000_000].map(bytes), ["1 kB", "13 kB", "2.5 MB", "3.2 GB"]);
    }
}
