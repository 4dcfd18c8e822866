//! Dates and times as text ⇄ days or seconds since 1970.

use chrono::{Datelike, NaiveDate, Weekday};
use serde::{Deserialize, Serialize};

use super::date_scan::Scan;
use super::date_unit::DateUnit;
use super::month_names::MonthFormat;
use super::time_of_day::TimeFormat;

/// The order of year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// 2011-01-31
    YearMonthDay,
    /// 31/01/2011
    DayMonthYear,
    /// 01/31/2011
    MonthDayYear,
    /// 2011-01
    YearMonth,
    /// 01/2011
    MonthYear,
    /// 2011-W05
    YearWeek,
    /// Only a time of day.
    NoDate,
}

/// What all dates of a column are whole multiples of, on their own clock; unseen ones are rounded to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateGrid {
    /// The last digit written.
    #[default]
    Written,
    /// Whole seconds.
    Second,
    /// Whole minutes.
    Minute,
    /// Whole hours.
    Hour,
    /// Midnight.
    Day,
    /// The first of a month.
    Month,
    /// The first of a year.
    Year,
}

/// How the dates of a column are written.
///
/// Pure dates count days since 1970-01-01 (months and weeks by their first day), dates with a time count seconds since
/// 1970-01-01T00:00 (in UTC if a zone is written), times of day count seconds since midnight.
///
/// ```
/// use pmm_data::{DateFormat, DateOrder};
/// let format = DateFormat { order: DateOrder::DayMonthYear, separator: Some('/'), padded: false, short_year: true, ..DateFormat::ISO };
/// assert_eq!(format.value("1/2/70"), Some(31.0));
/// assert_eq!(format.text(31.0), "1/2/70");
/// assert_eq!(DateFormat::ISO.text(31.0), "1970-02-01");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateFormat {
    /// The order of its parts.
    pub order: DateOrder,
    /// The character between them; none in `20110131`.
    pub separator: Option<char>,
    /// A comma stands before the year, too: `January 31, 2011`.
    #[serde(default)]
    pub comma: bool,
    /// How months are written.
    #[serde(default)]
    pub month: MonthFormat,
    /// Day and month have two digits.
    pub padded: bool,
    /// The year has two digits: 69–99 are 1969–1999, 00–68 are 2000–2068.
    pub short_year: bool,
    /// The time of day, if there is one.
    pub time: Option<TimeFormat>,
    /// What all its dates are multiples of.
    #[serde(default)]
    pub grid: DateGrid,
}

/// Days from year 1 to the end of 9999, so that the calendar always has an answer.
const DAYS: (f64, f64) = (-719_162.0, 2_932_896.0);

impl DateFormat {
    /// `2011-01-31`
    pub const ISO: Self = Self {
        order: DateOrder::YearMonthDay,
        separator: Some('-'),
        comma: false,
        month: MonthFormat::Number,
        padded: true,
        short_year: false,
        time: None,
        grid: DateGrid::Written,
    };

    /// Days or seconds since 1970, if the text is a date in this format (digits may or may not be padded).
    pub fn value(&self, text: &str) -> Option<f64> {
        Scan::new(text.trim())?.value(self)
    }

    /// The text of days or seconds since 1970, within the years 1 to 9999.
    pub fn text(&self, value: f64) -> String {
        let value = if value.is_finite() { value } else { 0.0 };
        let Some(time) = self.time else { return self.date_text(self.first_day(value.round())) };
        let (second, ticks) = self.clock(&time, value + time.zone.seconds());
        let day = (second / 86_400.0).floor();
        let clock = time.text((second - day * 86_400.0) as u32, ticks as u64);
        if self.order == DateOrder::NoDate {
            clock
        } else {
            format!("{}{}{clock}", self.date_text(day), time.separator)
        }
    }

    /// The nearest value on the grid: within the years 1 to 9999, the one that [`text`](Self::text) writes.
    pub fn round(&self, value: f64) -> f64 {
        if !value.is_finite() {
            return value;
        }
        let Some(time) = self.time else { return self.first_day(value.round()) };
        if self.grid == DateGrid::Written && self.order != DateOrder::NoDate {
            return DateUnit::of(self).round(value);
        }
        let zone = time.zone.seconds();
        let (second, ticks) = self.clock(&time, value + zone);
        second + ticks / 10f64.powi(i32::from(time.fraction.min(6))) - zone
    }

    /// Whole seconds and ticks of a time on the clock, rounded to the grid. Rounding comes first, so that 23:59:59.9996 becomes
    /// the next day and never 23:59:60. The whole part and the fraction are kept apart, because ticks of a microsecond since
    /// 1970 would leave no digits for rounding.
    fn clock(&self, time: &TimeFormat, local: f64) -> (f64, f64) {
        let last = 86_400.0 - if time.seconds { 1.0 } else { 60.0 };
        let (low, high) = if self.order == DateOrder::NoDate {
            (0.0, last)
        } else {
            (DAYS.0 * 86_400.0, DAYS.1 * 86_400.0 + last)
        };
        let local = local.clamp(low, high + 1.0);
        if self.grid >= DateGrid::Day {
            let day = (local / 86_400.0).round().min(DAYS.1);
            return (self.first_day(day) * 86_400.0, 0.0);
        }
        let unit = match self.grid {
            DateGrid::Hour => 3600.0,
            DateGrid::Minute => 60.0,
            _ if !time.seconds => 60.0,
            _ => 1.0,
        };
        let written = self.grid == DateGrid::Written && time.seconds;
        let tick = if written { 10f64.powi(i32::from(time.fraction.min(6))) } else { 1.0 };
        let mut second = (local / unit).floor() * unit;
        let mut ticks = ((local - second) / unit * tick).round();
        if ticks >= tick {
            (second, ticks) = (second + unit, 0.0);
        }
        if second > high { (high, 0.0) } else { (second, ticks) }
    }

    /// The day itself, or the first day of the month, week or year nearest to it.
    fn first_day(&self, day: f64) -> f64 {
        let date = calendar(day);
        let months =
            matches!(self.order, DateOrder::YearMonth | DateOrder::MonthYear) || self.grid == DateGrid::Month;
        let (low, high) = match (self.order, self.grid) {
            (DateOrder::YearWeek, _) => {
                return day - f64::from((date.weekday().num_days_from_monday() + 3) % 7) + 3.0;
            }
            (_, DateGrid::Year) => (date.with_ordinal(1), NaiveDate::from_ymd_opt(date.year() + 1, 1, 1)),
            _ if months => {
                let (year, month) =
                    if date.month() == 12 { (date.year() + 1, 1) } else { (date.year(), date.month() + 1) };
                (date.with_day(1), NaiveDate::from_ymd_opt(year, month, 1))
            }
            _ => return day,
        };
        let days = |date: Option<NaiveDate>| date.map_or(day, |date| f64::from(date.to_epoch_days()));
        let (low, high) = (days(low), days(high));
        if day - low <= high - day || high > DAYS.1 { low } else { high }
    }

    fn date_text(&self, day: f64) -> String {
        let date = calendar(day);
        if self.order == DateOrder::YearWeek {
            let week = date.iso_week();
            return format!("{:04}-W{:02}", week.year(), week.week());
        }
        let year = if self.short_year { date.year().rem_euclid(100) } else { date.year() };
        let year = if self.short_year { format!("{year:02}") } else { format!("{year:04}") };
        let day = if self.padded { format!("{:02}", date.day()) } else { date.day().to_string() };
        let month = self.month.text(date.month(), self.padded);
        let separator = self.separator.map(String::from).unwrap_or_default();
        let last = if self.comma { format!(",{separator}") } else { separator.clone() };
        match self.order {
            DateOrder::YearMonthDay => [year, month, day].join(&separator),
            DateOrder::DayMonthYear => format!("{day}{separator}{month}{last}{year}"),
            DateOrder::MonthDayYear => format!("{month}{separator}{day}{last}{year}"),
            DateOrder::YearMonth => [year, month].join(&separator),
            DateOrder::MonthYear => format!("{month}{last}{year}"),
            DateOrder::YearWeek | DateOrder::NoDate => String::new(),
        }
    }

    /// What its values are called.
    pub(crate) fn noun(&self) -> &'static str {
        match self.order {
            DateOrder::NoDate => "times",
            DateOrder::YearMonth | DateOrder::MonthYear => "months",
            DateOrder::YearWeek => "weeks",
            _ => "dates",
        }
    }

    /// Whether the parts make sense together; a stored format is checked with it.
    pub(crate) fn is_valid(&self) -> bool {
        let named = self.month != MonthFormat::Number;
        let separator = match self.separator {
            None => {
                self.order == DateOrder::NoDate
                    || self.order == DateOrder::YearMonthDay && self.padded && !named && !self.short_year
            }
            Some(' ') => named,
            Some(separator) => matches!(separator, '-' | '/' | '.'),
        };
        let whole = matches!(self.order, DateOrder::YearMonth | DateOrder::MonthYear | DateOrder::YearWeek);
        separator
            && self.time.is_none_or(|time| time.is_valid() && !whole)
            && (self.order != DateOrder::NoDate || self.time.is_some())
    }
}

/// The date of a day since 1970.
fn calendar(day: f64) -> NaiveDate {
    NaiveDate::from_epoch_days(day.clamp(DAYS.0, DAYS.1) as i32).unwrap_or_default()
}

/// The Monday of a week.
pub(crate) fn monday(year: u32, week: u32) -> Option<NaiveDate> {
    NaiveDate::from_isoywd_opt(year as i32, week, Weekday::Mon)
}
