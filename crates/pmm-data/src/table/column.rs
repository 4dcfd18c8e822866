//! One cell at a time: text → code and value → text.

use super::error::CellError;
use super::near::{level_like, near};
use super::schema::{Coding, Column, Numbers};

/// The code of a missing cell.
pub const EMPTY: u32 = u32::MAX;

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

    /// The text of a cell. `u` in \[0, 1) picks a level within a bucket; `value` counts for numbers with code 0. A missing
    /// cell, a code that does not exist and a value that is not finite are empty; a constant is always its text.
    pub fn decode(&self, code: u32, value: f64, u: f64) -> String {
        match &self.coding {
            Coding::Constant { text } => text.clone(),
            Coding::Levels(levels) => levels.text(code, u).to_owned(),
            Coding::Numbers(numbers) => numbers.decode(code, value),
            Coding::Out => String::new(),
        }
    }

    /// Code and value of a text; an empty text is missing. Numbers may lie outside the range seen.
    pub fn parse(&self, text: &str) -> Result<(u32, f64), CellError> {
        let written = text;
        let text = text.trim();
        if text.is_empty() && self.is_modelled() {
            return Ok((EMPTY, f64::NAN));
        }
        match &self.coding {
            Coding::Levels(levels) => match level_like(levels, written) {
                Some(code) => Ok((code, f64::NAN)),
                None => {
                    let names = near(text, levels.levels().iter().map(|level| level.text.as_str()));
                    Err(CellError::UnknownLevel {
                        text: text.into(),
                        count: levels.levels().len(),
                        levels: names,
                    })
                }
            },
            Coding::Numbers(numbers) => numbers.parse(text),
            Coding::Constant { .. } | Coding::Out => Err(CellError::NotModelled),
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

    fn decode(&self, code: u32, value: f64) -> String {
        match code {
            0 => self.text(value),
            EMPTY => String::new(),
            code => {
                self.specials.get(code as usize - 1).map_or(String::new(), |special| special.text.clone())
            }
        }
    }

    fn parse(&self, text: &str) -> Result<(u32, f64), CellError> {
        if let Some(s) = self.specials.iter().position(|special| special.text == text) {
            return Ok((s as u32 + 1, self.specials[s].value.unwrap_or(f64::NAN)));
        }
        let value = match &self.date {
            Some(date) => date.value(text),
            None => self.format.value(text),
        };
        let Some(value) = value else { return Err(self.refusal(text)) };
        let special = self.specials.iter().position(|special| special.value == Some(value));
        Ok((special.map_or(0, |s| s as u32 + 1), value))
    }

    fn refusal(&self, text: &str) -> CellError {
        let text = text.to_owned();
        let values = self.grid.values();
        let (low, high) = (self.text(values[0]), self.text(values[values.len() - 1]));
        match self.date {
            Some(_) => CellError::NotADate { text, example: low },
            None => CellError::NotANumber { text, range: (low, high) },
        }
    }
}
