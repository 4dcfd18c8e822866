//! One value of a type: what a level, a constant or a special of a typed column is.

use super::column_type::{Class, ColumnType, Width};
use super::raw::{RawKind, range};
use super::view::{float_text, rounded};

/// One value of a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar<'a> {
    Text(&'a str),
    Raw(RawKind, i128),
    Float(Width, f64),
}

impl<'a> Scalar<'a> {
    /// The value of a text; none if the type does not hold it.
    pub(crate) fn parse(column_type: &ColumnType, text: &'a str) -> Option<Self> {
        let trimmed = text.trim();
        match column_type.class() {
            Class::Text => Some(Self::Text(text)),
            Class::Raw(kind) => {
                let (low, high) = range(column_type.data_type());
                let raw = kind.parse(trimmed).filter(|raw| (low..=high).contains(raw))?;
                Some(Self::Raw(kind, raw))
            }
            Class::Float(width) => {
                let float: f64 = trimmed.parse().ok()?;
                Some(Self::Float(width, rounded(width, float)))
            }
            Class::Null | Class::Other => None,
        }
    }

    /// The text of the value.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Text(text) => text.to_owned(),
            Self::Raw(kind, raw) => kind.text(raw),
            Self::Float(width, float) => float_text(width, float),
        }
    }

    /// What tells it from other values of its type; none for texts.
    pub(crate) fn key(self) -> Option<i128> {
        match self {
            Self::Text(_) => None,
            Self::Raw(_, raw) => Some(raw),
            Self::Float(_, float) => Some(float_key(float)),
        }
    }
}

/// The bits of a float; −0 is 0, and all NaNs are one.
pub(crate) fn float_key(float: f64) -> i128 {
    let float = if float.is_nan() { f64::NAN } else { float + 0.0 };
    i128::from(float.to_bits())
}

/// The float of such bits.
pub(crate) fn float_of_key(key: i128) -> f64 {
    f64::from_bits(key as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_types() {
        let text = |column_type: &str, text: &str| {
            Scalar::parse(&column_type.parse().unwrap(), text).map(Scalar::text)
        };
        assert_eq!(text("int8", "-128").as_deref(), Some("-128"));
        assert_eq!((text("int8", "128"), text("uint8", "-1"), text("bool", "maybe")), (None, None, None));
        assert_eq!(text("float32", "0.1").as_deref(), Some("0.1"));
        assert_eq!(text("decimal128(5, 2)", "1.5").as_deref(), Some("1.50"));
        assert_eq!(text("utf8", " x ").as_deref(), Some(" x "));
        assert_eq!(text("dictionary<int8, utf8>", "a").as_deref(), Some("a"));
        assert_eq!(text("bool", "TRUE").as_deref(), Some("true"));
    }

    #[test]
    fn equal_floats_have_one_key() {
        assert_eq!(float_key(0.0), float_key(-0.0));
        assert_eq!(float_key(f64::NAN), float_key(-f64::NAN));
        assert_eq!(float_of_key(float_key(1.5)), 1.5);
    }
}
