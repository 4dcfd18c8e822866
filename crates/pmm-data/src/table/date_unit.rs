//! The unit in which a column of dates counts, between date formats and Arrow's types.

use arrow_schema::{DataType, TimeUnit};

use super::date_profile::DateProfile;
use super::dates::{DateFormat, DateGrid, DateOrder};
use super::raw::{DAY, RawKind};
use super::time_of_day::Zone;

/// The finest part of a date that a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateUnit {
    /// Pure dates: values count days. All finer units count seconds.
    Day,
    /// No seconds.
    Minute,
    /// With so many digits of a fraction, at most 6.
    Second { fraction: u8 },
}

impl DateUnit {
    pub(crate) fn of(format: &DateFormat) -> Self {
        match format.time {
            None => Self::Day,
            Some(time) if !time.seconds => Self::Minute,
            Some(time) => Self::Second { fraction: time.fraction.min(6) },
        }
    }

    /// The coarsest unit of which all instants that are multiples of `step` are multiples.
    pub(crate) fn of_step(step: i128, ticks: i64) -> Self {
        let whole = |unit: i128| step % unit == 0;
        let (second, day) = (i128::from(ticks), i128::from(ticks) * i128::from(DAY));
        match second {
            _ if whole(day) => Self::Day,
            _ if whole(60 * second) => Self::Minute,
            _ if whole(second) => Self::Second { fraction: 0 },
            _ if second >= 1_000 && whole(second / 1_000) => Self::Second { fraction: 3 },
            _ => Self::Second { fraction: 6 },
        }
    }

    /// The nearest value of the unit.
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            Self::Day | Self::Second { fraction: 0 } => value.round(),
            Self::Minute => (value / 60.0).round() * 60.0,
            Self::Second { fraction } => {
                let (whole, ticks) = (value.floor(), 10f64.powi(i32::from(fraction)));
                whole + ((value - whole) * ticks).round() / ticks
            }
        }
    }
}

/// The format in which dates of an Arrow type are shown: ISO 8601, in UTC if the type has a zone. Where all are whole hours, so
/// are those that are drawn.
pub(crate) fn iso_format(kind: RawKind, step: i128) -> Option<DateFormat> {
    let (unit, zoned, hours) = match kind {
        RawKind::Day => (DateUnit::Day, false, false),
        RawKind::Instant { ticks, zoned, .. } => {
            (DateUnit::of_step(step, ticks), zoned, step % (3_600 * i128::from(ticks)) == 0)
        }
        _ => return None,
    };
    let mut example = match unit {
        DateUnit::Day => return learned("2000-12-31"),
        DateUnit::Minute => "2000-12-31T23:59".to_owned(),
        DateUnit::Second { fraction: 0 } => "2000-12-31T23:59:59".to_owned(),
        DateUnit::Second { fraction } => {
            format!("2000-12-31T23:59:59.{}", "9".repeat(usize::from(fraction)))
        }
    };
    if zoned {
        example.push('Z');
    }
    let grid = if hours { DateGrid::Hour } else { DateGrid::Written };
    Some(DateFormat { grid, ..learned(&example)? })
}

fn learned(example: &str) -> Option<DateFormat> {
    let mut profile = DateProfile::default();
    profile.add(example);
    profile.format()
}

/// Whether typed cells can be dates of a format: times of day are apart from points in time.
pub(crate) fn holds(format: &DateFormat, kind: RawKind) -> bool {
    match format.order {
        DateOrder::NoDate => matches!(kind, RawKind::Clock { .. }),
        _ => kind.is_date(),
    }
}

/// The Arrow type of a delimited column of dates; months and weeks are their first days. A time of day with an offset has none
/// but text.
pub(crate) fn data_type(format: &DateFormat) -> DataType {
    let unit = match DateUnit::of(format) {
        DateUnit::Day => return DataType::Date32,
        DateUnit::Minute | DateUnit::Second { fraction: 0 } => TimeUnit::Second,
        DateUnit::Second { fraction: 1..=3 } => TimeUnit::Millisecond,
        DateUnit::Second { .. } => TimeUnit::Microsecond,
    };
    if format.order == DateOrder::NoDate {
        return match (format.time.map(|time| time.zone), unit) {
            (Some(Zone::Local), TimeUnit::Microsecond) => DataType::Time64(unit),
            (Some(Zone::Local), _) => DataType::Time32(unit),
            _ => DataType::Utf8,
        };
    }
    let zone = match format.time.map(|time| time.zone) {
        None | Some(Zone::Local) => None,
        Some(Zone::Utc) => Some("UTC".into()),
        Some(Zone::Offset(minutes)) => {
            let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
            Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).into())
        }
    };
    DataType::Timestamp(unit, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLIS: RawKind = RawKind::Instant { ticks: 1_000, zoned: true, date: false };

    #[test]
    fn the_unit_is_the_coarsest_that_fits() {
        for (step, example) in [
            (86_400_000, "2020-01-31"),
            (0, "2020-01-31"),
            (60_000, "2020-01-31T10:05Z"),
            (7_200_000, "2020-01-31T10:00Z"),
            (1_000, "2020-01-31T10:05:07Z"),
            (5, "2020-01-31T10:05:07.125Z"),
        ] {
            let format = iso_format(MILLIS, step).unwrap();
            let value = format.value(example).unwrap();
            assert_eq!(format.text(value), example);
            assert_eq!(DateUnit::of(&format).round(value), value);
        }
        assert_eq!(iso_format(RawKind::Int, 1), None);
        let hours = iso_format(MILLIS, 7_200_000).unwrap();
        assert_eq!(hours.text(hours.round(1_580_000_000.0)), "2020-01-26T01:00Z");
        assert_eq!(DateUnit::of_step(1, 1_000_000_000), DateUnit::Second { fraction: 6 });
    }

    #[test]
    fn values_between_are_rounded() {
        assert_eq!(DateUnit::Day.round(3.4), 3.0);
        assert_eq!(DateUnit::Minute.round(95.0), 120.0);
        assert!((DateUnit::Second { fraction: 3 }.round(1.23456) - 1.235).abs() < 1e-12);
        assert_eq!(DateUnit::Second { fraction: 3 }.round(1.9999), 2.0);
    }

    #[test]
    fn delimited_dates_have_types() {
        let of = |text: &str| data_type(&learned(text).unwrap());
        assert_eq!(of("31.12.2000"), DataType::Date32);
        assert_eq!(of("2000-12-31 23:59"), DataType::Timestamp(TimeUnit::Second, None));
        let offset = Some("+02:00".into());
        assert_eq!(of("2000-12-31T23:59:59.5+02:00"), DataType::Timestamp(TimeUnit::Millisecond, offset));
        assert_eq!(of("2020-05"), DataType::Date32);
        assert_eq!(of("14:05"), DataType::Time32(TimeUnit::Second));
        assert_eq!(of("14:05:07.123456"), DataType::Time64(TimeUnit::Microsecond));
        assert_eq!(of("14:05+02:00"), DataType::Utf8);
        let utc = Some("UTC".into());
        assert_eq!(of("2000-12-31T23:59:59.123456Z"), DataType::Timestamp(TimeUnit::Microsecond, utc));
    }
}
