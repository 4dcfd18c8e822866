//! One side of the benchmark: `bench-speed CASE FOLDER THREADS` makes a network, writes its weights and a batch to the folder, and then
//! answers on a pipe: `train N` and `infer N` with the seconds of each of N steps or forward passes, `memory` with its peak in megabytes.

mod cases;

use std::convert::Infallible;
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use pmm_train::{Alone, Progress, Shard, State, Task, TrainConfig, Watcher, train};

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
        let line = line?;
        let (request, times) = line.split_once(' ').unwrap_or((&line, "1"));
        let times: u32 = times.parse()?;
        let begin = Instant::now();
        match request {
            "train" => steps(&case, &mut state, times)?,
            "infer" => (0..times).for_each(|_| {
                std::hint::black_box(case.forward(&weights));
            }),
            "memory" => (),
            other => return Err(format!("{other}: not a request").into()),
        }
        let seconds = begin.elapsed().as_secs_f64() / f64::from(times);
        println!("{}", if request == "memory" { peak()? } else { seconds });
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Training steps: gradient, clipping, AdamW, average.
fn steps(case: &Case, state: &mut State, times: u32) -> Result<(), Box<dyn Error>> {
    let config = TrainConfig {
        steps: state.step + u64::from(times),
        validate_every: u64::MAX,
        decay: false,
        ..TrainConfig::default()
    };
    train(case, &config, &Alone, state, &mut Unwatched).map_err(|_| "training failed")?;
    Ok(())
}

struct Unwatched;

impl Watcher for Unwatched {
    type Error = Infallible;
    fn step(&mut self, _: Progress, _: &State) -> Result<(), Infallible> {
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The batch is always the same, and held-out data there are none.
impl Task for Case {
    type Batch = ();
    fn batch(&self, _: u64, _: Shard) {}
    fn batch_rows(&self) -> usize {
        1
    }
    fn gradient(&self, weights: &[f32], (): (), gradient: &mut [f32]) -> f64 {
        self.gradient(weights, gradient)
    }
    fn initial(&self) -> Vec<f32> {
        self.initial()
    }
    fn pieces(&self) -> usize {
        0
    }
    fn losses(&self, _: &[f32], _: std::ops::Range<usize>) -> Vec<f64> {
        Vec::new()
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
