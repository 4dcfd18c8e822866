//! Numbers of rows by a column of keys.

use std::fmt::Write;

use arrow_array::Array;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;

/// The number that each cell of a column of keys stands for; none for an empty one.
///
/// A whole number from 0 to 2^63 − 1 is itself, be it of integers, floats or a text; anything else is known by the BLAKE3 of its text. So a key has the
/// same number in files of all kinds.
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use pmm_data::row_keys;
/// assert_eq!(row_keys(&Int32Array::from(vec![Some(7), None]))?, [Some(7), None]);
/// let texts = row_keys(&StringArray::from(vec!["7", "07", "a-7", "", "a-7"]))?;
/// assert!(texts[0] == Some(7) && texts[1] != texts[0] && texts[2] == texts[4] && texts[3].is_none());
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
pub fn row_keys(cells: &dyn Array) -> Result<Vec<Option<u64>>, ArrowError> {
    let (options, nulls) = (FormatOptions::default(), cells.logical_nulls());
    let formatter = ArrayFormatter::try_new(cells, &options)?;
    let mut text = String::new();
    let key = |row: usize| {
        text.clear();
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        // What cannot be shown says so in its error, which a text does not hold.
        write!(text, "{}", formatter.value(row)).map_err(|_| ArrowError::CastError("a key".into()))?;
        Ok(number(text.trim()))
    };
    (0..cells.len()).map(key).collect()
}

fn number(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let whole = text.strip_suffix(".0").unwrap_or(text);
    let number = whole.parse::<i64>().ok().filter(|number| number.to_string() == whole);
    // Below 2^63, so that rows can be counted on from any.
    match number.map(u64::try_from) {
        Some(Ok(number)) => Some(number),
        Some(Err(_)) => Some(digest(whole)),
        None => Some(digest(text)),
    }
}

fn digest(text: &str) -> u64 {
    let digest = blake3::hash(text.as_bytes());
    u64::from_le_bytes(std::array::from_fn(|place| digest.as_bytes()[place])) >> 1
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, Date32Array, Float64Array, Int64Array, NullArray, StringArray};

    use super::*;

    #[test]
    fn a_key_has_the_same_number_in_files_of_all_kinds() {
        let of = |array: &dyn Array| row_keys(array).unwrap();
        let numbers = of(&Int64Array::from(vec![0, 12, -3, i64::MAX]));
        assert_eq!(numbers, of(&StringArray::from(vec!["0", "12", "-3", "9223372036854775807"])));
        assert_eq!(numbers[..3], of(&Float64Array::from(vec![0.0, 12.0, -3.0])));
        assert_eq!(of(&Date32Array::from(vec![0])), of(&StringArray::from(vec!["1970-01-01"])));
        assert_eq!(of(&BooleanArray::from(vec![true])), of(&StringArray::from(vec!["true"])));
        assert_eq!(of(&NullArray::new(2)), [None, None]);
    }

    #[test]
    fn different_keys_have_different_numbers() {
        let texts: Vec<String> = (0..5000)
            .flat_map(|i| [format!("{i}"), format!("0{i}"), format!("{i}.5"), format!("k{i}")])
            .collect();
        let mut numbers = row_keys(&StringArray::from(texts)).unwrap();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 20_000);
    }
}
