//! One side of the benchmark: `bench-speed CASE FOLDER THREADS` makes a network, writes its weights and a batch to the folder, and then
//! answers on a pipe: `train N` and `infer N` with the seconds of each of N steps or forward passes, `write N` with those of each of N texts
//! that are written at once, `memory` with its peak in megabytes.

mod cases;

use std::convert::Infallible;
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pmm_train::{Alone, Progress, Rules, Shard, State, Task, TrainConfig, Watcher, train};

use cases::Case;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: bench-speed CASE FOLDER THREADS";
    let [case, folder, threads] =
        <[String; 3]>::try_from(std::env::args().skip(1).collect::<Vec<_>>()).map_err(|_| usage)?;
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let case = Case::named(&case).ok_or("no such case")?;
    let weights: Arc<[f32]> = case.initial().into();
    case.write(Path::new(&folder), &weights)?;
    let mut state = State::new(weights.to_vec());
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (request, times) = line.split_once(' ').unwrap_or((&line, "1"));
        let times: u32 = times.parse()?;
        let answer = match request {
            "train" => steps(&case, &mut state, times)?,
            "infer" => passes(&case, &weights, times),
            "write" => texts(&case, &weights, times)?,
            "memory" => peak()?,
            other => return Err(format!("{other}: not a request").into()),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Seconds of each of some training steps (gradient, clipping, optimisers, average), after one that fills what is new.
fn steps(case: &Case, state: &mut State, times: u32) -> Result<f64, Box<dyn Error>> {
    let config = TrainConfig {
        steps: state.step + u64::from(times) + 1,
        validate_every: u64::MAX,
        decay: false,
        ..TrainConfig::default()
    };
    let mut ends = Ends(Vec::new());
    train(case, &config, &Alone, state, &mut ends).map_err(|_| "training failed")?;
    let (first, last) = ends.0.first().zip(ends.0.last()).ok_or("no step was taken")?;
    Ok((*last - *first).as_secs_f64() / f64::from(times))
}

/// Seconds of each of some forward passes.
fn passes(case: &Case, weights: &[f32], times: u32) -> f64 {
    let begin = Instant::now();
    for _ in 0..times {
        std::hint::black_box(case.forward(weights));
    }
    begin.elapsed().as_secs_f64() / f64::from(times)
}

/// Seconds of each of some texts, written at once.
fn texts(case: &Case, weights: &Arc<[f32]>, count: u32) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    std::hint::black_box(case.write_texts(weights, count as usize)?);
    Ok(begin.elapsed().as_secs_f64() / f64::from(count))
}

/// When each step ended.
struct Ends(Vec<Instant>);

impl Watcher for Ends {
    type Error = Infallible;
    fn step(&mut self, _: Progress, _: &State) -> Result<(), Infallible> {
        self.0.push(Instant::now());
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The batch is always the same, and held-out data there are none.
impl Task for Case {
    type Batch = Vec<usize>;
    fn batch(&self, _: u64, _: Shard) -> Vec<usize> {
        self.rows_read()
    }
    fn batch_rows(&self) -> usize {
        1
    }
    fn gradient(&self, weights: &[f32], _: Vec<usize>, gradient: &mut [f32]) -> f64 {
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
    fn rules(&self) -> Rules {
        self.rules()
    }
    fn rows_read<'b>(&self, rows: &'b Vec<usize>) -> &'b [usize] {
        rows
    }
}

/// Peak resident memory in megabytes.
fn peak() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
