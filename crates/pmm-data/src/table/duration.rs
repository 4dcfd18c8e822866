//! Durations as text: hours, minutes and seconds.

use serde::{Deserialize, Serialize};

use super::numbers::Number;

/// How durations are written: `05:39:53`, `1:02:03.5` in seconds; `75:30` in the smaller of its two units.
///
/// ```
/// use pmm_data::{DurationForm, NumberForm, NumberFormat};
/// let form = NumberForm::Duration(DurationForm { fields: 3, padded: false });
/// let format = NumberFormat { decimals: 1, form, ..NumberFormat::default() };
/// assert_eq!(format.value("1:02:03.5"), Some(3723.5));
/// assert_eq!(format.text(59.96), "0:01:00");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurationForm {
    /// Two or three fields.
    pub fields: u8,
    /// The first field has at least two digits.
    pub padded: bool,
}

/// Digits of the first field: beyond them, seconds leave f64 no digits for a fraction.
const LONGEST: usize = 6;

impl DurationForm {
    /// The form of one trimmed text, and whether its first field shows if it is padded (`05`, `5`) or not (`15`).
    pub(crate) fn of(text: &str) -> Option<(Self, bool)> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (first, rest) = unsigned.split_once(':')?;
        let fields = 2 + rest.matches(':').count() as u8;
        let form = Self { fields, padded: first.len() > 1 };
        let coded = first.len() > 2 && first.starts_with('0');
        let shows = first.len() == 1 || first.starts_with('0');
        form.read(text).filter(|_| !coded && fields <= 3).map(|_| (form, shows))
    }

    /// Reads a trimmed text.
    pub(crate) fn read(&self, text: &str) -> Option<Number> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (clock, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let mut fields = clock.split(':');
        let first = fields.next().filter(|first| digits(first) && first.len() <= LONGEST)?;
        let (mut total, mut seen) = (first.parse::<f64>().ok()?, 1);
        for field in fields {
            let number: f64 = (field.len() == 2 && digits(field)).then(|| field.parse().ok())??;
            (total, seen) = (total * 60.0 + number, seen + 1);
            (number < 60.0).then_some(())?;
        }
        let fraction = part.is_empty() != unsigned.contains('.') && (part.is_empty() || digits(part));
        if seen != self.fields || !fraction || part.len() > 9 {
            return None;
        }
        let sign = if text.starts_with('-') { "-" } else { "" };
        let mut number = Number::parse(&format!("{sign}{total:.0}.{part}"))?;
        (number.decimals, number.code) = (part.len() as u8, false);
        Some(number)
    }

    /// Puts a plain number of seconds into fields.
    pub(crate) fn dress(&self, plain: &str) -> String {
        let (sign, unsigned) = plain.strip_prefix('-').map_or(("", plain), |rest| ("-", rest));
        let (whole, part) = unsigned.find('.').map_or((unsigned, ""), |at| unsigned.split_at(at));
        let total: u64 = whole.parse().unwrap_or(u64::MAX);
        let mut rest = String::new();
        let mut left = total;
        for _ in 1..self.fields {
            rest = format!(":{:02}{rest}", left % 60);
            left /= 60;
        }
        let width = if self.padded { 2 } else { 1 };
        format!("{sign}{left:0width$}{rest}{part}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        DurationForm::of(text).and_then(|(form, _)| form.read(text)).map(|number| number.value)
    }

    #[test]
    fn texts_and_seconds() {
        for (text, seconds) in [
            ("05:39:53", 20393.0),
            ("1:02:03.5", 3723.5),
            ("-0:00:01.25", -1.25),
            ("75:30", 4530.0),
            ("100:00:00", 360_000.0),
        ] {
            assert_eq!(value(text), Some(seconds), "{text}");
            let form = DurationForm::of(text).unwrap().0;
            assert_eq!(form.dress(&format!("{seconds}")), text);
        }
        for text in
            ["5", "1:2:3", "1:60", "1:02:03:04", ":30", "1:30.", "1:3é", "005:10", "1:02:03.x", "+1:00"]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
