//! A column of the rows at hand: how its cells are read as numbers, texts or keys.

use super::RuleError;
use super::rows::{Cell, Column, ColumnKind, DateUnit};
use super::value::Value;
use crate::table::round_to;

/// Keys of special texts: a range of NaNs that no number has.
const SPECIAL: u64 = 0xFFF9_0000_0000_0000;

/// A key of what a cell holds, the same for the same content of one column; none where it is missing.
pub(crate) fn key(cell: Cell<'_>) -> Option<u64> {
    match cell {
        Cell::Missing => None,
        Cell::Special(code) => Some(SPECIAL | u64::from(code)),
        Cell::Number(number) => Some((number + 0.0).to_bits()),
        Cell::Level(code) => Some(u64::from(code)),
        Cell::Text(text) => Some(hash(text.bytes())),
    }
}

/// A hash of bytes (FNV-1a, then mixed).
pub(crate) fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let start = 0xCBF2_9CE4_8422_2325_u64;
    mix(bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)))
}

/// Every bit of the result depends on every bit of the word (the finisher of SplitMix64).
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Several keys as one.
pub(crate) fn join(keys: impl Iterator<Item = u64>) -> u64 {
    keys.fold(0x9E37_79B9_7F4A_7C15, |all, key| mix(all.rotate_left(17) ^ mix(key)))
}

/// A column of the rows at hand.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) index: usize,
    column: Column,
    level_numbers: Option<Vec<f64>>,
    scale: f64,
}

impl Place {
    /// The column of this name.
    pub(crate) fn new(name: &str, columns: &[Column]) -> Result<Self, RuleError> {
        let index = columns.iter().position(|column| column.name == name);
        let index = index.ok_or_else(|| RuleError::UnknownColumn { name: name.to_owned() })?;
        let column = columns[index].clone();
        let scale = column.date_unit().map_or(1.0, DateUnit::seconds);
        Ok(Self { index, level_numbers: column.level_numbers(), column, scale })
    }

    /// The column of this name, which must hold numbers, or levels that are numbers; or dates, if they will do.
    pub(crate) fn number(name: &str, columns: &[Column], dates: bool) -> Result<Self, RuleError> {
        let place = Self::new(name, columns)?;
        let fits = match place.column.kind {
            ColumnKind::Number { .. } => true,
            ColumnKind::Date { .. } => dates,
            ColumnKind::Levels { .. } => place.level_numbers.is_some(),
            ColumnKind::Text => false,
        };
        let wanted = if dates { "numbers or dates" } else { "numbers" };
        if fits { Ok(place) } else { Err(RuleError::WrongKind { name: name.to_owned(), wanted }) }
    }

    /// The column of this name, which must hold dates.
    pub(crate) fn date(name: &str, columns: &[Column]) -> Result<Self, RuleError> {
        let place = Self::new(name, columns)?;
        match place.unit() {
            Some(_) => Ok(place),
            None => Err(RuleError::WrongKind { name: name.to_owned(), wanted: "dates" }),
        }
    }

    pub(crate) fn unit(&self) -> Option<DateUnit> {
        self.column.date_unit()
    }

    /// Whether the cells are numbers or dates, not texts.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self.column.kind, ColumnKind::Number { .. } | ColumnKind::Date { .. })
    }

    /// The number of a cell; dates in seconds; none where there is none.
    #[inline]
    pub(crate) fn scalar(&self, row: &[Cell<'_>]) -> Option<f64> {
        match row[self.index] {
            Cell::Number(number) => Some(number * self.scale),
            Cell::Level(code) => self.level_numbers.as_ref()?.get(code as usize).copied(),
            _ => None,
        }
    }

    /// The text of a cell that holds one.
    #[inline]
    pub(crate) fn text<'a>(&'a self, row: &[Cell<'a>]) -> Option<&'a str> {
        match (row[self.index], &self.column.kind) {
            (Cell::Text(text), _) => Some(text),
            (Cell::Level(code), ColumnKind::Levels { texts }) => texts.get(code as usize).map(String::as_str),
            (Cell::Special(code), _) => self.column.specials.get(code as usize).map(String::as_str),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn key(&self, row: &[Cell<'_>]) -> Option<u64> {
        key(row[self.index])
    }

    /// The key of a stored value; none if no cell of the column can hold it.
    pub(crate) fn key_of(&self, value: &Value) -> Option<u64> {
        let code = |texts: &[String], text: &String| texts.iter().position(|one| one == text);
        match (value, &self.column.kind) {
            (Value::Missing, _) => None,
            (Value::Number(number), ColumnKind::Number { .. } | ColumnKind::Date { .. }) => {
                key(Cell::Number(*number))
            }
            (Value::Number(number), ColumnKind::Levels { .. }) => {
                let numbers = self.level_numbers.as_ref()?;
                Some(numbers.iter().position(|level| level == number)? as u64)
            }
            (Value::Number(_), ColumnKind::Text) => None,
            (Value::Text(text), ColumnKind::Levels { texts }) => Some(code(texts, text)? as u64),
            (Value::Text(text), ColumnKind::Text) => key(Cell::Text(text)),
            (Value::Text(text), _) => key(Cell::Special(code(&self.column.specials, text)? as u32)),
        }
    }

    /// The cell that holds a number (a date in seconds), with the digits that the column has; none if the column cannot.
    pub(crate) fn cell_of_number(&self, number: f64) -> Option<Cell<'static>> {
        match &self.column.kind {
            ColumnKind::Number { decimals: Some(decimals) } => {
                Some(Cell::Number(round_to(number, (*decimals).min(15) as u8)))
            }
            ColumnKind::Number { .. } | ColumnKind::Date { .. } => Some(Cell::Number(number / self.scale)),
            ColumnKind::Levels { .. } => {
                let level = self.level_numbers.as_ref()?.iter().position(|level| *level == number)?;
                Some(Cell::Level(level as u32))
            }
            ColumnKind::Text => None,
        }
    }

    /// The same, but for digits that the column does not have: none, where it would be another number.
    pub(crate) fn cell_of_exactly(&self, number: f64) -> Option<Cell<'static>> {
        let cell = self.cell_of_number(number)?;
        let same = |held: f64| (held * self.scale - number).abs() <= 1e-9 * number.abs();
        if matches!(cell, Cell::Number(held) if !same(held)) { None } else { Some(cell) }
    }

    /// The cell that holds a text; none if the column cannot.
    pub(crate) fn cell_of_text(&self, text: &str) -> Option<Cell<'static>> {
        let code = |texts: &[String]| Some(texts.iter().position(|one| one == text)? as u32);
        match &self.column.kind {
            ColumnKind::Levels { texts } => Some(Cell::Level(code(texts)?)),
            ColumnKind::Number { .. } | ColumnKind::Date { .. } => {
                Some(Cell::Special(code(&self.column.specials)?))
            }
            ColumnKind::Text => None,
        }
    }

    /// The cell that holds a stored value; none if the column cannot.
    pub(crate) fn cell_of(&self, value: &Value) -> Option<Cell<'static>> {
        match (value, &self.column.kind) {
            (Value::Missing, _) => Some(Cell::Missing),
            (Value::Number(number), ColumnKind::Levels { .. }) => self.cell_of_number(*number),
            (Value::Number(number), _) => Some(Cell::Number(*number)),
            (Value::Text(text), _) => self.cell_of_text(text),
        }
    }

    /// How many levels it has.
    pub(crate) fn levels(&self) -> usize {
        if let ColumnKind::Levels { texts } = &self.column.kind { texts.len() } else { 0 }
    }

    /// The only numbers that its cells hold, where they are a few; else none.
    pub(crate) fn few(&self) -> &[f64] {
        self.level_numbers.as_deref().unwrap_or(&self.column.few)
    }

    /// Seconds in a unit of a date; 1 for other columns.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// What a cell holds.
    pub(crate) fn value(&self, row: &[Cell<'_>]) -> Value {
        self.column.value(row[self.index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_key_of_its_cell() {
        let texts = vec!["b".to_owned(), "7".to_owned()];
        let mut number = Column::new("n", ColumnKind::Number { decimals: None });
        number.specials = vec!["none".to_owned()];
        let columns =
            [number, Column::new("l", ColumnKind::Levels { texts }), Column::new("t", ColumnKind::Text)];
        for row in [
            [Cell::Number(-0.0), Cell::Level(1), Cell::Text("x")],
            [Cell::Special(0), Cell::Level(0), Cell::Text("")],
        ] {
            for column in &columns {
                let place = Place::new(&column.name, &columns).unwrap();
                assert_eq!(place.key_of(&place.value(&row)), place.key(&row));
            }
        }
        let error = Place::number("t", &columns, true).unwrap_err();
        assert_eq!(error.to_string(), "column t does not hold numbers or dates");
    }
}
