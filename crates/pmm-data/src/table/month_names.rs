//! The names of months, in English.

use serde::{Deserialize, Serialize};

const NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The letters of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterCase {
    /// `March`
    Title,
    /// `MARCH`
    Upper,
    /// `march`
    Lower,
}

/// How months are written.
///
/// ```
/// use pmm_data::{LetterCase, MonthFormat};
/// assert_eq!(MonthFormat::Short(LetterCase::Title).text(3, true), "Mar");
/// assert_eq!(MonthFormat::Number.text(3, true), "03");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonthFormat {
    /// `3` or `03`
    #[default]
    Number,
    /// `Mar`
    Short(LetterCase),
    /// `March`
    Long(LetterCase),
}

impl MonthFormat {
    /// Number and format of a name; `May` counts as short.
    pub(crate) fn scan(text: &str) -> Option<(u32, Self)> {
        let lower = text.to_ascii_lowercase();
        let at =
            NAMES.iter().position(|name| *name == lower || lower.len() == 3 && name.starts_with(&lower))?;
        let case = match text {
            _ if text == lower => LetterCase::Lower,
            _ if text == lower.to_ascii_uppercase() => LetterCase::Upper,
            _ if text[..1] == lower[..1].to_ascii_uppercase() && text[1..] == lower[1..] => LetterCase::Title,
            _ => return None,
        };
        let format = if lower.len() == 3 { Self::Short(case) } else { Self::Long(case) };
        Some((at as u32 + 1, format))
    }

    /// The format of two texts; `May` is both short and long.
    pub(crate) fn joined(self, other: Self, month: u32, other_month: u32) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Short(a), Self::Long(b)) if month == 5 && a == b => Some(other),
            (Self::Long(a), Self::Short(b)) if other_month == 5 && a == b => Some(self),
            _ => None,
        }
    }

    /// The text of month 1 to 12.
    pub fn text(self, month: u32, padded: bool) -> String {
        let name = NAMES.get((month as usize).wrapping_sub(1)).copied().unwrap_or_default();
        let (name, case) = match self {
            Self::Number if padded => return format!("{month:02}"),
            Self::Number => return month.to_string(),
            Self::Short(case) => (name.get(..3).unwrap_or_default(), case),
            Self::Long(case) => (name, case),
        };
        match case {
            LetterCase::Lower => name.to_owned(),
            LetterCase::Upper => name.to_ascii_uppercase(),
            LetterCase::Title => {
                let (first, rest) = name.split_at(name.len().min(1));
                first.to_ascii_uppercase() + rest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for text in ["March", "mar", "MAR", "DECEMBER", "Sep", "may"] {
            let (month, format) = MonthFormat::scan(text).unwrap();
            assert_eq!(format.text(month, true), text);
        }
        for text in ["Ma", "Marc", "mARCH", "", "Maerz", "T"] {
            assert!(MonthFormat::scan(text).is_none(), "{text}");
        }
    }

    #[test]
    fn may_is_short_and_long() {
        let (short, long) = (MonthFormat::Short(LetterCase::Title), MonthFormat::Long(LetterCase::Title));
        assert_eq!(short.joined(long, 5, 3), Some(long));
        assert_eq!(short.joined(long, 3, 4), None);
        assert_eq!(long.joined(short, 3, 5), Some(long));
    }
}
