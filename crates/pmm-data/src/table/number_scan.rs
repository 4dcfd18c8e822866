//! Texts taken apart as dressed numbers, and the one form that fits a whole column.

use std::collections::HashMap;

use super::duration::DurationForm;
use super::number_form::{DressedForm, Negative, NumberForm, is_group};
use super::numbers::{FormatProfile, Number, NumberFormat};

/// A text taken apart; what its separators mean is not decided yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pieces<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) suffix: &'a str,
    negative: Option<(Negative, char)>,
    plus: bool,
    /// Digits, and single separators between them.
    digits: &'a str,
    /// `e-9`
    power: &'a str,
}

impl<'a> Pieces<'a> {
    /// Takes a trimmed text apart.
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        if text.len() > 64 {
            return None;
        }
        let (text, mut negative) = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            Some(inner) => (inner, Some((Negative::Parentheses, '-'))),
            None => (text, None),
        };
        let (mut text, plus) = text.strip_prefix('+').map_or((text, false), |text| (text, true));
        if let Some((rest, minus)) = start_minus(text)
            && negative.is_none()
            && !plus
        {
            (text, negative) = (rest, Some((Negative::First, minus)));
        }
        let (mut prefix, rest) = text.split_at(start(text)?);
        if let Some((before, minus)) = end_minus(prefix)
            && negative.is_none()
            && !plus
        {
            (prefix, negative) = (before, Some((Negative::Inner, minus)));
        }
        let (digits, mut suffix) = rest.split_at(end(rest));
        let power = if prefix.is_empty() && is_power(suffix) { std::mem::take(&mut suffix) } else { "" };
        if let Some((before, minus)) = end_minus(suffix)
            && negative.is_none()
            && !plus
        {
            (suffix, negative) = (before, Some((Negative::Last, minus)));
        }
        let affixes = (prefix.is_empty() || is_currency(prefix)) && (suffix.is_empty() || is_unit(suffix));
        affixes.then_some(Self { prefix, suffix, negative, plus, digits, power })
    }

    /// The number, if its separators are these.
    pub(crate) fn number(&self, point: char, group: Option<char>) -> Option<Number> {
        let (whole, part) = self.digits.split_once(point).unwrap_or((self.digits, ""));
        let plain = match group {
            Some(group) if whole.contains(group) => ungrouped(whole, group)?,
            _ => whole.to_owned(),
        };
        let minus = if self.negative.is_some() { "-" } else { "" };
        let mut number = Number::parse(&format!("{minus}{plain}.{part}{}", self.power))?;
        number.decimals = part.len().min(255) as u8;
        Some(number)
    }

    /// The digits before the first separator that is a point, groups counted out.
    fn whole_digits(&self, point: char) -> usize {
        let whole = self.digits.split(point).next().unwrap_or_default();
        whole.bytes().filter(u8::is_ascii_digit).count()
    }
}

/// Where the digits begin, a point right before them included.
fn start(text: &str) -> Option<usize> {
    let digit = text.find(|c: char| c.is_ascii_digit())?;
    let point = text[..digit].ends_with(['.', ',']) && !text[..digit].ends_with("s.");
    Some(if point { digit - 1 } else { digit })
}

/// Where the digits and the single separators between them end.
fn end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if c.is_ascii_digit() {
            end = at + 1;
        } else if !(is_group(c) && next) {
            break;
        }
    }
    end
}

fn start_minus(text: &str) -> Option<(&str, char)> {
    let minus = text.chars().next().filter(|c| matches!(c, '-' | '−'))?;
    Some((&text[minus.len_utf8()..], minus))
}

fn end_minus(text: &str) -> Option<(&str, char)> {
    let minus = text.chars().next_back().filter(|c| matches!(c, '-' | '−'))?;
    Some((&text[..text.len() - minus.len_utf8()], minus))
}

/// `e-9`, `E+05`
fn is_power(text: &str) -> bool {
    let power = text.strip_prefix(['e', 'E']).map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
    power.is_some_and(|power| !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The digits of groups of three.
fn ungrouped(whole: &str, group: char) -> Option<String> {
    let mut groups = whole.split(group);
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()) && !first.starts_with('0'))?;
    let mut digits = first.to_owned();
    for three in groups {
        (three.len() == 3).then(|| digits.push_str(three))?;
    }
    Some(digits)
}

/// Currencies that are written as letters.
const CURRENCIES: [&str; 34] = [
    "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK",
    "HUF", "RON", "BGN", "RUB", "TRY", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "ILS", "THB", "IDR", "kr",
    "Rs", "Rs.", "zł", "Fr.",
];

/// A currency, with blanks at either end.
fn is_currency(text: &str) -> bool {
    if text.contains(char::is_control) {
        return false;
    }
    let text = text.trim();
    let sign = |c: char| matches!(c, '$' | '£' | '¥' | '¢' | '฿' | '\u{20a0}'..='\u{20cf}');
    let letters = text.trim_end_matches(sign);
    let signed = letters.len() < text.len() && letters.len() <= 3;
    CURRENCIES.contains(&text) || signed && letters.chars().all(|c| c.is_ascii_uppercase())
}

/// A unit, percent or currency: it begins with a letter or such a sign and has no digits but an exponent at its end (`m2`).
fn is_unit(text: &str) -> bool {
    let unit = text.trim();
    let letter = |c: char| {
        c.is_alphabetic()
            || matches!(c, '%' | '‰' | '°' | '$' | '£' | '¥' | '¢' | 'µ' | '\u{20a0}'..='\u{20cf}')
    };
    let more = |c: char| letter(c) || matches!(c, ' ' | '/' | '.' | '²' | '³' | '·' | '*' | '^');
    let stem = unit.strip_suffix(['2', '3']).unwrap_or(unit);
    unit.chars().count() <= 20
        && !text.contains(char::is_control)
        && text.trim_end() == text
        && stem.starts_with(letter)
        && stem.chars().all(more)
}

/// At most this many texts, and one cell in five, may be no numbers: they become special values.
const TOKENS: usize = 5;

/// The form of a column's numbers, if it is one form and not the plain one.
///
/// `texts` are distinct trimmed texts with their counts, markers of missing cells left out. Each must be a number in the same
/// form; only a few others are allowed, as among plain numbers (five texts, a fifth of the cells). Leading zeros make codes,
/// which stay text. Where a text can be read in two ways (`1,234`), the other texts decide, then the currency (which has no
/// three decimals), then the file's delimiter (`;` stands where the comma is the decimal point).
pub(crate) fn find_form<'a, I>(texts: I, delimiter: char) -> Option<NumberFormat>
where
    I: Iterator<Item = (&'a str, u64)> + Clone,
{
    find_duration(texts.clone()).or_else(|| find_dressed(texts, delimiter))
}

fn few(others: &[u64], cells: u64) -> bool {
    others.len() <= TOKENS && others.iter().sum::<u64>() * 5 <= cells
}

fn find_duration<'a>(texts: impl Iterator<Item = (&'a str, u64)>) -> Option<NumberFormat> {
    let (mut form, mut padding): (Option<DurationForm>, Option<bool>) = (None, None);
    let (mut others, mut cells, mut profile) = (Vec::new(), 0, FormatProfile::NONE);
    for (text, count) in texts {
        cells += count;
        let Some((own, shows)) = DurationForm::of(text) else {
            others.push(count);
            (others.len() <= TOKENS).then_some(())?;
            continue;
        };
        (form.get_or_insert(own).fields == own.fields).then_some(())?;
        (!shows || *padding.get_or_insert(own.padded) == own.padded).then_some(())?;
        profile.add(&own.read(text)?);
    }
    let form = DurationForm { padded: padding.unwrap_or(true), ..form? };
    few(&others, cells).then(|| NumberFormat { form: NumberForm::Duration(form), ..profile.format() })
}

fn find_dressed<'a>(texts: impl Iterator<Item = (&'a str, u64)>, delimiter: char) -> Option<NumberFormat> {
    let (mut all, mut others, mut cells) = (Vec::new(), Vec::new(), 0);
    for (text, count) in texts {
        cells += count;
        match Pieces::new(text) {
            Some(pieces) => all.push((pieces, count)),
            None => others.push(count),
        }
        (others.len() <= TOKENS).then_some(())?;
    }
    let mut affixes: HashMap<(&str, &str), u64> = HashMap::new();
    all.iter()
        .for_each(|(pieces, count)| *affixes.entry((pieces.prefix, pieces.suffix)).or_default() += count);
    let most = affixes.into_iter().max_by_key(|&(affix, count)| (count, affix))?.0;
    let same = |pieces: &Pieces<'_>| (pieces.prefix, pieces.suffix) == most;
    others.extend(all.iter().filter(|(pieces, _)| !same(pieces)).map(|(_, count)| count));
    let fitting: Vec<Pieces<'_>> =
        all.into_iter().map(|(pieces, _)| pieces).filter(|pieces| same(pieces)).collect();
    if !few(&others, cells) {
        return None;
    }
    let style = choose_style(&fitting, delimiter)?;
    let format = dressed_format(&fitting, &style)?;
    (format.form != NumberForm::Dressed(DressedForm::default())).then_some(format)
}

/// Point, group, and the number of digits from which on a whole is grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    point: char,
    group: Option<char>,
    from: u8,
}

/// The separators that fit all texts.
fn choose_style(all: &[Pieces<'_>], delimiter: char) -> Option<Style> {
    let style = |point, group| fit(all, point, group);
    let blanks = ['\'', '’', ' ', '\u{a0}', '\u{202f}', '\u{2009}'];
    if let Some(group) =
        blanks.into_iter().find(|&group| all.iter().any(|pieces| pieces.digits.contains(group)))
    {
        let comma = all.iter().any(|pieces| pieces.digits.contains(','));
        return style(if comma { ',' } else { '.' }, Some(group));
    }
    let money = all.first().is_some_and(|pieces| is_currency(pieces.prefix) || is_currency(pieces.suffix));
    let without = |separator: char| all.iter().any(|pieces| !pieces.digits.contains(separator));
    let has = |separator: char| all.iter().any(|pieces| pieces.digits.contains(separator));
    let grouped = |group| style(if group == ',' { '.' } else { ',' }, Some(group)).filter(|_| has(group));
    let decimal_comma = style(',', None).filter(|_| has(',') && delimiter != ',');
    let (decimal_point, commas, points) = (style('.', None), grouped(','), grouped('.'));
    match (decimal_comma, commas, decimal_point, points) {
        (Some(_), Some(commas), ..) if money || without(',') || delimiter != ';' => Some(commas),
        (Some(decimal), ..) => Some(decimal),
        (None, Some(commas), ..) => Some(commas),
        (_, _, Some(decimal), Some(points)) => {
            let padded = all.iter().any(|pieces| pieces.digits.contains('.') && pieces.digits.ends_with('0'));
            Some(if money || delimiter == ';' && without('.') && padded { points } else { decimal })
        }
        (.., decimal, points) => decimal.or(points),
    }
}

/// Whether all texts are numbers with these separators; wholes of five digits and more are then all grouped, or none.
fn fit(all: &[Pieces<'_>], point: char, group: Option<char>) -> Option<Style> {
    let (mut four_bare, mut four_grouped) = (false, false);
    for pieces in all {
        pieces.number(point, group).filter(|number| !number.code && !number.too_long())?;
        let Some(group) = group else { continue };
        let grouped = pieces.digits.contains(group);
        match pieces.whole_digits(point) {
            0..=3 => {}
            4 => (four_bare, four_grouped) = (four_bare || !grouped, four_grouped || grouped),
            _ => grouped.then_some(())?,
        }
    }
    (!(four_bare && four_grouped)).then_some(Style { point, group, from: if four_bare { 5 } else { 4 } })
}

/// Decimals, signs and the rest of the form.
fn dressed_format(all: &[Pieces<'_>], style: &Style) -> Option<NumberFormat> {
    let (mut profile, mut minus, mut signed) = (FormatProfile::NONE, None, 0);
    let (mut plus, mut no_plus, mut bare, mut zero) = (false, false, false, false);
    for pieces in all {
        let number = pieces.number(style.point, style.group)?;
        profile.add(&number);
        if let Some(sign) = pieces.negative {
            signed += 1;
            (*minus.get_or_insert(sign) == sign).then_some(())?;
        } else if number.value > 0.0 {
            (plus, no_plus) = (plus || pieces.plus, no_plus || !pieces.plus);
        }
        bare |= pieces.digits.starts_with(style.point);
        zero |= pieces.digits.strip_prefix('0').is_some_and(|rest| rest.starts_with(style.point));
    }
    let (negative, minus) = minus.unwrap_or((Negative::First, '-'));
    // `(1)`, `(2)` are notes and `18-` is a class, unless other numbers stand without.
    if signed == all.len() && matches!(negative, Negative::Last | Negative::Parentheses) {
        return None;
    }
    let first = all.first()?;
    let form = DressedForm {
        point: style.point,
        group: style.group,
        group_from: style.from,
        prefix: first.prefix.to_owned(),
        suffix: first.suffix.to_owned(),
        negative,
        minus,
        plus: plus && !no_plus,
        bare: bare && !zero,
    };
    Some(NumberFormat { form: NumberForm::Dressed(form), ..profile.format() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(texts: &[&str], delimiter: char) -> Option<NumberFormat> {
        find_form(texts.iter().map(|text| (*text, 1)), delimiter)
    }

    /// Columns that come back as they were, with the value of their first text.
    #[test]
    fn what_stands_beside_a_number_has_no_control_characters() {
        assert!(is_unit(" J") && is_currency("USD ") && is_currency("\u{a0}€"));
        assert!(!is_unit("\u{b}J") && !is_currency("USD\t") && !is_currency("\u{b}€"));
    }

    #[test]
    fn texts_come_back() {
        let columns: [(&[&str], char, f64); 26] = [
            (&["1,5", "2,25", "-3", "1000,5"], ';', 1.5),
            (&["1.234.567,89", "0,50", "12,30"], ',', 1_234_567.89),
            (&["1,234.5", "12.5", "999.0"], ',', 1234.5),
            (&["1'234.5", "12.5", "1'000'000.0"], ',', 1234.5),
            (&["1 234,5", "12,5", "1 000 000,0"], ';', 1234.5),
            (&["1\u{202f}234,5", "12,0"], ',', 1234.5),
            (&["$1,200", "$5", "-$5"], ',', 1200.0),
            (&["€ 1.200", "€ 950", "€ 12.000"], ',', 1200.0),
            (&["1200 EUR", "-5 EUR", "75 EUR"], ',', 1200.0),
            (&["($500)", "$1,250", "$0"], ',', -500.0),
            (&["(500)", "20", "1250"], ',', -500.0),
            (&["12%", "5%", "100%"], ',', 12.0),
            (&["12.5 %", "0.5 %", "-3.0 %"], ',', 12.5),
            (&["54.0 kg", "61.5 kg", "70.0 kg"], ',', 54.0),
            (&["12 m2", "1,500 m2"], ',', 12.0),
            (&["05:39:53", "11:02:00", "00:00:09"], ',', 20393.0),
            (&["1:02:03.5", "12:00:00.0", "0:59:59.5"], ',', 3723.5),
            (&["+5", "-3", "+12", "0"], ',', 5.0),
            (&["5-", "12", "100"], ',', -5.0),
            (&[".305", "-.25", "1.125"], ',', 0.305),
            (&["−5", "7", "−12"], ',', -5.0),
            (&["US$ 5", "US$ 10"], ',', 5.0),
            (&["1234,5", "12.345,0", "12,5"], ';', 1234.5),
            (&["20 °C", "-5 °C"], ',', 20.0),
            (&["1,5e-9", "2", "3,25"], ';', 1.5e-9),
            (&["$-5", "$7"], ',', -5.0),
        ];
        for (texts, delimiter, first) in columns {
            let format = find(texts, delimiter).unwrap_or_else(|| panic!("{texts:?}"));
            assert!(format.is_valid(), "{format:?}");
            assert_eq!(format.value(texts[0]), Some(first), "{texts:?}");
            for text in texts {
                assert_eq!(&format.text(format.value(text).unwrap()), text, "{format:?}");
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_text() {
        for texts in [
            &["007", "12 kg"][..],
            &["$007", "$012"],
            &["5 kg", "3 lb"],
            &["$5", "€5", "£5"],
            &["A1", "A2"],
            &["1st", "2nd"],
            &["(1)", "(2)"],
            &["18-", "21-"],
            &["1,2", "3,45,6"],
            &["12,34,567"],
            &["1.2.3", "1.2.4"],
            &["192.168.1.10"],
            &["90-100", "80-90"],
            &["1/2", "3/4"],
            &["+49 30 123", "+49 30 1234"],
            &["12h30", "1h15"],
            &["1234,567.5", "1,234"],
            &["9007199254740993 kg", "1 kg"],
            &["1:30", "1:30:00"],
            &["1:30", "01:45"],
        ] {
            for delimiter in [',', ';'] {
                assert_eq!(find(texts, delimiter), None, "{texts:?}");
            }
        }
        assert_eq!(find(&["1,5", "2,5"], ','), None, "between commas 1,5 may be a list");
        assert_eq!(find(&["12,345", "1234", "1,234"], ','), None, "thousands here and not there");
        assert_eq!(find(&["1", "2.5", "-3e5"], ','), None, "plain numbers need no form");
    }

    /// `1,234` and `1.234` by the other texts, the currency, and the delimiter.
    #[test]
    fn three_digits_after_a_separator() {
        let value = |texts: &[&str], delimiter| {
            find(texts, delimiter).map_or(f64::NAN, |format| format.value(texts[0]).unwrap())
        };
        assert_eq!(value(&["1,234", "2,500"], ','), 1234.0);
        assert_eq!(value(&["1,234", "2,500"], '\t'), 1234.0);
        assert_eq!(value(&["1,234", "2,500"], ';'), 1.234);
        assert_eq!(value(&["1,234", "950"], ';'), 1234.0, "decimals would not always be three");
        assert_eq!(value(&["1,234", "0,500"], '\t'), 1.234);
        assert_eq!(value(&["1,234", "0,500", "2,5"], '\t'), 1.234);
        assert_eq!(value(&["1.234", "950", "12.500"], ';'), 1234.0);
        assert!(value(&["1.234", "2.500"], ';').is_nan(), "plain");
        assert!(value(&["1.234", "950", "12.5"], ';').is_nan(), "plain");
        assert_eq!(value(&["€1.234", "€2.500"], ','), 1234.0);
        assert_eq!(value(&["€1.50", "€2.50"], ','), 1.5);
    }

    #[test]
    fn few_other_texts_are_special() {
        let numbers: Vec<String> = (1..20).map(|i| format!("${i},000")).collect();
        let texts =
            |more: &'static str, count| numbers.iter().map(|text| (text.as_str(), 1)).chain([(more, count)]);
        assert!(find_form(texts("free", 4), ',').is_some());
        assert!(find_form(texts("free", 5), ',').is_none(), "more than a fifth");
        assert!(find_form(texts("0", 2), ',').is_some(), "without its currency");
    }

    #[test]
    fn any_text() {
        for text in [
            "", "-", "(", "()", "$", "€", "é1é", "1é2", "(é)", "+-5", "--5", "1e", "5 ", ".", ",5", "1,,2",
            "−",
        ] {
            let _ = find(&[text], ';');
            let _ = Pieces::new(text);
        }
    }
}
