//! How a number is dressed: separators, currency, units, percent, and the sign of what is negative.

use serde::{Deserialize, Serialize};

use super::duration::DurationForm;
use super::number_scan::Pieces;
use super::numbers::Number;

/// The form of a column's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberForm {
    /// `-1234.5`, `1e-9`: as programs write numbers.
    #[default]
    Plain,
    /// `$1,200`, `1.234,5`, `12 %`, `(500)`, `54.0 kg`.
    Dressed(DressedForm),
    /// `05:39:53`, in seconds.
    Duration(DurationForm),
}

/// Where the sign of a negative number stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Negative {
    /// `-5`, `-$5`.
    #[default]
    First,
    /// `$-5`: after what stands before the digits.
    Inner,
    /// `5-`.
    Last,
    /// `(5)`, `($5)`.
    Parentheses,
}

/// Numbers as people write them.
///
/// The value is the number as written: `12 %` is 12, `1.234,5` is 1234.5, `($500)` is −500.
///
/// ```
/// use pmm_data::{DressedForm, NumberForm, NumberFormat};
/// let euros = DressedForm { point: ',', group: Some('.'), suffix: " €".into(), ..DressedForm::default() };
/// let format = NumberFormat { decimals: 2, least: 2, form: NumberForm::Dressed(euros), ..NumberFormat::default() };
/// assert_eq!(format.text(1234567.5), "1.234.567,50 €");
/// assert_eq!(format.value("-1.200,00 €"), Some(-1200.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DressedForm {
    /// Between whole and part: `.` or `,`.
    pub point: char,
    /// Between groups of three digits of the whole.
    pub group: Option<char>,
    /// A whole of at least this many digits is grouped: 4 or 5.
    pub group_from: u8,
    /// Before the digits: a currency, and a blank if there is one.
    pub prefix: String,
    /// After the digits: a unit, percent or currency, and a blank if there is one.
    pub suffix: String,
    /// Where the sign of a negative number stands.
    pub negative: Negative,
    /// The sign itself: `-` or `−`.
    pub minus: char,
    /// Positive numbers have a plus sign.
    pub plus: bool,
    /// No zero before the point: `.5`.
    pub bare: bool,
}

impl Default for DressedForm {
    fn default() -> Self {
        Self {
            point: '.',
            group: None,
            group_from: 4,
            prefix: String::new(),
            suffix: String::new(),
            negative: Negative::First,
            minus: '-',
            plus: false,
            bare: false,
        }
    }
}

impl DressedForm {
    /// Reads a trimmed text. Groups may be left out, and so may currency and unit unless it is to be `exact`, but never percent.
    fn read(&self, text: &str, exact: bool) -> Option<Number> {
        let pieces = Pieces::new(text)?;
        let same = pieces.prefix == self.prefix && pieces.suffix == self.suffix;
        let bare = pieces.prefix.is_empty() && pieces.suffix.is_empty() && !self.is_percent();
        if same || bare && !exact { pieces.number(self.point, self.group) } else { None }
    }

    /// Dresses a plain text of a finite number.
    pub(crate) fn dress(&self, plain: &str) -> String {
        let (negative, digits) = plain.strip_prefix('-').map_or((false, plain), |digits| (true, digits));
        let (mantissa, power) = digits.find('e').map_or((digits, ""), |at| digits.split_at(at));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut number =
            if self.bare && whole == "0" && !part.is_empty() { String::new() } else { self.grouped(whole) };
        if !part.is_empty() {
            number.push(self.point);
            number.push_str(part);
        }
        number.push_str(power);
        let positive = !negative && self.plus && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
        self.signed(&number, negative, positive)
    }

    fn signed(&self, number: &str, negative: bool, plus: bool) -> String {
        let Self { prefix, suffix, minus, .. } = self;
        match self.negative {
            _ if plus => format!("+{prefix}{number}{suffix}"),
            _ if !negative => format!("{prefix}{number}{suffix}"),
            Negative::First => format!("{minus}{prefix}{number}{suffix}"),
            Negative::Inner => format!("{prefix}{minus}{number}{suffix}"),
            Negative::Last => format!("{prefix}{number}{suffix}{minus}"),
            Negative::Parentheses => format!("({prefix}{number}{suffix})"),
        }
    }

    fn grouped(&self, whole: &str) -> String {
        let Some(group) = self.group.filter(|_| whole.len() >= usize::from(self.group_from)) else {
            return whole.to_owned();
        };
        let mut text = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                text.push(group);
            }
            text.push(digit);
        }
        text
    }

    fn is_percent(&self) -> bool {
        self.suffix.contains(['%', '‰'])
    }

    /// Whether the parts make sense together; a stored form is checked with it.
    pub(crate) fn is_valid(&self) -> bool {
        let apart = |text: &str| !text.contains(|c: char| c.is_ascii_digit() || c.is_control());
        let suffix = self.suffix.trim_end_matches(['2', '3']);
        matches!(self.point, '.' | ',')
            && self.group.is_none_or(|group| group != self.point && is_group(group))
            && matches!(self.group_from, 4 | 5)
            && matches!(self.minus, '-' | '−')
            && apart(&self.prefix)
            && apart(suffix)
    }

    /// What is said of the form, beside an example: only what a reader might have taken otherwise.
    pub(crate) fn words(&self) -> Option<&'static str> {
        match (self.point, self.group) {
            (_, Some('.')) => Some("the point separates thousands"),
            (_, Some(',')) => Some("the comma separates thousands"),
            (',', _) => Some("the comma is the decimal point"),
            _ => None,
        }
    }
}

/// Characters that separate groups of digits.
pub(crate) fn is_group(c: char) -> bool {
    matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

impl NumberForm {
    /// Whether numbers are written as programs write them.
    pub fn is_plain(&self) -> bool {
        *self == Self::Plain
    }

    /// Reads a trimmed text; currency and unit may be left out.
    pub(crate) fn read(&self, text: &str) -> Option<Number> {
        match self {
            Self::Plain => Number::parse(text),
            Self::Dressed(form) => form.read(text, false),
            Self::Duration(form) => form.read(text),
        }
    }

    /// Reads a trimmed text with all that the form has.
    pub(crate) fn read_exact(&self, text: &str) -> Option<Number> {
        match self {
            Self::Dressed(form) => form.read(text, true),
            _ => self.read(text),
        }
    }

    /// What its numbers are called.
    pub(crate) fn noun(&self) -> &'static str {
        if matches!(self, Self::Duration(_)) { "durations" } else { "numbers" }
    }

    /// What is said of the form, beside an example.
    pub(crate) fn words(&self) -> Option<&'static str> {
        if let Self::Dressed(form) = self { form.words() } else { None }
    }

    /// Whether its parts make sense together.
    pub(crate) fn is_valid(&self) -> bool {
        match self {
            Self::Plain => true,
            Self::Dressed(form) => form.is_valid(),
            Self::Duration(form) => matches!(form.fields, 2 | 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dressed() -> DressedForm {
        DressedForm { group: Some(','), prefix: "$".into(), ..DressedForm::default() }
    }

    #[test]
    fn negatives() {
        for (negative, text) in [
            (Negative::First, "-$1,234.5"),
            (Negative::Inner, "$-1,234.5"),
            (Negative::Last, "$1,234.5-"),
            (Negative::Parentheses, "($1,234.5)"),
        ] {
            let form = DressedForm { negative, ..dressed() };
            assert_eq!(form.dress("-1234.5"), text);
            assert_eq!(form.read(text, true).unwrap().value, -1234.5, "{text}");
            assert_eq!(form.dress("0"), "$0");
        }
        let plus = DressedForm { plus: true, ..DressedForm::default() };
        assert_eq!([plus.dress("5"), plus.dress("0"), plus.dress("-5")], ["+5", "0", "-5"]);
    }

    #[test]
    fn groups_and_points() {
        let spaced =
            DressedForm { point: ',', group: Some('\u{202f}'), group_from: 5, ..DressedForm::default() };
        assert_eq!(spaced.dress("1234.5"), "1234,5");
        assert_eq!(spaced.dress("12345678"), "12\u{202f}345\u{202f}678");
        assert_eq!(spaced.read("12\u{202f}345,25", true).unwrap().value, 12345.25);
        let bare = DressedForm { bare: true, ..DressedForm::default() };
        assert_eq!(
            [bare.dress("0.305"), bare.dress("-0.5"), bare.dress("0"), bare.dress("1.5")],
            [".305", "-.5", "0", "1.5"]
        );
    }

    #[test]
    fn what_may_be_left_out() {
        let read = |form: &DressedForm, text: &str| form.read(text, false).map(|number| number.value);
        assert_eq!(read(&dressed(), "1234"), Some(1234.0));
        assert!(dressed().read("1234", true).is_none());
        assert_eq!(read(&dressed(), "€5"), None);
        assert_eq!(read(&dressed(), "1,23"), None, "no group of three");
        let percent = DressedForm { suffix: "%".into(), ..DressedForm::default() };
        assert_eq!((read(&percent, "12%"), read(&percent, "12")), (Some(12.0), None));
    }
}
