//! How long trees take to grow and to answer, on rows that are binned already: one side of `bench/tables/trees.py`, which says what is compared.
//!
//! `speed FOLDER OBJECTIVE FEATURES THREADS ROUNDS LEAVES RATE L2 LEAST` reads `train.bins` and `test.bins` (bytes, row by row, from 1 on) and
//! `targets` (f32, a model after the other), fits each model on a thread of its own, writes `answers` (f32, likewise: the
//! log-odds or the number of every test row) and prints the seconds of fitting and of answering.

use std::error::Error;
use std::path::Path;
use std::str::FromStr;
use std::thread::scope;
use std::time::Instant;

use pmm_core::Streams;
use pmm_trees::{
    BoostConfig, ColumnTrees, Examples, Feature, FeatureKind, NumberLoss, Numbers, Questions, fit, fit_number,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

struct Job {
    odds: bool,
    features: Vec<Feature>,
    threads: usize,
    config: BoostConfig,
    train: Vec<u8>,
    test: Vec<u8>,
    /// A list a model.
    targets: Vec<Vec<f32>>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or("a folder is missing")?);
    let job = Job::read(folder, &arguments[1..])?;
    let begun = Instant::now();
    let models = job.models();
    let fitted = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let answers: Vec<f32> = models.iter().flat_map(|model| job.answers(model)).collect();
    let answered = begun.elapsed().as_secs_f64();
    std::fs::write(folder.join("answers"), answers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())?;
    let trees: usize = models.iter().map(ColumnTrees::trees).sum();
    println!("{{\"fit\": {fitted}, \"predict\": {answered}, \"trees\": {trees}}}");
    Ok(())
}

impl Job {
    fn read(folder: &Path, arguments: &[String]) -> Result<Self> {
        let [objective, features, threads, rounds, leaves, rate, l2, least] = arguments else {
            return Err("eight arguments are expected after the folder".into());
        };
        let (features, rounds) = (number(features)?, number(rounds)?);
        let train = std::fs::read(folder.join("train.bins"))?;
        let targets: Vec<f32> = std::fs::read(folder.join("targets"))?
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        Ok(Self {
            odds: objective == "odds",
            features: (0..features).map(|at| feature(&train, at, features)).collect(),
            threads: number(threads)?,
            config: BoostConfig {
                rounds,
                rate: number(rate)?,
                leaves: number(leaves)?,
                l2: number(l2)?,
                least: number(least)?,
                share: 1.0,
                patience: rounds,
            },
            targets: targets.chunks(train.len() / features).map(<[f32]>::to_vec).collect(),
            test: std::fs::read(folder.join("test.bins"))?,
            train,
        })
    }

    /// All models, each on a thread of its own.
    fn models(&self) -> Vec<ColumnTrees> {
        scope(|scope| {
            let running: Vec<_> =
                self.targets.iter().map(|targets| scope.spawn(|| self.model(targets))).collect();
            running.into_iter().flat_map(|thread| thread.join()).collect()
        })
    }

    fn model(&self, targets: &[f32]) -> ColumnTrees {
        let (features, bins, key) = (&self.features[..], self.train.clone(), (&Streams::new(0), 0));
        if !self.odds {
            let learned = Numbers { bins, targets: targets.to_vec() };
            let all = (&learned, |_| true);
            return fit_number(features, NumberLoss::Mean, all, &Numbers::default(), &self.config, key);
        }
        let codes: Vec<u32> = targets.iter().map(|target| *target as u32).collect();
        let ones = codes.iter().filter(|code| **code == 1).count() as u64;
        let counts = [codes.len() as u64 - ones, ones];
        let learned = Examples { bins, codes };
        let examples = (&learned, &Examples::default());
        fit(features, Questions::ordered(&counts), &counts, examples, &self.config, key)
    }

    /// The log-odds or numbers of all test rows, shared among the threads.
    fn answers(&self, model: &ColumnTrees) -> Vec<f32> {
        let width = self.features.len();
        let part = (self.test.len() / width).div_ceil(self.threads) * width;
        scope(|scope| {
            let of = |rows: &[u8]| rows.chunks(width).map(|row| model.number(row) as f32).collect::<Vec<_>>();
            let running: Vec<_> = self.test.chunks(part).map(|rows| scope.spawn(move || of(rows))).collect();
            running.into_iter().flat_map(|thread| thread.join()).flatten().collect()
        })
    }
}

/// A feature with an order and as many bins as its rows have.
fn feature(rows: &[u8], at: usize, features: usize) -> Feature {
    let last = rows.iter().skip(at).step_by(features).max().copied().unwrap_or(0);
    Feature { kind: FeatureKind::Ordered, bins: usize::from(last) + 1 }
}

fn number<T: FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| format!("`{text}` is no number").into())
}
