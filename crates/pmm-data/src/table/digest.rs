//! A digest of record batches that does not depend on how rows are cut into batches.

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use blake3::{Hash, Hasher};

use super::column_type::ColumnType;
use super::view::View;

/// BLAKE3 over, for each column: its name, its type, the number of cells, and the digest of its cells one after the other.
/// Texts go in with their length, integers and floats as little-endian bytes, what is nested as text; a null is one byte.
pub(crate) fn of_batches(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Hash, ArrowError> {
    let mut digest = TableDigest::new(schema);
    batches.iter().try_for_each(|batch| digest.add(batch))?;
    Ok(digest.finish())
}

/// The same while batches come.
pub(crate) struct TableDigest {
    schema: SchemaRef,
    cells: Vec<Hasher>,
    rows: u64,
}

impl TableDigest {
    pub(crate) fn new(schema: &SchemaRef) -> Self {
        Self { schema: schema.clone(), cells: vec![Hasher::new(); schema.fields().len()], rows: 0 }
    }

    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.rows += batch.num_rows() as u64;
        self.cells.iter_mut().zip(batch.columns()).try_for_each(|(cells, array)| add_array(cells, array))
    }

    pub(crate) fn finish(self) -> Hash {
        let mut whole = Hasher::new();
        for (field, cells) in self.schema.fields().iter().zip(&self.cells) {
            add_text(&mut whole, field.name());
            add_text(&mut whole, &ColumnType::new(field.data_type().clone()).to_string());
            whole.update(&self.rows.to_le_bytes());
            whole.update(cells.finalize().as_bytes());
        }
        whole.finalize()
    }
}

fn add_array(hasher: &mut Hasher, array: &dyn Array) -> Result<(), ArrowError> {
    match View::of(array) {
        View::Null(rows) => (0..rows).for_each(|_| add_null(hasher)),
        View::Texts(texts) => texts.iter().for_each(|text| match text {
            Some(text) => add_text(hasher, text),
            None => add_null(hasher),
        }),
        // Their integers may need more than 128 bits.
        View::Raws(..) if is_wide(array.data_type()) => add_shown(hasher, array)?,
        View::Raws(_, raws) => raws.iter().for_each(|raw| add_bytes(hasher, raw.map(i128::to_le_bytes))),
        View::Floats(_, floats) => {
            floats
                .iter()
                .for_each(|float| add_bytes(hasher, float.map(|float| float.to_bits().to_le_bytes())));
        }
        View::Other(array) => add_shown(hasher, array)?,
    }
    Ok(())
}

fn is_wide(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_wide(values),
        data_type => matches!(data_type, DataType::Decimal256(..)),
    }
}

/// Cells by the text that shows them.
fn add_shown(hasher: &mut Hasher, array: &dyn Array) -> Result<(), ArrowError> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    for row in 0..array.len() {
        match array.is_null(row) {
            true => add_null(hasher),
            false => add_text(hasher, &formatter.value(row).try_to_string()?),
        }
    }
    Ok(())
}

fn add_null(hasher: &mut Hasher) {
    hasher.update(&[0]);
}

fn add_text(hasher: &mut Hasher, text: &str) {
    hasher.update(&[1]).update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

fn add_bytes<const N: usize>(hasher: &mut Hasher, bytes: Option<[u8; N]>) {
    match bytes {
        Some(bytes) => hasher.update(&[1]).update(&bytes),
        None => hasher.update(&[0]),
    };
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, Float64Array, Int64Array, ListArray, StringArray};
    use arrow_schema::{Field, Schema};

    use super::*;

    fn table(names: [&str; 3], numbers: [Option<i64>; 4]) -> (SchemaRef, RecordBatch) {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
            Some(vec![Some(1), None]),
            None,
            Some(vec![]),
            Some(vec![Some(2)]),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(numbers.to_vec())),
            Arc::new(StringArray::from(vec![Some("a"), Some(""), None, Some("bc")])),
            Arc::new(lists),
        ];
        let field = |(name, column): (&str, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(names.into_iter().zip(&columns).map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        (schema, batch)
    }

    #[test]
    fn cuts_do_not_count_and_cells_do() {
        let (schema, batch) = table(["n", "t", "l"], [Some(1), None, Some(1 << 60), Some(-1)]);
        let whole = of_batches(&schema, std::slice::from_ref(&batch)).unwrap();
        for cut in 0..=4 {
            let parts = [batch.slice(0, cut), batch.slice(cut, 4 - cut)];
            assert_eq!(of_batches(&schema, &parts).unwrap(), whole, "{cut}");
        }
        for (names, numbers) in [
            (["n", "t", "m"], [Some(1), None, Some(1 << 60), Some(-1)]),
            (["n", "t", "l"], [Some(1), Some(0), Some(1 << 60), Some(-1)]),
            (["n", "t", "l"], [Some(1), None, Some((1 << 60) + 1), Some(-1)]),
        ] {
            let (schema, batch) = table(names, numbers);
            assert_ne!(of_batches(&schema, &[batch]).unwrap(), whole);
        }
    }

    #[test]
    fn types_count() {
        let digest = |column: ArrayRef, data_type: DataType| {
            let schema = Arc::new(Schema::new(vec![Field::new("x", data_type, true)]));
            let batch = RecordBatch::try_new(schema.clone(), vec![column]).unwrap();
            of_batches(&schema, &[batch]).unwrap()
        };
        let floats = digest(Arc::new(Float64Array::from(vec![1.0])), DataType::Float64);
        assert_ne!(floats, digest(Arc::new(Int64Array::from(vec![1])), DataType::Int64));
    }
}
