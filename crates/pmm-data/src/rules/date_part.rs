//! What can be read off a date, and time between two dates.

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::rows::DateUnit;

/// A number that can be read off a date.
///
/// ```
/// use pmm_data::rules::{DatePart, DateUnit};
/// // 2011-01-31 was a Monday.
/// let day = 15_005.0;
/// assert_eq!(DatePart::Weekday.of(day, DateUnit::Days), Some(1.0));
/// assert_eq!(DatePart::Month.of(day * 86_400.0, DateUnit::Seconds), Some(1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// 1 on Saturdays and Sundays, else 0.
    Weekend,
    /// The year.
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 (Monday) to 7 (Sunday).
    Weekday,
    /// 1 to 12.
    Month,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    Day,
    /// 1 to 53, as ISO 8601 counts weeks.
    Week,
    /// 0 to 59.
    Minute,
    /// 100 × month + day: the day of any year.
    MonthAndDay,
    /// 1 to 366.
    DayOfYear,
    /// 100 × year + month.
    YearAndMonth,
    /// Days since 1970-01-01.
    DayNumber,
}

impl DatePart {
    /// All parts, those with fewer values first.
    pub const ALL: [Self; 13] = [
        Self::Weekend,
        Self::Year,
        Self::Quarter,
        Self::Weekday,
        Self::Month,
        Self::Hour,
        Self::Day,
        Self::Week,
        Self::Minute,
        Self::MonthAndDay,
        Self::DayOfYear,
        Self::YearAndMonth,
        Self::DayNumber,
    ];

    /// The part of a date; none outside the years that the calendar knows.
    pub fn of(self, date: f64, unit: DateUnit) -> Option<f64> {
        let seconds = Some(date * unit.seconds()).filter(|seconds| seconds.is_finite())?;
        let days = (seconds / 86_400.0).floor();
        let second = seconds - days * 86_400.0;
        match self {
            Self::Hour => return Some((second / 3_600.0).floor()),
            Self::Minute => return Some((second / 60.0).floor() % 60.0),
            Self::DayNumber => return Some(days),
            _ => {}
        }
        let day = calendar(days)?;
        Some(match self {
            Self::Weekend => f64::from(u8::from(day.weekday().number_from_monday() > 5)),
            Self::Year => f64::from(day.year()),
            Self::Quarter => f64::from(day.month0() / 3 + 1),
            Self::Weekday => f64::from(day.weekday().number_from_monday()),
            Self::Month => f64::from(day.month()),
            Self::Day => f64::from(day.day()),
            Self::Week => f64::from(day.iso_week().week()),
            Self::MonthAndDay => f64::from(100 * day.month() + day.day()),
            Self::DayOfYear => f64::from(day.ordinal()),
            _ => f64::from(100 * day.year() + day.month() as i32),
        })
    }

    /// Its name in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Weekend => "the weekend",
            Self::Year => "the year",
            Self::Quarter => "the quarter",
            Self::Weekday => "the weekday",
            Self::Month => "the month",
            Self::Hour => "the hour",
            Self::Day => "the day of the month",
            Self::Week => "the week",
            Self::Minute => "the minute",
            Self::MonthAndDay => "the day and month",
            Self::DayOfYear => "the day of the year",
            Self::YearAndMonth => "the year and month",
            Self::DayNumber => "the number of days",
        }
    }
}

/// The day of the calendar.
fn calendar(days: f64) -> Option<NaiveDate> {
    if days.is_nan() || days.abs() > 1e7 {
        return None;
    }
    NaiveDate::from_num_days_from_ce_opt(days as i32 + 719_163)
}

/// A date as people write it, with the time of day if it has one.
pub(crate) fn written(date: f64, unit: DateUnit) -> String {
    let seconds = date * unit.seconds();
    let days = (seconds / 86_400.0).floor();
    let Some(day) = calendar(days) else { return date.to_string() };
    if unit == DateUnit::Days {
        return day.to_string();
    }
    let second = (seconds - days * 86_400.0).floor() as u32;
    format!("{day} {:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// A unit of time between two dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days.
    Days,
    /// Weeks.
    Weeks,
    /// Completed months of the calendar.
    Months,
    /// Completed years of the calendar, as ages are counted.
    Years,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [Self; 7] =
        [Self::Seconds, Self::Minutes, Self::Hours, Self::Days, Self::Weeks, Self::Months, Self::Years];

    /// From `start` to `end` (both in seconds since 1970) in this unit; whole numbers for months and years.
    ///
    /// ```
    /// use pmm_data::rules::TimeUnit;
    /// assert_eq!(TimeUnit::Minutes.between(0.0, 90.0), Some(1.5));
    /// // 1970-01-31 to 1971-01-30: eleven months are complete.
    /// assert_eq!(TimeUnit::Months.between(30.0 * 86_400.0, 394.0 * 86_400.0), Some(11.0));
    /// ```
    pub fn between(self, start: f64, end: f64) -> Option<f64> {
        let seconds = match self {
            Self::Seconds => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3_600.0,
            Self::Days => 86_400.0,
            Self::Weeks => 604_800.0,
            Self::Months => return months(start, end),
            Self::Years => return months(start, end).map(|months| (months / 12.0).floor()),
        };
        Some((end - start) / seconds)
    }

    /// Its name in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
            Self::Weeks => "weeks",
            Self::Months => "completed months",
            Self::Years => "completed years",
        }
    }
}

/// Completed months of the calendar.
fn months(start: f64, end: f64) -> Option<f64> {
    let (first, last) = (calendar((start / 86_400.0).floor())?, calendar((end / 86_400.0).floor())?);
    let count = |day: NaiveDate| f64::from(12 * day.year() + day.month0() as i32);
    let incomplete = f64::from(u8::from(last.day() < first.day()));
    Some(count(last) - count(first) - incomplete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_a_calendar() {
        // 2012-12-30 18:47:09, a Sunday in week 52.
        let seconds = 1_356_893_229.0;
        let of = |part: DatePart| part.of(seconds, DateUnit::Seconds).unwrap();
        let parts: Vec<f64> = DatePart::ALL.iter().map(|&part| of(part)).collect();
        let wanted =
            [1.0, 2012.0, 4.0, 7.0, 12.0, 18.0, 30.0, 52.0, 47.0, 1230.0, 365.0, 201_212.0, 15_704.0];
        assert_eq!(parts, wanted);
        assert_eq!(written(seconds, DateUnit::Seconds), "2012-12-30 18:47:09");
    }

    #[test]
    fn absurd_dates_have_no_year() {
        assert_eq!(DatePart::Year.of(1e300, DateUnit::Days), None);
        assert_eq!(DatePart::Year.of(f64::NAN, DateUnit::Days), None);
        assert_eq!(TimeUnit::Years.between(0.0, f64::INFINITY), None);
    }
}
