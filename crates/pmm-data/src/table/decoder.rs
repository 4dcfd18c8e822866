//! Cells → arrays in the type of their column; and gaps of an array filled, the rest of it as it was.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int8Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
};
use arrow_array::{make_array, new_null_array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::zip::zip;

use super::cell::{Cell, Cells};
use super::column_type::{Class, ColumnType};
use super::error::WriteError;
use super::scalar::Scalar;
use super::schema::{Coding, Column, Numbers, Special};
use super::view::{float_array, raw_array, rounded};

/// Turns the cells of one column to arrays of one type.
///
/// Values come out on the column's grid: integers as integers, decimals with their scale, dates in their unit.
///
/// ```
/// use arrow_array::cast::AsArray;
/// use pmm_data::{Cell, Overrides, ReadOptions, Schema, Source};
/// let text = "x,y\n3,a\n-5,b\n8,a\n".into();
/// let source = Source::from_bytes("t.csv", text, &ReadOptions::default())?;
/// let schema = Schema::infer(&source, &Overrides::default())?;
/// let cells = [Cell::Value(4.2), Cell::Missing].into_iter().collect();
/// let array = schema.columns[0].decoder()?.array(2, &cells, |_| 0.5)?;
/// assert_eq!(array.as_primitive::<arrow_array::types::Int64Type>(), &vec![Some(4), None].into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Decoder<'a> {
    column: &'a Column,
    column_type: ColumnType,
    /// Levels by place, in the type; none where the type cannot hold one.
    levels: Vec<Option<Scalar<'a>>>,
    /// All levels, where they fit a dictionary of texts.
    dictionary: Option<ArrayRef>,
}

impl Column {
    /// To arrays of its own type ([`column_type`](Self::column_type)).
    pub fn decoder(&self) -> Result<Decoder<'_>, WriteError> {
        Decoder::new(self, self.column_type())
    }

    /// To arrays of another type, such as that of a file whose gaps are to be filled.
    pub fn decoder_to(&self, data_type: &DataType) -> Result<Decoder<'_>, WriteError> {
        Decoder::new(self, ColumnType::new(data_type.clone()))
    }
}

impl<'a> Decoder<'a> {
    fn new(column: &'a Column, column_type: ColumnType) -> Result<Self, WriteError> {
        let mut decoder = Self { column, column_type, levels: Vec::new(), dictionary: None };
        if let Coding::Levels(levels) = &column.coding {
            let texts = levels.levels().iter().map(|level| level.text.as_str());
            if let DataType::Dictionary(keys, values) = decoder.column_type.data_type()
                && decoder.column_type.class() == Class::Text
                && levels.levels().len() as i128 <= super::raw::range(keys).1
            {
                decoder.dictionary = Some(text_array(values, texts.clone().map(Some)));
            }
            decoder.levels = texts.map(|text| Scalar::parse(&decoder.column_type, text)).collect();
        }
        Ok(decoder)
    }

    /// The type of the arrays.
    pub fn data_type(&self) -> &DataType {
        self.column_type.data_type()
    }

    /// The array of some cells; `tie` gives the u of each row for levels that share a code. Missing and unseen cells are
    /// null. A column without cells is null in all rows, or constant.
    pub fn array(
        &self,
        rows: usize,
        cells: &Cells,
        tie: impl Fn(usize) -> f64,
    ) -> Result<ArrayRef, WriteError> {
        if let Coding::Constant { text } = &self.column.coding {
            return self.constant(text, rows);
        }
        if cells.is_empty() || !self.column_type.is_cell() {
            return Ok(new_null_array(self.data_type(), rows));
        }
        if cells.len() != rows {
            return Err(self.fault(format!("{} cells for {rows} rows", cells.len())));
        }
        if let Some(values) = &self.dictionary {
            return self.keyed(values, cells, tie);
        }
        let plain = match self.column_type.class() {
            Class::Text => self.texts(cells, tie),
            _ => {
                let scalars = cells.iter().enumerate().map(|(row, cell)| self.scalar(cell, tie(row)));
                self.scalars(&scalars.collect::<Result<Vec<_>, _>>()?)
            }
        };
        self.packed(plain)
    }

    /// Replaces the chosen rows of an array by cells; all other rows keep what they have, to the bit.
    pub fn fill(
        &self,
        original: &ArrayRef,
        chosen: &[bool],
        cells: &Cells,
        tie: impl Fn(usize) -> f64,
    ) -> Result<ArrayRef, WriteError> {
        if original.data_type() != self.data_type() || chosen.len() != original.len() {
            let found = ColumnType::new(original.data_type().clone());
            return Err(self.fault(format!(
                "{} cells of {found} are no {}",
                original.len(),
                self.column_type
            )));
        }
        if !chosen.contains(&true) {
            return Ok(original.clone());
        }
        let cell = |(row, &chosen): (usize, &bool)| if chosen { cells.get(row) } else { Cell::Missing };
        let cells: Cells = chosen.iter().enumerate().map(cell).collect();
        let decoded = self.array(original.len(), &cells, tie)?;
        let (decoded, original) = (self.unpacked(&decoded)?, self.unpacked(original)?);
        let mask = BooleanArray::from(chosen.to_vec());
        let both = zip(&mask, &decoded.as_ref(), &original.as_ref()).map_err(|error| self.refused(&error))?;
        self.packed(both)
    }

    /// The array of texts, each a value of the type; what the type does not hold is null.
    pub(crate) fn of_texts(&self, texts: &[Option<String>]) -> Result<ArrayRef, WriteError> {
        let plain = match self.column_type.class() {
            Class::Null | Class::Other => return Ok(new_null_array(self.data_type(), texts.len())),
            Class::Text => text_array(&self.value_type(), texts.iter().map(Option::as_deref)),
            _ => {
                let texts = texts.iter().map(Option::as_deref);
                let scalars = texts.map(|text| Scalar::parse(&self.column_type, text?));
                self.scalars(&scalars.collect::<Vec<_>>())
            }
        };
        self.packed(plain)
    }

    fn constant(&self, text: &str, rows: usize) -> Result<ArrayRef, WriteError> {
        if text.is_empty() && self.column.missing > 0 || !self.column_type.is_cell() {
            return Ok(new_null_array(self.data_type(), rows));
        }
        let plain = match self.column_type.class() {
            Class::Null => return Ok(new_null_array(self.data_type(), rows)),
            Class::Text => text_array(&self.value_type(), std::iter::repeat_n(Some(text), rows)),
            _ => {
                let scalar = Scalar::parse(&self.column_type, text).ok_or_else(|| self.stranger(text))?;
                self.scalars(&vec![Some(scalar); rows])
            }
        };
        self.packed(plain)
    }

    /// Keys into the dictionary of all levels.
    fn keyed(
        &self,
        values: &ArrayRef,
        cells: &Cells,
        tie: impl Fn(usize) -> f64,
    ) -> Result<ArrayRef, WriteError> {
        let Coding::Levels(levels) = &self.column.coding else { return Err(self.fault("no levels".into())) };
        let key = |(row, cell)| match cell {
            Cell::Level(code) => levels.place(code, tie(row)).map(|place| place as i64),
            _ => None,
        };
        let keys: Int64Array = cells.iter().enumerate().map(key).collect();
        dictionary_array(self.data_type(), &(Arc::new(keys) as ArrayRef), values)
            .map_err(|error| self.refused(&error))
    }

    fn texts(&self, cells: &Cells, tie: impl Fn(usize) -> f64) -> ArrayRef {
        let text = |(row, cell)| match (cell, &self.column.coding) {
            (Cell::Missing | Cell::Unseen, _) => None,
            (Cell::Level(code), Coding::Levels(levels)) => {
                levels.place(code, tie(row)).map(|place| levels.levels()[place].text.clone())
            }
            (Cell::Value(value), _) if !value.is_finite() => None,
            (cell, _) => Some(self.column.text(cell, tie(row))),
        };
        text_array(&self.value_type(), cells.iter().enumerate().map(text))
    }

    /// A cell in the type; none for null.
    fn scalar(&self, cell: Cell, u: f64) -> Result<Option<Scalar<'a>>, WriteError> {
        match (cell, &self.column.coding) {
            (Cell::Level(code), Coding::Levels(levels)) => {
                let Some(place) = levels.place(code, u) else { return Ok(None) };
                let level = self.levels[place];
                level.map(Some).ok_or_else(|| self.stranger(&levels.levels()[place].text))
            }
            (Cell::Value(value), Coding::Numbers(numbers)) => Ok(numbers.scalar(&self.column_type, value)),
            (Cell::Special(s), Coding::Numbers(numbers)) => match numbers.specials.get(s as usize) {
                Some(special) => self.special(numbers, special).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn special(&self, numbers: &Numbers, special: &Special) -> Result<Scalar<'a>, WriteError> {
        let scalar = match (self.column_type.class(), special.value) {
            (Class::Raw(kind), Some(value)) => {
                Some(Scalar::Raw(kind, kind.raw(value, numbers.counts_days())))
                    .filter(|_| self.in_range(value, numbers))
            }
            (Class::Float(width), Some(value)) => Some(Scalar::Float(width, rounded(width, value))),
            (Class::Float(width), None) => special.text.parse().ok().map(|float| Scalar::Float(width, float)),
            _ => None,
        };
        scalar.ok_or_else(|| self.stranger(&special.text))
    }

    fn in_range(&self, value: f64, numbers: &Numbers) -> bool {
        let (low, high) = super::raw::range(self.data_type());
        let Class::Raw(kind) = self.column_type.class() else { return true };
        (low..=high).contains(&kind.raw(value, numbers.counts_days()))
    }

    /// An array of values that are no texts; not packed yet.
    fn scalars(&self, scalars: &[Option<Scalar<'_>>]) -> ArrayRef {
        if let Class::Float(width) = self.column_type.class() {
            let float = |scalar: &Option<Scalar<'_>>| match scalar {
                Some(Scalar::Float(_, float)) => Some(*float),
                _ => None,
            };
            return float_array(width, scalars.iter().map(float));
        }
        let raw = |scalar: &Option<Scalar<'_>>| match scalar {
            Some(Scalar::Raw(_, raw)) => Some(*raw),
            _ => None,
        };
        let array = raw_array(&self.value_type(), scalars.iter().map(raw));
        array.unwrap_or_else(|| new_null_array(&self.value_type(), scalars.len()))
    }

    /// The type of a dictionary's values, or the type itself.
    fn value_type(&self) -> DataType {
        match self.data_type() {
            DataType::Dictionary(_, values) => values.as_ref().clone(),
            own => own.clone(),
        }
    }

    /// Back to a dictionary, where the type is one.
    fn packed(&self, plain: ArrayRef) -> Result<ArrayRef, WriteError> {
        if plain.data_type() == self.data_type() {
            return Ok(plain);
        }
        if let Some(truths) = plain.as_boolean_opt() {
            // Arrow packs no truths by itself.
            let keys: ArrayRef =
                Arc::new(truths.iter().map(|truth| truth.map(i8::from)).collect::<Int8Array>());
            let values: ArrayRef = Arc::new(BooleanArray::from(vec![false, true]));
            let packed = dictionary_array(self.data_type(), &keys, &values);
            return packed.map_err(|error| self.refused(&error));
        }
        arrow_cast::cast(&plain, self.data_type()).map_err(|error| self.refused(&error))
    }

    fn unpacked(&self, array: &ArrayRef) -> Result<ArrayRef, WriteError> {
        if self.column_type.is_dictionary() {
            return arrow_cast::cast(array, &self.value_type()).map_err(|error| self.refused(&error));
        }
        Ok(array.clone())
    }

    pub(crate) fn column(&self) -> &'a Column {
        self.column
    }

    pub(crate) fn column_type(&self) -> &ColumnType {
        &self.column_type
    }

    pub(crate) fn stranger(&self, text: &str) -> WriteError {
        let (column, cell_type) = (self.column.name.clone(), self.column_type.to_string());
        WriteError::Cell { column, value: text.to_owned(), cell_type }
    }

    fn fault(&self, reason: String) -> WriteError {
        WriteError::Array { column: self.column.name.clone(), reason }
    }

    fn refused(&self, error: &ArrowError) -> WriteError {
        self.fault(error.to_string())
    }
}

/// Texts in one of Arrow's three types of texts.
pub(crate) fn text_array<T: AsRef<str>>(
    data_type: &DataType,
    texts: impl Iterator<Item = Option<T>>,
) -> ArrayRef {
    match data_type {
        DataType::LargeUtf8 => Arc::new(texts.collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(texts.collect::<StringViewArray>()),
        _ => Arc::new(texts.collect::<StringArray>()),
    }
}

/// A dictionary of a type, from keys of any integer type.
pub(crate) fn dictionary_array(
    data_type: &DataType,
    keys: &ArrayRef,
    values: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let DataType::Dictionary(key_type, _) = data_type else {
        return Err(ArrowError::InvalidArgumentError(format!("{data_type} is no dictionary")));
    };
    let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
    let keys = arrow_cast::cast_with_options(keys, key_type, &options)?;
    let data = keys.to_data().into_builder().data_type(data_type.clone()).child_data(vec![values.to_data()]);
    Ok(make_array(data.build()?))
}
