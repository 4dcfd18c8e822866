//! Texts taken apart as dates, and the one format that fits a whole column.

use chrono::NaiveDate;

use super::dates::{DateFormat, DateOrder, MAX_OFFSET, TimeFormat, Zone};

/// A text taken apart as a date; the order of day and month is not decided yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    parts: [u32; 3],
    digits: [usize; 3],
    separator: char,
    time: Option<(TimeFormat, f64)>,
}

impl Scan {
    /// Takes a trimmed text apart.
    pub(crate) fn new(text: &str) -> Option<Self> {
        // The shortest is 1/1/11; nothing longer than 2011-01-31T23:59:59.123456789+00:00 is one.
        if !(6..=40).contains(&text.len()) || !text.as_bytes()[0].is_ascii_digit() {
            return None;
        }
        let (date, time) = match text.find(['T', 't', ' ']) {
            Some(at) => (&text[..at], Some((text.as_bytes()[at] as char, &text[at + 1..]))),
            None => (text, None),
        };
        let separator =
            date.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
        let mut fields = date.split(separator);
        let (mut parts, mut digits) = ([0; 3], [0; 3]);
        for i in 0..3 {
            let field = fields.next()?;
            digits[i] = field.len();
            parts[i] = whole(field, 4)?;
        }
        if fields.next().is_some() {
            return None;
        }
        let time = match time {
            Some((separator, time)) => Some(scan_time(separator, time)?),
            None => None,
        };
        Some(Self { parts, digits, separator, time })
    }

    /// The date in one order, as days since 1970.
    fn days(&self, order: DateOrder) -> Option<f64> {
        let [a, b, c] = self.parts;
        let (year, month, day, year_at) = match order {
            DateOrder::YearMonthDay => (a, b, c, 0),
            DateOrder::DayMonthYear => (c, b, a, 2),
            DateOrder::MonthDayYear => (c, a, b, 2),
        };
        let year = match self.digits[year_at] {
            4 => year,
            2 if year_at == 2 => year + if year >= 69 { 1900 } else { 2000 },
            _ => return None,
        };
        let short = |at: usize| at == year_at || (1..=2).contains(&self.digits[at]);
        if year == 0 || !(0..3).all(short) {
            return None;
        }
        NaiveDate::from_ymd_opt(year as i32, month, day).map(|date| f64::from(date.to_epoch_days()))
    }

    /// Days or seconds since 1970 in a given format.
    pub(crate) fn value(&self, format: &DateFormat) -> Option<f64> {
        let year_at = if format.order == DateOrder::YearMonthDay { 0 } else { 2 };
        let same = self.separator == format.separator && (self.digits[year_at] == 2) == format.short_year;
        let days = self.days(format.order).filter(|_| same)?;
        match (self.time, format.time) {
            (None, None) => Some(days),
            (Some((own, seconds)), Some(time)) => {
                let zoned = (own.zone == Zone::Local) == (time.zone == Zone::Local);
                zoned.then_some(days * 86_400.0 + seconds)
            }
            _ => None,
        }
    }
}

/// A time of day in its format, and its seconds since midnight UTC.
fn scan_time(separator: char, text: &str) -> Option<(TimeFormat, f64)> {
    let at = text.find(['Z', 'z', '+', '-']).unwrap_or(text.len());
    let (clock, zone) = (&text[..at], &text[at..]);
    let zone = match zone {
        "" => Zone::Local,
        "Z" | "z" => Zone::Utc,
        _ => Zone::Offset(scan_offset(zone)?),
    };
    let mut fields = clock.split(':');
    let (hour, minute) = (whole(fields.next()?, 2)?, whole(fields.next()?, 2)?);
    let second = fields.next();
    let (whole_second, fraction) =
        second.map_or(("0", ""), |text| text.split_once('.').unwrap_or((text, "")));
    let second_value = whole(whole_second, 2)?;
    let in_range = hour < 24 && minute < 60 && second_value < 60;
    if !in_range || fields.next().is_some() || fraction.len() > 9 {
        return None;
    }
    let part = if fraction.is_empty() {
        0.0
    } else {
        f64::from(whole(fraction, 9)?) / 10f64.powi(fraction.len() as i32)
    };
    let offset = if let Zone::Offset(minutes) = zone { f64::from(minutes) * 60.0 } else { 0.0 };
    let seconds = f64::from(hour * 3600 + minute * 60 + second_value) + part - offset;
    let format =
        TimeFormat { separator, seconds: second.is_some(), fraction: fraction.len().min(6) as u8, zone };
    Some((format, seconds))
}

/// `+02:00`, `+0200` or `+02`, in minutes.
fn scan_offset(text: &str) -> Option<i16> {
    let digits: String = text.get(1..)?.replacen(':', "", 1);
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits, 2)?, 0),
        4 => (whole(digits.get(..2)?, 2)?, whole(digits.get(2..)?, 2)?),
        _ => return None,
    };
    let total = (hours * 60 + minutes) as i16;
    (minutes < 60 && total <= MAX_OFFSET).then_some(if text.starts_with('-') { -total } else { total })
}

/// A number of one to `most` digits.
fn whole(text: &str, most: usize) -> Option<u32> {
    let digits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The formats that fit all texts seen so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct DateProfile {
    /// The format, with a provisional order and padding.
    format: Option<DateFormat>,
    orders: Vec<DateOrder>,
    /// A day or month below ten was seen with, and without, a zero.
    zeros: (bool, bool),
    failed: bool,
}

impl DateProfile {
    /// Takes note of one trimmed text.
    pub(crate) fn add(&mut self, text: &str) {
        if !self.failed {
            self.failed = Scan::new(text).and_then(|scan| self.merge(&scan)).is_none();
        }
    }

    fn merge(&mut self, scan: &Scan) -> Option<()> {
        const ORDERS: [DateOrder; 3] =
            [DateOrder::YearMonthDay, DateOrder::DayMonthYear, DateOrder::MonthDayYear];
        let Some(format) = &mut self.format else {
            self.orders = ORDERS.into_iter().filter(|&order| scan.days(order).is_some()).collect();
            let order = *self.orders.first()?;
            let short_year = scan.digits[if order == DateOrder::YearMonthDay { 0 } else { 2 }] == 2;
            let time = scan.time.map(|(time, _)| time);
            self.format =
                Some(DateFormat { order, separator: scan.separator, padded: true, short_year, time });
            self.note_zeros(scan);
            return Some(());
        };
        self.orders.retain(|&order| scan.value(&DateFormat { order, ..*format }).is_some());
        format.order = *self.orders.first()?;
        if let (Some(time), Some((own, _))) = (&mut format.time, scan.time) {
            time.seconds |= own.seconds;
            time.fraction = time.fraction.max(own.fraction);
            // Different offsets in one column, as summer and winter have: written in UTC.
            time.zone = if time.zone == own.zone { own.zone } else { Zone::Utc };
            (time.separator == own.separator).then_some(())?;
        }
        self.note_zeros(scan);
        Some(())
    }

    fn note_zeros(&mut self, scan: &Scan) {
        for (part, digits) in scan.parts.into_iter().zip(scan.digits) {
            self.zeros.0 |= part < 10 && digits == 2 && !self.format.is_some_and(|format| format.short_year);
            self.zeros.1 |= part < 10 && digits == 1;
        }
    }

    /// The one format of the column; none if there are several or texts that are no dates.
    pub(crate) fn format(&self) -> Option<DateFormat> {
        let format =
            self.format.filter(|_| !self.failed && self.orders.len() == 1 && self.zeros != (true, true))?;
        Some(DateFormat { padded: !self.zeros.1, ..format })
    }

    /// All texts are dates, but day and month cannot be told apart.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.failed && self.format.is_some() && self.orders.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(texts: &[&str]) -> DateProfile {
        let mut profile = DateProfile::default();
        texts.iter().for_each(|text| profile.add(text));
        profile
    }

    #[test]
    fn texts_come_back() {
        let columns: [&[&str]; 10] = [
            &["2011-01-01", "1969-12-31", "0001-01-01", "9999-12-31"],
            &["1/31/11", "12/1/12", "1/1/70"],
            &["31.01.2011", "01.12.1999"],
            &["2011/01/31", "2012/02/29"],
            &["2011-01-31T23:59:59", "1969-12-31T23:59:59"],
            &["2011-01-31 23:59", "2011-01-31 00:00"],
            &["2011-01-31T23:59:59.125Z", "2011-01-31T00:00:00.000Z"],
            &["2011-01-31T23:59:59.123456", "2024-06-30T12:00:00.999999"],
            &["2011-01-31T23:59:59+02:00", "2011-07-31T00:30:00+02:00"],
            &["31/12/2011 08:15:00", "01/02/2011 08:15:01"],
        ];
        for column in columns {
            let format = profile(column).format().unwrap_or_else(|| panic!("{column:?}"));
            for text in column {
                assert_eq!(&format.text(format.value(text).unwrap()), text);
            }
        }
    }

    /// `datetime(2011, 1, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=2))).timestamp()` is 1296511199.
    #[test]
    fn values_are_days_and_seconds() {
        let value = |text: &str| profile(&[text]).format().unwrap().value(text).unwrap();
        assert_eq!(value("2011-01-31"), 15005.0);
        assert_eq!(value("2011-01-31T23:59:59+02:00"), 1_296_511_199.0);
        assert_eq!(value("1970-01-01 00:00:01.5"), 1.5);
    }

    #[test]
    fn rounding_carries_over() {
        let format = profile(&["2011-12-31 23:59:59.5"]).format().unwrap();
        assert_eq!(format.text(format.value("2011-12-31 23:59:59.99").unwrap()), "2012-01-01 00:00:00.0");
        let minutes = profile(&["2011-12-31 23:59"]).format().unwrap();
        assert_eq!(minutes.text(minutes.value("2011-12-31 23:59:40").unwrap()), "2012-01-01 00:00");
    }

    #[test]
    fn ambiguous_or_no_dates() {
        assert!(profile(&["01/02/2011", "03/04/2011"]).is_ambiguous());
        assert!(profile(&["01/02/2011", "03/04/2011"]).format().is_none());
        assert_eq!(profile(&["01/02/2011", "13/04/2011"]).format().unwrap().order, DateOrder::DayMonthYear);
        for texts in [
            &["2011-01-32"][..],
            &["2011-02-29"],
            &["2011-01-01", "x"],
            &["2011-1-1", "2011-01-02"],
            &["2011-01-01 25:00"],
            &["1.2.3.4.5"],
            &["2011-01-01", "2011-01-01 10:00"],
            &["10:20:30"],
            &["2011-01-01T10:00:00Z", "2011-01-01T10:00:00"],
            &["é011-01-01"],
            &["2011-01-01T10:00+é"],
        ] {
            assert!(profile(texts).format().is_none(), "{texts:?}");
        }
    }

    #[test]
    fn any_number_is_written() {
        let format = profile(&["2011-01-31T23:59:59.123456"]).format().unwrap();
        for value in [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0] {
            assert!(format.value(&format.text(value)).is_some(), "{value}");
            assert!(!DateFormat { time: None, ..format }.text(value).is_empty());
        }
    }
}
