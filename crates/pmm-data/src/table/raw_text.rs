//! Decimals, dates and times as exact text, and back.

use chrono::{Datelike, NaiveDate};

use super::raw::DAY;

/// `12.50` for 1250 at scale 2.
pub(crate) fn decimal(raw: i128, scale: i8) -> String {
    let sign = if raw < 0 { "-" } else { "" };
    let digits = raw.unsigned_abs().to_string();
    match usize::try_from(scale) {
        Ok(0) => format!("{sign}{digits}"),
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, part) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{part}")
        }
        Err(_) if raw == 0 => "0".into(),
        Err(_) => format!("{sign}{digits}{}", "0".repeat(usize::from(scale.unsigned_abs()))),
    }
}

/// The same without zeros at its end.
pub(crate) fn decimal_short(raw: i128, scale: i8) -> String {
    let text = decimal(raw, scale);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The inverse of [`decimal`]; more digits than the scale has are fine if they are zeros.
pub(crate) fn parse_decimal(text: &str, scale: i8) -> Option<i128> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.is_empty() && part.is_empty() {
        return None;
    }
    // A scale of n needs n digits after the point; one of −n, n zeros before it.
    let (mut kept, rest) = match usize::try_from(scale) {
        Ok(scale) => {
            let cut = part.len().min(scale);
            (format!("{whole}{:0<scale$}", &part[..cut]), &part[cut..])
        }
        Err(_) => {
            let zeros = whole.len().saturating_sub(usize::from(scale.unsigned_abs()));
            if whole[zeros..].bytes().chain(part.bytes()).any(|byte| byte != b'0') {
                return None;
            }
            (whole[..zeros].to_owned(), "")
        }
    };
    if rest.bytes().any(|byte| byte != b'0') {
        return None;
    }
    kept.insert_str(0, if text.starts_with('-') { "-0" } else { "0" });
    kept.parse().ok()
}

/// `2020-01-31`, within the years 1 to 9999.
pub(crate) fn date(days: i128) -> Option<String> {
    let date = NaiveDate::from_epoch_days(i32::try_from(days).ok()?)?;
    (1..=9999).contains(&date.year()).then(|| date.to_string())
}

pub(crate) fn parse_date(text: &str) -> Option<i128> {
    if let Some(raw) = text.strip_prefix('@') {
        return raw.parse().ok();
    }
    let date: NaiveDate = text.parse().ok()?;
    Some(i128::from(date.to_epoch_days()))
}

/// `2020-01-31T23:59:59.125Z`; `@` and the bare number beyond the years 1 to 9999.
pub(crate) fn instant(raw: i128, ticks: i64, zoned: bool, is_date: bool) -> String {
    let day = i128::from(DAY) * i128::from(ticks);
    let (days, rest) = (raw.div_euclid(day), raw.rem_euclid(day));
    match date(days) {
        None => format!("@{raw}"),
        Some(date) if is_date && rest == 0 => date,
        Some(date) => format!("{date}T{}{}", clock(rest, ticks), if zoned { "Z" } else { "" }),
    }
}

pub(crate) fn parse_instant(text: &str, ticks: i64) -> Option<i128> {
    if let Some(raw) = text.strip_prefix('@') {
        return raw.parse().ok();
    }
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let days = parse_date(date).filter(|_| !date.starts_with('@'))?;
    Some(days * i128::from(DAY) * i128::from(ticks) + parse_clock(time, ticks)?)
}

/// `23:59:59`, with 3, 6 or 9 digits of a fraction where there is one.
pub(crate) fn clock(raw: i128, ticks: i64) -> String {
    let ticks = i128::from(ticks);
    let (second, rest) = (raw.div_euclid(ticks), raw.rem_euclid(ticks));
    let text = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if rest == 0 {
        return text;
    }
    let part = format!("{rest:0width$}", width = ticks.ilog10() as usize);
    let digits = part.trim_end_matches('0').len().next_multiple_of(3).min(part.len());
    format!("{text}.{}", &part[..digits])
}

pub(crate) fn parse_clock(text: &str, ticks: i64) -> Option<i128> {
    let mut fields = text.splitn(3, ':');
    let (hour, minute): (u8, u8) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let second = parse_decimal(fields.next().unwrap_or("0"), ticks.ilog10() as i8)?;
    let ticks = i128::from(ticks);
    let in_range = hour < 24 && minute < 60 && (0..60 * ticks).contains(&second);
    in_range.then(|| i128::from(u32::from(hour) * 3600 + u32::from(minute) * 60) * ticks + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (raw, scale, text) in [
            (1250, 2, "12.50"),
            (-5, 2, "-0.05"),
            (0, 3, "0.000"),
            (7, 0, "7"),
            (12, -2, "1200"),
            (0, -2, "0"),
            (i128::MAX, 38, "1.70141183460469231731687303715884105727"),
        ] {
            assert_eq!(decimal(raw, scale), text);
            assert_eq!(parse_decimal(text, scale), Some(raw), "{text}");
        }
        assert_eq!((parse_decimal("1.500", 2), parse_decimal("1.505", 2)), (Some(150), None));
        assert_eq!((parse_decimal(".5", 1), parse_decimal("5.", 1)), (Some(5), Some(50)));
        assert_eq!((parse_decimal("1250", -2), parse_decimal("5", -2)), (None, None));
        for text in ["", ".", "-", "1e3", "é", "1.2.3"] {
            assert_eq!(parse_decimal(text, 2), None, "{text}");
        }
        assert_eq!((decimal_short(1500, 3), decimal_short(2000, 3)), ("1.5".into(), "2".into()));
    }

    #[test]
    fn dates_and_times() {
        for (raw, ticks, text) in [
            (0, 1, "1970-01-01T00:00:00Z"),
            (-1, 1_000, "1969-12-31T23:59:59.999Z"),
            (1_296_511_199_000_001, 1_000_000, "2011-01-31T21:59:59.000001Z"),
            (1_500_000_000, 1_000_000_000, "1970-01-01T00:00:01.500Z"),
            (i128::from(i64::MAX), 1, "@9223372036854775807"),
        ] {
            assert_eq!(instant(raw, ticks, true, false), text);
            assert_eq!(parse_instant(text, ticks), Some(raw), "{text}");
        }
        assert_eq!(instant(86_400_000, 1_000, false, true), "1970-01-02");
        assert_eq!((clock(20_393, 1).as_str(), parse_clock("05:39:53", 1)), ("05:39:53", Some(20_393)));
        assert_eq!((parse_clock("05:39", 1_000), parse_clock("25:00", 1)), (Some(20_340_000), None));
        assert_eq!((date(18_262).as_deref(), parse_date("2020-01-01")), (Some("2020-01-01"), Some(18_262)));
        assert_eq!((date(i128::MAX), parse_date("@-5")), (None, Some(-5)));
    }
}
