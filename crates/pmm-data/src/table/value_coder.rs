//! One value of a file, whatever its type → the cell of a column.

use std::collections::HashMap;

use arrow_schema::DataType;

use super::cell::Cell;
use super::column_type::ColumnType;
use super::error::CellError;
use super::missing::Markers;
use super::raw::RawKind;
use super::scalar::Scalar;
use super::schema::{Coding, Column, Numbers};
use super::view::BEYOND;

/// Codes the values that a file has in one column.
pub(crate) struct ValueCoder {
    /// Codes of levels by [`Scalar::key`], where the values of the file are no texts.
    codes: HashMap<i128, u32>,
}

impl ValueCoder {
    /// For a column that has a type in the file; refused if a modelled column has values of which none is a cell.
    pub(crate) fn new(column: &Column, data_type: &DataType) -> Result<Self, CellError> {
        let column_type = ColumnType::new(data_type.clone());
        let mut codes = HashMap::new();
        if let Coding::Levels(levels) = &column.coding {
            let key = |text: &str| {
                let scalar = Scalar::parse(&column_type, text)?;
                Some((scalar.key()?, scalar.text() == text, levels.code(text)?))
            };
            let mut keys: Vec<_> = levels.levels().iter().filter_map(|level| key(&level.text)).collect();
            // Of 7 and 007, the one that the type would write.
            keys.sort_by_key(|&(_, exact, _)| exact);
            codes.extend(keys.into_iter().map(|(key, _, code)| (key, code)));
        }
        if column.is_modelled() && !column_type.is_cell() {
            return Err(CellError::NotACell(column_type.to_string()));
        }
        Ok(Self { codes })
    }

    /// The cell of a value. In delimited text `markers` are missing, but for those that are levels of the column, or that a typed
    /// column had as a value.
    pub(crate) fn code(
        &self,
        column: &Column,
        scalar: Scalar<'_>,
        markers: Option<&Markers>,
    ) -> Result<Cell, CellError> {
        match (&column.coding, scalar) {
            (Coding::Levels(levels), Scalar::Text(text)) => {
                let code = || match is_missing(text, markers) {
                    true => levels.code(text).or_else(|| levels.code(text.trim())),
                    false => column.find_level(levels, text),
                };
                match code() {
                    Some(code) => Ok(Cell::Level(code)),
                    None if is_missing(text, markers) => Ok(Cell::Missing),
                    None => Ok(Cell::Unseen),
                }
            }
            (Coding::Levels(_), scalar) => {
                let code = scalar.key().and_then(|key| self.codes.get(&key));
                Ok(code.map_or(Cell::Unseen, |&code| Cell::Level(code)))
            }
            (Coding::Numbers(numbers), Scalar::Text(text)) => {
                let known =
                    || column.arrow.is_some() && numbers.specials.iter().any(|special| special.text == text);
                if is_missing(text, markers) && !known() {
                    return Ok(Cell::Missing);
                }
                column.find_number(numbers, text).ok_or_else(|| column.refusal(numbers, text))
            }
            (Coding::Numbers(numbers), Scalar::Raw(kind, raw)) => raw_cell(column, numbers, kind, raw),
            (Coding::Numbers(numbers), Scalar::Float(_, float)) => float_cell(numbers, scalar, float)
                .unwrap_or_else(|| Err(column.refusal(numbers, &scalar.text()))),
            (Coding::Constant { .. } | Coding::Out, _) => Err(CellError::NotModelled),
        }
    }
}

fn is_missing(text: &str, markers: Option<&Markers>) -> bool {
    markers.is_some_and(|markers| markers.is_missing(text.trim()))
}

fn raw_cell(column: &Column, numbers: &Numbers, kind: RawKind, raw: i128) -> Result<Cell, CellError> {
    if raw == BEYOND {
        return Err(column.refusal(numbers, "a decimal of more than 38 digits"));
    }
    if !numbers.is_of(kind) {
        return Err(column.refusal(numbers, &kind.text(raw)));
    }
    Ok(numbers.cell(kind.value(raw, numbers.counts_days())))
}

/// The cell of a float; none where a date is wanted.
fn float_cell(numbers: &Numbers, scalar: Scalar<'_>, float: f64) -> Option<Result<Cell, CellError>> {
    if !float.is_finite() {
        let text = scalar.text();
        let special = numbers.specials.iter().position(|special| special.text == text);
        return Some(special.map_or(Err(CellError::NotFinite(text)), |s| Ok(Cell::Special(s as u32))));
    }
    numbers.date.is_none().then(|| Ok(numbers.cell(float)))
}
