//! The table that a command line names.

use std::path::Path;

use pmm::table::Data;

/// Files, or the rows of a query of a database.
pub(crate) fn data(path: &Path, sql: Option<&str>) -> Data {
    match sql {
        Some(sql) => Data::query(&path.to_string_lossy(), sql),
        None => Data::open(path),
    }
}
