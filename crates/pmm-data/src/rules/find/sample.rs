//! Some of the rows in memory, in random order, with the cells of each column coded.

use std::collections::{BinaryHeap, HashMap};

use pmm_core::{Purpose, Streams};

use super::super::evidence::each_row;
use super::super::place::key;
use super::super::rows::{Cell, Column, ColumnKind, DateUnit, Rows};
use super::super::value::Value;

/// The code of a missing cell.
pub(crate) const NONE: u32 = u32::MAX;

/// Some of the rows, in random order: of a small table all.
pub(crate) struct Sample {
    /// Rows of the sample.
    pub(crate) rows: usize,
    /// Rows of the table.
    pub(crate) total: u64,
    pub(crate) columns: Vec<SampleColumn>,
}

/// The cells of one column.
pub(crate) struct SampleColumn {
    pub(crate) name: String,
    /// The numbers, dates in seconds; NaN where there is none.
    pub(crate) number: Vec<f64>,
    /// Codes from 0, in the order of the values; [`NONE`] for a missing cell.
    pub(crate) code: Vec<u32>,
    /// What the codes stand for.
    pub(crate) values: Vec<Value>,
    /// How often each code occurs.
    pub(crate) counts: Vec<u32>,
    /// Cells that are not missing.
    pub(crate) present: usize,
    /// The unit of the last digit: 0.01 for two decimals, 0 if there is none.
    pub(crate) step: f64,
    pub(crate) date: Option<DateUnit>,
    /// Numbers, or levels that are numbers; not dates.
    pub(crate) numeric: bool,
    /// Levels or texts.
    pub(crate) textual: bool,
    /// Texts of their own, not levels.
    pub(crate) identifier: bool,
    /// What the whole column shows from row to row.
    pub(crate) profile: Profile,
}

/// What is seen of a whole column in passing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Profile {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) first: f64,
    last: f64,
    /// The difference of the first two rows, and how many differences are the same.
    pub(crate) step: f64,
    pub(crate) steps: u64,
    pub(crate) numbers: u64,
}

impl Profile {
    const NEW: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        first: f64::NAN,
        last: f64::NAN,
        step: f64::NAN,
        steps: 0,
        numbers: 0,
    };

    fn add(&mut self, number: f64) {
        self.low = self.low.min(number);
        self.high = self.high.max(number);
        match self.numbers {
            0 => self.first = number,
            1 => self.step = number - self.last,
            _ => {}
        }
        self.steps += u64::from(number - self.last == self.step);
        self.last = number;
        self.numbers += 1;
    }
}

/// A cell that owns its text.
enum Kept {
    Cell(Cell<'static>),
    Text(Box<str>),
}

impl Kept {
    fn new(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Text(text) => Self::Text(text.into()),
            Cell::Missing => Self::Cell(Cell::Missing),
            Cell::Special(code) => Self::Cell(Cell::Special(code)),
            Cell::Number(number) => Self::Cell(Cell::Number(number)),
            Cell::Level(code) => Self::Cell(Cell::Level(code)),
        }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Cell(cell) => *cell,
            Self::Text(text) => Cell::Text(text),
        }
    }
}

impl Sample {
    /// Reads all rows and keeps `most` of them: those with the least random numbers, in the order of these.
    pub(crate) fn read<R: Rows>(rows: &R, most: usize, streams: &Streams) -> Result<Self, R::Error> {
        let columns = rows.columns();
        let mut heap: BinaryHeap<(u64, usize)> = BinaryHeap::with_capacity(most + 1);
        let mut kept: Vec<Vec<Kept>> = Vec::new();
        let mut profiles = vec![Profile::NEW; columns.len()];
        let mut total = 0;
        each_row(rows, &mut |number, row| {
            total = number + 1;
            for (profile, cell) in profiles.iter_mut().zip(row) {
                if let Cell::Number(value) = cell {
                    profile.add(*value);
                }
            }
            let word = streams.stream(Purpose::RULE_ROWS, 0, number).word();
            if kept.len() < most {
                heap.push((word, kept.len()));
                kept.push(row.iter().map(|&cell| Kept::new(cell)).collect());
            } else if let Some(mut top) = heap.peek_mut()
                && word < top.0
            {
                let slot = top.1;
                *top = (word, slot);
                kept[slot] = row.iter().map(|&cell| Kept::new(cell)).collect();
            }
        })?;
        let order: Vec<usize> = heap.into_sorted_vec().into_iter().map(|(_, slot)| slot).collect();
        let coded = columns.iter().enumerate().map(|(index, column)| {
            let cells: Vec<Cell<'_>> = order.iter().map(|&slot| kept[slot][index].cell()).collect();
            SampleColumn::new(column, &cells, profiles[index])
        });
        Ok(Self { rows: order.len(), total, columns: coded.collect() })
    }
}

impl SampleColumn {
    fn new(column: &Column, cells: &[Cell<'_>], profile: Profile) -> Self {
        let (code, values, counts) = coded(column, cells);
        let date = column.date_unit();
        let number = numbers(column, cells);
        let numeric = matches!(column.kind, ColumnKind::Number { .. }) || column.level_numbers().is_some();
        let step = match column.kind {
            ColumnKind::Number { decimals: Some(decimals) } => 10_f64.powi(-(decimals as i32)),
            _ if numeric => last_digit(&number),
            _ => 0.0,
        };
        Self {
            name: column.name.clone(),
            present: code.iter().filter(|&&code| code != NONE).count(),
            number,
            code,
            values,
            counts,
            step,
            date,
            numeric,
            textual: matches!(column.kind, ColumnKind::Levels { .. } | ColumnKind::Text),
            identifier: column.kind == ColumnKind::Text,
            profile,
        }
    }

    /// How many different values there are.
    pub(crate) fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The chance that the cells of two different rows are equal.
    pub(crate) fn repeat_chance(&self) -> f64 {
        let n = self.present.max(2) as f64;
        let pairs: f64 = self.counts.iter().map(|&count| f64::from(count) * (f64::from(count) - 1.0)).sum();
        pairs / (n * (n - 1.0))
    }

    /// Whether most of the cells are numbers or dates with an order.
    pub(crate) fn ordered(&self) -> bool {
        self.numeric || self.date.is_some()
    }
}

/// Dense codes of cells in the order of their values, the values and their counts.
fn coded(column: &Column, cells: &[Cell<'_>]) -> (Vec<u32>, Vec<Value>, Vec<u32>) {
    let mut firsts: Vec<Cell<'_>> = Vec::new();
    let mut places: HashMap<u64, u32> = HashMap::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut code: Vec<u32> = Vec::with_capacity(cells.len());
    for &cell in cells {
        let Some(key) = key(cell) else {
            code.push(NONE);
            continue;
        };
        let place = *places.entry(key).or_insert(firsts.len() as u32);
        if place as usize == firsts.len() {
            firsts.push(cell);
            counts.push(0);
        }
        counts[place as usize] += 1;
        code.push(place);
    }
    let mut order: Vec<usize> = (0..firsts.len()).collect();
    order.sort_by(|&a, &b| compare(firsts[a], firsts[b]));
    let mut rank = vec![0; order.len()];
    for (place, &first) in order.iter().enumerate() {
        rank[first] = place as u32;
    }
    for code in code.iter_mut().filter(|code| **code != NONE) {
        *code = rank[*code as usize];
    }
    let values = order.iter().map(|&first| column.value(firsts[first])).collect();
    (code, values, order.iter().map(|&first| counts[first]).collect())
}

fn compare(a: Cell<'_>, b: Cell<'_>) -> std::cmp::Ordering {
    match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => a.total_cmp(&b),
        (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
        (Cell::Number(_), _) => std::cmp::Ordering::Less,
        (_, Cell::Number(_)) => std::cmp::Ordering::Greater,
        _ => key(a).cmp(&key(b)),
    }
}

fn numbers(column: &Column, cells: &[Cell<'_>]) -> Vec<f64> {
    let levels = column.level_numbers();
    let scale = column.date_unit().map_or(1.0, DateUnit::seconds);
    let number = |cell: &Cell<'_>| match (cell, &levels) {
        (Cell::Number(number), _) => number * scale,
        (Cell::Level(code), Some(levels)) => levels.get(*code as usize).copied().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    cells.iter().map(number).collect()
}

/// The unit of the last digit that any of the numbers needs; 0 beyond nine decimals.
fn last_digit(numbers: &[f64]) -> f64 {
    let mut decimals = 0;
    for &number in numbers.iter().filter(|number| number.is_finite()) {
        while !super::super::check::on_grid(number, 10_f64.powi(-decimals)) {
            decimals += 1;
            if decimals > 9 {
                return 0.0;
            }
        }
    }
    10_f64.powi(-decimals)
}

#[cfg(test)]
mod tests {
    use super::super::super::MemoryRows;
    use super::*;

    #[test]
    fn codes_are_in_the_order_of_values() {
        let rows = MemoryRows::new().numbers("x", vec![Some(3.5), None, Some(-1.0), Some(3.5)]);
        let sample = Sample::read(&rows, 10, &Streams::new(0)).unwrap();
        let column = &sample.columns[0];
        assert_eq!(column.values, [Value::Number(-1.0), Value::Number(3.5)]);
        assert_eq!((column.counts.as_slice(), column.present, column.step), ([1, 2].as_slice(), 3, 0.1));
        for (code, number) in column.code.iter().zip(&column.number) {
            match *code {
                NONE => assert!(number.is_nan()),
                code => assert_eq!(column.values[code as usize], Value::Number(*number)),
            }
        }
    }

    #[test]
    fn a_sample_is_spread_over_all_rows() {
        let n = 100_000;
        let rows = MemoryRows::new().numbers("i", (0..n).map(|i| Some(f64::from(i))).collect());
        let sample = Sample::read(&rows, 2_000, &Streams::new(0)).unwrap();
        let mean = sample.columns[0].number.iter().sum::<f64>() / 2_000.0;
        // The standard error of the mean is 645; 5 of them, once in two million seeds.
        assert!((mean - 50_000.0).abs() < 3_230.0, "{mean}");
        let profile = sample.columns[0].profile;
        assert_eq!((profile.low, profile.high, profile.step, profile.steps), (0.0, 99_999.0, 1.0, 99_999));
    }
}
