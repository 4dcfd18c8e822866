//! The Rust side of `bench/core/run`: reads commands on stdin, answers on stdout.
//!
//! - `<pair> <operation> <width>`, followed by three arrays: the case to run from now on.
//! - `time <threads> <step>`: runs it from its starting states; answers with the seconds that the call itself took.
//! - `stat`: answers with the statistics that the last run left.
//!
//! An array is a line with its length in bytes, then its little-endian elements.

mod wire;

use std::io::{BufRead, Write};
use std::time::Instant;

use pmm_core::{
    Categorical, Estimate, Gamma, Masked, Normal, Pair, Poisson, Purpose, Streams, advance_block, draw_block,
};
use rayon::{ThreadPool, ThreadPoolBuilder};
use wire::{Result, Wire};

/// The number of classes of the two categorical pairs.
const CLASSES: u32 = 27;
/// The clock reading that an advance moves every coordinate to.
const TARGET: f64 = 10.0;

fn main() -> Result<()> {
    let pools = [pool(1)?, pool(2)?];
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut case: Option<Box<dyn Run>> = None;
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        match (line.split_whitespace().collect::<Vec<_>>()[..].as_ref(), &mut case) {
            (["time", threads, step], Some(case)) => {
                let pool = &pools[threads.parse::<usize>()? - 1];
                writeln!(output, "{}", case.time(pool, step.parse()?))?;
            }
            (["stat"], Some(case)) => case.write_stat(&mut output)?,
            ([pair, operation, width], case) => {
                *case = Some(read_case(pair, operation, width.parse()?, &mut input)?);
            }
            _ => return Err(format!("not a command here: {line}").into()),
        }
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

fn read_case(pair: &str, operation: &str, width: usize, input: &mut impl BufRead) -> Result<Box<dyn Run>> {
    Ok(match pair {
        "Normal" => Box::new(Case::read(Normal::new(1.0, 0.0)?, operation, width, input)?),
        "Poisson" => Box::new(Case::read(Poisson::new(1.0, 1.0)?.intensities(), operation, width, input)?),
        "Gamma" => Box::new(Case::read(Gamma::new(2.0, 1.0)?, operation, width, input)?),
        "Masked" => Box::new(Case::read(Masked::new(CLASSES)?, operation, width, input)?),
        "Categorical" => Box::new(Case::read(Categorical::new(CLASSES, 1.0)?, operation, width, input)?),
        _ => return Err(format!("not a pair: {pair}").into()),
    })
}

/// A case, whatever its pair.
trait Run {
    fn time(&mut self, pool: &ThreadPool, step: u64) -> f64;
    fn write_stat(&self, output: &mut dyn Write) -> Result<()>;
}

struct Case<P: Pair> {
    pair: P,
    width: usize,
    source: Source<P::Value>,
    start: (Vec<f64>, Vec<P::Stat>),
    clock: Vec<f64>,
    stat: Vec<P::Stat>,
}

/// Where states come from: drawn straight from x, or advanced from the starting states by an estimate.
enum Source<V> {
    Data(Vec<V>),
    Estimate(Estimate),
}

impl<P: Pair<Value: Wire, Stat: Wire>> Case<P> {
    fn read(pair: P, operation: &str, width: usize, input: &mut impl BufRead) -> Result<Self> {
        let (clock, stat): (Vec<f64>, Vec<P::Stat>) = (wire::read(input)?, wire::read(input)?);
        let source = match operation {
            "draw" => Source::Data(wire::read(input)?),
            "advance" => Source::Estimate(Estimate::Mean(wire::read(input)?)),
            _ => return Err(format!("not an operation: {operation}").into()),
        };
        Ok(Self { pair, width, source, start: (clock.clone(), stat.clone()), clock, stat })
    }
}

impl<P: Pair<Value: Wire, Stat: Wire>> Run for Case<P> {
    fn time(&mut self, pool: &ThreadPool, step: u64) -> f64 {
        self.clock.copy_from_slice(&self.start.0);
        self.stat.copy_from_slice(&self.start.1);
        let stream = |row: usize| Streams::new(0).stream(Purpose::STATE, step, row as u64);
        pool.install(|| {
            let start = Instant::now();
            let (pair, clock, stat) = (&self.pair, &mut self.clock, &mut self.stat);
            match &self.source {
                Source::Data(x) => draw_block(pair, x, clock, self.width, stat, stream),
                Source::Estimate(x_hat) => {
                    advance_block(pair, x_hat, self.width, |_, _| TARGET, clock, stat, stream)
                }
            }
            start.elapsed().as_secs_f64()
        })
    }

    fn write_stat(&self, output: &mut dyn Write) -> Result<()> {
        wire::write(&self.stat, output)
    }
}
