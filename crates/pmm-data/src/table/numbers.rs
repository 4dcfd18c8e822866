//! Numbers as text: which texts are numbers, and how a value is written as the column wrote it.

use serde::{Deserialize, Serialize};

use super::number_form::NumberForm;

/// 2⁵³: below it f64 holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A text read as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    /// The value; may be infinite.
    pub(crate) value: f64,
    /// Digits after the point.
    pub(crate) decimals: u8,
    /// How many of them are zeros at the end.
    pub(crate) zeros: u8,
    /// Written with an exponent.
    pub(crate) exponent: bool,
    /// Written with leading zeros (`007`): a code rather than a number.
    pub(crate) code: bool,
}

impl Number {
    /// Reads a trimmed text: sign, digits, point, digits, exponent; or an infinity. Thousands separators, currency signs and
    /// NaN are not numbers.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
            let value = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
            return Some(Self { value, decimals: 0, zeros: 0, exponent: false, code: false });
        }
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, Some(power.strip_prefix(['+', '-']).unwrap_or(power))),
            None => (unsigned, None),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let shaped = digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty());
        if !shaped || power.is_some_and(|power| power.is_empty() || !digits(power)) {
            return None;
        }
        Some(Self {
            value: text.parse().ok()?,
            decimals: part.len().min(255) as u8,
            zeros: (part.len() - part.trim_end_matches('0').len()).min(255) as u8,
            exponent: power.is_some(),
            code: whole.len() > 1 && whole.starts_with('0'),
        })
    }

    /// Whether f64 loses digits of this integer.
    pub(crate) fn too_long(&self) -> bool {
        self.decimals == 0 && !self.exponent && self.value.is_finite() && self.value.abs() >= EXACT
    }
}

/// How the numbers of a column are written.
///
/// A value is rounded to `decimals` digits, the most that any cell needs; then it has at least `least` digits, the fewest that
/// any cell has. So columns that always write two digits (`1.50`), columns that write what is needed (`1.5`) and integers
/// written `371.0` all come back as they were, and what was never seen stays on the same grid.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberFormat {
    /// The most digits after the point that are needed: zeros at the end do not count. 0 for integers.
    pub decimals: u8,
    /// The fewest digits seen after the point.
    pub least: u8,
    /// Some cells have exponents: values are written as short as possible, very large and small ones with exponents.
    pub exponent: bool,
    /// Separators, currency, units, percent, or a duration.
    #[serde(default, skip_serializing_if = "NumberForm::is_plain")]
    pub form: NumberForm,
}

impl NumberFormat {
    /// The text of a finite value.
    ///
    /// ```
    /// use pmm_data::NumberFormat;
    /// let money = NumberFormat { decimals: 2, least: 2, ..NumberFormat::default() };
    /// assert_eq!(money.text(1.5), "1.50");
    /// assert_eq!(money.text(-0.001), "0.00");
    /// let plain = NumberFormat { decimals: 2, least: 0, ..NumberFormat::default() };
    /// assert_eq!(plain.text(0.1 + 0.2), "0.3");
    /// let integers = NumberFormat { decimals: 0, least: 1, ..NumberFormat::default() };
    /// assert_eq!(integers.text(180.4), "180.0");
    /// ```
    pub fn text(&self, value: f64) -> String {
        let plain = self.plain_text(value);
        match &self.form {
            NumberForm::Plain => plain,
            NumberForm::Dressed(form) => form.dress(&plain),
            NumberForm::Duration(form) => form.dress(&plain),
        }
    }

    /// The value of a text in this form; groups, currency and unit may be left out. Infinities are no values.
    pub fn value(&self, text: &str) -> Option<f64> {
        self.form.read(text.trim()).map(|number| number.value).filter(|value| value.is_finite())
    }

    /// The nearest value on the grid of decimals: the one that [`text`](Self::text) writes.
    ///
    /// ```
    /// let format = pmm_data::NumberFormat { decimals: 1, ..Default::default() };
    /// assert_eq!(format.round(1.26), 1.3);
    /// ```
    pub fn round(&self, value: f64) -> f64 {
        if value.is_finite() { self.plain_text(value).parse().unwrap_or(value) } else { value }
    }

    fn plain_text(&self, value: f64) -> String {
        let value = value + 0.0; // −0 becomes 0
        if self.exponent {
            let text = format!("{value:?}");
            return if self.least == 0 { text.strip_suffix(".0").unwrap_or(&text).to_owned() } else { text };
        }
        // The shortest text that means the value comes first: at sixteen digits 0.1 would become 0.1000000000000000055.
        let shortest = format!("{value}");
        let digits = shortest.split_once('.').map_or(0, |(_, part)| part.len());
        let mut text = shortest;
        if digits > usize::from(self.decimals) {
            text = format!("{value:.*}", usize::from(self.decimals));
            trim(&mut text, self.least);
        }
        pad(&mut text, self.least);
        match text.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|byte| byte == b'0' || byte == b'.') => rest.to_owned(),
            _ => text,
        }
    }

    /// Whether the parts make sense together; a stored format is checked with it.
    pub(crate) fn is_valid(&self) -> bool {
        self.form.is_valid()
    }
}

/// Drops trailing zeros after the point, down to `least` digits.
fn trim(text: &mut String, least: u8) {
    let Some(point) = text.find('.') else { return };
    while text.ends_with('0') && text.len() - point - 1 > usize::from(least) {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
}

/// Adds zeros up to `least` digits after the point.
fn pad(text: &mut String, least: u8) {
    let digits = text.split_once('.').map_or(0, |(_, part)| part.len());
    if digits == 0 && least > 0 {
        text.push('.');
    }
    for _ in digits..usize::from(least) {
        text.push('0');
    }
}

/// The digits of many numbers, gathered.
#[derive(Debug, Clone)]
pub(crate) struct FormatProfile(Option<NumberFormat>);

impl FormatProfile {
    pub(crate) const NONE: Self = Self(None);

    /// Numbers in a form already found.
    pub(crate) fn of(format: NumberFormat) -> Self {
        Self(Some(format))
    }

    /// Takes note of one number.
    pub(crate) fn add(&mut self, number: &Number) {
        let (needed, written) = (number.decimals - number.zeros, number.decimals);
        let format = self.0.get_or_insert(NumberFormat { least: written, ..NumberFormat::default() });
        format.decimals = format.decimals.max(needed);
        format.least = format.least.min(written);
        format.exponent |= number.exponent;
    }

    /// The common format.
    pub(crate) fn format(&self) -> NumberFormat {
        self.0.clone().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<f64> {
        Number::parse(text).map(|number| number.value)
    }

    #[test]
    fn numbers_and_others() {
        for (text, value) in
            [("0", 0.0), ("-12", -12.0), ("+3.50", 3.5), (".5", 0.5), ("5.", 5.0), ("1e-3", 1e-3)]
        {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        for text in ["", ".", "-", "1,000", "1e", "e5", "0x10", "1.2.3", "nan", "1 2", "--1", "١"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("-Inf"), Some(f64::NEG_INFINITY));
        assert_eq!(parse("1e999"), Some(f64::INFINITY));
        let code = |text| Number::parse(text).unwrap().code;
        assert!(code("007") && code("-01") && !code("0") && !code("0.5") && !code("10"));
        assert!(Number::parse("9007199254740993").unwrap().too_long());
        assert!(!Number::parse("9007199254740991").unwrap().too_long());
    }

    /// What the three usual ways of writing a column look like after reading and writing.
    #[test]
    fn texts_come_back() {
        let columns: [&[&str]; 8] = [
            &["1", "20", "-3"],
            &["1.50", "2.00", "-0.25"],
            &["1.5", "2", "0.25"],
            &["1.0", "2.25", "-3.125"],
            &["2.5199999809265137", "2.049999952316284", "0.1"],
            &["1e-9", "1.5e30", "2"],
            &["371.0", "180.0", "-2.0"],
            &["1.50", "2.30"],
        ];
        for column in columns {
            let mut profile = FormatProfile::NONE;
            let numbers: Vec<Number> = column.iter().map(|text| Number::parse(text).unwrap()).collect();
            numbers.iter().for_each(|number| profile.add(number));
            let written: Vec<String> =
                numbers.iter().map(|number| profile.format().text(number.value)).collect();
            assert_eq!(written, column);
        }
    }

    #[test]
    fn values_are_rounded_to_the_columns_digits() {
        let format = NumberFormat { decimals: 2, ..NumberFormat::default() };
        assert_eq!(format.text(1.0 / 3.0), "0.33");
        assert_eq!(format.text(0.999), "1");
        assert_eq!(format.text(-0.0), "0");
        assert_eq!(format.round(2.0 / 3.0), 0.67);
        assert_eq!(NumberFormat::default().text(2.5e20), "250000000000000000000");
    }

    /// Integers written with a decimal stay integers; values of two digits with one needed stay on tenths.
    #[test]
    fn zeros_at_the_end_are_no_digits() {
        let format = |texts: &[&str]| {
            let mut profile = FormatProfile::NONE;
            texts.iter().for_each(|text| profile.add(&Number::parse(text).unwrap()));
            profile.format()
        };
        assert_eq!(format(&["371.0", "12.0"]).text(180.4), "180.0");
        assert_eq!(format(&["371.0", "12.0"]).round(180.4), 180.0);
        assert_eq!(format(&["1.50", "2.30"]).text(1.777), "1.80");
        assert_eq!(format(&["1.50", "2.35"]).text(1.777), "1.78");
    }
}
