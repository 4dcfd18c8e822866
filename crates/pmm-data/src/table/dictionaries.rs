//! One growing dictionary a column, over many batches that have each its own.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::decoder::dictionary_array;

/// The dictionaries of a file so far, by column.
#[derive(Default)]
pub(crate) struct Dictionaries(HashMap<usize, Running>);

/// One column's dictionary.
struct Running {
    values: ArrayRef,
    /// The last dictionary that was taken in, and where its values are.
    last: ArrayRef,
    keys: ArrayRef,
}

impl Dictionaries {
    /// The batch with keys into the running dictionaries, to which its new values are added.
    pub(crate) fn unify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = batch.columns().to_vec();
        for (place, column) in columns.iter_mut().enumerate() {
            let data_type = column.data_type().clone();
            let Some(dictionary) = column.as_any_dictionary_opt() else { continue };
            let running = match self.0.remove(&place) {
                Some(running) => running.take_in(dictionary.values())?,
                None => Running::new(dictionary.values())?,
            };
            let keys = take(&running.keys, dictionary.keys(), None)?;
            *column = dictionary_array(&data_type, &keys, &running.values)?;
            self.0.insert(place, running);
        }
        RecordBatch::try_new(batch.schema(), columns)
    }
}

impl Running {
    fn new(values: &ArrayRef) -> Result<Self, ArrowError> {
        let (keys, distinct) = distinct(values)?;
        Ok(Self { values: distinct, last: values.clone(), keys })
    }

    fn take_in(self, values: &ArrayRef) -> Result<Self, ArrowError> {
        if values.to_data().ptr_eq(&self.last.to_data()) {
            return Ok(self);
        }
        let known = self.values.len();
        let (keys, all) = distinct(&concat(&[self.values.as_ref(), values.as_ref()])?)?;
        // Values that are all known leave the dictionary as it is.
        let values_now = if all.len() == known { self.values } else { all };
        Ok(Self { values: values_now, last: values.clone(), keys: keys.slice(known, values.len()) })
    }
}

/// The distinct values of an array in the order of their first occurrence, and the place of each value among them.
fn distinct(values: &ArrayRef) -> Result<(ArrayRef, ArrayRef), ArrowError> {
    let packed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values.data_type().clone()));
    let packed = arrow_cast::cast(values, &packed)?;
    let dictionary = packed.as_any_dictionary();
    Ok((arrow_array::make_array(dictionary.keys().to_data()), dictionary.values().clone()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::DictionaryArray;
    use arrow_array::types::Int8Type;
    use arrow_schema::{Field, Schema};

    use super::*;

    fn batch(words: &[Option<&str>]) -> RecordBatch {
        let words: DictionaryArray<Int8Type> = words.iter().copied().collect();
        let schema = Schema::new(vec![Field::new("w", words.data_type().clone(), true)]);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(words)]).unwrap()
    }

    #[test]
    fn dictionaries_grow_and_never_change() {
        let mut dictionaries = Dictionaries::default();
        let mut values = Vec::new();
        for words in [vec![Some("b"), Some("a"), None], vec![Some("a")], vec![Some("c"), Some("b")]] {
            let unified = dictionaries.unify(&batch(&words)).unwrap();
            let back = arrow_cast::cast(unified.column(0), &DataType::Utf8).unwrap();
            assert_eq!(back.as_string::<i32>().iter().collect::<Vec<_>>(), words);
            let dictionary = unified.column(0).as_any_dictionary().values().clone();
            values
                .push(dictionary.as_string::<i32>().iter().flatten().map(str::to_owned).collect::<Vec<_>>());
        }
        assert_eq!(values, [vec!["b", "a"], vec!["b", "a"], vec!["b", "a", "c"]]);
    }
}
