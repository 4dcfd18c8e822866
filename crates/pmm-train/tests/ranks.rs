//! Ranks that each keep a part of the state: what they make, and what rank 0 is given to keep, are those of one process, to the bit.
#![allow(clippy::unwrap_used)]

use std::ops::Range;

use pmm_train::{
    Alone, Exchange, MuonConfig, Outcome, Progress, Ranks, Rule, Rules, Shard, State, Task, Threads,
    TrainConfig, Watcher, train,
};

/// Weights under AdamW, a matrix under Muon, and a table of rows under Adagrad.
const ADAMW: usize = 50_000;
const DENSE: usize = ADAMW + 1200;
const ALL: usize = DENSE + 400;
const ROWS: usize = 24;

/// Every row of a batch pulls all weights to numbers of its own, and one row of the table; held-out loss is least early on.
struct Pull;

fn number(row: u64, at: usize) -> f32 {
    (((row + 3) * 2_654_435_761 + at as u64 * 40_503) % 10_007) as f32 / 5000.0 - 1.0
}

impl Task for Pull {
    /// Rows, and where the rows of the table begin that they read.
    type Batch = (Range<u64>, Vec<usize>);
    fn batch(&self, step: u64, shard: Shard) -> Self::Batch {
        let rows = shard.rows(ROWS);
        let rows = step * ROWS as u64 + rows.start as u64..step * ROWS as u64 + rows.end as u64;
        let mut read: Vec<usize> = rows.clone().map(|row| DENSE + (row * 7 % 40) as usize * 10).collect();
        read.sort_unstable();
        read.dedup();
        (rows, read)
    }
    fn batch_rows(&self) -> usize {
        ROWS
    }
    fn gradient(&self, w: &[f32], (rows, read): Self::Batch, gradient: &mut [f32]) -> f64 {
        let share = 1.0 / (rows.end - rows.start) as f32;
        gradient[..DENSE].fill(0.0);
        for row in rows {
            for (at, (g, w)) in gradient[..DENSE].iter_mut().zip(w).enumerate() {
                *g += share * (w - number(row, at));
            }
        }
        for at in read.iter().flat_map(|&at| at..at + 10) {
            gradient[at] = w[at] - 1.0;
        }
        f64::from(w[0])
    }
    fn initial(&self) -> Vec<f32> {
        (0..ALL).map(|at| number(99, at)).collect()
    }
    fn pieces(&self) -> usize {
        5
    }
    fn losses(&self, w: &[f32], pieces: Range<usize>) -> Vec<f64> {
        pieces.map(|piece| (f64::from(w[piece * 11_000]) - 0.4 * piece as f64).abs()).collect()
    }
    fn decayed(&self) -> Vec<f32> {
        vec![1.0; ALL]
    }
    fn rules(&self) -> Rules {
        let muon = Rule::Muon { shape: [30, 40], pieces: 2, config: MuonConfig::default() };
        vec![
            (0..ADAMW, Rule::AdamW),
            (ADAMW..DENSE, muon),
            (DENSE..ALL, Rule::Adagrad { rate: 0.1, columns: 10 }),
        ]
    }
    fn rows_read<'b>(&self, batch: &'b Self::Batch) -> &'b [usize] {
        &batch.1
    }
}

/// Keeps every state that it is given.
#[derive(Default)]
struct Keeping(Vec<State>);

impl Watcher for Keeping {
    type Error = std::convert::Infallible;
    fn wants_save(&mut self) -> bool {
        true
    }
    fn save(&mut self, state: &State) -> Result<(), Self::Error> {
        self.0.push(state.clone());
        Ok(())
    }
    fn step(&mut self, _: Progress, _: &State) -> Result<(), Self::Error> {
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn config(exchange: Exchange) -> TrainConfig {
    let (steps, validate_every, patience) = (14, 1, 2);
    TrainConfig {
        steps,
        learning_rate: 0.1,
        warmup: 0,
        validate_every,
        patience,
        shards: 5,
        exchange,
        ..Default::default()
    }
}

/// The state at the end, with all that was kept on the way.
fn run(config: &TrainConfig, ranks: &dyn Ranks) -> (Outcome, State, Vec<State>) {
    // What a rank begins with counts on rank 0 only.
    let mut state = State::new(if ranks.rank() == 0 { Pull.initial() } else { vec![7.0; ALL] });
    let mut keeping = Keeping::default();
    let outcome = train(&Pull, config, ranks, &mut state, &mut keeping).unwrap();
    (outcome, state, keeping.0)
}

fn on(ranks: usize, config: &TrainConfig) -> Vec<(Outcome, State, Vec<State>)> {
    std::thread::scope(|scope| {
        let start = |rank: Threads| scope.spawn(move || run(config, &rank));
        let threads: Vec<_> = Threads::group(ranks).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn parts_make_the_whole() {
    let config = config(Exchange::Full);
    let (outcome, expected, kept) = run(&config, &Alone);
    // A second attempt was made, so that parts were dealt out twice.
    assert!(expected.horizon > 0 && outcome == Outcome::Done, "{outcome:?} {}", expected.step);
    for ranks in [2, 3, 4, 7] {
        for (rank, (outcome, state, states)) in on(ranks, &config).into_iter().enumerate() {
            assert_eq!(outcome, Outcome::Done);
            assert!(state.is_whole() && state == expected, "rank {rank} of {ranks}");
            assert!(states == if rank == 0 { &kept[..] } else { &[] }, "rank {rank} of {ranks}");
        }
    }
}

/// Not exact, but all ranks still have the same, close to what it would be.
#[test]
fn half_precision_keeps_ranks_together() {
    let (_, exact, _) = run(&config(Exchange::Full), &Alone);
    let all = on(3, &config(Exchange::Half));
    assert!(all[0].1 != exact && all.iter().all(|(_, state, _)| *state == all[0].1));
    let first = |(_, _, states): &(Outcome, State, Vec<State>)| states[1].average.clone();
    let (_, _, kept) = run(&config(Exchange::Full), &Alone);
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > 0.25;
    let apart = first(&all[0]).iter().zip(&kept[1].average).filter(|pair| far(*pair)).count();
    assert!(apart * 100 < ALL, "{apart} of {ALL}");
}
