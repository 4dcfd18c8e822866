//! What a fit holds out to stop at the right time: a share of its data or, for a table, the rows of another file.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use pmm_core::Streams;
use pmm_data::{Cells, Header, ReadOptions, Schema, Source, Table};

use crate::cli::FitArgs;
use crate::output::Advice;

/// More rows than this tell no more about when to stop.
pub(crate) const MOST_ROWS: usize = 4_000;
/// With fewer, a file's loss would be noise.
const FEWEST_ROWS: usize = 10;

/// What `--valid` says: a number is a share, anything else a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Valid {
    Share(f64),
    File(PathBuf),
}

impl From<OsString> for Valid {
    fn from(text: OsString) -> Self {
        match text.to_str().and_then(|text| text.parse().ok()) {
            Some(share) => Self::Share(share),
            None => Self::File(text.into()),
        }
    }
}

/// Refuses a file where only a share can be held out.
pub(crate) fn refuse_file(args: &FitArgs, instead: &str) -> anyhow::Result<()> {
    if let Some(Valid::File(path)) = &args.valid {
        bail!(Advice::new(
            format!("--valid {}: a file of its own to hold out is for tables only", path.display()),
            format!("--valid 0.1 holds out {instead}")
        ));
    }
    Ok(())
}

/// The file to hold out, if there is one: read as that of the training rows.
pub(crate) fn open(args: &FitArgs, data: &Source) -> anyhow::Result<Option<Source>> {
    let Some(Valid::File(path)) = &args.valid else { return Ok(None) };
    let header = if data.header() { Header::Yes } else { Header::No };
    Ok(Some(Source::open(path, &ReadOptions { delimiter: None, header })?))
}

/// What all data of a fit are known by.
pub(crate) fn digest(data: &Source, held_out: Option<&Source>) -> anyhow::Result<String> {
    let data = data.digest()?;
    Ok(match held_out {
        Some(held_out) => format!("{data}+{}", held_out.digest()?),
        None => data.to_owned(),
    })
}

/// The rows of a file to hold out, coded by the schema of the training rows, and what was noticed.
pub(crate) fn read(source: &Source, schema: &Schema) -> anyhow::Result<(Table, Vec<String>)> {
    let modelled = schema.columns.iter().filter(|column| column.is_modelled()).count();
    let (mut table, found) = Table::read(source, schema, MOST_ROWS * modelled, &Streams::new(0))?;
    if table.rows < FEWEST_ROWS {
        bail!(Advice::new(
            format!("{} has {} rows, too few to tell when to stop", source.name(), table.rows),
            format!("give at least {FEWEST_ROWS} rows, or a share such as --valid 0.1")
        ));
    }
    // A column that the file does not have is unknown there, not full of gaps.
    for column in found.absent.iter().filter_map(|name| schema.position(name)) {
        table.columns[column] = Cells::default();
    }
    let notes = source.notes().iter().cloned().chain(found.messages());
    Ok((table, notes.map(|note| format!("{}: {note}", source.name())).collect()))
}
