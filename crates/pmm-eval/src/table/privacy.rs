//! Privacy: are synthetic rows copies, or near copies, of training rows?

use std::collections::HashSet;

use rayon::prelude::*;
use serde::Serialize;

use super::frame::{Frame, TableError, aligned, enough, some_rows};
use super::rank::{quantile, sorted};

/// Rows whose closest record is looked for; more are left out.
const QUERIES: usize = 2_000;
/// Records among which it is looked for; more are left out.
const RECORDS: usize = 20_000;

/// Distances to the closest training row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Closeness {
    /// Half of the rows are closer than this.
    pub median: f64,
    /// One row in twenty is closer than this.
    pub low: f64,
}

/// How close synthetic rows come to training rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Privacy {
    /// From synthetic rows to the closest training row.
    pub synth: Closeness,
    /// From test rows to the closest training row: what is natural in this table.
    pub test: Closeness,
    /// The share of synthetic rows closer to a training row than to a test row, among equally many of both, ties
    /// counting half: about ½ if nothing was memorised, 1 if all was.
    pub closer_to_train: f64,
    /// The share of synthetic rows that equal a training row in every cell.
    pub copies: f64,
    /// The same share of test rows.
    pub copies_baseline: f64,
    /// Synthetic rows whose closest record was looked for (at most 2,000, as for test rows); copies count all rows.
    pub queries: usize,
    /// Training rows among which it was looked for (at most 20,000).
    pub records: usize,
}

/// Looks for each synthetic row's closest training row, and does the same for test rows.
///
/// The distance is Gower's, the mean over columns of: for numbers |a − b| over the range from the 5 % to the 95 % quantile
/// of the training rows, at most 1; for levels 1 if they differ; 1 if one of the two is missing, 0 if both are.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn, privacy};
/// let table = |x: [f64; 3]| Frame::new(vec![FrameColumn::numbers("x", x.to_vec())]).unwrap();
/// let (train, test, copy) = (table([1.0, 2.0, 3.0]), table([1.5, 2.5, 3.5]), table([1.0, 2.0, 2.2]));
/// let found = privacy(&test, &copy, &train, 0)?;
/// assert_eq!((found.copies, found.copies_baseline, found.closer_to_train), (2.0 / 3.0, 0.0, 1.0));
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
pub fn privacy(test: &Frame, synth: &Frame, train: &Frame, seed: u64) -> Result<Privacy, TableError> {
    for (name, frame) in
        [("the test table", test), ("the synthetic table", synth), ("the training table", train)]
    {
        enough(name, frame.rows(), 1)?;
    }
    let [test, synth, train] = aligned([test, synth, train])?;
    let space = Space::of(&train);
    let queries = |frame: &Frame, table: u64| frame.take(&some_rows(frame.rows(), QUERIES, seed, table));
    let from_synth = space.place(&queries(&synth, 3));
    let records = space.place(&train.sample(RECORDS, seed, 1));
    let equal = train.rows().min(test.rows()).min(RECORDS);
    let (some_train, some_test) = (train.sample(equal, seed, 4), test.sample(equal, seed, 5));
    let to_train = closest(&from_synth, &space.place(&some_train));
    let to_test = closest(&from_synth, &space.place(&some_test));
    let known = keys(&train).into_iter().collect::<HashSet<_>>();
    let copies = |frame: &Frame| {
        keys(frame).iter().filter(|key| known.contains(*key)).count() as f64 / frame.rows() as f64
    };
    Ok(Privacy {
        synth: closeness(closest(&from_synth, &records)),
        test: closeness(closest(&space.place(&queries(&test, 2)), &records)),
        closer_to_train: share_closer(&to_train, &to_test),
        copies: copies(&synth),
        copies_baseline: copies(&test),
        queries: from_synth.rows,
        records: records.rows,
    })
}

fn closeness(distances: Vec<f32>) -> Closeness {
    let sorted = sorted(distances.into_iter().map(f64::from));
    Closeness { median: quantile(&sorted, 0.5), low: quantile(&sorted, 0.05) }
}

fn share_closer(to_train: &[f32], to_test: &[f32]) -> f64 {
    let half = |(a, b): (&f32, &f32)| {
        if a < b {
            1.0
        } else if a == b {
            0.5
        } else {
            0.0
        }
    };
    to_train.iter().zip(to_test).map(half).sum::<f64>() / to_train.len().max(1) as f64
}

/// The origin and width of every column.
struct Space(Vec<(f64, f64)>);

/// Rows in units of the space, column by column: numbers over their range; levels by code.
struct Placed {
    columns: Vec<(bool, Vec<f32>)>,
    rows: usize,
}

impl Space {
    fn of(train: &Frame) -> Self {
        let span = |values: &[f64], low: f64, high: f64| quantile(values, high) - quantile(values, low);
        let unit = |j: usize| {
            let values = sorted(train.columns[j].to_numbers());
            let widths = [span(&values, 0.05, 0.95), span(&values, 0.0, 1.0), 1.0];
            let width = widths.into_iter().find(|w| *w > 0.0).unwrap_or(1.0);
            (values.first().copied().unwrap_or(0.0), width)
        };
        Self((0..train.columns.len()).map(unit).collect())
    }

    fn place(&self, frame: &Frame) -> Placed {
        let column = |(column, (origin, width)): (&crate::table::FrameColumn, &(f64, f64))| {
            let (numeric, values) = (column.is_numeric(), column.to_numbers());
            let at = |v: &f64| if numeric { ((v - origin) / width) as f32 } else { *v as f32 };
            (numeric, values.iter().map(at).collect())
        };
        Placed { columns: frame.columns.iter().zip(&self.0).map(column).collect(), rows: frame.rows() }
    }
}

/// The distance from each query to its closest record.
fn closest(queries: &Placed, records: &Placed) -> Vec<f32> {
    let one = |i: usize| {
        let mut sums = vec![0.0_f32; records.rows];
        for ((numeric, asked), (_, held)) in queries.columns.iter().zip(&records.columns) {
            add_distance(&mut sums, asked[i], held, *numeric);
        }
        sums.into_iter().fold(f32::INFINITY, f32::min) / queries.columns.len().max(1) as f32
    };
    (0..queries.rows).into_par_iter().map(one).collect()
}

fn add_distance(sums: &mut [f32], asked: f32, held: &[f32], numeric: bool) {
    let each = sums.iter_mut().zip(held);
    if asked.is_nan() {
        each.for_each(|(sum, b)| *sum += if b.is_nan() { 0.0 } else { 1.0 });
    } else if numeric {
        // `min` takes the number where the other is NaN, so a missing record is at distance 1.
        each.for_each(|(sum, b)| *sum += (asked - b).abs().min(1.0));
    } else {
        each.for_each(|(sum, b)| *sum += if asked == *b { 0.0 } else { 1.0 });
    }
}

/// The bits of every row's cells, equal where the rows are.
fn keys(frame: &Frame) -> Vec<Vec<u64>> {
    let columns: Vec<Vec<f64>> = frame.columns.iter().map(crate::table::FrameColumn::to_numbers).collect();
    let bits = |v: f64| if v.is_nan() { u64::MAX } else { (v + 0.0).to_bits() };
    (0..frame.rows()).map(|i| columns.iter().map(|column| bits(column[i])).collect()).collect()
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;
    use crate::table::FrameColumn;

    fn table(rows: usize, row: u64) -> Frame {
        let mut stream = Streams::new(3).stream(Purpose::DATA, 0, row);
        let x: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
        let y: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
        let c: Vec<&str> = (0..rows).map(|_| ["a", "b", ""][stream.below(3) as usize]).collect();
        Frame::new(vec![
            FrameColumn::numbers("x", x),
            FrameColumn::numbers("y", y),
            FrameColumn::named("c", c),
        ])
        .unwrap()
    }

    /// From 5 % to 95 % of 0, 0.1, …, 2 is 1.8: x differs by 0.9, which is ½; another level is 1, one missing side is 1.
    #[test]
    fn the_distance_is_gowers() {
        let frame = |x: Vec<f64>, c: Vec<&str>, m: Vec<f64>| {
            Frame::new(vec![
                FrameColumn::numbers("x", x),
                FrameColumn::named("c", c),
                FrameColumn::numbers("m", m),
            ])
            .unwrap()
        };
        let grid: Vec<f64> = (0..21).map(|i| f64::from(i) * 0.1).collect();
        let train = frame(grid.clone(), vec!["a"; 21], vec![1.0; 21]);
        let [query, train] = aligned([&frame(vec![-0.9], vec!["b"], vec![f64::NAN]), &train]).unwrap();
        let space = Space::of(&train);
        let found = closest(&space.place(&query), &space.place(&train))[0];
        assert!((found - 2.5 / 3.0).abs() < 1e-6, "{found}");
    }

    /// Fresh rows: the share closer to train has sd √(¼/1000) = .016; six of them.
    #[test]
    fn fresh_rows_are_no_closer_to_train_and_copies_are_found() {
        let (train, test, fresh) = (table(1000, 0), table(1000, 1), table(1000, 2));
        let honest = privacy(&test, &fresh, &train, 0).unwrap();
        assert!((honest.closer_to_train - 0.5).abs() < 0.1 && honest.copies == 0.0, "{honest:?}");
        assert!((honest.synth.median / honest.test.median - 1.0).abs() < 0.2, "{honest:?}");
        let copied = privacy(&test, &train.sample(400, 0, 9), &train, 0).unwrap();
        assert_eq!((copied.copies, copied.copies_baseline), (1.0, 0.0));
        assert!(copied.synth.median == 0.0 && copied.closer_to_train == 1.0, "{copied:?}");
    }
}
