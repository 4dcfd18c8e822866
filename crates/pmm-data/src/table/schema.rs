//! What a table is: its columns, their kinds, pairs and codings. Data, not code: stored as `schema.json`.

use serde::{Deserialize, Serialize};

use super::column_type::{Class, ColumnType};
use super::dates::DateFormat;
use super::error::SchemaError;
use super::grid::Grid;
use super::identifier::Identifiers;
use super::levels::Levels;
use super::missing::MarkerUse;
use super::numbers::NumberFormat;
use super::scalar::Scalar;
use crate::rules::KeptRule;

/// The version of `schema.json` that this program reads and writes.
pub(crate) const VERSION: u32 = 3;

/// The columns of a table and how each is modelled.
///
/// ```
/// use pmm_core::Streams;
/// use pmm_data::{Cell, Kind, Overrides, ReadOptions, Schema, Source, Table};
/// let text = "town,rain\nOslo,1.25\nRome,0.50\nOslo,NA\n";
/// let source = Source::from_bytes("rain.csv", text.into(), &ReadOptions::default())?;
/// let schema = Schema::infer(&source, &Overrides::default())?;
/// assert_eq!((schema.columns[0].kind, schema.columns[1].kind), (Kind::Category, Kind::Real));
/// assert_eq!(Schema::from_json(&schema.to_json()?)?, schema);
///
/// let (table, _) = Table::read(&source, &schema, usize::MAX, &Streams::new(0))?;
/// let (town, rain) = (&table.columns[0], &table.columns[1]);
/// assert_eq!((town.get(1), rain.get(1), rain.get(2)), (Cell::Level(1), Cell::Value(0.5), Cell::Missing));
/// assert_eq!(schema.columns[1].text(Cell::Value(0.5), 0.0), "0.50");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Version of the format.
    pub version: u32,
    /// Rows of the file.
    pub rows: u64,
    /// What separates fields in the file (a comma for what is not delimited text).
    pub delimiter: char,
    /// Whether the file names its columns.
    pub header: bool,
    /// Texts that may mark a missing cell in delimited text, beside the empty text: each column says whether they do
    /// ([`Column::markers`]), unless they are the user's. Elsewhere only null is missing.
    pub missing: Vec<String>,
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
    /// The rules that its rows keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<KeptRule>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The conjugate pair that models it.
    pub pair: PairKind,
    /// Why, in one sentence.
    pub reason: String,
    /// The Arrow type that it came with; none for delimited text.
    pub arrow: Option<ColumnType>,
    /// How many cells are missing.
    pub missing: u64,
    /// Texts that may mark a missing cell, and whether they do in this column; none unless it is delimited text.
    #[serde(default, skip_serializing_if = "MarkerUse::is_empty")]
    pub markers: MarkerUse,
    /// How its cells become numbers.
    pub coding: Coding,
    /// What new ones look like, where the column names rows; none otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifiers: Option<Identifiers>,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Numbers of any sign.
    Real,
    /// Non-negative integers.
    Count,
    /// Positive numbers with a heavy tail.
    Positive,
    /// One of some texts.
    Category,
    /// A category of two opposite levels.
    YesNo,
    /// Dates, with or without time.
    DateTime,
    /// The same in every row.
    Constant,
    /// A name of the row.
    Identifier,
    /// Free text.
    Text,
    /// Lists, structures, bytes: not modelled, only passed through.
    Other,
}

/// The conjugate pair of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairKind {
    /// Normal–normal.
    Normal,
    /// Gamma–Poisson.
    Poisson,
    /// Inverse gamma–gamma.
    Gamma,
    /// Dirichlet–categorical.
    Categorical,
    /// Kept out of the model.
    None,
}

/// How the cells of a column become numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// A code per level.
    Levels(Levels),
    /// A number, next to a gate of special values.
    Numbers(Numbers),
    /// Always the same text.
    Constant {
        /// The text; empty if every cell is missing (then the column has missing cells).
        text: String,
    },
    /// Not coded: identifiers and free text.
    Out,
}

/// The coding of numbers and dates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// Few distinct values: a model can give each its own probability. There are no specials then.
    pub discrete: bool,
    /// Values repeat, so that samples should be values of the grid; else they may lie between them.
    pub snap: bool,
    /// How numbers are written.
    pub format: NumberFormat,
    /// Every ordinary value is a multiple of 10^−places: 0 for integers, also where they are written 371.0. None for dates,
    /// which have their own unit, and for numbers on no such grid.
    pub places: Option<u8>,
    /// How dates are written, in a column of dates.
    pub date: Option<DateFormat>,
    /// Values apart from the continuum, at most 8 by inference: gate code s + 1 stands for `specials[s]`.
    pub specials: Vec<Special>,
    /// The distribution of the ordinary values.
    pub grid: Grid,
}

/// A value with a gate code of its own: exact zeros, 99999 as a code, a text among numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Special {
    /// How it is written.
    pub text: String,
    /// Its number, if it is one.
    pub value: Option<f64>,
    /// How often it occurs (in a sample, for very large files).
    pub count: u64,
}

impl Kind {
    /// The kinds that can be asked for.
    pub(crate) const NAMES: &str = "real, count, positive, category, yes_no, date_time, identifier or text";

    /// The name used in files and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Count => "count",
            Self::Positive => "positive",
            Self::Category => "category",
            Self::YesNo => "yes_no",
            Self::DateTime => "date_time",
            Self::Constant => "constant",
            Self::Identifier => "identifier",
            Self::Text => "text",
            Self::Other => "other",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        use Kind::*;
        let all = [Real, Count, Positive, Category, YesNo, DateTime, Constant, Identifier, Text, Other];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// The pair that goes with it.
    pub fn default_pair(self) -> PairKind {
        match self {
            Self::Real | Self::DateTime => PairKind::Normal,
            Self::Count => PairKind::Poisson,
            Self::Positive => PairKind::Gamma,
            Self::Category | Self::YesNo => PairKind::Categorical,
            Self::Constant | Self::Identifier | Self::Text | Self::Other => PairKind::None,
        }
    }

    /// Whether its values are numbers.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Real | Self::Count | Self::Positive | Self::DateTime)
    }

    /// Whether columns of this kind can have this pair.
    pub(crate) fn allows(self, pair: PairKind) -> bool {
        match self {
            _ if pair == PairKind::None => true,
            Self::Real | Self::DateTime => pair == PairKind::Normal,
            Self::Count => matches!(pair, PairKind::Normal | PairKind::Poisson | PairKind::Gamma),
            Self::Positive => matches!(pair, PairKind::Normal | PairKind::Gamma),
            Self::Category | Self::YesNo => pair == PairKind::Categorical,
            Self::Constant | Self::Identifier | Self::Text | Self::Other => false,
        }
    }
}

impl PairKind {
    /// The pairs that can be asked for.
    pub(crate) const NAMES: &str = "normal, poisson, gamma, categorical or none";

    /// The name used in files and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Poisson => "poisson",
            Self::Gamma => "gamma",
            Self::Categorical => "categorical",
            Self::None => "none",
        }
    }

    /// The pair of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        use PairKind::*;
        [Normal, Poisson, Gamma, Categorical, None].into_iter().find(|pair| pair.name() == name)
    }
}

impl Schema {
    /// The place of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Refuses a schema whose parts do not fit together.
    pub fn validate(&self) -> Result<(), SchemaError> {
        if self.version != VERSION {
            return Err(SchemaError::Version { found: self.version, known: VERSION });
        }
        if self.columns.is_empty() {
            return Err(SchemaError::NoColumns);
        }
        let mut names = std::collections::HashSet::new();
        for column in &self.columns {
            if !names.insert(column.name.as_str()) {
                return Err(SchemaError::Duplicate(column.name.clone()));
            }
            column.validate(self.rows)?;
        }
        for derived in self.rules.iter().filter_map(|rule| rule.derived.as_ref()) {
            if !names.insert(derived.name.as_str()) || !derived.is_modelled() {
                return Err(SchemaError::Duplicate(derived.name.clone()));
            }
            derived.validate(self.rows)?;
        }
        self.keeper().map(|_| ()).map_err(SchemaError::Rule)
    }
}

impl Column {
    fn validate(&self, rows: u64) -> Result<(), SchemaError> {
        let refuse = |reason| Err(SchemaError::Column { column: self.name.clone(), reason });
        if self.missing > rows {
            return refuse("more cells are missing than there are rows");
        }
        if self.identifiers.is_some() && !matches!(self.coding, Coding::Out) {
            return refuse("it is part of the model, and has identifiers beside");
        }
        if let Some(reason) = self.identifiers.as_ref().and_then(Identifiers::fault) {
            return refuse(reason);
        }
        let class = self.arrow.as_ref().map(ColumnType::class);
        if class == Some(Class::Other) && self.is_modelled() {
            return refuse("values of its type are not modelled");
        }
        let (agrees, coding) = match &self.coding {
            Coding::Levels(levels) => {
                if !self.holds(levels) {
                    return refuse("it has levels that its type cannot hold");
                }
                (self.kind.allows(self.pair) && self.pair == PairKind::Categorical, "levels")
            }
            Coding::Numbers(numbers) => {
                if let Some(reason) = numbers.fault(class == Some(Class::Text)) {
                    return refuse(reason);
                }
                let dates = numbers.date.is_some() == (self.kind == Kind::DateTime);
                (
                    self.kind.is_number()
                        && self.kind.allows(self.pair)
                        && self.pair != PairKind::None
                        && dates,
                    "numbers",
                )
            }
            Coding::Constant { .. } => {
                (self.kind == Kind::Constant && self.pair == PairKind::None, "constant")
            }
            Coding::Out => (self.kind != Kind::Constant && self.pair == PairKind::None, "out"),
        };
        if agrees {
            return Ok(());
        }
        let (kind, pair) = (self.kind.name().to_owned(), self.pair.name().to_owned());
        Err(SchemaError::Disagree { column: self.name.clone(), kind, pair, coding })
    }

    /// Whether every level is a value of the column's type.
    fn holds(&self, levels: &Levels) -> bool {
        let Some(arrow) = &self.arrow else { return true };
        levels.levels().iter().all(|level| Scalar::parse(arrow, &level.text).is_some())
    }
}

impl Numbers {
    /// What is wrong with it, if anything; a special may be the empty text where that is a text as any other.
    fn fault(&self, texts_of_a_type: bool) -> Option<&'static str> {
        let texts: std::collections::HashSet<&str> = self.specials.iter().map(|s| s.text.as_str()).collect();
        if self.discrete && !self.specials.is_empty() {
            return Some("a discrete column has no specials");
        }
        if texts.len() < self.specials.len() || texts.contains("") && !texts_of_a_type {
            return Some("the texts of specials must be different and not empty");
        }
        if self.specials.iter().any(|special| special.value.is_some_and(|value| !value.is_finite())) {
            return Some("the values of specials must be finite");
        }
        if self.date.is_some_and(|date| !date.is_valid()) {
            return Some("its date format is unknown");
        }
        (!self.format.is_valid()).then_some("its number format is unknown")
    }
}
