//! A column that is written: its name, its type, and how delimited text shows it.

use arrow_array::Array;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use super::column::boolean_texts;
use super::date_unit::{DateUnit, holds};
use super::dates::DateFormat;
use super::numbers::NumberFormat;
use super::raw::RawKind;
use super::scalar::Scalar;
use super::schema::{Coding, Column};
use super::view::View;

/// How delimited text shows the cells of a column; nulls are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFormat {
    /// Exactly, as the type has it: `1.50` of a decimal, `2020-01-31T10:00:00Z` of an instant, the shortest text of a float.
    Plain,
    /// Numbers as their column wrote them.
    Numbers(NumberFormat),
    /// Dates as their column wrote them.
    Dates(DateFormat),
    /// Booleans as their column wrote them.
    Booleans {
        /// The text of false.
        no: String,
        /// The text of true.
        yes: String,
    },
}

/// A column to write.
///
/// ```
/// use arrow_schema::DataType;
/// use pmm_data::{OutputColumn, TextFormat};
/// let legs = OutputColumn::new("legs", DataType::Int64);
/// assert_eq!((legs.field.name().as_str(), &legs.text), ("legs", &TextFormat::Plain));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Name and type.
    pub field: Field,
    /// How delimited text shows it.
    pub text: TextFormat,
}

impl OutputColumn {
    /// A column of any type, shown plainly.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { field: Field::new(name, data_type, true), text: TextFormat::Plain }
    }

    /// The columns of batches, shown plainly.
    pub fn of_schema(schema: &SchemaRef) -> Vec<Self> {
        let column =
            |field: &std::sync::Arc<Field>| Self { field: field.as_ref().clone(), text: TextFormat::Plain };
        schema.fields().iter().map(column).collect()
    }
}

impl Column {
    /// The column that holds the arrays of its [`Decoder`](super::Decoder).
    pub fn output(&self) -> OutputColumn {
        let data_type = self.column_type().data_type().clone();
        let text = match &self.coding {
            _ if self.arrow.is_some() || data_type == DataType::Utf8 => TextFormat::Plain,
            Coding::Numbers(numbers) => {
                numbers.date.map_or_else(|| TextFormat::Numbers(numbers.format.clone()), TextFormat::Dates)
            }
            Coding::Levels(levels) if data_type == DataType::Boolean => {
                boolean_texts(levels).map_or(TextFormat::Plain, |(no, yes)| TextFormat::Booleans { no, yes })
            }
            _ => TextFormat::Plain,
        };
        OutputColumn { text, ..OutputColumn::new(self.name.clone(), data_type) }
    }
}

impl TextFormat {
    /// The texts of an array; an empty text for null.
    pub(crate) fn texts(&self, array: &dyn Array) -> Result<Vec<String>, ArrowError> {
        let view = View::of(array);
        if let View::Other(array) = view {
            return shown(array);
        }
        let text = |row: usize| view.get(row).map_or(String::new(), |scalar| self.text(scalar));
        Ok((0..array.len()).map(text).collect())
    }

    fn text(&self, scalar: Scalar<'_>) -> String {
        match (self, scalar) {
            (Self::Numbers(format), Scalar::Raw(RawKind::Int, raw)) => format.text(raw as f64),
            (Self::Numbers(format), Scalar::Raw(kind @ RawKind::Span { .. }, raw)) => {
                format.text(kind.value(raw, false))
            }
            (Self::Numbers(format), Scalar::Float(_, float)) if float.is_finite() => format.text(float),
            (Self::Dates(format), Scalar::Raw(kind, raw)) if holds(format, kind) => {
                format.text(kind.value(raw, DateUnit::of(format) == DateUnit::Day))
            }
            (Self::Booleans { no, yes }, Scalar::Raw(RawKind::Bool, raw)) => {
                if raw == 0 {
                    no.clone()
                } else {
                    yes.clone()
                }
            }
            (_, scalar) => scalar.text(),
        }
    }
}

/// The texts of values that are no cells.
fn shown(array: &dyn Array) -> Result<Vec<String>, ArrowError> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let text = |row: usize| match array.is_null(row) {
        true => Ok(String::new()),
        false => formatter.value(row).try_to_string(),
    };
    (0..array.len()).map(text).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{Decimal128Array, Float32Array, Int64Array};

    use super::*;

    #[test]
    fn plain_is_exact() {
        let texts = |array: &dyn Array| TextFormat::Plain.texts(array).unwrap();
        let money = Decimal128Array::from(vec![Some(150), None]).with_precision_and_scale(10, 2).unwrap();
        assert_eq!(texts(&money), ["1.50", ""]);
        assert_eq!(texts(&Float32Array::from(vec![0.1, 1.0])), ["0.1", "1.0"]);
        assert_eq!(texts(&Int64Array::from(vec![i64::MAX])), ["9223372036854775807"]);
    }

    #[test]
    fn integers_may_be_written_with_a_point() {
        let format = TextFormat::Numbers(NumberFormat { least: 1, ..NumberFormat::default() });
        assert_eq!(format.texts(&Int64Array::from(vec![371])).unwrap(), ["371.0"]);
    }
}
