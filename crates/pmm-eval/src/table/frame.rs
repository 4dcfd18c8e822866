//! A table in memory, as the scores see it: columns of numbers or of named levels.

use std::collections::BTreeSet;

use pmm_core::{Purpose, Streams};
use serde::Serialize;

use crate::chart::Calendar;

/// The code of a missing cell in a column of levels.
pub const MISSING: u32 = u32::MAX;

/// A table: columns of equal length.
///
/// ```
/// use pmm_eval::table::{Frame, FrameColumn};
/// let frame = Frame::new(vec![
///     FrameColumn::numbers("mass", vec![3750.0, f64::NAN]),
///     FrameColumn::named("species", ["Adelie", "Gentoo"]),
/// ])?;
/// assert_eq!((frame.rows(), frame.columns.len()), (2, 2));
/// # Ok::<(), pmm_eval::table::TableError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Frame {
    /// The columns, in the order of the file.
    pub columns: Vec<FrameColumn>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub data: ColumnData,
    /// What its numbers count, if they are dates or times.
    pub calendar: Option<Calendar>,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ColumnData {
    /// Numbers; `NaN` is a missing cell, infinities count as missing too.
    Numbers(Vec<f64>),
    /// Named levels.
    Levels {
        /// The level of each row; [`MISSING`] is a missing cell.
        codes: Vec<u32>,
        /// The names of the levels.
        levels: Vec<String>,
    },
}

/// Why tables cannot be scored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Columns of one table differ in length.
    #[error("column {column} has {found} rows, the first column has {expected}")]
    Length {
        /// The column.
        column: String,
        /// Rows of the first column.
        expected: usize,
        /// Rows of this column.
        found: usize,
    },
    /// A code does not name a level.
    #[error("column {column} has code {code}, but {levels} levels")]
    Code {
        /// The column.
        column: String,
        /// The offending code.
        code: u32,
        /// How many levels there are.
        levels: usize,
    },
    /// The tables do not have the same columns in the same order.
    #[error("the tables differ in their columns: {expected} against {found}")]
    Columns {
        /// Names of the first table.
        expected: String,
        /// Names of the other table.
        found: String,
    },
    /// A column holds numbers in one table and levels in another.
    #[error("column {0} holds numbers in one table and levels in another")]
    Kind(String),
    /// A table has too few rows for the score.
    #[error("{found} usable rows in {table}, at least {needed} are needed")]
    Rows {
        /// Which table.
        table: &'static str,
        /// Its usable rows.
        found: usize,
        /// The least number of rows.
        needed: usize,
    },
    /// There is no column of this name.
    #[error("no column is called {0}")]
    NoColumn(String),
    /// Lengths that belong together do not fit.
    #[error("{what}: {found} values, expected {expected}")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The boosted trees refused the data.
    #[error("boosted trees: {0}")]
    Trees(String),
}

impl FrameColumn {
    /// A column of numbers.
    pub fn numbers(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), data: ColumnData::Numbers(values), calendar: None }
    }

    /// A column of dates or times, as numbers.
    pub fn dates(name: impl Into<String>, values: Vec<f64>, calendar: Calendar) -> Self {
        Self { calendar: Some(calendar), ..Self::numbers(name, values) }
    }

    /// A column of levels by code.
    pub fn levels(name: impl Into<String>, codes: Vec<u32>, levels: Vec<String>) -> Self {
        Self { name: name.into(), data: ColumnData::Levels { codes, levels }, calendar: None }
    }

    /// A column of levels by name; an empty name is a missing cell.
    pub fn named<S: AsRef<str>>(name: impl Into<String>, cells: impl IntoIterator<Item = S>) -> Self {
        let cells: Vec<S> = cells.into_iter().collect();
        let names: BTreeSet<&str> = cells.iter().map(AsRef::as_ref).filter(|s| !s.is_empty()).collect();
        let levels: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let code = |cell: &S| {
            levels.binary_search_by(|level| level.as_str().cmp(cell.as_ref())).map_or(MISSING, |i| i as u32)
        };
        let codes = cells.iter().map(code).collect();
        Self::levels(name, codes, levels)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match &self.data {
            ColumnData::Numbers(values) => values.len(),
            ColumnData::Levels { codes, .. } => codes.len(),
        }
    }

    /// Whether it holds numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.data, ColumnData::Numbers(_))
    }

    /// The cells as numbers, a level by its code; missing cells are `NaN`.
    pub fn to_numbers(&self) -> Vec<f64> {
        match &self.data {
            ColumnData::Numbers(values) => {
                values.iter().map(|&v| if v.is_finite() { v } else { f64::NAN }).collect()
            }
            ColumnData::Levels { codes, .. } => {
                codes.iter().map(|&c| if c == MISSING { f64::NAN } else { f64::from(c) }).collect()
            }
        }
    }

    /// The share of missing cells.
    pub fn missing(&self) -> f64 {
        let missing = match &self.data {
            ColumnData::Numbers(values) => values.iter().filter(|v| !v.is_finite()).count(),
            ColumnData::Levels { codes, .. } => codes.iter().filter(|&&c| c == MISSING).count(),
        };
        missing as f64 / self.rows().max(1) as f64
    }

    fn take(&self, rows: &[usize]) -> Self {
        let data = match &self.data {
            ColumnData::Numbers(values) => ColumnData::Numbers(rows.iter().map(|&i| values[i]).collect()),
            ColumnData::Levels { codes, levels } => {
                ColumnData::Levels { codes: rows.iter().map(|&i| codes[i]).collect(), levels: levels.clone() }
            }
        };
        Self { name: self.name.clone(), data, calendar: self.calendar }
    }
}

impl Frame {
    /// A table, if its columns are equally long and all codes name a level.
    pub fn new(columns: Vec<FrameColumn>) -> Result<Self, TableError> {
        let frame = Self { columns };
        frame.check()?;
        Ok(frame)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, FrameColumn::rows)
    }

    /// The place of a column.
    pub fn position(&self, name: &str) -> Result<usize, TableError> {
        let found = self.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| TableError::NoColumn(name.to_owned()))
    }

    /// The given rows, in the given order.
    pub fn take(&self, rows: &[usize]) -> Self {
        Self { columns: self.columns.iter().map(|column| column.take(rows)).collect() }
    }

    /// At most `count` rows, drawn without replacement and left in their order; all of them if there are fewer.
    pub fn sample(&self, count: usize, seed: u64, table: u64) -> Self {
        if count >= self.rows() {
            return self.clone();
        }
        self.take(&some_rows(self.rows(), count, seed, table))
    }

    fn check(&self) -> Result<(), TableError> {
        for column in &self.columns {
            if column.rows() != self.rows() {
                let column_name = column.name.clone();
                return Err(TableError::Length {
                    column: column_name,
                    expected: self.rows(),
                    found: column.rows(),
                });
            }
            if let ColumnData::Levels { codes, levels } = &column.data {
                let stray = codes.iter().find(|&&code| code != MISSING && code as usize >= levels.len());
                if let Some(&code) = stray {
                    return Err(TableError::Code { column: column.name.clone(), code, levels: levels.len() });
                }
            }
        }
        Ok(())
    }
}

/// `count` of `0..rows`, ascending. The stream of (seed, table) decides, whatever the threads.
pub(crate) fn some_rows(rows: usize, count: usize, seed: u64, table: u64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rows).collect();
    if count < rows {
        let mut stream = Streams::new(seed).stream(Purpose::SCORED_ROWS, 0, table);
        for i in 0..count {
            all.swap(i, i + stream.below((rows - i) as u64) as usize);
        }
        all.truncate(count);
        all.sort_unstable();
    }
    all
}

/// The tables with the same levels in the same order: all names that occur in any of them, sorted. Refuses tables
/// with other columns.
pub(crate) fn aligned<const N: usize>(frames: [&Frame; N]) -> Result<[Frame; N], TableError> {
    for frame in frames {
        frame.check()?;
        same_columns(frames[0], frame)?;
    }
    let mut out = frames.map(Frame::clone);
    for j in 0..frames[0].columns.len() {
        let names: BTreeSet<&String> = frames.iter().flat_map(|f| level_names(&f.columns[j])).collect();
        let common: Vec<String> = names.into_iter().cloned().collect();
        for frame in &mut out {
            recode(&mut frame.columns[j].data, &common);
        }
    }
    Ok(out)
}

/// The rows of two tables under each other.
pub(crate) fn stacked(above: &Frame, below: &Frame) -> Result<Frame, TableError> {
    let [above, below] = aligned([above, below])?;
    let column = |(above, below): (FrameColumn, FrameColumn)| {
        let data = match (above.data, below.data) {
            (ColumnData::Numbers(a), ColumnData::Numbers(b)) => ColumnData::Numbers([a, b].concat()),
            (ColumnData::Levels { codes: a, levels }, ColumnData::Levels { codes: b, .. }) => {
                ColumnData::Levels { codes: [a, b].concat(), levels }
            }
            (data, _) => data,
        };
        FrameColumn { name: above.name, data, calendar: above.calendar }
    };
    Frame::new(above.columns.into_iter().zip(below.columns).map(column).collect())
}

fn same_columns(first: &Frame, other: &Frame) -> Result<(), TableError> {
    let names = |frame: &Frame| frame.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let (expected, found) = (names(first), names(other));
    if expected != found {
        return Err(TableError::Columns { expected: expected.join(", "), found: found.join(", ") });
    }
    let differs = |(a, b): &(&FrameColumn, &FrameColumn)| a.is_numeric() != b.is_numeric();
    match first.columns.iter().zip(&other.columns).find(differs) {
        Some((column, _)) => Err(TableError::Kind(column.name.clone())),
        None => Ok(()),
    }
}

fn level_names(column: &FrameColumn) -> &[String] {
    match &column.data {
        ColumnData::Levels { levels, .. } => levels,
        ColumnData::Numbers(_) => &[],
    }
}

fn recode(data: &mut ColumnData, common: &[String]) {
    if let ColumnData::Levels { codes, levels } = data {
        let place = |name: &String| common.binary_search(name).map_or(MISSING, |i| i as u32);
        let map: Vec<u32> = levels.iter().map(place).collect();
        codes.iter_mut().for_each(|code| *code = map.get(*code as usize).copied().unwrap_or(MISSING));
        *levels = common.to_vec();
    }
}

/// Refuses a table with fewer than `needed` rows.
pub(crate) fn enough(table: &'static str, found: usize, needed: usize) -> Result<(), TableError> {
    if found < needed { Err(TableError::Rows { table, found, needed }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_matched_by_name() {
        let frame =
            |cells: &[&str]| Frame::new(vec![FrameColumn::named("c", cells.iter().copied())]).unwrap();
        let [a, b] = aligned([&frame(&["x", "z", ""]), &frame(&["y", "z"])]).unwrap();
        assert_eq!(
            b.columns[0],
            FrameColumn::levels("c", vec![1, 2], ["x", "y", "z"].map(String::from).to_vec())
        );
        assert_eq!(a.columns[0].to_numbers()[..2], [0.0, 2.0]);
        assert!(a.columns[0].to_numbers()[2].is_nan() && (a.columns[0].missing() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn misfits_are_refused_by_name() {
        let numbers = |name: &str, n: usize| FrameColumn::numbers(name, vec![0.0; n]);
        assert!(matches!(Frame::new(vec![numbers("a", 2), numbers("b", 3)]), Err(TableError::Length { .. })));
        let stray = FrameColumn::levels("c", vec![0, 1], vec!["x".into()]);
        assert!(matches!(Frame::new(vec![stray]), Err(TableError::Code { code: 1, .. })));
        let (a, b) = (Frame { columns: vec![numbers("a", 2)] }, Frame { columns: vec![numbers("b", 2)] });
        assert!(matches!(aligned([&a, &b]), Err(TableError::Columns { .. })));
        let c = Frame { columns: vec![FrameColumn::named("a", ["x"])] };
        assert_eq!(aligned([&a, &c]).unwrap_err(), TableError::Kind("a".into()));
        assert_eq!(a.position("z").unwrap_err(), TableError::NoColumn("z".into()));
    }

    #[test]
    fn samples_are_distinct_sorted_and_repeatable() {
        let rows = some_rows(1000, 300, 7, 1);
        assert_eq!(rows, some_rows(1000, 300, 7, 1));
        assert!(rows.windows(2).all(|w| w[0] < w[1]) && rows.len() == 300 && rows[299] < 1000);
        assert_ne!(rows, some_rows(1000, 300, 7, 2));
        assert_eq!(some_rows(3, 9, 0, 0), [0, 1, 2]);
    }
}
