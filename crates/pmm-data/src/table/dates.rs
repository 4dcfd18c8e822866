//! Dates and times as text ⇄ days or seconds since 1970.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::date_scan::Scan;

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
}

/// What follows the time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Nothing.
    Local,
    /// `Z`.
    Utc,
    /// `+02:00`, in minutes east of Greenwich.
    Offset(i16),
}

/// How the time of day is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeFormat {
    /// `T` or a blank, between date and time.
    pub separator: char,
    /// Whether seconds are written.
    pub seconds: bool,
    /// Digits of a fraction of a second, at most 6: f64 seconds since 1970 hold no more.
    pub fraction: u8,
    /// The zone.
    pub zone: Zone,
}

/// How the dates of a column are written.
///
/// Pure dates count days since 1970-01-01, dates with a time count seconds since 1970-01-01T00:00 (in UTC if a zone is
/// written).
///
/// ```
/// use pmm_data::{DateFormat, DateOrder};
/// let format = DateFormat { order: DateOrder::DayMonthYear, separator: '/', padded: false, short_year: true, time: None };
/// assert_eq!(format.value("1/2/70"), Some(31.0));
/// assert_eq!(format.text(31.0), "1/2/70");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateFormat {
    /// The order of its parts.
    pub order: DateOrder,
    /// The character between them.
    pub separator: char,
    /// Day and month have two digits.
    pub padded: bool,
    /// The year has two digits: 69–99 are 1969–1999, 00–68 are 2000–2068.
    pub short_year: bool,
    /// The time of day, if there is one.
    pub time: Option<TimeFormat>,
}

impl DateFormat {
    /// Days or seconds since 1970, if the text is a date in this format (digits may or may not be padded).
    pub fn value(&self, text: &str) -> Option<f64> {
        Scan::new(text)?.value(self)
    }

    /// The text of days or seconds since 1970, within the years 1 to 9999.
    pub fn text(&self, value: f64) -> String {
        let value = if value.is_finite() { value } else { 0.0 };
        let Some(time) = self.time else { return self.date_text(value.round()) };
        let tick = 10f64.powi(i32::from(time.fraction.min(6)));
        let unit = if time.seconds { 1.0 } else { 60.0 };
        let offset = if let Zone::Offset(minutes) = time.zone { f64::from(minutes) * 60.0 } else { 0.0 };
        // Rounding comes first, so that 23:59:59.9996 becomes the next day and never 23:59:60. The whole part and the
        // fraction are kept apart, because ticks of a microsecond since 1970 would leave no digits for rounding.
        let local = (value + offset).clamp(-62_135_596_800.0, 253_402_300_799.0);
        let mut second = (local / unit).floor() * unit;
        let mut ticks = ((local - second) / unit * tick).round();
        if ticks >= tick {
            (second, ticks) = (second + unit, 0.0);
        }
        let day = (second / 86_400.0).floor();
        let second = (second - day * 86_400.0) as u32;
        let mut text =
            format!("{}{}{:02}:{:02}", self.date_text(day), time.separator, second / 3600, second / 60 % 60);
        if time.seconds {
            text.push_str(&format!(":{:02}", second % 60));
            if time.fraction > 0 {
                text.push_str(&format!(
                    ".{:0width$}",
                    ticks as u64,
                    width = usize::from(time.fraction.min(6))
                ));
            }
        }
        text + &zone_text(time.zone)
    }

    fn date_text(&self, day: f64) -> String {
        // Days from year 1 to the end of 9999, so that the calendar always has an answer.
        let day = day.clamp(-719_162.0, 2_932_896.0) as i64;
        let date = NaiveDate::from_epoch_days(day as i32).unwrap_or_default();
        let year = if self.short_year { date.year().rem_euclid(100) } else { date.year() };
        let year = if self.short_year { format!("{year:02}") } else { format!("{year:04}") };
        let part = |n: u32| if self.padded { format!("{n:02}") } else { n.to_string() };
        let (month, day) = (part(date.month()), part(date.day()));
        let parts = match self.order {
            DateOrder::YearMonthDay => [year, month, day],
            DateOrder::DayMonthYear => [day, month, year],
            DateOrder::MonthDayYear => [month, day, year],
        };
        parts.join(&self.separator.to_string())
    }

    /// Whether the parts make sense together; a stored format is checked with it.
    pub(crate) fn is_valid(&self) -> bool {
        let time = self.time.is_none_or(|time| {
            matches!(time.separator, 'T' | 't' | ' ')
                && time.fraction <= 6
                && (time.seconds || time.fraction == 0)
                && !matches!(time.zone, Zone::Offset(minutes) if minutes.abs() > MAX_OFFSET)
        });
        time && matches!(self.separator, '-' | '/' | '.')
    }
}

/// Zones are at most this many minutes from Greenwich.
pub(crate) const MAX_OFFSET: i16 = 18 * 60;

fn zone_text(zone: Zone) -> String {
    match zone {
        Zone::Local => String::new(),
        Zone::Utc => "Z".into(),
        Zone::Offset(minutes) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60)
        }
    }
}
