//! Where rules are found: columns with a kind, and their cells, batch by batch, as often as needed.

use super::value::Value;

/// One cell of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing is known.
    Missing,
    /// A text that stands among numbers or dates, by its place in [`Column::specials`].
    Special(u32),
    /// A number, or a date as days or seconds since 1970.
    Number(f64),
    /// A level, by its place in [`ColumnKind::Levels`].
    Level(u32),
    /// A text of its own, such as an identifier.
    Text(&'a str),
}

/// What a date counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateUnit {
    /// Days since 1970-01-01.
    Days,
    /// Seconds since 1970-01-01T00:00.
    Seconds,
}

impl DateUnit {
    /// Seconds in one unit.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Days => 86_400.0,
            Self::Seconds => 1.0,
        }
    }
}

/// What the cells of a column are.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Numbers.
    Number {
        /// Digits after the point, where they are known; found in the data otherwise.
        decimals: Option<u32>,
    },
    /// Dates, with or without a time of day.
    Date {
        /// What they count.
        unit: DateUnit,
    },
    /// One of some texts.
    Levels {
        /// The texts, by code.
        texts: Vec<String>,
    },
    /// A text of its own in most rows: identifiers.
    Text,
}

/// A column: its name and what its cells are.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name; rules speak of columns by it.
    pub name: String,
    /// What the cells are.
    pub kind: ColumnKind,
    /// Texts that stand among numbers or dates ("none", "> 100").
    pub specials: Vec<String>,
    /// The only numbers that it holds, where they are a few; else none.
    pub few: Vec<f64>,
}

impl Column {
    /// A column without special texts, of any numbers.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind, specials: Vec::new(), few: Vec::new() }
    }

    /// What a cell holds, in words that outlive the codes.
    pub fn value(&self, cell: Cell<'_>) -> Value {
        match (cell, &self.kind) {
            (Cell::Number(number), _) => Value::Number(number),
            (Cell::Text(text), _) => Value::Text(text.to_owned()),
            (Cell::Level(code), ColumnKind::Levels { texts }) => {
                texts.get(code as usize).map_or(Value::Missing, |text| Value::Text(text.clone()))
            }
            (Cell::Special(code), _) => {
                self.specials.get(code as usize).map_or(Value::Missing, |text| Value::Text(text.clone()))
            }
            _ => Value::Missing,
        }
    }

    /// The numbers behind the levels, if all are numbers ("0" and "1").
    pub(crate) fn level_numbers(&self) -> Option<Vec<f64>> {
        let ColumnKind::Levels { texts } = &self.kind else { return None };
        let numbers = texts.iter().map(|text| text.trim().parse().ok().filter(|x: &f64| x.is_finite()));
        numbers.collect::<Option<Vec<f64>>>().filter(|numbers| !numbers.is_empty())
    }

    /// Seconds in a unit of its dates; 1 if it holds none.
    pub fn seconds(&self) -> f64 {
        self.date_unit().map_or(1.0, DateUnit::seconds)
    }

    /// The unit, if the column holds dates.
    pub(crate) fn date_unit(&self) -> Option<DateUnit> {
        match self.kind {
            ColumnKind::Date { unit } => Some(unit),
            _ => None,
        }
    }
}

/// Rows that follow each other, column by column.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// The number of the first row in the whole, from 0.
    pub first_row: u64,
    /// The cells of each column; all are equally long.
    pub columns: Vec<&'a [Cell<'a>]>,
}

impl Batch<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |cells| cells.len())
    }
}

/// A table that can be read from its beginning as often as needed, in the same order of rows.
pub trait Rows {
    /// Why reading may fail.
    type Error;

    /// The columns.
    fn columns(&self) -> &[Column];

    /// Shows every batch of rows, in order.
    fn scan(&self, visit: &mut dyn FnMut(&Batch<'_>)) -> Result<(), Self::Error>;
}
