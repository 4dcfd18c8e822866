//! From profiles to a schema: one streaming pass over the file, then the rules and the user's wishes.

use arrow_schema::DataType;

use super::column_type::ColumnType;
use super::error::{OverrideError, ReadError};
use super::gathered::Gathered;
use super::identifier;
use super::levels::{Level, Levels};
use super::missing::{MISSING, Markers};
use super::overrides::{ColumnOverride, Overrides};
use super::profile::{Limits, Profile, Seen};
use super::rules::{self, grouped, share};
use super::schema::{Coding, Column, Kind, PairKind, Schema, VERSION};
use super::source::Source;

impl Schema {
    /// Infers the schema from the whole file, with the user's wishes.
    ///
    /// Memory is bounded: distinct values are counted up to some ten thousands a column; beyond that a column of numbers is
    /// known by a sample and a column of texts is kept out of the model.
    pub fn infer(source: &Source, overrides: &Overrides) -> Result<Self, ReadError> {
        overrides.check_names(source.names())?;
        let missing = overrides.missing.clone().unwrap_or_else(|| MISSING.map(str::to_owned).to_vec());
        let markers = source.is_delimited().then(|| Markers::new(&missing));
        let limits = Limits::new(source.names().len());
        let delimiter = source.is_delimited().then(|| source.delimiter());
        let mut gathered: Vec<Gathered> = (0..)
            .zip(source.schema().fields())
            .map(|(place, field)| Gathered::new(field, limits, place, delimiter))
            .collect();
        let mut rows = 0;
        for batch in source.batches()? {
            let batch = batch?;
            rows += batch.rows() as u64;
            for (gathered, array) in gathered.iter_mut().zip(batch.batch.columns()) {
                gathered.add(array.as_ref(), &batch, markers.as_ref());
            }
        }
        let none = ColumnOverride::default();
        let mut columns = Vec::with_capacity(gathered.len());
        for ((gathered, name), field) in
            gathered.into_iter().zip(source.names()).zip(source.schema().fields())
        {
            let wish = overrides.columns.get(name).unwrap_or(&none);
            let arrow = (!source.is_delimited()).then(|| stored_type(field.data_type()));
            columns.push(match gathered.finish() {
                Ok(profile) => Inference { source, name, wish, arrow, profile }.column()?,
                Err(left_out) => left_out.column(name, wish, arrow)?,
            });
        }
        identifier::learn(source, &missing, &mut columns)?;
        let (delimiter, header) = (source.delimiter(), source.header());
        Ok(Self { version: VERSION, rows, delimiter, header, missing, columns, rules: Vec::new() })
    }
}

/// A type as the schema remembers it. One whose name cannot be read again has no values but nulls in new rows.
fn stored_type(data_type: &DataType) -> ColumnType {
    let own = ColumnType::new(data_type.clone());
    let readable = own.to_string().parse() == Ok(own.clone());
    if readable { own } else { ColumnType::new(DataType::Null) }
}

/// One column on its way into the schema.
pub(crate) struct Inference<'a> {
    pub(crate) source: &'a Source,
    pub(crate) name: &'a str,
    pub(crate) wish: &'a ColumnOverride,
    /// Its type, unless it is delimited text.
    pub(crate) arrow: Option<ColumnType>,
    pub(crate) profile: Profile,
}

impl Inference<'_> {
    fn column(self) -> Result<Column, ReadError> {
        let guess = rules::guess(&self.profile, self.name);
        let found = (guess.kind == Kind::Real).then(|| self.numbers(None));
        let auto = if let Some(Ok((kind, ..))) = &found { *kind } else { guess.kind };
        let (kind, pair) = self.wanted(auto)?;
        // What is wrong with the numbers (an infinity) matters only if they are to be numbers.
        let (coding, why) = match found {
            Some(found) if kind == auto && pair != PairKind::None => {
                found.map(|(_, coding, why)| (coding, why))?
            }
            _ => self.coding(kind, pair, guess.reason)?,
        };
        self.check_pair(pair, &coding)?;
        let as_found = kind == auto && pair == kind.default_pair();
        let reason = self.reason(as_found, &coding, why);
        let Profile { missing, markers, .. } = self.profile;
        let name = self.name.to_owned();
        let arrow = self.arrow;
        Ok(Column { name, kind, pair, reason, arrow, missing, markers, coding, identifiers: None })
    }

    fn coding(&self, kind: Kind, pair: PairKind, why: String) -> Result<(Coding, String), ReadError> {
        Ok(match kind {
            Kind::Constant => (self.constant()?, why),
            _ if pair == PairKind::None => (Coding::Out, why),
            Kind::Category | Kind::YesNo => (self.levels(kind)?, why),
            _ => self.numbers(Some(kind)).map(|(_, coding, why)| (coding, why))?,
        })
    }

    fn reason(&self, as_found: bool, coding: &Coding, why: String) -> String {
        let mut reason = match coding {
            _ if as_found => why,
            Coding::Out => "kept out of the model, as set".into(),
            Coding::Levels(levels) => format!("{} levels, as set", grouped(levels.levels().len() as u64)),
            _ => format!("{why}; as set"),
        };
        let missing = self.profile.missing;
        if missing > 0 && missing < self.profile.cells {
            reason += &format!("; {} missing", share(missing, self.profile.cells));
        }
        if let Some(note) = self.profile.markers.note() {
            reason += &format!("; {note}");
        }
        reason
    }

    /// Kind and pair as wished. An edited schema wishes both for every column: the one that differs from the guess counts.
    fn wanted(&self, auto: Kind) -> Result<(Kind, PairKind), OverrideError> {
        let kind = self.wish.kind.unwrap_or(auto);
        let Some(pair) = self.wish.pair else { return Ok((kind, kind.default_pair())) };
        let kind_edited = kind != auto;
        let pair_edited = pair != auto.default_pair();
        if kind_edited && !pair_edited && (pair == PairKind::None || !kind.allows(pair)) {
            return Ok((kind, kind.default_pair()));
        }
        if kind.allows(pair) {
            return Ok((kind, pair));
        }
        if kind_edited {
            return Err(
                self.unfit(pair.name(), format!("columns of kind {} do not have this pair", kind.name()))
            );
        }
        let kind = match pair {
            PairKind::Normal if self.profile.date.is_some() => Kind::DateTime,
            PairKind::Normal => Kind::Real,
            PairKind::Poisson => Kind::Count,
            PairKind::Gamma => Kind::Positive,
            PairKind::Categorical => Kind::Category,
            PairKind::None => auto,
        };
        Ok((kind, pair))
    }

    pub(crate) fn unfit(&self, wanted: &str, reason: impl Into<String>) -> OverrideError {
        OverrideError::Unfit { column: self.name.into(), wanted: wanted.into(), reason: reason.into() }
    }

    fn constant(&self) -> Result<Coding, OverrideError> {
        let text = match &self.profile.seen {
            Seen::Texts(texts) if texts.len() <= 1 => texts.keys().next().map(|text| text.to_string()),
            _ => return Err(self.unfit("constant", "it has several values")),
        };
        Ok(Coding::Constant { text: text.unwrap_or_default() })
    }

    fn levels(&self, kind: Kind) -> Result<Coding, OverrideError> {
        let Seen::Texts(texts) = &self.profile.seen else {
            return Err(self.unfit(kind.name(), "it has too many distinct values"));
        };
        if kind == Kind::YesNo && texts.len() > 2 {
            return Err(self.unfit("yes_no", format!("it has {} levels", grouped(texts.len() as u64))));
        }
        let levels =
            texts.iter().map(|(text, entry)| Level { text: text.to_string(), count: entry.count }).collect();
        Levels::new(levels).map(Coding::Levels).map_err(|error| self.unfit(kind.name(), error.to_string()))
    }

    fn check_pair(&self, pair: PairKind, coding: &Coding) -> Result<(), OverrideError> {
        if let (PairKind::Gamma, Coding::Numbers(numbers)) = (pair, coding)
            && numbers.grid.values()[0] <= 0.0
        {
            return Err(self.unfit("gamma", "it has values that are not positive"));
        }
        Ok(())
    }
}
