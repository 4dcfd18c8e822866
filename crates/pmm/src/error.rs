//! What can go wrong, with place and value, and what to do about it in words for any front end.

use std::path::PathBuf;

use pmm_data::{
    ArrayFileError, CellError, ImageDataError, OverrideError, ReadError, SchemaError, TextDataError,
    WriteError,
};
use pmm_net::{DeviceError, FeatureError, SettingError};
use pmm_store::{LockError, TensorFileError};

use crate::kind::DataKind;
use crate::settings::Changed;

/// Why a job was not done. [`remedy`](Self::remedy) says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] ReadError),
    /// A table cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A schema cannot be used.
    #[error("{}: {source}", path.display())]
    Schema {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: SchemaError,
    },
    /// Wishes about columns that cannot be had.
    #[error(transparent)]
    Column(#[from] OverrideError),
    /// A text cannot be read.
    #[error(transparent)]
    Text(#[from] TextDataError),
    /// Images cannot be read.
    #[error(transparent)]
    Image(#[from] ImageDataError),
    /// An archive of arrays cannot be read or written.
    #[error(transparent)]
    Arrays(#[from] ArrayFileError),
    /// There is no such preset.
    #[error("there is no preset {name} for {}s", kind.name())]
    UnknownPreset {
        /// What was asked for.
        name: String,
        /// The kind of data.
        kind: DataKind,
        /// Those that there are, each with what it is.
        known: Vec<(&'static str, &'static str)>,
    },
    /// A setting that is not known, or of the wrong type.
    #[error("a setting is not understood: {why}")]
    UnknownSetting {
        /// What is wrong.
        why: String,
    },
    /// A setting out of its bounds.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A dotted name through something that is no group.
    #[error("the setting {key} cannot be set: {part} is no group of settings")]
    NotAGroup {
        /// The name.
        key: String,
        /// Its part.
        part: String,
    },
    /// A file of settings that is none.
    #[error("{}: {why}", path.display())]
    SettingsFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A fit that goes on must keep its settings.
    #[error("{} was begun with {} = {}, not {}", folder.display(), changed.key, changed.was, changed.is)]
    OtherSettings {
        /// The folder.
        folder: PathBuf,
        /// The setting.
        changed: Changed,
    },
    /// A fit that goes on must keep its data.
    #[error("{} was begun with other data (BLAKE3 {was}, not {is})", folder.display())]
    OtherData {
        /// The folder.
        folder: PathBuf,
        /// Their digest when it began.
        was: String,
        /// The digest of what was given now.
        is: String,
    },
    /// There is a model already.
    #[error("{} is already a model", folder.display())]
    ModelExists {
        /// The folder.
        folder: PathBuf,
    },
    /// There is something else than a model.
    #[error("{} holds files that are no model", folder.display())]
    FolderInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no fit to go on with.
    #[error("{} has no fit to go on with", folder.display())]
    NothingToResume {
        /// The folder.
        folder: PathBuf,
    },
    /// Somebody else writes there.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// No model there.
    #[error("{} is not a model: it has no {missing}", path.display())]
    NotAModel {
        /// What was given.
        path: PathBuf,
        /// The file it lacks.
        missing: &'static str,
    },
    /// A fit that has not come to its first weights.
    #[error("{} has no weights yet: its fit was stopped before the first validation", folder.display())]
    Unfinished {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of a model that was changed or is not ours.
    #[error("{} is damaged: {why}", path.display())]
    DamagedModel {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of weights or a checkpoint.
    #[error(transparent)]
    Tensors(#[from] TensorFileError),
    /// A model of another kind than a job is for.
    #[error("{} is a model of {}s, not of {}s", folder.display(), found.name(), wanted.name())]
    OtherKind {
        /// The folder.
        folder: PathBuf,
        /// Its kind.
        found: DataKind,
        /// The kind that is needed.
        wanted: DataKind,
    },
    /// Data from which nothing can be learned.
    #[error("{data}: {why}")]
    NothingToLearn {
        /// The data.
        data: String,
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// Too little for a score.
    #[error("{data} has {found} {}, too few for a score", if *.found == 1 { .unit.trim_end_matches('s') } else { *.unit })]
    TooFew {
        /// The data.
        data: String,
        /// How many there are.
        found: u64,
        /// Of what, as a plural.
        unit: &'static str,
        /// How many are needed.
        needed: u64,
    },
    /// A network that no memory holds.
    #[error(
        "a network of these settings has {weights} weights, for which {needed} MB are needed and {available} MB are there"
    )]
    TooLarge {
        /// Its weights.
        weights: usize,
        /// What training would take.
        needed: u64,
        /// What the machine has.
        available: u64,
    },
    /// Data that no disk or memory holds.
    #[error("{data} unpacks to {needed} bytes; {available} are free {place}")]
    NoRoom {
        /// The data.
        data: String,
        /// What they need.
        needed: u64,
        /// What there is.
        available: u64,
        /// Where.
        place: &'static str,
    },
    /// Training went wrong for good.
    #[error("the fit was given up at step {step}: {in_a_row} steps in a row gave a loss or gradient that is not finite{}", if *kept { "; the best model so far is kept" } else { "" })]
    Diverged {
        /// The step.
        step: u64,
        /// How many in a row.
        in_a_row: u64,
        /// Whether a model was kept.
        kept: bool,
    },
    /// The best weights are not numbers.
    #[error("the fit came to nothing: its weights are not finite")]
    NotFinite,
    /// No such column.
    #[error("there is no column {name}")]
    NoColumn {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A column that the model leaves out.
    #[error("the column {name} is not part of the model: {why}")]
    NotModelled {
        /// The column.
        name: String,
        /// Why.
        why: String,
    },
    /// A given cell that the column cannot have.
    #[error("{column} = {value}: {source}")]
    Given {
        /// The column.
        column: String,
        /// What was given.
        value: String,
        /// What is wrong with it.
        source: CellError,
    },
    /// Something is asked for that cannot be had.
    #[error("{what}")]
    Request {
        /// What.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Ranks cannot work together.
    #[error(transparent)]
    Ranks(#[from] pmm_train::RanksError),
    /// A device cannot be had.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A feature network cannot be used.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// Numbers that make no distribution, grid or sampler.
    #[error(transparent)]
    Parameter(#[from] pmm_core::ParameterError),
    /// Values off their support.
    #[error(transparent)]
    Space(#[from] pmm_core::SpaceError),
    /// Points that make no target.
    #[error(transparent)]
    Target(#[from] pmm_core::TargetError),
    /// No cells came.
    #[error(transparent)]
    Cells(#[from] pmm_net::table::GenerateError),
    /// A text that no sampler completes.
    #[error(transparent)]
    Prompt(#[from] pmm_core::TextError),
    /// Scores of tables that cannot be had.
    #[error(transparent)]
    TableScores(#[from] pmm_eval::table::TableError),
    /// Scores of images that cannot be had.
    #[error(transparent)]
    ImageScores(#[from] pmm_eval::image::ImageScoreError),
    /// A picture that cannot be drawn.
    #[error("a picture cannot be drawn: {0}")]
    Picture(String),
    /// The watcher asked for a stop before there was a result.
    #[error("stopped")]
    Stopped,
}

/// The text that is no cell.
fn value_of(cell: &CellError) -> Option<&str> {
    match cell {
        CellError::UnknownLevel { text, .. }
        | CellError::NotANumber { text, .. }
        | CellError::NotADate { text, .. }
        | CellError::OffGrid { text, .. }
        | CellError::BeyondType { text, .. }
        | CellError::NotFinite(text) => Some(text),
        CellError::NotACell(_) | CellError::NotModelled => None,
    }
}

impl Error {
    pub(crate) fn request(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Request { what: what.into(), remedy: remedy.into() }
    }

    /// What to do, in words that make sense wherever it is read.
    ///
    /// ```
    /// let error = pmm::open("no/such/model.pmm").unwrap_err();
    /// assert_eq!(error.to_string(), "no/such/model.pmm is not a model: it has no config.toml");
    /// assert_eq!(error.remedy().unwrap(), "fit a model first");
    /// ```
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Self::Table(error) => return error.hint(),
            Self::Column(error) => return error.hint(),
            Self::Write(error) => return error.hint(),
            Self::Text(error) => return error.hint(),
            Self::Image(error) => return error.hint(),
            Self::Ranks(error) => return Some(error.hint()),
            Self::Device(error) => return error.hint(),
            Self::Feature(FeatureError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                "check the path. Weights do not come with pmm: those of a ResNet for CIFAR-10, of EfficientNet-Lite0 and of FID's Inception \
                 (pt_inception-2015-12-05-6726825d.pth) are read, in safetensors or in a file of PyTorch (.pth), as they are published \
                 with these networks"
            }
            Self::Feature(error) => return error.hint(),
            Self::Given { source: CellError::OffGrid { nearest, .. }, .. } => {
                return Some(format!("the nearest value that the model knows is {nearest}"));
            }
            Self::Given { source, .. } => return source.hint(),
            Self::UnknownPreset { known, .. } => {
                let list: Vec<String> = known.iter().map(|(name, what)| format!("{name} ({what})")).collect();
                return Some(format!("presets are {}", list.join(", ")));
            }
            Self::NoColumn { known, .. } => return Some(format!("the columns are {}", known.join(", "))),
            Self::NothingToLearn { remedy, .. } | Self::Request { remedy, .. } => {
                return Some(remedy.clone());
            }
            Self::TooFew { needed, unit, .. } => return Some(format!("give at least {needed} {unit}")),
            Self::UnknownSetting { .. } | Self::Setting(_) => {
                "the settings of a fitted model are in its config.toml"
            }
            Self::OtherSettings { .. } | Self::OtherData { .. } => {
                "go on with the data and settings it began with, or begin anew"
            }
            Self::ModelExists { .. } => "go on with it, allow it to be replaced, or choose another folder",
            Self::FolderInUse { .. } => "choose another folder",
            Self::NothingToResume { .. } => "begin a fit there",
            Self::Locked(LockError::Held { .. }) => "wait until it is done, or choose another folder",
            Self::NotAModel { .. } => "fit a model first",
            Self::Unfinished { .. } => "go on with the fit",
            Self::DamagedModel { .. } | Self::Schema { .. } => "bring back the file as it was, or fit again",
            Self::Tensors(TensorFileError::Damaged { .. } | TensorFileError::Foreign { .. }) => {
                "bring back the file as it was, or fit again"
            }
            Self::Tensors(TensorFileError::OldFormat { .. }) => {
                "fit the model again with this version, or use the version that made it"
            }
            Self::TooLarge { .. } => "make the network smaller",
            Self::NoRoom { .. } => "check where the file comes from; else make room, or take fewer images",
            Self::Diverged { .. } | Self::NotFinite => {
                "try a lower train.learning_rate, and look at the extremes of the data"
            }
            Self::NotModelled { .. } => "fit again with another kind for the column to change that",
            Self::Cells(pmm_net::table::GenerateError::Impossible) => "widen a range, or give less",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// The column and the value that it is about.
    ///
    /// ```
    /// let text: String = (0..100).map(|i| format!("{},{}\n", i % 7, i % 2)).collect();
    /// let data = pmm::table::Data::from_csv(format!("a,b\n{text}"));
    /// let model = pmm::table::Fit::new(data).steps(2).run(&mut ())?;
    /// let rows = pmm::table::Data::from_csv("a,b\n3,1\nmany,1\n");
    /// let error = model.predict(rows, "b").unwrap_err();
    /// assert_eq!(error.about(), (Some("a"), Some("many")));
    /// # Ok::<(), pmm::Error>(())
    /// ```
    pub fn about(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Self::Given { column, value, .. } => (Some(column), Some(value)),
            Self::NoColumn { name, .. } | Self::NotModelled { name, .. } => (Some(name), None),
            Self::Table(ReadError::Cell { column, cell, .. }) => (Some(column), value_of(cell)),
            Self::Table(ReadError::Infinite { column, value, .. }) => (Some(column), Some(value)),
            Self::Column(OverrideError::UnknownColumn { name, .. }) => (Some(name), None),
            _ => (None, None),
        }
    }
}
