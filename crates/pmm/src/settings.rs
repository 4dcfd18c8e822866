//! Settings: what a user gives, laid over what is recommended for the data.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Settings by dotted names, as in `config.toml`. What is not given is chosen for the data.
///
/// ```
/// use pmm::Settings;
/// let mut settings = Settings::new();
/// settings.set("net.width", 128)?;
/// settings.set("clock", "gradual")?;
/// settings.set_text("train.learning_rate", "1e-3")?;
/// assert_eq!(settings.to_string(), "clock = \"gradual\"\n\n[net]\nwidth = 128\n\n[train]\nlearning_rate = 0.001\n");
/// # Ok::<(), pmm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    table: toml::Table,
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&pmm_train::to_toml(&self.table))
    }
}

impl Settings {
    /// No setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Settings of a TOML file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.into(), source })?;
        text.parse().map(|table| Self { table }).map_err(|error: toml::de::Error| Error::SettingsFile {
            path: path.into(),
            why: error.message().to_owned(),
        })
    }

    /// One more setting, under its dotted name; the last one counts.
    pub fn set(&mut self, key: &str, value: impl Into<toml::Value>) -> Result<&mut Self, Error> {
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().unwrap_or(key);
        let mut table = &mut self.table;
        for part in parts {
            let inner = table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let Some(inner) = inner.as_table_mut() else {
                return Err(Error::NotAGroup { key: key.to_owned(), part: part.to_owned() });
            };
            table = inner;
        }
        table.insert(last.to_owned(), value.into());
        Ok(self)
    }

    /// The same from text: numbers, booleans and lists are recognised, all else is a text.
    pub fn set_text(&mut self, key: &str, text: &str) -> Result<&mut Self, Error> {
        let parsed =
            format!("x = {text}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("x"));
        self.set(key, parsed.unwrap_or_else(|| toml::Value::String(text.to_owned())))
    }

    /// These settings, and those of `other` in their place.
    pub fn extend(&mut self, other: &Self) {
        overlay(&mut self.table, &other.table);
    }

    /// Whether a setting is given.
    pub fn has(&self, key: &str) -> bool {
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| self.table.get(part));
        parts.try_fold(first, |value, part| value.map(|value| value.get(part))).flatten().is_some()
    }

    /// `base` with these settings in place of its own.
    pub(crate) fn over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, Error> {
        let unusable = |why: String| Error::UnknownSetting { why };
        let mut all = toml::Table::try_from(base).map_err(|error| unusable(error.to_string()))?;
        overlay(&mut all, &self.table);
        toml::Value::Table(all)
            .try_into()
            .map_err(|error: toml::de::Error| unusable(error.message().to_owned()))
    }
}

fn overlay(base: &mut toml::Table, given: &toml::Table) {
    for (key, value) in given {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(given)) => overlay(inner, given),
            // A whole number is a number, too.
            (Some(slot @ toml::Value::Float(_)), toml::Value::Integer(n)) => {
                *slot = toml::Value::Float(*n as f64)
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A setting in which two differ, and what it is in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its dotted name.
    pub key: String,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
}

/// The first setting in which two differ.
pub(crate) fn difference(a: &impl Serialize, b: &impl Serialize) -> Option<Changed> {
    let table = |text: String| toml::Value::Table(text.parse().unwrap_or_default());
    differing("", Some(&table(pmm_train::to_toml(a))), Some(&table(pmm_train::to_toml(b))))
}

fn differing(key: &str, a: Option<&toml::Value>, b: Option<&toml::Value>) -> Option<Changed> {
    if let (Some(toml::Value::Table(a)), Some(toml::Value::Table(b))) = (a, b) {
        let dotted = |inner: &str| if key.is_empty() { inner.to_owned() } else { format!("{key}.{inner}") };
        let mut keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        return keys.find_map(|inner| differing(&dotted(inner), a.get(inner), b.get(inner)));
    }
    let text = |value: Option<&toml::Value>| value.map_or_else(|| "absent".to_owned(), ToString::to_string);
    (a != b).then(|| Changed { key: key.to_owned(), was: text(a), is: text(b) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_train::table::TableConfig;

    #[test]
    fn what_is_given_counts_and_all_else_stays() {
        let mut settings = Settings::new();
        settings.set("net.width", 64).unwrap().set("train.weight_decay", 1).unwrap();
        let config: TableConfig = settings.over(&TableConfig::default()).unwrap();
        assert_eq!((config.net.width, config.train.weight_decay), (64, 1.0));
        assert_eq!(config.net.blocks, TableConfig::default().net.blocks);
        assert!(settings.has("net.width") && settings.has("net") && !settings.has("net.blocks"));
        let changed = difference(&TableConfig::default(), &config).unwrap();
        assert_eq!(
            (changed.key.as_str(), changed.was.as_str(), changed.is.as_str()),
            ("net.width", "256", "64")
        );
        assert!(difference(&config, &config).is_none());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut settings = Settings::new();
        settings.set("net", 3).unwrap();
        assert!(matches!(settings.set("net.width", 3), Err(Error::NotAGroup { .. })));
        let mut settings = Settings::new();
        settings.set("net.colour", "red").unwrap();
        let error = settings.over(&TableConfig::default()).unwrap_err().to_string();
        assert!(error.contains("colour"), "{error}");
    }
}
