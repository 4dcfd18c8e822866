//! What a cell holds, and conditions on it, as rules are stored.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a cell holds, independent of codes: in JSON a number, a text or null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, or a date as days or seconds since 1970.
    Number(f64),
    /// A level, a special text or an identifier.
    Text(String),
    /// Nothing.
    Missing,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(&plain(*number)),
            Self::Text(text) => f.write_str(text),
            Self::Missing => f.write_str("missing"),
        }
    }
}

/// A number as short as it can be written, without the dust of binary fractions.
pub(crate) fn plain(number: f64) -> String {
    let short = format!("{:.9}", number);
    let near: f64 = short.parse().unwrap_or(number);
    if (near - number).abs() <= 1e-12 * number.abs().max(1e-3) {
        format!("{near}")
    } else {
        format!("{number}")
    }
}

/// What a cell may be, in a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// This value.
    Is(Value),
    /// A number or a special text other than 0.
    NotZero,
    /// A number from `low` to below `high`.
    Between {
        /// The least, if there is one.
        low: Option<f64>,
        /// Above all, if there is such a number.
        high: Option<f64>,
    },
    /// No value.
    Missing,
    /// Any value.
    Present,
}

impl State {
    /// Whether a cell with this value is in the state.
    pub fn admits(&self, value: &Value) -> bool {
        match self {
            Self::Is(wanted) => wanted == value,
            Self::NotZero => !matches!(value, Value::Missing) && *value != Value::Number(0.0),
            Self::Between { low, high } => {
                let Value::Number(number) = value else { return false };
                low.is_none_or(|low| *number >= low) && high.is_none_or(|high| *number < high)
            }
            Self::Missing => matches!(value, Value::Missing),
            Self::Present => !matches!(value, Value::Missing),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(f, "{value}"),
            Self::NotZero => f.write_str("not 0"),
            Self::Between { low: Some(low), high: Some(high) } => {
                write!(f, "from {} to below {}", plain(*low), plain(*high))
            }
            Self::Between { low: Some(low), high: None } => write!(f, "{} or more", plain(*low)),
            Self::Between { low: None, high: Some(high) } => write!(f, "below {}", plain(*high)),
            Self::Between { low: None, high: None } => f.write_str("a number"),
            Self::Missing => f.write_str("missing"),
            Self::Present => f.write_str("present"),
        }
    }
}

/// A column in one of some states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// Any of these states.
    pub states: Vec<State>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [(0.1 + 0.2, "0.3"), (3.0, "3"), (1e-12, "0.000000000001"), (-2.5, "-2.5")] {
            assert_eq!(plain(number), text);
        }
    }

    #[test]
    fn values_survive_json() {
        let values = vec![Value::Number(1.5), "a".into(), Value::Missing];
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"[1.5,"a",null]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap(), values);
    }

    #[test]
    fn states_admit_what_they_say() {
        let zero = Value::Number(0.0);
        assert!(State::Is(zero.clone()).admits(&zero) && !State::NotZero.admits(&zero));
        assert!(State::Missing.admits(&Value::Missing) && !State::NotZero.admits(&Value::Missing));
        let range = State::Between { low: Some(0.0), high: Some(1.0) };
        assert!(range.admits(&zero) && !range.admits(&Value::Number(1.0)));
    }
}
