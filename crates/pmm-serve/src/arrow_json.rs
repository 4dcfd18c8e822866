//! Rows of Arrow batches as JSON.

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use pmm::arrow::cast::AsArray;
use pmm::arrow::{Array, ArrayRef, DataType, RecordBatch, types};
use serde_json::Value;

use crate::problem::Problem;

/// The rows of a batch, `[rows][columns]`.
pub(crate) fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, Problem> {
    let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for column in batch.columns() {
        for (row, value) in rows.iter_mut().zip(values(column)?) {
            row.push(value);
        }
    }
    Ok(rows)
}

/// The cells of a column: numbers and booleans as such, all else as text, nothing as null.
fn values(array: &ArrayRef) -> Result<Vec<Value>, Problem> {
    macro_rules! numbers {
        ($kind:ty) => {
            Ok(array
                .as_primitive::<$kind>()
                .iter()
                .map(|value| value.map_or(Value::Null, Value::from))
                .collect())
        };
    }
    match array.data_type() {
        DataType::Boolean => {
            Ok(array.as_boolean().iter().map(|value| value.map_or(Value::Null, Value::from)).collect())
        }
        DataType::Int8 => numbers!(types::Int8Type),
        DataType::Int16 => numbers!(types::Int16Type),
        DataType::Int32 => numbers!(types::Int32Type),
        DataType::Int64 => numbers!(types::Int64Type),
        DataType::UInt8 => numbers!(types::UInt8Type),
        DataType::UInt16 => numbers!(types::UInt16Type),
        DataType::UInt32 => numbers!(types::UInt32Type),
        DataType::UInt64 => numbers!(types::UInt64Type),
        DataType::Float32 => {
            // The shortest text of the number itself, not of its neighbour among the wider ones.
            let wide = |value: f32| value.to_string().parse::<f64>().unwrap_or(f64::from(value));
            let array = array.as_primitive::<types::Float32Type>();
            Ok(array
                .iter()
                .map(|value| value.map_or(Value::Null, |value| Value::from(wide(value))))
                .collect())
        }
        DataType::Float64 => numbers!(types::Float64Type),
        _ => texts(array),
    }
}

fn texts(array: &ArrayRef) -> Result<Vec<Value>, Problem> {
    let failed =
        |error: &dyn std::fmt::Display| Problem::internal(format!("a column cannot be shown: {error}"));
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options).map_err(|error| failed(&error))?;
    let cell = |row: usize| match array.is_null(row) {
        true => Ok(Value::Null),
        false => formatter.value(row).try_to_string().map(Value::from).map_err(|error| failed(&error)),
    };
    (0..array.len()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use pmm::arrow::{Date32Array, Field, Float32Array, Float64Array, Int64Array, Schema, StringArray};
    use serde_json::json;

    #[test]
    fn types_survive() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("i", Arc::new(Int64Array::from(vec![Some(-3), None]))),
            ("f", Arc::new(Float64Array::from(vec![0.5, f64::NAN]))),
            ("g", Arc::new(Float32Array::from(vec![0.1, 2.0]))),
            ("s", Arc::new(StringArray::from(vec!["007", "x"]))),
            ("d", Arc::new(Date32Array::from(vec![0, 1]))),
        ];
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let rows = rows(&batch).unwrap();
        assert_eq!(json!(rows[0]), json!([-3, 0.5, 0.1, "007", "1970-01-01"]));
        assert_eq!(json!(rows[1]), json!([null, null, 2.0, "x", "1970-01-02"]));
    }
}
