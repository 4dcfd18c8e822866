//! What is given of rows, as a client writes it: `{"species": "Adelie", "body_mass_g": {"from": 4000}, "island": ["Dream"]}`.

use std::collections::BTreeMap;

use pmm::table::Sample;
use serde::Deserialize;
use utoipa::ToSchema;

/// What is given, by column.
pub(crate) type Given = BTreeMap<String, Wish>;

/// What is given of a column: a value, a list of values, or a range.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Wish {
    /// One of these.
    Any(Vec<Cell>),
    /// From one value to another, both included.
    Range(Range),
    /// This value; null is a missing cell.
    Is(Cell),
}

/// A range of numbers or dates; an end that is not there is open.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    /// The least.
    #[serde(default)]
    from: Option<Cell>,
    /// The greatest.
    #[serde(default)]
    to: Option<Cell>,
}

/// A cell as JSON has it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Cell {
    /// Missing.
    Missing(()),
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text, as a file would have it.
    Text(String),
}

impl Cell {
    /// As a file would have it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Missing(()) => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Tells a sample what is given.
pub(crate) fn give<'m>(mut sample: Sample<'m>, given: &Given) -> Sample<'m> {
    for (column, wish) in given {
        sample = match wish {
            Wish::Any(cells) => sample.given_any(column, cells.iter().map(Cell::text)),
            Wish::Range(range) => {
                let end = |cell: &Option<Cell>| {
                    cell.as_ref().filter(|cell| !matches!(cell, Cell::Missing(()))).map(Cell::text)
                };
                sample.given_range(column, end(&range.from), end(&range.to))
            }
            Wish::Is(cell) => sample.given(column, cell.text()),
        };
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_told_apart() {
        let text = r#"{"a": "x", "b": 3, "c": 2.5, "d": null, "e": true, "f": {"from": 1}, "g": ["u", "v"]}"#;
        let given: Given = serde_json::from_str(text).unwrap();
        let text = |name: &str| match &given[name] {
            Wish::Is(cell) => cell.text(),
            other => panic!("{other:?}"),
        };
        assert_eq!(["a", "b", "c", "d", "e"].map(text), ["x", "3", "2.5", "", "true"]);
        assert!(matches!(&given["f"], Wish::Range(Range { from: Some(_), to: None })));
        assert!(matches!(&given["g"], Wish::Any(cells) if cells.len() == 2));
        assert!(serde_json::from_str::<Given>(r#"{"f": {"form": 1}}"#).is_err());
    }
}
