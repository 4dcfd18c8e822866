//! `log.csv`: one line per validation.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pmm_eval::TrainingPoint;

use crate::error::Error;
use crate::folder;

const HEADER: &str = "step,seconds,train_loss,valid_loss,learning_rate,skipped\n";

/// The log of a run, kept whole in memory (a line per validation) and written anew each time.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    text: String,
    /// Seconds of training before this run.
    before: f64,
}

impl Log {
    /// Opens a log; when a run goes on from `step`, lines of later steps are dropped, for they will come again.
    pub(crate) fn open(path: &Path, step: u64) -> Result<Self, Error> {
        let mut text = HEADER.to_owned();
        if step > 0 && path.exists() {
            let old =
                std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.into(), source })?;
            let kept = old.lines().skip(1).filter(|line| {
                line.split(',').next().and_then(|s| s.parse::<u64>().ok()).is_some_and(|s| s <= step)
            });
            kept.for_each(|line| {
                text.push_str(line);
                text.push('\n');
            });
        }
        let before = seconds(&text).unwrap_or(0.0);
        Ok(Self { path: path.to_owned(), text, before })
    }

    /// Adds a line and writes the file.
    pub(crate) fn add(
        &mut self,
        step: u64,
        seconds: f64,
        train: f64,
        valid: f64,
        rate: f64,
        skipped: u64,
    ) -> Result<(), Error> {
        let seconds = self.before + seconds;
        let _ = writeln!(self.text, "{step},{seconds:.2},{train:.6},{valid:.6},{rate:.3e},{skipped}");
        folder::write(&self.path, self.text.as_bytes())
    }
}

/// Seconds of training, by the last line of a log.
fn seconds(text: &str) -> Option<f64> {
    text.lines().skip(1).last()?.split(',').nth(1)?.parse().ok()
}

/// Seconds of training of a folder's model.
pub(crate) fn training_seconds(folder: &Path) -> Option<f64> {
    seconds(&std::fs::read_to_string(folder.join(folder::LOG)).ok()?)
}

/// The losses of the model in a folder, by its log: none where there is no log yet.
pub fn learning_curve(folder: &Path) -> Vec<TrainingPoint> {
    let text = std::fs::read_to_string(folder.join(folder::LOG)).unwrap_or_default();
    let point = |line: &str| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
        let [step, _, train, valid, ..] = cells[..] else { return None };
        Some(TrainingPoint { step: step as u64, train, valid: valid.is_finite().then_some(valid) })
    };
    text.lines().skip(1).filter_map(point).collect()
}
