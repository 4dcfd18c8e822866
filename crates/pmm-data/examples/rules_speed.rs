//! Seconds and memory for finding the rules of a long table, which is made from a seed while it is read.
//!
//! `cargo run --release -p pmm-data --example rules_speed -- [ROWS] [COLUMNS]` (a million and 50 if not given)

use std::convert::Infallible;
use std::time::Instant;

use pmm_core::{Purpose, Stream, Streams};
use pmm_data::rules::{Batch, Cell, Column, ColumnKind, DateUnit, Options, Rows, find};

/// Rows of a batch.
const BATCH: usize = 4_096;

/// Rides with a fare, and as many columns without a rule as are wanted.
struct Rides {
    columns: Vec<Column>,
    rows: u64,
}

const RIDE: usize = 14;

impl Rides {
    fn new(rows: u64, width: usize) -> Self {
        let number = |decimals: u32| ColumnKind::Number { decimals: Some(decimals) };
        let levels =
            |n: u32| ColumnKind::Levels { texts: (0..n).map(|level| format!("level {level}")).collect() };
        let mut columns: Vec<Column> = vec![
            Column::new("id", number(0)),
            Column::new("pickup", ColumnKind::Date { unit: DateUnit::Seconds }),
            Column::new("dropoff", ColumnKind::Date { unit: DateUnit::Seconds }),
            Column::new("minutes", number(2)),
            Column::new("weekday", number(0)),
            Column::new("zone", levels(265)),
            Column::new("borough", levels(6)),
            Column::new("fare", number(2)),
            Column::new("tip", number(2)),
            Column::new("tolls", number(2)),
            Column::new("total", number(2)),
            Column::new("bill", number(2)),
            Column::new("paid", number(2)),
            Column::new("card", levels(3)),
        ];
        for extra in RIDE..width {
            let kind = match extra % 4 {
                0 => levels(2 + extra as u32),
                1 => number(2),
                2 => number(0),
                _ => number(4),
            };
            columns.push(Column::new(format!("column {extra}"), kind));
        }
        columns.truncate(width);
        Self { columns, rows }
    }

    fn row(&self, number: u64, stream: &mut Stream, columns: &mut [Vec<Cell<'static>>]) {
        let money = |x: f64| (100.0 * x).round() / 100.0;
        let pickup = 1.4e9 + stream.below(60_000_000) as f64;
        let seconds = (600.0 * stream.exponential()).round();
        let zone = stream.below(265) as u32;
        let (fare, tolls) = (3.0 + money(12.0 * stream.exponential()), stream.below(20) / 19 * 6);
        let card = stream.below(3) as u32;
        let tip = if card == 0 { 0.0 } else { money(2.0 * stream.exponential()) };
        let surcharge = [0.0, 0.5, 3.3, 0.0][stream.below(4) as usize];
        let bill = money(100.0 * stream.exponential());
        let paid = if stream.below(4) == 0 { bill } else { money(100.0 * stream.exponential()) };
        let day = (pickup / 86_400.0).floor();
        let ride = [
            Cell::Number(number as f64),
            Cell::Number(pickup),
            Cell::Number(pickup + seconds),
            Cell::Number(money(seconds / 60.0)),
            Cell::Number((day + 4.0) % 7.0),
            Cell::Level(zone),
            Cell::Level(zone / 50),
            Cell::Number(fare),
            Cell::Number(tip),
            Cell::Number(tolls as f64),
            Cell::Number(money(fare + tip + tolls as f64 + surcharge)),
            Cell::Number(bill),
            Cell::Number(paid),
            Cell::Level(card),
        ];
        for (place, cells) in columns.iter_mut().enumerate() {
            cells.push(match ride.get(place) {
                Some(cell) => *cell,
                None => match place % 4 {
                    0 => Cell::Level(stream.below(2 + place as u64) as u32),
                    1 => Cell::Number(money(10.0 * stream.normal())),
                    2 => Cell::Number(stream.below(8) as f64),
                    _ if stream.below(10) == 0 => Cell::Missing,
                    _ => Cell::Number((1e4 * stream.unit()).round() / 1e4),
                },
            });
        }
    }
}

impl Rows for Rides {
    type Error = Infallible;

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn scan(&self, visit: &mut dyn FnMut(&Batch<'_>)) -> Result<(), Infallible> {
        let streams = Streams::new(1);
        let mut columns: Vec<Vec<Cell<'static>>> = vec![Vec::with_capacity(BATCH); self.columns.len()];
        for first in (0..self.rows).step_by(BATCH) {
            columns.iter_mut().for_each(Vec::clear);
            for number in first..self.rows.min(first + BATCH as u64) {
                let mut stream = streams.stream(Purpose::custom(1), 0, number);
                self.row(number, &mut stream, &mut columns);
            }
            visit(&Batch { first_row: first, columns: columns.iter().map(Vec::as_slice).collect() });
        }
        Ok(())
    }
}

/// The most memory that the process ever had, in megabytes; where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let rows: u64 = words.next().map_or(Ok(1_000_000), |word| word.parse())?;
    let width: usize = words.next().map_or(Ok(50), |word| word.parse())?;
    let rides = Rides::new(rows, width);
    let start = Instant::now();
    let mut read = 0;
    rides.scan(&mut |batch| read += batch.rows())?;
    let making = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = find(&rides, &Options::default())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{read} rows × {width} columns: {} rules", found.len());
    println!("one pass that only makes the rows {making:.1} s; finding rules in three passes {seconds:.1} s");
    println!("peak memory {:.0} MB", peak_memory().unwrap_or(f64::NAN));
    for one in found.iter().filter(|one| one.rule.columns().len() > 1) {
        println!(
            "  {}: {:.2} % of {}",
            one.rule.sentence(),
            100.0 * one.evidence.share(),
            one.evidence.applies
        );
    }
    Ok(())
}
