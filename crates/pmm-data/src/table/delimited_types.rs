//! Cells of delimited text → arrays of their column's type, each exactly what it says.

use arrow_array::ArrayRef;

use super::cell::Cell;
use super::column_type::Class;
use super::decoder::{Decoder, text_array};
use super::error::WriteError;
use super::missing::Markers;
use super::scalar::Scalar;
use super::schema::{Coding, Numbers};
use super::view::{View, float_array, raw_array, rounded};

impl Decoder<'_> {
    /// The texts of a delimited file in the decoder's type, for Parquet and Arrow. Empty cells and the markers of `missing`
    /// that are no levels are null (in columns out of the model, empty ones alone); a text that the type cannot hold is
    /// refused, never changed.
    pub fn typed(&self, texts: &ArrayRef, missing: &[String]) -> Result<ArrayRef, WriteError> {
        let View::Texts(texts) = View::of(texts.as_ref()) else {
            return Err(WriteError::Array { column: self.column().name.clone(), reason: "no texts".into() });
        };
        let markers = self.column().is_modelled().then(|| Markers::new(missing));
        let gap = |text: &str| match &markers {
            Some(markers) => markers.is_missing(text.trim()) && !self.is_level(text),
            None => text.is_empty(),
        };
        let texts = texts.into_iter().map(|text| text.filter(|text| !gap(text)));
        match self.column_type().class() {
            Class::Raw(_) => {
                let raw = |text: Option<&str>| match text.map(|text| self.exact(text)).transpose()? {
                    Some(Scalar::Raw(_, raw)) => Ok(Some(raw)),
                    _ => Ok(None),
                };
                let raws: Vec<Option<i128>> = texts.map(raw).collect::<Result<_, WriteError>>()?;
                raw_array(self.data_type(), raws.into_iter()).ok_or_else(|| self.stranger("a number"))
            }
            Class::Float(width) => {
                let float = |text: Option<&str>| match text.map(|text| self.exact(text)).transpose()? {
                    Some(Scalar::Float(_, float)) => Ok(Some(float)),
                    _ => Ok(None),
                };
                let floats: Vec<Option<f64>> = texts.map(float).collect::<Result<_, WriteError>>()?;
                Ok(float_array(width, floats.into_iter()))
            }
            _ => Ok(text_array(self.data_type(), texts)),
        }
    }

    /// Whether a marker is a level of the column.
    fn is_level(&self, text: &str) -> bool {
        let Coding::Levels(levels) = &self.column().coding else { return false };
        levels.code(text).or_else(|| levels.code(text.trim())).is_some()
    }

    /// The value that a text means; refused where the type would change it.
    fn exact<'t>(&self, text: &'t str) -> Result<Scalar<'t>, WriteError> {
        let stranger = || self.stranger(text);
        let Coding::Numbers(numbers) = &self.column().coding else {
            return Scalar::parse(self.column_type(), text).ok_or_else(stranger);
        };
        let cell = self.column().find_number(numbers, text).ok_or_else(stranger)?;
        let value = match cell {
            Cell::Value(value) => value,
            cell => self.column().number(cell).ok_or_else(stranger)?,
        };
        self.held(numbers, value).ok_or_else(stranger)
    }

    /// A number in the type, if it holds it.
    fn held(&self, numbers: &Numbers, value: f64) -> Option<Scalar<'static>> {
        match self.column_type().class() {
            Class::Raw(kind) => {
                let raw = kind.raw(value, numbers.counts_days());
                let (low, high) = super::raw::range(self.data_type());
                let same = kind.value(raw, numbers.counts_days()) == value && (low..=high).contains(&raw);
                same.then_some(Scalar::Raw(kind, raw))
            }
            Class::Float(width) => Some(Scalar::Float(width, rounded(width, value))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Date32Type, Float64Type, Int64Type};

    use super::super::{Overrides, ReadOptions, Schema, Source};
    use super::*;

    fn typed(cells: &[&str], more: &[&str]) -> Result<ArrayRef, WriteError> {
        let text = cells.iter().fold("x,y\n".to_owned(), |text, cell| text + cell + ",1\n");
        let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
        let schema = Schema::infer(&source, &Overrides::default()).unwrap();
        let texts: ArrayRef = Arc::new(StringArray::from(more.to_vec()));
        schema.columns[0].decoder()?.typed(&texts, &schema.missing)
    }

    #[test]
    fn cells_are_what_they_say() {
        let numbers = typed(&["371.0", "-5.0", "290.0"], &["12.0", "NA", "7"]).unwrap();
        assert_eq!(numbers.as_primitive::<Int64Type>(), &vec![Some(12), None, Some(7)].into());
        assert!(typed(&["371.0", "-5.0", "290.0"], &["12.5"]).is_err(), "refused, not rounded");
        // Finer than what was seen is no trouble for a float.
        let fine = typed(&["0.5", "1.5", "3.5"], &["1.2345"]).unwrap();
        assert_eq!(fine.as_primitive::<Float64Type>().value(0), 1.2345);
        let days = typed(&["31.01.2020", "01.02.2020", "28.02.2020"], &["02.01.1970", ""]).unwrap();
        assert_eq!(days.as_primitive::<Date32Type>(), &vec![Some(1), None].into());
        let flags = typed(&["True", "False", "True"], &["False", "NA"]).unwrap();
        assert_eq!(flags.as_boolean(), &vec![Some(false), None].into());
        assert!(typed(&["True", "False", "True"], &["maybe"]).is_err());
    }
}
