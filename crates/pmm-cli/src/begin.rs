//! How a fit begins, whatever it learns: from the start, or where a checkpoint of the same data left off.

use std::path::Path;

use anyhow::Context;
use pmm_train::{
    Facts, Log, ModelError, State, TensorFileError, TrainConfig, load_state, load_tensors, remove_leftovers,
    save_state,
};

use crate::files;
use crate::keeper::Keeper;

pub(crate) const CHECKPOINT: &str = "state/checkpoint.safetensors";

/// Refuses a checkpoint of other data before anything of it is looked at.
pub(crate) fn check_data(folder: &Path, digest: &str) -> anyhow::Result<()> {
    let path = folder.join(CHECKPOINT);
    let (_, facts) = load_tensors(&path)?;
    let found = facts.get("data").cloned().unwrap_or_default();
    if found == digest {
        return Ok(());
    }
    Err(TensorFileError::Foreign { path, what: "data".into(), found, expected: digest.to_owned() }.into())
}

/// What a fit is known by: its folder, its training, and what its files belong together by.
pub(crate) struct Begin<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) train: &'a TrainConfig,
    pub(crate) identity: &'a Facts,
    /// How many there are in the network.
    pub(crate) weights: usize,
    pub(crate) resume: bool,
    pub(crate) quiet: bool,
}

impl<'a> Begin<'a> {
    /// The state to train from and its keeper; the folder can then go on, whatever happens.
    pub(crate) fn begin(
        self,
        initial: impl FnOnce() -> Vec<f32>,
        save_settings: impl FnOnce() -> Result<(), ModelError>,
    ) -> anyhow::Result<(State, Keeper<'a>)> {
        let checkpoint = self.folder.join(CHECKPOINT);
        let state = if self.resume {
            load_state(&checkpoint, self.identity, self.weights)?
        } else {
            State::new(initial())
        };
        files::make_folder(&self.folder.join("state"))?;
        files::begin_anew(self.folder, self.resume)?;
        remove_leftovers(self.folder);
        remove_leftovers(&self.folder.join("state"));
        // Before the settings, by which a folder is known as a fit: whatever has settings can go on.
        save_state(&checkpoint, &state, self.identity)?;
        save_settings()?;
        let log = Log::open(&self.folder.join("log.csv"), state.step).context("cannot write log.csv")?;
        let keeper = Keeper::new(self.train, self.identity, checkpoint, log, state.step, self.quiet);
        Ok((state, keeper))
    }
}
