//! A fitted model of a table.

use std::path::Path;
use std::sync::Arc;

use pmm_data::{Cell, Schema, UniqueCells};
use pmm_net::Device;
use pmm_net::table::{ColumnPlace, TableDenoiser};
use pmm_train::table::TableConfig;

use super::data::Data;
use super::evaluate::Evaluate;
use super::impute::Impute;
use super::kind::Table;
use super::laws::Laws;
use super::predict::Predict;
use super::sample::Sample;
use super::score::Score;
use super::trace::Trace;
use crate::error::Error;
use crate::fitted::{FitSummary, Fitted};
use crate::info::Info;

/// A model of a table: p(any columns | any others), in one network.
pub struct Model {
    pub(crate) fitted: Fitted<Table>,
    pub(crate) denoiser: TableDenoiser,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let schema = self.schema();
        f.debug_struct("Model")
            .field("columns", &schema.columns.len())
            .field("rows", &self.fitted.facts.rows)
            .field("weights", &self.fitted.weights.len())
            .finish_non_exhaustive()
    }
}

impl Model {
    pub(crate) fn new(fitted: Fitted<Table>) -> Self {
        let mut denoiser = TableDenoiser::new(fitted.net.clone(), fitted.weights.clone());
        if let Some(trees) = &fitted.more {
            denoiser = denoiser.pooled(trees.clone(), &fitted.facts.shares);
        }
        Self { denoiser: denoiser.trimmed(&fitted.facts.trims), fitted }
    }

    /// Reads a model, whole and unaltered, to compute on a device.
    pub fn open(folder: impl AsRef<Path>, device: &Device) -> Result<Self, Error> {
        let fitted = Fitted::<Table>::load(folder.as_ref(), device)?;
        let modelled = fitted.net.coordinates().columns.len();
        if fitted.facts.trims.len() > modelled
            || fitted.facts.trims.iter().any(|trim| !(0.0..=1.0).contains(trim))
        {
            let path = folder.as_ref().join(crate::folder::WEIGHTS);
            return Err(Error::DamagedModel { path, why: "its trims are not those of its columns".into() });
        }
        let shares = &fitted.facts.shares;
        let possible = |share: f64| (0.0..=1.0).contains(&share);
        if fitted.more.is_some() && shares.len() != modelled
            || shares.iter().any(|shares| !possible(shares.codes) || !possible(shares.value))
        {
            let path = folder.as_ref().join(crate::folder::WEIGHTS);
            return Err(Error::DamagedModel { path, why: "its shares are not those of its columns".into() });
        }
        Ok(Self::new(fitted))
    }

    /// Writes the model to a folder, whole; a model that is there is replaced.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        self.fitted.save(folder.as_ref())
    }

    /// The modelled columns of the file; those that are derived from them are left out.
    pub(crate) fn places(&self) -> &[ColumnPlace] {
        let places = &self.denoiser.net().coordinates().columns;
        &places[..places.partition_point(|place| place.column < self.schema().columns.len())]
    }

    /// The columns and how they are modelled.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.fitted.description
    }

    /// The settings.
    pub fn config(&self) -> &TableConfig {
        &self.fitted.config
    }

    /// What it is, how it was trained and how big it is.
    pub fn info(&self) -> Info {
        self.fitted.info()
    }

    /// A picture of rows in the making.
    pub fn trace(&self) -> Trace<'_> {
        Trace::new(self)
    }

    /// How the fit went.
    pub fn summary(&self) -> &FitSummary {
        &self.fitted.fit
    }

    /// The folder that it was read from or fitted in.
    pub fn folder(&self) -> Option<&Path> {
        self.fitted.folder.as_deref()
    }

    /// Makes the cells of columns that never repeat known in rows `[rows, columns]` of the modelled columns, of which the first is number
    /// `first` of the whole.
    pub(super) fn set_unique(&self, unique: &UniqueCells, first: u64, known: &mut [Option<Cell>]) {
        let places = &self.denoiser.net().coordinates().columns;
        for (number, row) in (first..).zip(known.chunks_exact_mut(places.len().max(1))) {
            for (column, cell) in unique.of(number) {
                if let Some(at) = places.iter().position(|place| place.column == column) {
                    row[at] = Some(cell);
                }
            }
        }
    }

    /// New rows.
    pub fn sample(&self, rows: u64) -> Sample<'_> {
        Sample::new(self, rows)
    }

    /// Rows whose missing cells are filled by draws from their law given the rest of the row.
    pub fn impute(&self, data: impl Into<Data>) -> Impute<'_> {
        Impute::new(self, data.into())
    }

    /// The law of a column given the rest of each row, for all rows at once. What the rows say of the column is not looked at.
    pub fn predict(&self, data: impl Into<Data>, target: &str) -> Result<Laws<'_>, Error> {
        Predict::new(self, data.into(), target)?.all()
    }

    /// The same in batches, for tables that memory does not hold.
    pub fn predictions(&self, data: impl Into<Data>, target: &str) -> Result<Predict<'_>, Error> {
        Predict::new(self, data.into(), target)
    }

    /// How likely rows are, and which of their cells surprise.
    pub fn score(&self, data: impl Into<Data>) -> Score<'_> {
        Score::new(self, data.into())
    }

    /// Scores of the model on rows that it has not seen.
    pub fn evaluate(&self, test: impl Into<Data>) -> Evaluate<'_> {
        Evaluate::new(self, test.into())
    }
}
