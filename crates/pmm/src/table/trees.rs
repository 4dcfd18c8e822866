//! The trees of a table: grown column by column, kept safe on the way, and as tensors of a file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pmm_core::Streams;
use pmm_net::table::{RowsOf, TableNet, TableTrees, TreesConfig, TreesOfColumn};
use pmm_store::{Identity, Named, TensorFileError, load_tensors, save_tensors};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::watch::{Event, Watcher};

/// What trees are grown from.
pub(super) struct Growing<'a> {
    pub(super) net: &'a Arc<TableNet>,
    /// Rows to learn, and rows to validate on.
    pub(super) rows: (RowsOf<'a>, RowsOf<'a>),
    pub(super) target: Option<usize>,
    /// The share of rows that are shown as drawing sees them.
    pub(super) in_order: f64,
    pub(super) config: &'a TreesConfig,
    pub(super) streams: Streams,
    /// Where columns are kept until all are grown.
    pub(super) path: Option<PathBuf>,
    pub(super) identity: &'a Identity,
}

/// What the file of a fit's trees says about itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreesFacts {
    identity: Identity,
}

/// Seconds between writes of the columns that are grown.
const SAVE_SECONDS: f64 = 5.0;

impl Growing<'_> {
    /// Grows the trees of all columns that are not there yet, as many at a time as there are threads; none if it is to stop.
    pub(super) fn run(&self, watcher: &mut dyn Watcher) -> Result<Option<Arc<TableTrees>>, Error> {
        let mut columns = self.kept()?;
        let missing: Vec<usize> = (0..columns.len()).filter(|column| columns[*column].is_none()).collect();
        watcher.notice(Event::Started { what: "growing trees", total: Some(columns.len() as u64) });
        let mut saved = std::time::Instant::now();
        for some in missing.chunks(rayon::current_num_threads().max(1)) {
            if watcher.wants_stop() {
                self.keep(&columns)?;
                watcher.notice(Event::Finished);
                return Ok(None);
            }
            let grown: Vec<TreesOfColumn> = some.par_iter().map(|column| self.column(*column)).collect();
            some.iter().zip(grown).for_each(|(column, trees)| columns[*column] = Some(trees));
            if saved.elapsed().as_secs_f64() > SAVE_SECONDS {
                self.keep(&columns)?;
                saved = std::time::Instant::now();
            }
            watcher.notice(Event::Progress { done: columns.iter().flatten().count() as u64 });
        }
        self.keep(&columns)?;
        watcher.notice(Event::Finished);
        Ok(Some(Arc::new(TableTrees::new(self.net, columns.into_iter().flatten().collect()))))
    }

    fn column(&self, column: usize) -> TreesOfColumn {
        self.net.learn_column(column, self.rows, (self.target, self.in_order), self.config, &self.streams)
    }

    /// The columns of a fit that goes on.
    fn kept(&self) -> Result<Vec<Option<TreesOfColumn>>, Error> {
        let none = vec![None; self.net.coordinates().columns.len()];
        let Some(path) = self.path.as_ref().filter(|path| path.exists()) else { return Ok(none) };
        let (tensors, facts): (_, TreesFacts) = load_tensors(path)?;
        if let Some(difference) = facts.identity.difference(self.identity) {
            return Err(TensorFileError::Foreign { path: path.clone(), difference }.into());
        }
        columns_of(self.net, tensors).map_err(|why| Error::DamagedModel { path: path.clone(), why })
    }

    fn keep(&self, columns: &[Option<TreesOfColumn>]) -> Result<(), Error> {
        let Some(path) = &self.path else { return Ok(()) };
        let grown = columns.iter().enumerate().filter_map(|(at, trees)| Some((at, trees.as_ref()?)));
        let facts = TreesFacts { identity: self.identity.clone() };
        Ok(save_tensors(path, &tensors_of(grown).collect::<Vec<_>>(), &facts)?)
    }
}

/// The trees of columns as tensors.
pub(super) fn tensors_of<'a>(
    columns: impl Iterator<Item = (usize, &'a TreesOfColumn)>,
) -> impl Iterator<Item = Named> {
    columns.flat_map(|(column, trees)| {
        trees.pack().into_iter().map(move |(list, values)| Named {
            name: format!("trees.{column}.{list}"),
            shape: vec![values.len()],
            values,
        })
    })
}

/// The trees of tensors, column by column; none for columns without. Tensors of no column are refused.
pub(super) fn columns_of(net: &TableNet, tensors: Vec<Named>) -> Result<Vec<Option<TreesOfColumn>>, String> {
    let mut tensors: HashMap<String, Vec<f32>> =
        tensors.into_iter().map(|tensor| (tensor.name, tensor.values)).collect();
    let mut columns = Vec::new();
    for column in 0..net.coordinates().columns.len() {
        let trees = net.unpack_column(column, |list| tensors.remove(&format!("trees.{column}.{list}")));
        columns.push(trees.map_err(|why| format!("column {column}: {why}"))?);
    }
    match tensors.keys().min() {
        Some(name) => Err(format!("a tensor called {name}")),
        None => Ok(columns),
    }
}
