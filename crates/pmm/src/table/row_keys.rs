//! By what the draws of a row are keyed: its number in the table, or a column of the caller's.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use pmm_data::{RowBatch, row_keys};
use rayon::prelude::*;

use super::rows::Reader;
use crate::error::Error;

/// What rows are known by.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowKeys {
    /// The number of the first row.
    pub(crate) first_row: u64,
    /// A column whose cells are the keys, in place of numbers.
    pub(crate) column: Option<String>,
}

/// Numbers rows, batch by batch.
pub(crate) struct Numbering {
    first_row: u64,
    column: Option<KeyColumn>,
}

struct KeyColumn {
    name: String,
    place: usize,
    /// The row of each key.
    seen: HashMap<u64, u64>,
}

impl RowKeys {
    pub(crate) fn open(self, reader: &Reader) -> Result<Numbering, Error> {
        let Some(name) = self.column else {
            return Ok(Numbering { first_row: self.first_row, column: None });
        };
        if self.first_row != 0 {
            return Err(Error::request(
                "rows have keys of their own and a number of the first one",
                "give the key column or the first row's number",
            ));
        }
        let names = reader.source().names();
        let Some(place) = names.iter().position(|found| *found == name) else {
            return Err(Error::NoColumn { name, known: names.to_vec() });
        };
        let column = Some(KeyColumn { name, place, seen: HashMap::new() });
        Ok(Numbering { first_row: 0, column })
    }
}

impl Numbering {
    /// The numbers of the rows of a batch.
    pub(crate) fn numbers(&mut self, batch: &RowBatch) -> Result<Vec<u64>, Error> {
        match &mut self.column {
            None => Ok((self.first_row + batch.first..).take(batch.rows()).collect()),
            Some(column) => column.numbers(batch),
        }
    }

    /// The rows come again from the first one on.
    pub(crate) fn restart(&mut self) {
        if let Some(column) = &mut self.column {
            column.seen.clear();
        }
    }
}

impl KeyColumn {
    fn numbers(&mut self, batch: &RowBatch) -> Result<Vec<u64>, Error> {
        let refused =
            |what: String| Error::request(what, "the key column names every row, each by a key of its own");
        let keys = row_keys(batch.batch.column(self.place).as_ref())
            .map_err(|error| refused(format!("the column {} holds no keys: {error}", self.name)))?;
        let mut numbers = Vec::with_capacity(keys.len());
        for (row, key) in keys.into_iter().enumerate() {
            let (name, place) = (&self.name, batch.place(row));
            let Some(key) = key else {
                return Err(refused(format!("{place}: the key {name} is empty")));
            };
            match self.seen.entry(key) {
                Entry::Vacant(free) => free.insert(batch.first + row as u64),
                Entry::Occupied(taken) => {
                    let other = taken.get() + 1;
                    return Err(refused(format!("{place}: the key {name} is that of row {other} as well")));
                }
            };
            numbers.push(key);
        }
        Ok(numbers)
    }
}

/// Does something with the rows of each run of numbers that follow each other (the rows, and the number of the first), and puts the
/// results together.
pub(crate) fn by_runs<T: Send>(
    numbers: &[u64],
    work: impl Fn(Range<usize>, u64) -> Result<Vec<T>, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for row in 0..numbers.len() {
        match runs.last_mut() {
            Some(run) if numbers[row - 1].checked_add(1) == Some(numbers[row]) => run.end = row + 1,
            _ => runs.push(row..row + 1),
        }
    }
    let done: Vec<Vec<T>> =
        runs.into_par_iter().map(|run| work(run.clone(), numbers[run.start])).collect::<Result<_, _>>()?;
    Ok(done.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_in_runs_and_come_back_in_their_order() {
        let numbers = [4, 5, 6, 1, 2, 9, i64::MAX as u64, 0];
        let seen = by_runs(&numbers, |rows, first| Ok((first..).take(rows.len()).collect())).unwrap();
        assert_eq!(seen, numbers);
        let lengths = by_runs(&numbers, |rows, _| Ok(vec![rows.len()])).unwrap();
        assert_eq!(lengths, [3, 2, 1, 1, 1]);
        assert!(by_runs(&[], |_, _| Ok(vec![0])).unwrap().is_empty());
    }
}
