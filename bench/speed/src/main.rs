//! One side of the benchmark: `bench-speed CASE FOLDER THREADS` makes a network, writes its weights and a batch to the folder, and then
//! answers on a pipe: `train` and `infer` with the seconds of a step and of a forward pass, `memory` with its peak in megabytes.

mod cases;

use std::convert::Infallible;
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pmm_train::{Progress, State, Task, TrainConfig, Watcher, train};

use cases::Case;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: bench-speed CASE FOLDER THREADS";
    let [case, folder, threads] =
        <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>()).map_err(|_| usage)?;
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let case = Case::named(&case).ok_or("no such case")?;
    let weights = case.initial();
    case.write(Path::new(&folder), &weights)?;
    let mut state = State::new(weights.clone());
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let answer = match line?.as_str() {
            "train" => step(&case, &mut state)?,
            "infer" => {
                let begin = Instant::now();
                std::hint::black_box(case.forward(&weights));
                begin.elapsed().as_secs_f64()
            }
            "memory" => peak()?,
            other => return Err(format!("{other}: not a request").into()),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// The seconds of one training step: gradient, clipping, AdamW, average.
fn step(case: &Case, state: &mut State) -> Result<f64, Box<dyn Error>> {
    let config = TrainConfig {
        steps: state.step + 1,
        validate_every: u64::MAX,
        decay: false,
        ..TrainConfig::default()
    };
    let mut clock = Clock(Instant::now(), 0.0);
    train(case, &config, state, &mut clock, &AtomicBool::new(false)).map_err(|_| "training failed")?;
    Ok(clock.1)
}

struct Clock(Instant, f64);

impl Watcher for Clock {
    type Error = Infallible;
    fn step(&mut self, _: Progress, _: &State) -> Result<(), Infallible> {
        self.1 = self.0.elapsed().as_secs_f64();
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The batch is always the same, and held-out data there are none.
impl Task for Case {
    type Batch = ();
    fn batch(&self, _: u64) {}
    fn gradient(&self, weights: &[f32], (): (), gradient: &mut [f32]) -> f64 {
        self.gradient(weights, gradient)
    }
    fn initial(&self) -> Vec<f32> {
        self.initial()
    }
    fn validate(&self, _: &[f32]) -> f64 {
        f64::NAN
    }
    fn decayed(&self) -> Vec<f32> {
        self.parts().decayed()
    }
}

/// Peak resident memory in megabytes.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
