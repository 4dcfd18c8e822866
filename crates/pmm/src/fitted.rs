//! A fitted model of any kind: settings, description, weights and how the fit went, in memory or in its folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pmm_net::Device;
use pmm_store::{Identity, Named, TensorFileError, load_tensors, save_tensors};
use pmm_train::{Outcome, State, named, to_toml};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::{self, CONFIG, WEIGHTS};
use crate::kind::{Config, Kind};

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FitOutcome {
    /// All steps were taken.
    Finished,
    /// Held-out data gained nothing more.
    Converged,
    /// It was asked to stop, or died: it can go on.
    Stopped,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSummary {
    /// The version of pmm that made it.
    pub version: String,
    /// How it ended.
    pub outcome: FitOutcome,
    /// Steps taken.
    pub steps: u64,
    /// The step of the best average, which is the model.
    pub best_step: Option<u64>,
    /// Its loss on held-out data.
    pub held_out_loss: Option<f64>,
    /// Steps skipped because their loss or gradient was not finite.
    pub skipped: u64,
    /// The step after which a second, shorter attempt was made, and its length.
    pub second_attempt: Option<(u64, u64)>,
}

impl FitSummary {
    /// `outcome` is none while it runs, or if it died.
    pub(crate) fn of(state: &State, outcome: Option<Outcome>) -> Self {
        let outcome = match outcome {
            Some(Outcome::Done) => FitOutcome::Finished,
            Some(Outcome::Converged) => FitOutcome::Converged,
            Some(Outcome::Interrupted) | None => FitOutcome::Stopped,
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            outcome,
            steps: state.step,
            best_step: state.best.as_ref().map(|best| best.step),
            held_out_loss: state.best.as_ref().map(|best| best.loss).filter(|loss| loss.is_finite()),
            skipped: state.skipped,
            second_attempt: (state.horizon > 0).then_some((state.begun, state.horizon)),
        }
    }
}

impl FitSummary {
    /// How the fit went, in words; `unit` is that of the loss.
    pub(crate) fn sentence(&self, unit: &str) -> String {
        match (self.best_step, self.held_out_loss) {
            (Some(step), Some(loss)) => {
                format!(
                    "{} steps, the best at step {step} with a held-out loss of {loss:.6} {unit}",
                    self.steps
                )
            }
            _ => format!("{} steps, not validated yet", self.steps),
        }
    }
}

/// What the weights' file says about itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsFacts<F> {
    identity: Identity,
    fit: FitSummary,
    data: F,
}

/// A fitted model of one kind.
pub(crate) struct Fitted<K: Kind> {
    pub(crate) config: K::Config,
    pub(crate) description: Arc<K::Description>,
    pub(crate) net: Arc<K::Net>,
    pub(crate) weights: Vec<f32>,
    pub(crate) more: K::More,
    pub(crate) identity: Identity,
    pub(crate) fit: FitSummary,
    pub(crate) facts: K::Facts,
    /// The folder that it was read from or fitted in.
    pub(crate) folder: Option<PathBuf>,
}

/// What the files of a model belong together by.
pub(crate) fn identity<K: Kind>(
    data: &str,
    description: &K::Description,
    config: &K::Config,
) -> Result<Identity, Error> {
    Ok(Identity::new(data, &K::write_description(description)?, &to_toml(&config.that_count())))
}

/// Settings and description of a folder.
pub(crate) fn load_settings<K: Kind>(folder: &Path) -> Result<(K::Config, K::Description), Error> {
    let path = folder.join(CONFIG);
    let config: K::Config = toml::from_str(&folder::read_text(folder, CONFIG)?)
        .map_err(|error| Error::DamagedModel { path: path.clone(), why: error.message().to_owned() })?;
    let damaged =
        |error: pmm_net::SettingError| Error::DamagedModel { path: path.clone(), why: error.to_string() };
    config.check().map_err(damaged)?;
    let path = folder.join(K::DESCRIPTION_FILE);
    let description = K::read_description(&folder::read_text(folder, K::DESCRIPTION_FILE)?, &path)?;
    K::check_description(&description, &config)
        .map_err(|error| Error::DamagedModel { path, why: error.to_string() })?;
    Ok((config, description))
}

/// Writes settings and description: the folder is then known as a fit.
pub(crate) fn save_settings<K: Kind>(
    folder: &Path,
    config: &K::Config,
    description: &K::Description,
) -> Result<(), Error> {
    let text = K::write_description(description)?;
    folder::write(&folder.join(K::DESCRIPTION_FILE), text.as_bytes())?;
    folder::write(&folder.join(CONFIG), to_toml(config).as_bytes())
}

impl<K: Kind> Fitted<K> {
    /// Reads a model, whole and unaltered.
    pub(crate) fn load(folder: &Path, device: &Device) -> Result<Self, Error> {
        let (config, description) = load_settings::<K>(folder)?;
        let description = Arc::new(description);
        let net = K::network(&config, &description, device)?;
        let path = folder.join(WEIGHTS);
        if !path.exists() {
            return Err(Error::Unfinished { folder: folder.into() });
        }
        let (tensors, found): (_, WeightsFacts<K::Facts>) = load_tensors(&path)?;
        let expected = identity::<K>(&found.identity.data, &description, &config)?;
        if let Some(difference) = found.identity.difference(&expected) {
            return Err(TensorFileError::Foreign { path, difference }.into());
        }
        let damaged = |why: String| Error::DamagedModel { path: path.clone(), why };
        let (weights, others) = flat(K::parts(&net), tensors).map_err(damaged)?;
        let more = K::read_more(&net, others).map_err(damaged)?;
        Ok(Self {
            config,
            description,
            net: Arc::new(net),
            weights,
            more,
            identity: found.identity,
            fit: found.fit,
            facts: found.data,
            folder: Some(folder.into()),
        })
    }

    /// Writes weights and card to a folder that has settings already.
    pub(crate) fn save_weights(&self, folder: &Path) -> Result<(), Error> {
        let facts =
            WeightsFacts { identity: self.identity.clone(), fit: self.fit.clone(), data: self.facts.clone() };
        folder::write(&folder.join("README.md"), K::card(self).as_bytes())?;
        let more = K::more_tensors(&self.more);
        let more = more.iter().map(|tensor| Named {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            values: &tensor.values[..],
        });
        let mut tensors = named(K::parts(&self.net), &self.weights);
        tensors.extend(more);
        Ok(save_tensors(&folder.join(WEIGHTS), &tensors, &facts)?)
    }

    /// Writes a whole folder: made beside, and put in place when it is whole. What stands there must be a model of ours, or
    /// nothing.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), Error> {
        folder::replace(folder, |place| {
            save_settings::<K>(place, &self.config, &self.description)?;
            if let Some(log) = self.folder.as_ref().and_then(|from| std::fs::read(from.join("log.csv")).ok())
            {
                folder::write(&place.join("log.csv"), &log)?;
            }
            self.save_weights(place)
        })
    }

    /// The name of the model, for titles: that of its folder.
    pub(crate) fn name(&self) -> String {
        let stem = self.folder.as_ref().and_then(|folder| folder.file_stem());
        stem.map_or_else(|| K::KIND.name().to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// The end of every model card.
    pub(crate) fn card_end(&self) -> String {
        format!("Data: BLAKE3 {}.\n\n```toml\n{}```\n", self.identity.data, to_toml(&self.config))
    }
}

/// The flat buffer of a network's weights, and the tensors that are not among them; numbers that are not finite are damage.
fn flat(parts: &pmm_net::Parts, tensors: Vec<Named>) -> Result<(Vec<f32>, Vec<Named>), String> {
    let mut tensors: std::collections::HashMap<String, Named> =
        tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
    let mut weights = Vec::with_capacity(parts.len());
    for part in parts.iter() {
        let tensor = tensors.remove(&part.name).ok_or_else(|| format!("no tensor called {}", part.name))?;
        if tensor.shape != part.shape {
            return Err(format!("{} is {:?}, not {:?}", part.name, tensor.shape, part.shape));
        }
        if let Some(number) = tensor.values.iter().find(|number| !number.is_finite()) {
            return Err(format!("{} holds {number}", part.name));
        }
        weights.extend(tensor.values);
    }
    Ok((weights, tensors.into_values().collect()))
}
