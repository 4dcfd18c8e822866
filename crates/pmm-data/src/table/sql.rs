//! The rows of a query: a database by its ADBC driver, which is loaded by its name.

use std::path::PathBuf;

use adbc_core::options::{AdbcVersion, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Driver, LOAD_FLAG_DEFAULT, Optionable, Statement};
use adbc_driver_manager::ManagedDriver;
use arrow_array::RecordBatchReader;
use arrow_ipc::writer::FileWriter;
use tempfile::NamedTempFile;

use super::digest::TableDigest;
use super::error::ReadError;
use super::source::Source;

/// Folders of drivers, for this program and for others that use ADBC.
const DRIVER_PATH: &str = "ADBC_DRIVER_PATH";
/// Rows by which the driver of SQLite, whose columns have no types, tells their types.
const TYPED_BY: i64 = 65_536;

impl Source {
    /// The rows of a query. `uri` names the database: `sqlite:///file.db` (a path; four strokes for one from the root),
    /// `postgresql://…`, or any other of which the driver `adbc_driver_SCHEME` is installed. A query is made once: its rows are kept in a
    /// temporary file, so that they can be read several times.
    pub fn query(uri: &str, sql: &str) -> Result<Self, ReadError> {
        let failed =
            |error: adbc_core::error::Error| ReadError::Database { uri: shown(uri), reason: error.message };
        let Some((scheme, rest)) = uri.split_once("://") else {
            let reason = "it has no scheme, such as sqlite:// or postgresql://".into();
            return Err(ReadError::Database { uri: shown(uri), reason });
        };
        let scheme = if scheme == "postgres" { "postgresql" } else { scheme };
        let place = if scheme == "sqlite" { rest.strip_prefix('/').unwrap_or(rest) } else { uri };
        if scheme == "sqlite" && !std::path::Path::new(place).exists() {
            // SQLite would make an empty one.
            let reason = format!("there is no file {place}");
            return Err(ReadError::Database { uri: shown(uri), reason });
        }
        let mut driver = driver(&format!("adbc_driver_{scheme}"))?;
        let at = (OptionDatabase::Uri, OptionValue::String(place.to_owned()));
        let database = driver.new_database_with_opts([at]).map_err(failed)?;
        let mut connection = database.new_connection().map_err(failed)?;
        let mut statement = connection.new_statement().map_err(failed)?;
        if scheme == "sqlite" {
            let option = OptionStatement::Other("adbc.sqlite.query.batch_rows".into());
            statement.set_option(option, OptionValue::Int(TYPED_BY)).map_err(failed)?;
        }
        statement.set_sql_query(sql).map_err(failed)?;
        let rows = statement.execute().map_err(failed)?;
        let (file, digest) =
            kept(rows).map_err(|error| ReadError::Database { uri: shown(uri), reason: error.to_string() })?;
        Self::of_spool(&shown(uri), file, digest)
    }
}

/// A URI without its password.
fn shown(uri: &str) -> String {
    let hidden = || {
        let (scheme, rest) = uri.split_once("://")?;
        let (user, place) = rest.split_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:…@{place}"))
    };
    hidden().unwrap_or_else(|| uri.to_owned())
}

/// Loads a driver: as ADBC finds it, or a library of its name in one of the folders of [`DRIVER_PATH`].
fn driver(name: &str) -> Result<ManagedDriver, ReadError> {
    let version = AdbcVersion::V110;
    let found = ManagedDriver::load_from_name(name, None, version, LOAD_FLAG_DEFAULT, None);
    let folders = std::env::var_os(DRIVER_PATH).unwrap_or_default();
    let libraries =
        std::env::split_paths(&folders).map(|folder: PathBuf| folder.join(format!("lib{name}.so")));
    let library = libraries.into_iter().find(|library| library.exists());
    let loaded = match (found, library) {
        (Err(_), Some(library)) => ManagedDriver::load_dynamic_from_filename(library, None, version),
        (found, _) => found,
    };
    loaded.map_err(|error| ReadError::NoDriver { name: name.to_owned(), reason: error.message })
}

/// Rows in a temporary file, a batch at a time, and their digest.
fn kept(rows: impl RecordBatchReader) -> Result<(NamedTempFile, blake3::Hash), arrow_schema::ArrowError> {
    let (file, schema) = (NamedTempFile::new()?, rows.schema());
    let mut digest = TableDigest::new(&schema);
    let mut writer = FileWriter::try_new_buffered(file.reopen()?, &schema)?;
    for batch in rows {
        let batch = batch?;
        digest.add(&batch)?;
        writer.write(&batch)?;
    }
    writer.finish()?;
    Ok((file, digest.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_database_is_refused() {
        let error = Source::query("rows.db", "select 1").unwrap_err();
        assert!(error.to_string().contains("no scheme"), "{error}");
        let error = Source::query("sqlite:///no/such.db", "select 1").unwrap_err();
        assert!(error.to_string().contains("there is no file no/such.db"), "{error}");
        let error = Source::query("nosuch://user:secret@host/db", "select 1").unwrap_err();
        assert!(error.to_string().contains("adbc_driver_nosuch"), "{error}");
        assert!(error.hint().unwrap().contains(DRIVER_PATH));
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("postgresql://me:secret@host/db"), "postgresql://me:…@host/db");
        assert_eq!(shown("postgresql://me@host/db"), "postgresql://me@host/db");
        assert_eq!(shown("sqlite:///a.db"), "sqlite:///a.db");
    }
}
