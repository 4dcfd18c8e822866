//! What the user wants otherwise: `columns.NAME.pair=poisson`, or an edited schema.

use std::collections::BTreeMap;

use super::error::{OverrideError, SchemaError};
use super::near::near;
use super::schema::{Coding, Kind, PairKind, Schema};

/// Wishes about columns, and the markers of missing cells.
///
/// ```
/// use pmm_data::{Overrides, PairKind};
/// let mut overrides = Overrides::default();
/// overrides.set("columns.d.time.pair", "gamma")?;
/// assert_eq!(overrides.columns["d.time"].pair, Some(PairKind::Gamma));
/// # Ok::<(), pmm_data::OverrideError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Markers of missing cells, in place of the built-in ones.
    pub missing: Option<Vec<String>>,
    /// Wishes by column name.
    pub columns: BTreeMap<String, ColumnOverride>,
}

/// Wishes about one column. What equals the inferred schema changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnOverride {
    /// What its values are.
    pub kind: Option<Kind>,
    /// The pair that models it.
    pub pair: Option<PairKind>,
    /// Texts of its special values; none of them if empty.
    pub specials: Option<Vec<String>>,
}

impl Overrides {
    /// Takes one setting: `columns.NAME.pair`, `columns.NAME.kind`, `columns.NAME.specials` (texts separated by `;`) or
    /// `missing` (likewise; replaces the built-in markers).
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OverrideError> {
        if key == "missing" {
            self.missing = Some(split(value));
            return Ok(());
        }
        let unknown = || OverrideError::UnknownKey(key.into());
        let (name, field) =
            key.strip_prefix("columns.").and_then(|key| key.rsplit_once('.')).ok_or_else(unknown)?;
        let refuse = |allowed| OverrideError::UnknownValue { key: key.into(), value: value.into(), allowed };
        let mut column = self.columns.get(name).cloned().unwrap_or_default();
        match field {
            "kind" => {
                let kind =
                    Kind::from_name(value).filter(|kind| !matches!(kind, Kind::Constant | Kind::Other));
                column.kind = Some(kind.ok_or_else(|| refuse(Kind::NAMES))?);
            }
            "pair" => column.pair = Some(PairKind::from_name(value).ok_or_else(|| refuse(PairKind::NAMES))?),
            "specials" => column.specials = Some(split(value)),
            _ => return Err(unknown()),
        }
        self.columns.insert(name.to_owned(), column);
        Ok(())
    }

    /// The wishes that an edited schema expresses: kind, pair and specials of every column, and the markers.
    pub fn from_schema(schema: &Schema) -> Self {
        let wish = |column: &super::schema::Column| ColumnOverride {
            kind: Some(column.kind),
            pair: Some(column.pair),
            specials: match &column.coding {
                Coding::Numbers(numbers) => Some(numbers.specials.iter().map(|s| s.text.clone()).collect()),
                _ => None,
            },
        };
        let columns = schema.columns.iter().map(|column| (column.name.clone(), wish(column))).collect();
        Self { missing: Some(schema.missing.clone()), columns }
    }

    /// The wishes of an edited `schema.json`. Unlike [`Schema::from_json`] it accepts that an edited kind or pair no longer
    /// agrees with the coding beside it, which is made anew.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        Ok(Self::from_schema(&Schema::unchecked(text)?))
    }

    /// Refuses names that the table does not have.
    pub(crate) fn check_names(&self, names: &[String]) -> Result<(), OverrideError> {
        match self.columns.keys().find(|name| !names.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let near = near(name, names.iter().map(String::as_str));
                Err(OverrideError::UnknownColumn { name: name.clone(), near })
            }
        }
    }
}

fn split(value: &str) -> Vec<String> {
    value.split(';').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let mut overrides = Overrides::default();
        overrides.set("columns.a.b.kind", "date_time").unwrap();
        overrides.set("columns.a.b.specials", "0; 99999").unwrap();
        overrides.set("missing", "NA;-1").unwrap();
        let column = &overrides.columns["a.b"];
        assert_eq!((column.kind, column.pair), (Some(Kind::DateTime), None));
        assert_eq!(column.specials.as_deref(), Some(&["0".to_owned(), "99999".into()][..]));
        assert_eq!(overrides.missing.as_deref(), Some(&["NA".to_owned(), "-1".into()][..]));
    }

    #[test]
    fn refusals() {
        let mut overrides = Overrides::default();
        assert_eq!(
            overrides.set("column.a.pair", "normal"),
            Err(OverrideError::UnknownKey("column.a.pair".into()))
        );
        assert!(matches!(overrides.set("columns.a.colour", "red"), Err(OverrideError::UnknownKey(_))));
        let error = overrides.set("columns.a.pair", "beta").unwrap_err();
        assert_eq!(error.to_string(), "columns.a.pair cannot be \"beta\"");
        assert_eq!(error.hint().unwrap(), "it can be normal, poisson, gamma, categorical or none");
        assert!(overrides.set("columns.a.kind", "constant").is_err());
        assert!(overrides.columns.is_empty(), "a refused setting leaves nothing behind");
        overrides.set("columns.spices.pair", "normal").unwrap();
        let error = overrides.check_names(&["species".into()]).unwrap_err();
        assert_eq!(error.hint().unwrap(), "columns: species");
    }
}
