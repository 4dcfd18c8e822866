//! One cell at a time: text → cell → text.

use arrow_schema::{DataType, TimeUnit};

use super::cell::Cell;
use super::column_type::{Class, ColumnType};
use super::date_unit::{self, DateUnit};
use super::dates::{DateGrid, DateOrder};
use super::error::CellError;
use super::identifier::Identifiers;
use super::levels::Levels;
use super::near::{level_like, near};
use super::number_form::NumberForm;
use super::places::round_to;
use super::raw::{RawKind, range};
use super::scalar::Scalar;
use super::schema::{Coding, Column, Numbers};
use super::view::rounded;

impl Column {
    /// Whether a model sees the column.
    pub fn is_modelled(&self) -> bool {
        matches!(self.coding, Coding::Levels(_) | Coding::Numbers(_))
    }

    /// Number of codes: levels or buckets of a category; 1 + specials of a number column; 0 out of the model.
    pub fn n_codes(&self) -> usize {
        match &self.coding {
            Coding::Levels(levels) => levels.n_codes(),
            Coding::Numbers(numbers) => 1 + numbers.specials.len(),
            Coding::Constant { .. } | Coding::Out => 0,
        }
    }

    /// The type of its arrays: the one it came with; of delimited text, integers, floats, booleans, dates, times of day and
    /// durations of their own unit, or text.
    pub fn column_type(&self) -> ColumnType {
        self.arrow.clone().unwrap_or_else(|| ColumnType::new(self.found_type()))
    }

    /// The type of delimited text, by what is in it.
    fn found_type(&self) -> DataType {
        match &self.coding {
            Coding::Numbers(numbers) if numbers.specials.iter().all(|special| special.value.is_some()) => {
                numbers.found_type()
            }
            Coding::Levels(levels) if boolean_texts(levels).is_some() => DataType::Boolean,
            Coding::Levels(levels) if levels.levels().iter().all(|level| is_integer(&level.text)) => {
                DataType::Int64
            }
            Coding::Out if self.identifiers.as_ref().is_some_and(Identifiers::is_integer) => DataType::Int64,
            _ => DataType::Utf8,
        }
    }

    /// The text of a cell, as the column writes it; for delimited text, as it stands in the file. `u` in \[0, 1) picks among
    /// levels that share a code. A missing or unseen cell, a code that does not exist and a value that is not finite are
    /// empty; a constant is always its text.
    pub fn text(&self, cell: Cell, u: f64) -> String {
        match (&self.coding, cell) {
            (Coding::Constant { text }, _) => text.clone(),
            (Coding::Levels(levels), Cell::Level(code)) => levels.text(code, u).to_owned(),
            (Coding::Numbers(numbers), Cell::Special(s)) => {
                numbers.specials.get(s as usize).map_or(String::new(), |special| special.text.clone())
            }
            (Coding::Numbers(numbers), Cell::Value(value)) => self.value_text(numbers, value),
            _ => String::new(),
        }
    }

    /// The number of a cell: that of a value, or of a special that is one.
    pub fn number(&self, cell: Cell) -> Option<f64> {
        match (&self.coding, cell) {
            (Coding::Numbers(_), Cell::Value(value)) => Some(value),
            (Coding::Numbers(numbers), Cell::Special(s)) => numbers.specials.get(s as usize)?.value,
            _ => None,
        }
    }

    /// The text of an ordinary value, moved to the column's grid: a typed column writes it as its type does.
    pub(crate) fn value_text(&self, numbers: &Numbers, value: f64) -> String {
        let value = numbers.on_grid(value);
        match self.arrow.as_ref().and_then(|arrow| numbers.scalar(arrow, value)) {
            // Dates have the format of their unit.
            Some(Scalar::Raw(kind, _)) if kind.is_date() => numbers.text(value),
            Some(scalar) => scalar.text(),
            None => numbers.text(value),
        }
    }

    /// The cell of a text that a person wrote; an empty text is missing. Numbers may lie outside the range seen, but must be
    /// what the column can hold: what comes out in a row is what was given.
    pub fn parse(&self, text: &str) -> Result<Cell, CellError> {
        match &self.coding {
            Coding::Levels(levels) => match self.meant_level(levels, text) {
                Some(code) => Ok(Cell::Level(code)),
                None if text.trim().is_empty() => Ok(Cell::Missing),
                None => {
                    let names = near(text.trim(), levels.levels().iter().map(|level| level.text.as_str()));
                    let count = levels.levels().len();
                    Err(CellError::UnknownLevel { text: text.into(), count, levels: names })
                }
            },
            Coding::Numbers(numbers) => {
                let cell = self.find_number(numbers, text);
                match cell {
                    Some(Cell::Value(value)) => self.on_grid(numbers, text, value),
                    Some(cell) => Ok(cell),
                    None if text.trim().is_empty() => Ok(Cell::Missing),
                    None => Err(self.refusal(numbers, text)),
                }
            }
            Coding::Constant { .. } | Coding::Out => Err(CellError::NotModelled),
        }
    }

    /// The number or date of a text that a person wrote as the end of a range: it need not be one that the column can hold.
    pub fn bound(&self, text: &str) -> Result<f64, CellError> {
        let Coding::Numbers(numbers) = &self.coding else {
            return text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
                CellError::NotANumber { text: text.trim().to_owned(), range: (String::new(), String::new()) }
            });
        };
        let cell = self.find_number(numbers, text);
        cell.and_then(|cell| self.number(cell)).ok_or_else(|| self.refusal(numbers, text))
    }

    /// The `u` for which the cell of this text gives the very same text, also where rare levels share a code.
    pub fn tie(&self, text: &str) -> f64 {
        if let Coding::Levels(levels) = &self.coding { levels.tie(text) } else { 0.5 }
    }

    /// The code of a text: as it is, up to blanks around it, or as the value that it means in the column's type.
    pub(crate) fn find_level(&self, levels: &Levels, text: &str) -> Option<u32> {
        levels.find(text).or_else(|| self.canonical_level(levels, text))
    }

    /// The code of the level that a person means: where several differ from the text in blanks alone, none.
    fn meant_level(&self, levels: &Levels, text: &str) -> Option<u32> {
        level_like(levels, text).or_else(|| self.canonical_level(levels, text))
    }

    fn canonical_level(&self, levels: &Levels, text: &str) -> Option<u32> {
        let scalar = Scalar::parse(self.arrow.as_ref()?, text)?;
        levels.code(&scalar.text())
    }

    /// The special or the value of a text; none if it is neither.
    pub(crate) fn find_number(&self, numbers: &Numbers, text: &str) -> Option<Cell> {
        let trimmed = text.trim();
        let special = |wanted: &str| numbers.specials.iter().position(|special| special.text == wanted);
        if let Some(s) = special(text).or_else(|| special(trimmed)) {
            return Some(Cell::Special(s as u32));
        }
        let typed = || match Scalar::parse(self.arrow.as_ref()?, trimmed)? {
            Scalar::Raw(kind, raw) => Some(kind.value(raw, numbers.counts_days())),
            Scalar::Float(_, float) => Some(float),
            Scalar::Text(_) => None,
        };
        let written = || match &numbers.date {
            Some(date) => date.value(trimmed),
            None => numbers.format.value(trimmed),
        };
        let value = typed().or_else(written).filter(|value| value.is_finite())?;
        Some(numbers.cell(value))
    }

    /// A value that the column can hold, or what is nearest to it.
    fn on_grid(&self, numbers: &Numbers, text: &str, value: f64) -> Result<Cell, CellError> {
        let held = numbers.held(&self.column_type(), value);
        if held == value || (held - value).abs() <= 1e-12 * value.abs() {
            return Ok(Cell::Value(value));
        }
        Err(CellError::OffGrid { text: text.trim().into(), nearest: self.value_text(numbers, held) })
    }

    pub(crate) fn refusal(&self, numbers: &Numbers, text: &str) -> CellError {
        let text = text.trim().to_owned();
        let values = numbers.grid.values();
        let (low, high) =
            (self.value_text(numbers, values[0]), self.value_text(numbers, values[values.len() - 1]));
        match numbers.date {
            Some(_) => CellError::NotADate { text, example: low },
            None => CellError::NotANumber { text, range: (low, high) },
        }
    }
}

impl Numbers {
    /// The text of an ordinary value.
    pub fn text(&self, value: f64) -> String {
        match &self.date {
            _ if !value.is_finite() => String::new(),
            Some(date) => date.text(value),
            None => self.format.text(value),
        }
    }

    /// The nearest value on the column's grid: integers, decimals, and the unit or the grid of dates.
    ///
    /// ```
    /// use pmm_data::{Coding, Overrides, ReadOptions, Schema, Source};
    /// let text = "x,y\n371.0,1\n-180.0,2\n290.0,3\n".into();
    /// let source = Source::from_bytes("t.csv", text, &ReadOptions::default())?;
    /// let schema = Schema::infer(&source, &Overrides::default())?;
    /// let Coding::Numbers(numbers) = &schema.columns[0].coding else { panic!() };
    /// assert_eq!(numbers.text(numbers.on_grid(180.4)), "180.0");
    /// # Ok::<(), pmm_data::ReadError>(())
    /// ```
    pub fn on_grid(&self, value: f64) -> f64 {
        match (&self.date, self.places) {
            (Some(date), _) => date.round(value),
            (None, Some(places)) => round_to(value, places),
            (None, None) => value,
        }
    }

    /// How far apart neighbours on the grid are, where that is the same everywhere.
    pub fn step(&self) -> Option<f64> {
        let Some(date) = &self.date else { return self.places.map(|places| 10f64.powi(-i32::from(places))) };
        match (date.grid, &date.time) {
            (DateGrid::Written, None) | (DateGrid::Day, None) => Some(1.0),
            (DateGrid::Written, Some(time)) if time.seconds => {
                Some(10f64.powi(-i32::from(time.fraction.min(6))))
            }
            (DateGrid::Written | DateGrid::Minute, Some(_)) => Some(60.0),
            (DateGrid::Second, Some(_)) => Some(1.0),
            (DateGrid::Hour, Some(_)) => Some(3_600.0),
            (DateGrid::Day, Some(_)) => Some(86_400.0),
            _ => None,
        }
    }

    /// The cell of a number: the special that it is, or a value.
    pub fn cell(&self, value: f64) -> Cell {
        let special = self.specials.iter().position(|special| special.value == Some(value));
        special.map_or(Cell::Value(value), |s| Cell::Special(s as u32))
    }

    /// Whether values count days.
    pub fn counts_days(&self) -> bool {
        self.date.as_ref().is_some_and(|date| DateUnit::of(date) == DateUnit::Day)
    }

    /// Whether values are times of day: seconds since midnight.
    pub fn is_time_of_day(&self) -> bool {
        self.date.as_ref().is_some_and(|date| date.order == DateOrder::NoDate)
    }

    /// Whether cells of a type can be its values.
    pub(crate) fn is_of(&self, kind: RawKind) -> bool {
        self.date.as_ref().map_or(!kind.is_date(), |date| date_unit::holds(date, kind))
    }

    /// The nearest value on the grid, in the column's type; none for texts and what is not finite.
    pub(crate) fn scalar(&self, column_type: &ColumnType, value: f64) -> Option<Scalar<'static>> {
        if !value.is_finite() {
            return None;
        }
        let value = self.on_grid(value);
        match column_type.class() {
            Class::Raw(kind) => {
                let (low, high) = range(column_type.data_type());
                Some(Scalar::Raw(kind, kind.raw(value, self.counts_days()).clamp(low, high)))
            }
            Class::Float(width) => Some(Scalar::Float(width, rounded(width, value))),
            Class::Text | Class::Null | Class::Other => None,
        }
    }

    /// The number that a value becomes in the column's type and on its grid.
    fn held(&self, column_type: &ColumnType, value: f64) -> f64 {
        match self.scalar(column_type, value) {
            Some(Scalar::Raw(kind, raw)) => kind.value(raw, self.counts_days()),
            Some(Scalar::Float(_, float)) => float,
            _ => self.on_grid(value),
        }
    }

    /// The type of delimited numbers.
    fn found_type(&self) -> DataType {
        let whole = |value: f64| value.fract() == 0.0 && value.abs() < 9e15;
        let ends = [self.grid.values()[0], self.grid.values()[self.grid.len() - 1]];
        let specials = self.specials.iter().filter_map(|special| special.value);
        match &self.date {
            Some(date) => date_unit::data_type(date),
            None if matches!(self.format.form, NumberForm::Duration(form) if form.fields == 3) => {
                self.span_type().unwrap_or(DataType::Float64)
            }
            None if self.places == Some(0) && specials.chain(ends).all(whole) => DataType::Int64,
            None => DataType::Float64,
        }
    }

    /// The type of durations: the coarsest unit that holds them all.
    fn span_type(&self) -> Option<DataType> {
        let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
        let holds = |digits: u8| {
            let mut specials = self.specials.iter().filter_map(|special| special.value);
            self.places.is_some_and(|places| places <= digits)
                && specials.all(|value| round_to(value, digits) == value)
        };
        let (_, unit) = [0, 3, 6, 9].into_iter().zip(units).find(|&(digits, _)| holds(digits))?;
        Some(DataType::Duration(unit))
    }
}

/// The texts of false and true, where a category has no other levels.
pub(crate) fn boolean_texts(levels: &Levels) -> Option<(String, String)> {
    let text = |wanted: &str| {
        let mut found = levels.levels().iter().filter(|level| level.text.eq_ignore_ascii_case(wanted));
        (found.next().map(|level| level.text.clone()), found.next().is_some())
    };
    let ((no, two_no), (yes, two_yes)) = (text("false"), text("true"));
    let found = usize::from(no.is_some()) + usize::from(yes.is_some());
    let all = found == levels.levels().len() && !two_no && !two_yes;
    // Of one level alone the other is written alike.
    let alike = |other: &Option<String>, word: &str| match other.as_deref() {
        Some(text) if text.chars().all(char::is_uppercase) => word.to_uppercase(),
        Some(text) if text.starts_with(char::is_uppercase) => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    };
    let (no_text, yes_text) = (alike(&yes, "false"), alike(&no, "true"));
    all.then(|| (no.unwrap_or(no_text), yes.unwrap_or(yes_text)))
}

/// Whether a text is an integer as programs write them.
fn is_integer(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number.to_string() == text)
}
