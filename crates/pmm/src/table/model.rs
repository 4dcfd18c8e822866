//! A model's folder `NAME.pmm/`: `config.toml`, `schema.json`, `weights.safetensors`, `state/`, `log.csv`, and reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pmm_data::{Schema, SchemaError};
use pmm_net::Parts;
use pmm_net::table::{TableDenoiser, TableNet};

use crate::fit_config::FitConfig;
use pmm_store::write_atomically;
use pmm_store::{Facts, Named, TensorFileError, load_tensors, save_tensors};

/// Why a model was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No such folder, or not one of ours.
    #[error("{} is not a model: it has no {missing}", path.display())]
    NotAModel {
        /// The folder.
        path: PathBuf,
        /// The file it lacks.
        missing: &'static str,
    },
    /// A fit that has not come to its first weights.
    #[error("{} has no weights yet: its fit was stopped before the first validation", path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// `schema.json` cannot be used.
    #[error("{}: {source}", path.display())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: SchemaError,
    },
    /// The schema is not one.
    #[error("the schema cannot be written: {0}")]
    Unwritable(SchemaError),
    /// `config.toml` cannot be used.
    #[error("{}: {why}", path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file of tensors cannot be used.
    #[error(transparent)]
    Tensors(#[from] TensorFileError),
    /// The schema makes no network.
    #[error("the schema makes no model: {0}")]
    Parameter(#[from] pmm_core::ParameterError),
}

/// The names of the files.
pub(crate) const CONFIG: &str = "config.toml";
const SCHEMA: &str = "schema.json";
const WEIGHTS: &str = "weights.safetensors";
/// The fact beside a table's weights that says what is not drawn.
const TRIMS: &str = "trims";

/// A model: data's schema, settings and the network with its weights.
#[derive(Debug)]
pub struct Model {
    /// The settings.
    pub config: FitConfig,
    /// The columns.
    pub schema: Arc<Schema>,
    /// The network.
    pub denoiser: TableDenoiser,
    /// Facts about the fit: rows, steps, validation loss, version.
    pub facts: Facts,
}

/// What a model's files belong together by: a digest of data, schema, settings, and the program's version.
pub fn identity(data: &str, schema: &Schema, config: &FitConfig) -> Result<Facts, ModelError> {
    let schema = schema.to_json().map_err(ModelError::Unwritable)?;
    Ok(facts(data, &schema, &to_toml(&what_matters(config))))
}

pub(crate) fn facts(data: &str, schema: &str, config: &str) -> Facts {
    let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..32].to_owned();
    [
        ("data".to_owned(), data.to_owned()),
        ("schema".to_owned(), digest(schema)),
        ("config".to_owned(), digest(config)),
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .into()
}

/// The settings without those that leave the result as it is.
fn what_matters(config: &FitConfig) -> FitConfig {
    let mut config = config.clone();
    config.train.checkpoint_seconds = crate::TrainConfig::default().checkpoint_seconds;
    config
}

/// The network of a schema and settings, on the chosen device.
pub fn network(schema: &Arc<Schema>, config: &FitConfig) -> Result<TableNet, pmm_core::ParameterError> {
    TableNet::new(schema.clone(), config.clock, config.head, &config.net, pmm_net::device())
}

/// Settings as text.
pub fn to_toml(config: &impl serde::Serialize) -> String {
    toml::to_string(config).unwrap_or_else(|error| unreachable!("settings are numbers and texts: {error}"))
}

/// Writes settings and schema.
pub fn save_settings(folder: &Path, config: &FitConfig, schema: &Schema) -> Result<(), ModelError> {
    write(folder, SCHEMA, &schema.to_json().map_err(ModelError::Unwritable)?)?;
    write(folder, CONFIG, &to_toml(config))
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), ModelError> {
    let path = folder.join(name);
    write_atomically(&path, text.as_bytes()).map_err(|source| ModelError::Io { path, source })
}

pub(crate) fn read(folder: &Path, name: &'static str) -> Result<String, ModelError> {
    let path = folder.join(name);
    match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ModelError::NotAModel { path: folder.into(), missing: name })
        }
        other => other.map_err(|source| ModelError::Io { path, source }),
    }
}

/// Whether the settings of a folder say that it is a model of this kind.
pub(crate) fn is_kind(folder: &Path, kind: &str) -> bool {
    let text = std::fs::read_to_string(folder.join(CONFIG)).unwrap_or_default();
    let found = text.parse::<toml::Table>().ok().and_then(|mut table| table.remove("kind"));
    found.is_some_and(|found| found.as_str() == Some(kind))
}

/// Writes the weights with facts about them; `identity` ties them to the other files.
pub fn save_model_weights(
    folder: &Path,
    parts: &Parts,
    weights: &[f32],
    facts: &Facts,
) -> Result<(), ModelError> {
    let named = |part: &pmm_net::Part| Named {
        name: part.name.clone(),
        shape: part.shape.to_vec(),
        values: &weights[part.range.clone()],
    };
    let tensors: Vec<Named<&[f32]>> = parts.iter().map(named).collect();
    Ok(save_tensors(&folder.join(WEIGHTS), &tensors, facts)?)
}

/// Adds to the facts how far below its share a code counts as impossible, column by column.
pub fn note_trims(facts: &mut Facts, trims: &[f64]) {
    let trims: Vec<String> = trims.iter().map(f64::to_string).collect();
    facts.insert(TRIMS.into(), trims.join(" "));
}

/// Settings and schema of a folder.
pub fn load_settings(folder: &Path) -> Result<(FitConfig, Schema), ModelError> {
    let config: FitConfig = toml::from_str(&read(folder, CONFIG)?)
        .map_err(|error| ModelError::Config { path: folder.join(CONFIG), why: error.to_string() })?;
    if let Some(why) = config.problem() {
        return Err(ModelError::Config { path: folder.join(CONFIG), why });
    }
    let schema = Schema::from_json(&read(folder, SCHEMA)?)
        .map_err(|source| ModelError::Schema { path: folder.join(SCHEMA), source })?;
    Ok((config, schema))
}

impl Model {
    /// Reads a model, whole and unaltered.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let (config, schema) = load_settings(folder)?;
        let schema = Arc::new(schema);
        let net = network(&schema, &config)?;
        let (weights, facts) = gather(folder, net.parts(), |data| identity(data, &schema, &config))?;
        let trims = numbers(facts.get(TRIMS)).ok_or_else(|| {
            let why = format!("{TRIMS} are not numbers");
            TensorFileError::Damaged { path: folder.join(WEIGHTS), why }
        })?;
        let denoiser = TableDenoiser::new(Arc::new(net), weights).trimmed(&trims);
        Ok(Self { config, schema, denoiser, facts })
    }
}

/// A fact that is a list of numbers; none if it is absent.
fn numbers(fact: Option<&String>) -> Option<Vec<f64>> {
    fact.map_or(Some(Vec::new()), |fact| fact.split(' ').map(|number| number.parse().ok()).collect())
}

/// The flat buffer of a network from the folder's weights, and the facts beside them, if they are those that `identity` (of a
/// digest of the data) asks for.
pub(crate) fn gather(
    folder: &Path,
    parts: &Parts,
    identity: impl Fn(&str) -> Result<Facts, ModelError>,
) -> Result<(Vec<f32>, Facts), ModelError> {
    let path = folder.join(WEIGHTS);
    if !path.exists() {
        return Err(ModelError::Unfinished { path: folder.into() });
    }
    let (tensors, facts) = load_tensors(&path)?;
    let data = facts.get("data").cloned().unwrap_or_default();
    for (what, expected) in identity(&data)? {
        let found = facts.get(&what).cloned().unwrap_or_else(|| "absent".into());
        if found != expected {
            return Err(TensorFileError::Foreign { path, what, found, expected }.into());
        }
    }
    let weights = flat(parts, tensors).map_err(|why| TensorFileError::Damaged { path, why })?;
    Ok((weights, facts))
}

fn flat(parts: &Parts, tensors: Vec<Named>) -> Result<Vec<f32>, String> {
    let mut tensors: std::collections::HashMap<String, Named> =
        tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    let mut weights = Vec::with_capacity(parts.len());
    for part in parts.iter() {
        let tensor = tensors.remove(&part.name).ok_or_else(|| format!("no tensor called {}", part.name))?;
        if tensor.shape != part.shape {
            return Err(format!("{} is {:?}, not {:?}", part.name, tensor.shape, part.shape));
        }
        weights.extend(tensor.values);
    }
    Ok(weights)
}
