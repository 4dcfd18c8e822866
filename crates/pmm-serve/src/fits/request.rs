//! What a client wants to be fitted.

use std::collections::BTreeMap;

use pmm::Settings;
use pmm::table::Overrides;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;

/// A fit to begin. What is not said is chosen for the data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FitRequest {
    /// The data's name in the folder.
    pub(crate) data: String,
    /// The model's name; that of the data by default.
    pub(crate) model: Option<String>,
    /// Fixes every random number; 0 by default.
    pub(crate) seed: Option<u64>,
    /// Training steps.
    pub(crate) steps: Option<u64>,
    /// Training time, roughly.
    pub(crate) minutes: Option<f64>,
    /// A column whose prediction matters most.
    pub(crate) target: Option<String>,
    /// Settings that go together, by name.
    pub(crate) preset: Option<String>,
    /// Wishes about columns.
    pub(crate) columns: BTreeMap<String, ColumnWish>,
    /// Settings by dotted name, as in a model's config.toml.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub(crate) settings: BTreeMap<String, String>,
    /// Whether a model of the same name is replaced, once the new one is whole.
    pub(crate) replace: bool,
}

/// What a column should be, where that is not what is found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ColumnWish {
    /// real, count, positive, category, yes_no, date_time, identifier or text.
    pub(crate) kind: Option<String>,
    /// normal, poisson, gamma, categorical or none.
    pub(crate) pair: Option<String>,
}

impl FitRequest {
    /// The model's name: `penguins.csv.gz` makes `penguins`.
    pub(crate) fn name(&self) -> String {
        match &self.model {
            Some(name) => name.strip_suffix(".pmm").unwrap_or(name).to_owned(),
            None => self.data.split('.').find(|part| !part.is_empty()).unwrap_or("model").to_owned(),
        }
    }

    /// The wishes about columns.
    pub(crate) fn overrides(&self) -> Result<Overrides, Problem> {
        let mut overrides = Overrides::default();
        for (name, wish) in &self.columns {
            let fields = [("kind", &wish.kind), ("pair", &wish.pair)];
            for (field, value) in
                fields.into_iter().filter_map(|(field, value)| Some((field, value.as_ref()?)))
            {
                overrides
                    .set(&format!("columns.{name}.{field}"), value)
                    .map_err(|error| Problem::of(&error.into()))?;
            }
        }
        Ok(overrides)
    }

    /// The settings.
    pub(crate) fn settings(&self) -> Result<Settings, Problem> {
        let mut settings = Settings::new();
        for (key, value) in &self.settings {
            settings.set_text(key, value)?;
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_after_its_data() {
        let request = |data: &str, model: Option<&str>| {
            FitRequest { data: data.into(), model: model.map(Into::into), ..FitRequest::default() }.name()
        };
        assert_eq!(request("penguins.csv.gz", None), "penguins");
        assert_eq!(request("a.csv", Some("b.pmm")), "b");
    }

    #[test]
    fn wishes_that_make_no_sense_are_refused() {
        let text = r#"{"data": "a.csv", "columns": {"x": {"kind": "colour"}}}"#;
        let request: FitRequest = serde_json::from_str(text).unwrap();
        assert_eq!(request.overrides().unwrap_err().status, 422);
        assert!(serde_json::from_str::<FitRequest>(r#"{"dta": "a.csv"}"#).is_err());
    }
}
