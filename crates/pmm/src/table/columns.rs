//! Finding columns by name.

use pmm_data::Schema;

use crate::error::Error;

/// The place of a column that is part of the model.
pub(crate) fn find_modelled(schema: &Schema, name: &str) -> Result<usize, Error> {
    let Some(index) = schema.position(name) else {
        let known = schema.columns.iter().map(|column| column.name.clone()).collect();
        return Err(Error::NoColumn { name: name.to_owned(), known });
    };
    let column = &schema.columns[index];
    if !column.is_modelled() {
        return Err(Error::NotModelled { name: name.to_owned(), why: column.reason.clone() });
    }
    Ok(index)
}
