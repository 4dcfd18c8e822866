//! Rows in memory.

use std::convert::Infallible;

use super::rows::{Batch, Cell, Column, ColumnKind, DateUnit, Rows};

/// Rows of a batch.
const BATCH: usize = 4_096;

/// A table in memory, made column by column.
///
/// ```
/// use pmm_data::rules::{MemoryRows, Rows};
/// let rows = MemoryRows::new()
///     .numbers("age", vec![Some(31.0), None])
///     .levels("town", vec![Some("Oslo"), Some("Rome")]);
/// assert_eq!((rows.columns().len(), rows.len()), (2, 2));
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryRows {
    columns: Vec<Column>,
    cells: Vec<Stored>,
}

#[derive(Debug, Clone)]
enum Stored {
    Cells(Vec<Cell<'static>>),
    Texts(Vec<Option<String>>),
}

impl MemoryRows {
    /// No columns yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many rows there are: those of the shortest column.
    pub fn len(&self) -> usize {
        let length = |cells: &Stored| match cells {
            Stored::Cells(cells) => cells.len(),
            Stored::Texts(texts) => texts.len(),
        };
        self.cells.iter().map(length).min().unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more column of numbers.
    pub fn numbers(self, name: &str, values: Vec<Option<f64>>) -> Self {
        let cells = values.into_iter().map(|value| value.map_or(Cell::Missing, Cell::Number)).collect();
        self.cells(Column::new(name, ColumnKind::Number { decimals: None }), cells)
    }

    /// One more column of dates.
    pub fn dates(self, name: &str, unit: DateUnit, values: Vec<Option<f64>>) -> Self {
        let cells = values.into_iter().map(|value| value.map_or(Cell::Missing, Cell::Number)).collect();
        self.cells(Column::new(name, ColumnKind::Date { unit }), cells)
    }

    /// One more column of levels, given by their texts.
    pub fn levels<S: Into<String>>(self, name: &str, values: Vec<Option<S>>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        let mut codes = std::collections::HashMap::new();
        let mut cells = Vec::with_capacity(values.len());
        for value in values {
            let Some(text) = value.map(Into::into) else {
                cells.push(Cell::Missing);
                continue;
            };
            let next = texts.len() as u32;
            let code = *codes.entry(text.clone()).or_insert(next);
            if code == next {
                texts.push(text);
            }
            cells.push(Cell::Level(code));
        }
        self.cells(Column::new(name, ColumnKind::Levels { texts }), cells)
    }

    /// One more column of texts, such as identifiers.
    pub fn texts<S: Into<String>>(mut self, name: &str, values: Vec<Option<S>>) -> Self {
        self.columns.push(Column::new(name, ColumnKind::Text));
        self.cells.push(Stored::Texts(values.into_iter().map(|value| value.map(Into::into)).collect()));
        self
    }

    /// One more column of cells as they are.
    pub fn cells(mut self, column: Column, cells: Vec<Cell<'static>>) -> Self {
        self.columns.push(column);
        self.cells.push(Stored::Cells(cells));
        self
    }

    /// The same columns with their cells in other rows: `order(column, rows)` says from which row each cell comes. For tables of
    /// independent columns with the columns' own distributions.
    pub fn reordered(&self, mut order: impl FnMut(usize, usize) -> Vec<usize>) -> Self {
        let rows = self.len();
        let moved = |(column, cells): (usize, &Stored)| {
            let from = order(column, rows);
            match cells {
                Stored::Cells(cells) => Stored::Cells(from.iter().map(|&row| cells[row]).collect()),
                Stored::Texts(texts) => Stored::Texts(from.iter().map(|&row| texts[row].clone()).collect()),
            }
        };
        Self { columns: self.columns.clone(), cells: self.cells.iter().enumerate().map(moved).collect() }
    }
}

impl Rows for MemoryRows {
    type Error = Infallible;

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn scan(&self, visit: &mut dyn FnMut(&Batch<'_>)) -> Result<(), Infallible> {
        let rows = self.len();
        for first in (0..rows).step_by(BATCH) {
            let range = first..rows.min(first + BATCH);
            let texts: Vec<Vec<Cell<'_>>> = self
                .cells
                .iter()
                .map(|cells| match cells {
                    Stored::Cells(_) => Vec::new(),
                    Stored::Texts(texts) => texts[range.clone()]
                        .iter()
                        .map(|text| text.as_deref().map_or(Cell::Missing, Cell::Text))
                        .collect(),
                })
                .collect();
            let columns = self.cells.iter().zip(&texts).map(|(cells, texts)| match cells {
                Stored::Cells(cells) => &cells[range.clone()],
                Stored::Texts(_) => texts.as_slice(),
            });
            visit(&Batch { first_row: first as u64, columns: columns.collect() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_seen_once_in_order() {
        let n = 10_000;
        let rows = MemoryRows::new()
            .numbers("i", (0..n).map(|i| Some(f64::from(i))).collect())
            .texts("t", (0..n).map(|i| Some(i.to_string())).collect());
        for _ in 0..2 {
            let mut next = 0;
            rows.scan(&mut |batch| {
                assert_eq!(batch.first_row, next);
                for row in 0..batch.rows() {
                    assert_eq!(batch.columns[0][row], Cell::Number(next as f64));
                    assert_eq!(batch.columns[1][row], Cell::Text(&next.to_string()));
                    next += 1;
                }
            })
            .unwrap();
            assert_eq!(next, n as u64);
        }
    }
}
