//! Coded tables as rows in which rules are found and kept.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use super::error::RuleError;
use super::evidence::Evidence;
use super::keep::{Keeper, Kept};
use super::rows::{Batch, Cell, Column, ColumnKind, DateUnit, Rows};
use super::rule::Rule;
use crate::table::{Cell as CodedCell, Cells, Coding, Column as CodedColumn, Schema};

/// Rows that are shown at a time.
const CHUNK: usize = 4096;

/// Numbers of a column that are told one by one, at most.
const FEW: usize = 16;

/// A rule of a table that its model keeps, as `schema.json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRule {
    /// The rule.
    pub rule: Rule,
    /// In how many rows it holds; without the rows that break it.
    pub evidence: Evidence,
    /// The column that is derived from it, if it holds in a share of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<CodedColumn>,
}

impl CodedColumn {
    /// The column as rules see it.
    pub fn described(&self) -> Column {
        let kind = match &self.coding {
            Coding::Numbers(numbers) => match &numbers.date {
                // A time of day is a number of seconds.
                Some(_) if numbers.is_time_of_day() => ColumnKind::Number { decimals: None },
                Some(_) if numbers.counts_days() => ColumnKind::Date { unit: DateUnit::Days },
                Some(_) => ColumnKind::Date { unit: DateUnit::Seconds },
                None => ColumnKind::Number { decimals: numbers.places.map(u32::from) },
            },
            Coding::Levels(levels) => ColumnKind::Levels {
                texts: (0..levels.n_codes() as u32)
                    .map(|code| self.text(CodedCell::Level(code), 0.0))
                    .collect(),
            },
            Coding::Constant { .. } | Coding::Out => ColumnKind::Text,
        };
        let mut described = Column::new(self.name.clone(), kind);
        if let Coding::Numbers(numbers) = &self.coding {
            described.specials = numbers.specials.iter().map(|special| special.text.clone()).collect();
            if numbers.discrete && numbers.date.is_none() && numbers.grid.len() <= FEW {
                described.few = numbers.grid.values().to_vec();
            }
        }
        described
    }

    /// A cell as rules see it: a special that is a number is that number.
    pub fn rule_cell(&self, cell: CodedCell) -> Cell<'static> {
        match cell {
            CodedCell::Value(value) => Cell::Number(value),
            CodedCell::Level(code) => Cell::Level(code),
            CodedCell::Special(s) => self.number(cell).map_or(Cell::Special(s), Cell::Number),
            CodedCell::Missing | CodedCell::Unseen => Cell::Missing,
        }
    }

    /// The coded cell of what a rule has computed.
    pub fn coded_cell(&self, cell: Cell<'_>) -> CodedCell {
        match (cell, &self.coding) {
            (Cell::Number(number), Coding::Numbers(numbers)) => numbers.cell(numbers.on_grid(number)),
            (Cell::Level(code), _) => CodedCell::Level(code),
            (Cell::Special(s), _) => CodedCell::Special(s),
            _ => CodedCell::Missing,
        }
    }

    /// The least and the largest number that it has had, dates in seconds.
    fn span(&self) -> (f64, f64) {
        let Coding::Numbers(numbers) = &self.coding else {
            let numbers = self.described().level_numbers().unwrap_or_default();
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = numbers.iter().fold(ends, |(low, high), x| (low.min(*x), high.max(*x)));
            return if low <= high { (low, high) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        };
        let values = numbers.grid.values();
        let specials = numbers.specials.iter().filter_map(|special| special.value);
        let ends = (values[0], values[values.len() - 1]);
        let (low, high) = specials.fold(ends, |(low, high), x| (low.min(x), high.max(x)));
        let scale = self.described().seconds();
        (low * scale, high * scale)
    }
}

impl Schema {
    /// The schema that a network is made for: derived columns come after those of the file.
    pub fn extended(&self) -> Self {
        let mut extended = self.clone();
        extended.columns.extend(self.rules.iter().filter_map(|rule| rule.derived.clone()));
        extended.rules = Vec::new();
        extended
    }

    /// What keeps the rules; cells are those of the modelled columns of the [`extended`](Self::extended) schema, in order.
    pub fn keeper(&self) -> Result<Keeper, RuleError> {
        let extended = self.extended();
        let modelled: Vec<&CodedColumn> =
            extended.columns.iter().filter(|column| column.is_modelled()).collect();
        let columns: Vec<Column> = modelled.iter().map(|column| column.described()).collect();
        let mut next = self.columns.iter().filter(|column| column.is_modelled()).count();
        let kept = self.rules.iter().map(|KeptRule { rule, evidence, derived }| {
            let derived = derived.as_ref().map(|_| next);
            next += usize::from(derived.is_some());
            Kept { rule, share: evidence.share(), derived }
        });
        Keeper::new(&columns, kept, modelled.iter().map(|column| column.span()).collect())
    }
}

/// Coded rows, as the finder of rules sees them: the modelled columns that are there.
#[derive(Debug)]
pub struct CodedRows<'a> {
    columns: Vec<Column>,
    cells: Vec<(&'a CodedColumn, &'a Cells)>,
    rows: usize,
}

impl<'a> CodedRows<'a> {
    /// The first rows of a coded table.
    pub fn new(columns: &'a [CodedColumn], cells: &'a [Cells], rows: usize) -> Self {
        let present = columns.iter().zip(cells);
        let cells: Vec<(&CodedColumn, &Cells)> =
            present.filter(|(column, cells)| column.is_modelled() && cells.len() >= rows).collect();
        Self { columns: cells.iter().map(|(column, _)| column.described()).collect(), cells, rows }
    }
}

impl Rows for CodedRows<'_> {
    type Error = Infallible;

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn scan(&self, see: &mut dyn FnMut(&Batch<'_>)) -> Result<(), Infallible> {
        for first in (0..self.rows).step_by(CHUNK) {
            let end = self.rows.min(first + CHUNK);
            let columns: Vec<Vec<Cell<'_>>> = self
                .cells
                .iter()
                .map(|(column, cells)| (first..end).map(|row| column.rule_cell(cells.get(row))).collect())
                .collect();
            see(&Batch { first_row: first as u64, columns: columns.iter().map(Vec::as_slice).collect() });
        }
        Ok(())
    }
}
