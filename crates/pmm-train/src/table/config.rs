//! The resolved settings of a table's model: `config.toml`.

use std::sync::Arc;

use pmm_core::Head;
use pmm_data::Schema;
use pmm_net::table::{ClockKind, TableNet, TreesConfig};
use pmm_net::{Device, SettingError, TrunkConfig, TrunkKind};
use serde::{Deserialize, Serialize};

use crate::train_config::TrainConfig;

/// Everything that a fit depends on, beside the data and their schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableConfig {
    /// Fixes every random number.
    pub seed: u64,
    /// How clocks run.
    pub clock: ClockKind,
    /// What the network says about a number: its law, or its mean.
    #[serde(with = "head_name")]
    pub head: Head,
    /// Whether rules of the rows are found and kept.
    #[serde(with = "on_or_off", skip_serializing_if = "is_on")]
    pub rules: bool,
    /// A column whose prediction matters most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Share of the rows held out for validation.
    pub valid: f64,
    /// Rows per step.
    pub batch: usize,
    /// The network.
    pub net: TrunkConfig,
    /// The share of the rows to learn from that are shown as drawing sees them, column after column as the table has them; in the others
    /// any columns are known. What is left of it makes conditions, gaps and predictions good, more of it new rows.
    pub in_order: f64,
    /// The trees, where `net.kind` says that there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trees: Option<TreesConfig>,
    /// The training.
    pub train: TrainConfig,
}

impl Default for TableConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            clock: ClockKind::Reveal,
            head: Head::Marginal,
            rules: true,
            target: None,
            valid: 0.1,
            batch: 256,
            net: TrunkConfig::default(),
            in_order: 0.5,
            trees: None,
            train: TrainConfig { learning_rate: 2e-3, ..TrainConfig::default() },
        }
    }
}

/// The default is not written: settings of models without it stay as they are.
fn is_on(on: &bool) -> bool {
    *on
}

mod on_or_off {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(on: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if *on { "on" } else { "off" })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(D::Error::unknown_variant(other, &["on", "off"])),
        }
    }
}

mod head_name {
    use pmm_core::Head;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(head: &Head, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if *head == Head::Mean { "mean" } else { "marginal" })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Head, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "mean" => Ok(Head::Mean),
            "marginal" => Ok(Head::Marginal),
            other => Err(D::Error::unknown_variant(other, &["mean", "marginal"])),
        }
    }
}

/// Multiplications in about a minute of two cores; those of 2025 do more.
const MINUTE: f64 = 4.2e12;
/// How many times as much work goes to rows that are learned as drawing sees them as to as many others.
pub(super) const MORE_IN_ORDER: f64 = 2.0;
/// Cells that are worth a minute of fitting, and the most minutes that a table is worth by default: the bound on a fit, which ends
/// sooner where held-out rows gain nothing more.
const CELLS_A_MINUTE: f64 = 50_000.0;
const MOST_MINUTES: f64 = 4.0;

impl TableConfig {
    /// The recommended settings for a table of so many rows, and columns of so many features and outputs each.
    ///
    /// Small tables are learned by heart soon: more dropout and decay, and fewer steps, but never fewer than some thousands. The bound on
    /// steps grows with the number of cells, from one minute of two cores to four.
    ///
    /// ```
    /// use pmm_net::TrunkKind;
    /// use pmm_train::table::TableConfig;
    /// let steps = |rows| TableConfig::for_table(rows, TrunkKind::Mlp, &[(34, 24); 5]).train.steps;
    /// assert!(steps(40_000) > 3 * steps(10_000));
    /// assert_eq!(steps(40_000), steps(1_000_000));
    /// ```
    pub fn for_table(rows: u64, kind: TrunkKind, columns: &[(usize, usize)]) -> Self {
        let mut config = Self { net: TrunkConfig::of(kind), ..Self::default() };
        config.trees = kind.has_trees().then(|| TreesConfig::for_table(rows, columns.len()));
        (config.net.dropout, config.train.weight_decay) = match rows {
            0..3_000 => (0.3, 0.1),
            3_000..6_000 => (0.2, 0.05),
            6_000..30_000 => (0.1, 0.02),
            _ => (0.05, 0.01),
        };
        if kind == TrunkKind::Trees {
            config.net.dropout = 0.0;
        }
        if rows < 3_000 {
            (config.batch, config.train.learning_rate) = (128, 1e-3);
        }
        if kind == TrunkKind::Attention {
            // Its steps are dear: many of few rows learn more in the same time. It has less to learn by heart with.
            (config.batch, config.train.learning_rate, config.net.dropout) = (32, 3e-3, 0.1);
        }
        config.batch = (rows as usize).clamp(1, config.batch);
        let step = config.multiplications(columns);
        // A row is worth looking at some two hundred times, not more.
        let looks = 250.0 * rows as f64 / config.batch as f64;
        let minutes = rows as f64 * columns.len() as f64 / CELLS_A_MINUTE;
        let budget = MINUTE * minutes.clamp(1.0, MOST_MINUTES);
        // However few rows: a function is not learned in fewer steps, and held-out rows end what would be learned by heart.
        let fewest = if kind == TrunkKind::Attention { 300.0 } else { 3_000.0 };
        let steps = (budget / step).min(looks).clamp(fewest, 40_000.0);
        config.train.patience = 6;
        config.with_steps((steps / 100.0).round() as u64 * 100)
    }

    /// Multiplications of a training step, for columns of so many features and outputs each: forward, and backward twice that.
    pub fn multiplications(&self, columns: &[(usize, usize)]) -> f64 {
        let ways = self.clock == ClockKind::Reveal && self.net.kind != TrunkKind::Attention;
        let more = if ways { (MORE_IN_ORDER - 1.0) * self.in_order } else { 0.0 };
        3.0 * self.net.multiplications(columns) * self.batch as f64 * (1.0 + more)
    }

    /// Minutes of two cores that training takes, roughly.
    pub fn minutes(&self, columns: &[(usize, usize)]) -> f64 {
        self.multiplications(columns) * self.train.steps as f64 / MINUTE
    }

    /// With so many steps, and all that follows from their number. The average looks back over an eighth of the run.
    pub fn with_steps(self, steps: u64) -> Self {
        // A network that has no say learns nothing.
        let steps = if self.net.kind == TrunkKind::Trees { 1 } else { steps };
        Self { train: self.train.with_steps(steps, 8.0), ..self }
    }

    /// The network of a schema, on a device.
    pub fn network(
        &self,
        schema: &Arc<Schema>,
        device: &Device,
    ) -> Result<TableNet, pmm_core::ParameterError> {
        TableNet::new(schema.clone(), self.clock, self.head, &self.net, device.clone())
    }

    /// Refuses settings that make no model.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("batch", self.batch, 1, 1_000_000)?;
        SettingError::between("valid", self.valid, 0.0, 0.5)?;
        SettingError::between("in_order", self.in_order, 0.0, 1.0)?;
        let whole_law = self.clock == ClockKind::Gradual || self.head == Head::Marginal;
        let must = "\"marginal\" unless clock = \"gradual\": a reveal draws from the whole law of a column";
        SettingError::unless(whole_law, "head", "\"mean\"", must)?;
        let reveals = self.clock == ClockKind::Reveal || !self.net.kind.has_trees();
        SettingError::unless(reveals, "clock", "\"gradual\"", "\"reveal\" where net.kind has trees")?;
        if let Some(trees) = &self.trees {
            let must = "\"pooled\" or \"trees\" where there are settings of trees";
            SettingError::unless(self.net.kind.has_trees(), "net.kind", "a network alone", must)?;
            trees.check()?;
        }
        self.net.check()?;
        self.train.check(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_toml;

    /// The settings of a model from before there was a choice of networks, as its folder has them.
    const OLD: &str = r#"seed = 0
clock = "reveal"
head = "marginal"
valid = 0.1
batch = 128
in_order = 0.5

[net]
width = 256
blocks = 3
dropout = 0.3

[train]
steps = 600
learning_rate = 0.001
warmup = 30
decay = true
beta_2 = 0.999
weight_decay = 0.1
clip = 1.0
ema = 0.9866666666666667
validate_every = 20
patience = 6
checkpoint_seconds = 10.0
"#;

    /// A model is known by a digest of its settings: old ones are read, and written as they were.
    #[test]
    fn old_settings_stay_as_they_are() {
        let config: TableConfig = toml::from_str(OLD).unwrap();
        assert_eq!(config.net, TrunkConfig { dropout: 0.3, ..TrunkConfig::default() });
        assert_eq!(to_toml(&config), OLD);
    }

    #[test]
    fn networks_are_named() {
        let read = |net: &str| toml::from_str::<TableConfig>(&format!("[net]\n{net}"));
        assert_eq!(read("kind = \"mlp\"").unwrap(), TableConfig::default());
        let attention = TableConfig { net: TrunkConfig::of(TrunkKind::Attention), ..TableConfig::default() };
        let text = to_toml(&attention);
        assert!(text.contains("[net]\nkind = \"attention\"\nwidth = 32\n"), "{text}");
        assert_eq!(toml::from_str::<TableConfig>(&text).unwrap(), attention);
        let error = read("kind = \"forest\"").unwrap_err().to_string();
        assert!(error.contains("forest") && error.contains("attention"), "{error}");
        let odd = TableConfig { net: TrunkConfig { width: 30, ..attention.net }, ..TableConfig::default() };
        let error = odd.check().unwrap_err().to_string();
        assert!(error.contains("net.width = 30: it must be a multiple of 4"), "{error}");
    }
}
