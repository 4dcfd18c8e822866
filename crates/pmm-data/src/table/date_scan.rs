//! Texts taken apart as dates.

use chrono::{Datelike, NaiveDate};

use super::dates::{DateFormat, DateGrid, DateOrder, monday};
use super::month_names::MonthFormat;
use super::time_of_day::{TimeScan, Zone, whole};

/// A text taken apart as a date; the order of day and month is not decided yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    /// Numbers of the date, a month's name as its number; two or three, or none.
    parts: [u32; 3],
    digits: [usize; 3],
    fields: usize,
    /// The place of a month's name.
    pub(crate) name: Option<(usize, MonthFormat)>,
    pub(crate) separator: Option<char>,
    pub(crate) comma: bool,
    week: bool,
    pub(crate) time: Option<TimeScan>,
}

impl Scan {
    const NONE: Self = Self {
        parts: [0; 3],
        digits: [0; 3],
        fields: 0,
        name: None,
        separator: None,
        comma: false,
        week: false,
        time: None,
    };

    /// Takes a trimmed text apart.
    pub(crate) fn new(text: &str) -> Option<Self> {
        // The shortest is 1:23; nothing longer than September 30, 2011 23:59:59.123456789+00:00 is one.
        if !(4..=48).contains(&text.len()) || !text.is_ascii() {
            return None;
        }
        if text.find(':').is_some_and(|at| at <= 2) {
            return Some(Self { time: Some(TimeScan::new('T', text)?), ..Self::NONE });
        }
        let mut scan = Self::NONE;
        let rest = scan.date(text)?;
        if let Some(separator) = rest.chars().next() {
            let clock = rest.strip_prefix(['T', 't', ' ']).filter(|_| scan.fields == 3)?;
            scan.time = Some(TimeScan::new(separator, clock)?);
        }
        Some(scan)
    }

    /// Reads the date at the beginning of a text; what follows it.
    fn date<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let mut rest = self.field(text)?;
        if self.digits[0] == 8 {
            let day = self.parts[0];
            (self.parts, self.digits, self.fields) =
                ([day / 10_000, day / 100 % 100, day % 100], [4, 2, 2], 3);
            return Some(rest);
        }
        self.separator = Some(rest.chars().next().filter(|c| matches!(c, '-' | '/' | '.' | ' '))?);
        rest = &rest[1..];
        if let Some(week) = rest.strip_prefix('W') {
            self.week = self.separator == Some('-') && self.digits[0] == 4 && week.len() == 2;
            rest = self.field(week)?;
            return self.week.then_some(rest);
        }
        rest = self.field(rest)?;
        self.comma = rest.starts_with(", ") && self.separator == Some(' ');
        rest = if self.comma { &rest[1..] } else { rest };
        match rest.strip_prefix(self.separator?).filter(|rest| self.is_field(rest)) {
            Some(third) => rest = self.field(third)?,
            None if self.comma => return None,
            None => {}
        }
        let blank = self.separator == Some(' ') && self.name.is_none();
        (!blank && (self.fields == 3 || rest.is_empty())).then_some(rest)
    }

    /// Whether a third field of a date follows, and not a time after a blank.
    fn is_field(&self, rest: &str) -> bool {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.separator != Some(' ') || rest.as_bytes().get(digits) != Some(&b':')
    }

    /// Reads a number, or the name of a month.
    fn field<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let place = self.fields;
        let (number, length) = if letters > 0 {
            // The T before a time ends no name.
            let (month, format) = MonthFormat::scan(&text[..letters]).filter(|_| self.name.is_none())?;
            self.name = Some((place, format));
            (month, letters)
        } else {
            let most = if place == 0 && digits == 8 { 8 } else { 4 };
            (whole(&text[..digits], most)?, digits)
        };
        (self.parts[place], self.digits[place], self.fields) = (number, digits, place + 1);
        Some(&text[length..])
    }

    /// The orders in which it may be written.
    pub(crate) fn orders(&self) -> impl Iterator<Item = DateOrder> + '_ {
        use DateOrder::*;
        [YearMonthDay, DayMonthYear, MonthDayYear, YearMonth, MonthYear, YearWeek, NoDate]
            .into_iter()
            .filter(|&order| self.days(order).is_some())
    }

    /// Places of year, month and day.
    fn places(&self, order: DateOrder) -> Option<[usize; 3]> {
        let (places, fields) = match order {
            DateOrder::YearMonthDay => ([0, 1, 2], 3),
            DateOrder::DayMonthYear => ([2, 1, 0], 3),
            DateOrder::MonthDayYear => ([2, 0, 1], 3),
            DateOrder::YearMonth | DateOrder::YearWeek => ([0, 1, 1], 2),
            DateOrder::MonthYear => ([1, 0, 0], 2),
            DateOrder::NoDate => ([0, 0, 0], 0),
        };
        let named = self.name.is_none_or(|(place, _)| place == places[1]);
        (self.fields == fields && named && self.week == (order == DateOrder::YearWeek)).then_some(places)
    }

    /// The date in one order, as days since 1970.
    pub(crate) fn days(&self, order: DateOrder) -> Option<f64> {
        let [year_at, month_at, day_at] = self.places(order)?;
        if order == DateOrder::NoDate {
            return Some(0.0);
        }
        let (year, month) = (self.parts[year_at], self.parts[month_at]);
        let year = match self.digits[year_at] {
            4 => year,
            2 if self.fields == 3 && year_at == 2 => year + if year >= 69 { 1900 } else { 2000 },
            _ => return None,
        };
        let short = |at: usize| at == year_at || self.is_name(at) || (1..=2).contains(&self.digits[at]);
        // 2020.05 is a number, and 5.2020, too.
        let number = self.fields == 2 && matches!(self.separator, Some('.'));
        if year == 0 || number || !(0..self.fields).all(short) {
            return None;
        }
        let date = match order {
            DateOrder::YearWeek => monday(year, month),
            DateOrder::YearMonth | DateOrder::MonthYear => NaiveDate::from_ymd_opt(year as i32, month, 1),
            _ => NaiveDate::from_ymd_opt(year as i32, month, self.parts[day_at]),
        };
        date.map(|date| f64::from(date.to_epoch_days()))
    }

    fn is_name(&self, at: usize) -> bool {
        self.name.is_some_and(|(place, _)| place == at)
    }

    /// The number of the month in one order.
    pub(crate) fn month(&self, order: DateOrder) -> u32 {
        self.places(order).map_or(0, |[_, month, _]| self.parts[month])
    }

    /// The year has two digits.
    pub(crate) fn short_year(&self, order: DateOrder) -> bool {
        order != DateOrder::NoDate && self.places(order).is_some_and(|[year, ..]| self.digits[year] == 2)
    }

    /// Days and months below ten with, and without, a zero.
    pub(crate) fn zeros(&self, order: DateOrder) -> (bool, bool) {
        let Some([year, ..]) = self.places(order).filter(|_| !self.week) else { return (false, false) };
        let small = |at: &usize| *at != year && !self.is_name(*at) && self.parts[*at] < 10;
        let seen = |digits: usize| (0..self.fields).filter(small).any(|at| self.digits[at] == digits);
        (seen(2), seen(1))
    }

    /// `2001-02`: the second number is the year that follows the first, as in the names of seasons.
    pub(crate) fn is_season(&self) -> bool {
        self.fields == 2 && self.digits == [4, 2, 0] && self.parts[1] == (self.parts[0] + 1) % 100
    }

    /// What the date is a whole multiple of, on its own clock.
    pub(crate) fn grid(&self, order: DateOrder) -> DateGrid {
        let clock = self.time.map_or(0.0, |time| time.clock);
        let date = self.days(order).and_then(|day| NaiveDate::from_epoch_days(day as i32));
        let multiple = |unit: f64| clock % unit == 0.0;
        match date {
            _ if !multiple(1.0) => DateGrid::Written,
            _ if !multiple(60.0) => DateGrid::Second,
            _ if !multiple(3600.0) => DateGrid::Minute,
            _ if clock != 0.0 || order == DateOrder::NoDate => DateGrid::Hour,
            Some(date) if date.day() != 1 => DateGrid::Day,
            Some(date) if date.month() != 1 => DateGrid::Month,
            _ => DateGrid::Year,
        }
    }

    /// Days or seconds since 1970 in a given format.
    pub(crate) fn value(&self, format: &DateFormat) -> Option<f64> {
        let days = self.days(format.order)?;
        let same = self.separator == format.separator
            && self.comma == format.comma
            && self.name.is_some() == (format.month != MonthFormat::Number)
            && self.short_year(format.order) == format.short_year;
        match (self.time, format.time) {
            _ if !same => None,
            (None, None) => Some(days),
            (Some(own), Some(time)) => {
                let zoned = (own.format.zone == Zone::Local) == (time.zone == Zone::Local);
                zoned.then(|| days * 86_400.0 + own.seconds())
            }
            _ => None,
        }
    }
}
