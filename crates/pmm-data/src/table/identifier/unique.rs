//! Learned columns that never repeat: what they are in new rows, a function of (seed, row number), none twice.

use std::ops::Range;

use pmm_core::{Purpose, Streams};

use super::super::cell::Cell;
use super::super::schema::{Coding, Numbers, Schema};
use super::order::RowOrder;
use super::permutation::Permutation;
use crate::rules::{KeptRule, Rule};

/// Parts of a column's range whose shares of the rows are those of the data.
const PARTS: usize = 64;
/// Two columns are unique together by a grid that is filled: below this share of it, which cells are filled is not known.
const LEAST_FILLED: f64 = 0.5;

/// The cells of new rows in columns that a rule calls unique.
///
/// A row gets the number of a place on the grid of its column (of both, where two are unique together), by a permutation of the
/// places, so that no two rows get the same; the range is cut into parts, which rows are dealt to by the data's shares. The other
/// cells of the row are then drawn given these. Rows beyond the last place get none, and repeat.
#[derive(Debug, Clone)]
pub struct UniqueCells {
    key: Option<Key>,
}

#[derive(Debug, Clone)]
struct Key {
    columns: Vec<Places>,
    parts: Vec<Part>,
    rows: RowOrder,
}

/// The values that a column can have: `first`, and so many more a step apart.
#[derive(Debug, Clone)]
struct Places {
    column: usize,
    first: f64,
    step: f64,
    count: u64,
}

/// Some places of the first column, with all of the second.
#[derive(Debug, Clone)]
struct Part {
    first: u64,
    order: Permutation,
}

impl UniqueCells {
    /// By the first rule of a schema that can be kept so: a second one would be drawn as if it knew nothing of the first.
    pub fn new(schema: &Schema, streams: &Streams) -> Self {
        let key = |KeptRule { rule, .. }: &KeptRule| {
            let Rule::Unique { columns } = rule else { return None };
            let places: Option<Vec<Places>> = columns.iter().map(|name| Places::of(schema, name)).collect();
            Key::new(schema, places?, streams)
        };
        Self { key: schema.rules.iter().find_map(key) }
    }

    /// The cells of a row, by columns of the schema.
    pub fn of(&self, row: u64) -> Vec<(usize, Cell)> {
        self.key.as_ref().and_then(|key| key.cells(row)).unwrap_or_default()
    }

    /// Says so if the places end before row number `end`.
    pub fn note(&self, schema: &Schema, end: u64) -> Option<String> {
        let key = self.key.as_ref().filter(|key| key.rows.rows() < end)?;
        let names: Vec<&str> = key.columns.iter().map(|p| schema.columns[p.column].name.as_str()).collect();
        let (names, places) = (names.join(" and "), key.rows.rows());
        Some(format!("{names} can be {places} different things, so rows beyond repeat some"))
    }
}

impl Places {
    fn of(schema: &Schema, name: &str) -> Option<Self> {
        let column = schema.position(name)?;
        let numbers = numbers(schema, column)?;
        let (values, step) = (numbers.grid.values(), numbers.step()?);
        let (first, last) = (values[0], values[values.len() - 1]);
        let count = ((last - first) / step).round() + 1.0;
        let sound =
            numbers.specials.is_empty() && schema.columns[column].missing == 0 && count < 2f64.powi(53);
        sound.then_some(Self { column, first, step, count: count as u64 })
    }

    fn place(&self, value: f64) -> u64 {
        (((value - self.first) / self.step).round() as u64).min(self.count - 1)
    }
}

fn numbers(schema: &Schema, column: usize) -> Option<&Numbers> {
    match &schema.columns[column].coding {
        Coding::Numbers(numbers) => Some(numbers),
        _ => None,
    }
}

impl Key {
    fn new(schema: &Schema, columns: Vec<Places>, streams: &Streams) -> Option<Self> {
        let first = &columns[0];
        let others: u64 = columns[1..].iter().try_fold(1u64, |all, places| all.checked_mul(places.count))?;
        let all = first.count.checked_mul(others)?;
        if columns.len() > 1 && (schema.rows as f64) < LEAST_FILLED * all as f64 {
            return None;
        }
        let grid = &numbers(schema, first.column)?.grid;
        let cut = |part: usize| {
            let place = |at: usize| first.place(grid.values()[(at * grid.len() / PARTS).min(grid.len() - 1)]);
            let start = if part == 0 { 0 } else { place(part) };
            start..if part + 1 == PARTS { first.count } else { place(part + 1) }
        };
        let counts: Vec<(u64, u64)> =
            grid.values().iter().map(|value| first.place(*value)).zip(grid.counts()).collect();
        let ranges: Vec<Range<u64>> = (0..PARTS).map(cut).filter(|range| range.start < range.end).collect();
        let weight = |range: &Range<u64>| {
            let inside = counts.iter().filter(|(place, _)| range.contains(place));
            inside.map(|(_, count)| *count as f64).sum::<f64>()
        };
        let size = |range: &Range<u64>| u128::from(range.end - range.start) * u128::from(others);
        let column = first.column as u32;
        let weights: Vec<(f64, u128)> = ranges.iter().map(|range| (weight(range), size(range))).collect();
        let part = |(number, range): (usize, &Range<u64>)| {
            let mut keys = streams.block_stream(Purpose::IDENTIFIER, column, number as u64, 0);
            Part { first: range.start, order: Permutation::new(size(range), &mut keys) }
        };
        let parts = ranges.iter().enumerate().map(part).collect();
        Some(Self { rows: RowOrder::new(&weights, PARTS as u64, *streams, column), parts, columns })
    }

    fn cells(&self, row: u64) -> Option<Vec<(usize, Cell)>> {
        let (part, number) = self.rows.get(row)?;
        let part = &self.parts[part];
        let mut rest = part.order.image(u128::from(number)) as u64;
        let mut cells = Vec::with_capacity(self.columns.len());
        for (at, places) in self.columns.iter().enumerate().rev() {
            let place = if at == 0 { part.first + rest } else { rest % places.count };
            rest /= places.count;
            cells.push((places.column, Cell::Value(places.first + places.step * place as f64)));
        }
        Some(cells)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::rules::{Evidence, Rule};
    use crate::{Overrides, ReadOptions, Source};

    fn schema(text: &str, unique: &[&str]) -> Schema {
        let source = Source::from_bytes("t.csv", text.as_bytes().to_vec(), &ReadOptions::default()).unwrap();
        let mut schema = Schema::infer(&source, &Overrides::default()).unwrap();
        let rule = Rule::Unique { columns: unique.iter().map(|name| (*name).to_owned()).collect() };
        schema.rules.push(KeptRule {
            rule,
            evidence: Evidence { applies: 1, holds: 1, expected_breaks: None, exceptions: vec![] },
            derived: None,
        });
        schema
    }

    fn values(cells: &UniqueCells, rows: u64) -> Vec<Vec<(usize, u64)>> {
        let bits = |(column, cell)| match cell {
            Cell::Value(value) => (column, f64::to_bits(value)),
            _ => panic!("a value"),
        };
        (0..rows).map(|row| cells.of(row).into_iter().map(bits).collect()).collect()
    }

    /// Three quarters of the numbers lie in the first quarter of the range: so do those of new rows, and none comes twice until all
    /// places are taken.
    #[test]
    fn numbers_come_once_and_as_densely_as_real_ones() {
        let real: Vec<u32> =
            (0..300).map(|i| 1000 + 7 * i % 1000).chain((0..100).map(|i| 2000 + 29 * i)).collect();
        let text: String = real.iter().map(|x| format!("{x},{}\n", x % 3)).collect();
        let schema = schema(&format!("n,x\n{text}"), &["n"]);
        let cells = UniqueCells::new(&schema, &Streams::new(3));
        let made = values(&cells, 400);
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), 400);
        let low = made.iter().filter(|row| f64::from_bits(row[0].1) < 2000.0).count();
        assert!((290..=310).contains(&low), "{low}");
        let places = (real.iter().max().unwrap() - real.iter().min().unwrap() + 1) as u64;
        assert_eq!(values(&cells, places).iter().collect::<HashSet<_>>().len() as u64, places);
        assert!(cells.of(places).is_empty());
        assert_eq!(cells.note(&schema, places), None);
        assert!(cells.note(&schema, places + 1).unwrap().starts_with("n can be"));
    }

    #[test]
    fn pairs_come_once_where_their_grid_is_filled() {
        let row = |i: u32| format!("2020-01-{:02},{}\n", 1 + i / 24, i % 24);
        let text: String = (0..24 * 20).filter(|i| i % 7 > 0).map(row).collect();
        let schema = schema(&format!("day,hour\n{text}"), &["day", "hour"]);
        let cells = UniqueCells::new(&schema, &Streams::new(0));
        let made = values(&cells, 480);
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), 480);
        assert!(made.iter().all(|row| row.len() == 2) && cells.of(480).is_empty());
    }
}
