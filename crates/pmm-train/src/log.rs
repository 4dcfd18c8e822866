//! `log.csv`: one line per validation.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use pmm_store::write_atomically;

const HEADER: &str = "step,seconds,train_loss,valid_loss,learning_rate,skipped\n";

/// The log of a run, kept whole in memory (a line per validation) and written anew each time.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    text: String,
}

impl Log {
    /// Opens a log; when a run goes on from `step`, lines of later steps are dropped, for they will come again.
    pub fn open(path: &Path, step: u64) -> io::Result<Self> {
        let mut text = HEADER.to_owned();
        if step > 0 && path.exists() {
            let old = std::fs::read_to_string(path)?;
            let kept = old.lines().skip(1).filter(|line| {
                line.split(',').next().and_then(|s| s.parse::<u64>().ok()).is_some_and(|s| s <= step)
            });
            kept.for_each(|line| {
                text.push_str(line);
                text.push('\n');
            });
        }
        Ok(Self { path: path.to_owned(), text })
    }

    /// Adds a line and writes the file.
    pub fn add(
        &mut self,
        step: u64,
        seconds: f64,
        train: f64,
        valid: f64,
        rate: f64,
        skipped: u64,
    ) -> io::Result<()> {
        let _ = writeln!(self.text, "{step},{seconds:.2},{train:.6},{valid:.6},{rate:.3e},{skipped}");
        write_atomically(&self.path, self.text.as_bytes())
    }

    /// (step, training loss, validation loss) of every line.
    pub fn curve(text: &str) -> Vec<(f64, f64, f64)> {
        let line = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
            (cells.len() >= 4).then(|| (cells[0], cells[2], cells[3]))
        };
        text.lines().skip(1).filter_map(line).collect()
    }
}
