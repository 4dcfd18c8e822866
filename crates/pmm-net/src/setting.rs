//! A setting that makes no sense, and how settings are held to their bounds.

use std::fmt::Display;

/// A setting whose value cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: it must be {must}")]
pub struct SettingError {
    /// Its dotted name, as in `config.toml`.
    pub key: String,
    /// What was asked for.
    pub value: String,
    /// What is allowed.
    pub must: String,
}

impl SettingError {
    /// Refuses a value unless it is fine.
    ///
    /// ```
    /// use pmm_net::SettingError;
    /// let error = SettingError::unless(false, "net.width", 0, "at least 1").unwrap_err();
    /// assert_eq!(error.to_string(), "net.width = 0: it must be at least 1");
    /// ```
    pub fn unless(fine: bool, key: &str, value: impl Display, must: impl Into<String>) -> Result<(), Self> {
        if fine {
            return Ok(());
        }
        Err(Self { key: key.to_owned(), value: value.to_string(), must: must.into() })
    }

    /// Refuses a number that is not between two others.
    pub fn between<T: PartialOrd + Display + Copy>(key: &str, value: T, low: T, high: T) -> Result<(), Self> {
        Self::unless(value >= low && value <= high, key, value, format!("between {low} and {high}"))
    }
}
