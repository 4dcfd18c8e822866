//! Why streams and scalar draws are our own: the crates that could stand in for them, on the same rows.
//!
//! `cargo run --release -p bench-core --bin crates` prints nanoseconds per draw, medians of interleaved rounds.

use std::hint::black_box;
use std::time::Instant;

use pmm_core::{Gamma, Pair, Poisson, Purpose, Streams};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_philox::Philox;

const ROWS: u64 = 20_000;
const COLUMNS: usize = 10;
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let streams = Streams::new(0);
    println!("Normal draws, rows of {COLUMNS}, each from its own stream:");
    compare(&[
        ("pmm_core::Streams", &|| each_row(|row| streams.stream(Purpose::STATE, 0, row), |rng| rng.normal())),
        ("rand_philox", &|| {
            each_row(|row| Philox::new([0, 0], u128::from(row) << 64), |rng| StandardNormal.sample(rng))
        }),
        ("rand_chacha (ChaCha8)", &|| each_row(chacha, |rng| StandardNormal.sample(rng))),
    ]);

    let x: Vec<f32> = (0..COLUMNS).map(|c| 0.2 + c as f32).collect();
    let stream = |row| streams.stream(Purpose::STATE, 0, row);
    let (poisson, gamma) = (Poisson::new(1.0, 1.0)?.intensities(), Gamma::new(2.0, 1.0)?);
    for a in [0.1, 3.0, 100.0] {
        println!("Poisson draws of mean {a} x, x from 0.2 to 9.2, from the same streams:");
        compare(&[
            ("pmm_core::Poisson", &|| rows_of(&poisson, &x, a, stream)),
            ("rand_distr::Poisson", &|| {
                each_cell(&x, stream, |x, rng| {
                    rand_distr::Poisson::new(a * x).map_or(f64::NAN, |law| law.sample(rng))
                })
            }),
        ]);
    }
    for a in [0.01, 0.5, 5.0] {
        println!("Gamma draws of shape {a} and scale x, from the same streams:");
        compare(&[
            ("pmm_core::Gamma", &|| rows_of(&gamma, &x, a, stream)),
            ("rand_distr::Gamma", &|| {
                each_cell(&x, stream, |x, rng| {
                    rand_distr::Gamma::new(a, x).map_or(f64::NAN, |law| law.sample(rng))
                })
            }),
        ]);
    }
    Ok(())
}

fn chacha(row: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::from_seed([0; 32]);
    rng.set_stream(row);
    rng
}

/// The sum of draws over rows of [`COLUMNS`], each row from its own generator.
fn each_row<R>(start: impl Fn(u64) -> R, draw: impl Fn(&mut R) -> f64) -> f64 {
    let row = |row| {
        let mut rng = start(row);
        (0..COLUMNS).map(|_| draw(&mut rng)).sum::<f64>()
    };
    (0..ROWS).map(row).sum()
}

fn each_cell<R>(x: &[f32], start: impl Fn(u64) -> R, draw: impl Fn(f64, &mut R) -> f64) -> f64 {
    let row = |row| {
        let mut rng = start(row);
        x.iter().map(|x| draw(f64::from(*x), &mut rng)).sum::<f64>()
    };
    (0..ROWS).map(row).sum()
}

fn rows_of<P: Pair<Value = f32, Stat = f64>>(
    pair: &P,
    x: &[f32],
    a: f64,
    start: impl Fn(u64) -> pmm_core::Stream,
) -> f64 {
    let (clocks, mut s) = ([a; COLUMNS], [0.0; COLUMNS]);
    let row = |row| {
        pair.draw_row(x, &clocks, &mut s, &mut start(row));
        s.iter().sum::<f64>()
    };
    (0..ROWS).map(row).sum()
}

/// Runs the candidates in turn and prints the median time per draw of each, with the ratio to the first.
fn compare(candidates: &[(&str, &dyn Fn() -> f64)]) {
    let mut times = vec![Vec::new(); candidates.len()];
    for _ in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(candidates) {
            let start = Instant::now();
            black_box(run());
            times.push(start.elapsed().as_nanos() as f64 / (ROWS as f64 * COLUMNS as f64));
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let medians: Vec<f64> = times.iter_mut().map(median).collect();
    for ((name, _), time) in candidates.iter().zip(&medians) {
        println!("  {name:22} {time:6.1} ns   {:.2}", time / medians[0]);
    }
}
