//! Typed cells that are integers underneath: booleans, integers, decimals, dates, times, durations.

use arrow_schema::{DataType, TimeUnit};

use super::raw_text;

/// What the integer of a cell counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawKind {
    /// 0 or 1.
    Bool,
    /// Itself.
    Int,
    /// 10^−scale.
    Decimal { scale: i8 },
    /// Days since 1970.
    Day,
    /// Parts of a second since 1970, `ticks` of them in a second. `date`: meant as a date without time.
    Instant { ticks: i64, zoned: bool, date: bool },
    /// Parts of a second since midnight.
    Clock { ticks: i64 },
    /// Parts of a second.
    Span { ticks: i64 },
}

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// 2⁵³: below it f64 holds every integer.
const EXACT: u128 = 1 << 53;

impl RawKind {
    /// Of an array's type; none for texts, floats and nested types.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        use DataType::*;
        Some(match data_type {
            Boolean => Self::Bool,
            data_type if data_type.is_integer() => Self::Int,
            Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale) => {
                Self::Decimal { scale: *scale }
            }
            Date32 => Self::Day,
            Date64 => Self::Instant { ticks: 1_000, zoned: false, date: true },
            Timestamp(unit, zone) => {
                Self::Instant { ticks: ticks(*unit), zoned: zone.is_some(), date: false }
            }
            Time32(unit) | Time64(unit) => Self::Clock { ticks: ticks(*unit) },
            Duration(unit) => Self::Span { ticks: ticks(*unit) },
            _ => return None,
        })
    }

    /// Whether it is a point in time.
    pub(crate) fn is_date(self) -> bool {
        matches!(self, Self::Day | Self::Instant { .. })
    }

    /// Whether f64 cannot hold the number.
    pub(crate) fn too_long(self, raw: i128) -> bool {
        match self {
            Self::Int => raw.unsigned_abs() >= EXACT,
            // Dividing by the power of ten and multiplying again may each lose half a digit.
            Self::Decimal { .. } => raw.unsigned_abs() >= EXACT / 4,
            _ => false,
        }
    }

    /// Whether instants that are multiples of `step` are finer than f64 seconds hold: they are modelled to the microsecond.
    pub(crate) fn finer(self, step: i128) -> bool {
        matches!(self, Self::Instant { ticks: ticks @ 1_000_001.., .. } if step % i128::from(ticks / 1_000_000) != 0)
    }

    /// The number of a cell: dates in days, or in seconds if not `days`; other times in seconds.
    pub(crate) fn value(self, raw: i128, days: bool) -> f64 {
        match self {
            Self::Bool | Self::Int => raw as f64,
            Self::Decimal { scale } if scale < 0 => raw as f64 * power(scale),
            Self::Decimal { scale } => raw as f64 / power(scale),
            Self::Day if days => raw as f64,
            Self::Day => raw as f64 * DAY as f64,
            Self::Instant { ticks, .. } if days => seconds(raw, ticks) / DAY as f64,
            Self::Instant { ticks, .. } | Self::Clock { ticks } | Self::Span { ticks } => seconds(raw, ticks),
        }
    }

    /// The nearest cell of a finite number; the inverse of [`value`](Self::value).
    pub(crate) fn raw(self, value: f64, days: bool) -> i128 {
        match self {
            Self::Bool => i128::from(value >= 0.5),
            Self::Int => value.round() as i128,
            Self::Decimal { scale } if scale < 0 => (value / power(scale)).round() as i128,
            Self::Decimal { scale } => (value * power(scale)).round() as i128,
            Self::Day if days => value.round() as i128,
            Self::Day => (value / DAY as f64).floor() as i128,
            Self::Instant { ticks, .. } if days => counted(value * DAY as f64, ticks),
            // Of instants, f64 seconds hold no more than microseconds.
            Self::Instant { ticks: ticks @ 1_000_001.., .. } => {
                counted(value, 1_000_000).saturating_mul(i128::from(ticks / 1_000_000))
            }
            Self::Instant { ticks, .. } | Self::Clock { ticks } | Self::Span { ticks } => {
                counted(value, ticks)
            }
        }
    }

    /// Decimal places of numbers that are multiples of `step` (0 for no number at all).
    pub(crate) fn places(self, step: i128) -> u8 {
        let (mut places, mut unit) = match self {
            Self::Decimal { scale } => (scale.max(0) as u8, 10),
            Self::Clock { ticks } | Self::Span { ticks } => (ticks.ilog10() as u8, 10),
            _ => return 0,
        };
        while places > 0 && step % unit == 0 {
            places -= 1;
            unit = if unit > i128::MAX / 10 { return places } else { unit * 10 };
        }
        places
    }

    /// The text of a cell.
    pub(crate) fn text(self, raw: i128) -> String {
        match self {
            Self::Bool => if raw == 0 { "false" } else { "true" }.into(),
            Self::Int => raw.to_string(),
            Self::Decimal { scale } => raw_text::decimal(raw, scale),
            Self::Day => raw_text::date(raw).unwrap_or_else(|| format!("@{raw}")),
            Self::Instant { ticks, zoned, date } => raw_text::instant(raw, ticks, zoned, date),
            Self::Clock { ticks } => raw_text::clock(raw, ticks),
            Self::Span { ticks } => raw_text::decimal_short(raw, ticks.ilog10() as i8),
        }
    }

    /// The cell of a text; the inverse of [`text`](Self::text).
    pub(crate) fn parse(self, text: &str) -> Option<i128> {
        match self {
            Self::Bool if text.eq_ignore_ascii_case("true") => Some(1),
            Self::Bool => text.eq_ignore_ascii_case("false").then_some(0),
            // 1.0 is an integer, too.
            Self::Int => raw_text::parse_decimal(text, 0),
            Self::Decimal { scale } => raw_text::parse_decimal(text, scale),
            Self::Day => raw_text::parse_date(text),
            Self::Instant { ticks, .. } => raw_text::parse_instant(text, ticks),
            Self::Clock { ticks } => raw_text::parse_clock(text, ticks),
            Self::Span { ticks } => raw_text::parse_decimal(text, ticks.ilog10() as i8),
        }
    }
}

/// The least and the greatest cell that a type holds.
pub(crate) fn range(data_type: &DataType) -> (i128, i128) {
    use DataType::*;
    let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let unsigned = |bits: u32| (0, (1i128 << bits) - 1);
    match data_type {
        Boolean => (0, 1),
        Int8 => signed(8),
        Int16 => signed(16),
        Int32 | Date32 => signed(32),
        UInt8 => unsigned(8),
        UInt16 => unsigned(16),
        UInt32 => unsigned(32),
        UInt64 => unsigned(64),
        Time32(unit) | Time64(unit) => (0, i128::from(DAY * ticks(*unit)) - 1),
        Decimal32(precision, _)
        | Decimal64(precision, _)
        | Decimal128(precision, _)
        | Decimal256(precision, _) => {
            let most = 10i128.checked_pow(u32::from(*precision)).map_or(i128::MAX, |power| power) - 1;
            (-most, most)
        }
        Dictionary(_, values) => range(values),
        _ => signed(64),
    }
}

fn ticks(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// 10^|scale|.
fn power(scale: i8) -> f64 {
    10f64.powi(i32::from(scale.unsigned_abs()))
}

/// Whole seconds and the rest apart: microseconds of this century are exact.
fn seconds(raw: i128, ticks: i64) -> f64 {
    let ticks = i128::from(ticks);
    raw.div_euclid(ticks) as f64 + raw.rem_euclid(ticks) as f64 / ticks as f64
}

fn counted(seconds: f64, ticks: i64) -> i128 {
    let whole = seconds.floor();
    let rest = ((seconds - whole) * ticks as f64).round();
    (whole as i128).saturating_mul(i128::from(ticks)).saturating_add(rest as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROS: RawKind = RawKind::Instant { ticks: 1_000_000, zoned: true, date: false };

    #[test]
    fn numbers_come_back() {
        let money = RawKind::Decimal { scale: 2 };
        for raw in [0, 1, -1, 12_345, 999_999_999_999, -2_251_799_813_685_247] {
            assert_eq!(money.raw(money.value(raw, false), false), raw);
            let thousands = RawKind::Decimal { scale: -3 };
            assert_eq!(thousands.raw(thousands.value(raw, false), false), raw);
        }
        // Microseconds from 1834 to 2106.
        for raw in [0, -1, 1_700_000_000_123_457, -4_290_000_000_999_999, 4_290_000_000_999_999] {
            assert_eq!(MICROS.raw(MICROS.value(raw, false), false), raw);
        }
        let nanos = RawKind::Instant { ticks: 1_000_000_000, zoned: true, date: false };
        assert_eq!(
            nanos.raw(nanos.value(1_700_000_000_123_456_789, false), false),
            1_700_000_000_123_457_000
        );
        assert_eq!(MICROS.value(86_400_000_000, true), 1.0);
        assert_eq!(MICROS.raw(18_262.0, true), 18_262 * 86_400_000_000);
        assert_eq!(RawKind::Day.value(2, false), 172_800.0);
    }

    #[test]
    fn integers_beyond_2_53_are_too_long() {
        assert!(RawKind::Int.too_long(1 << 53) && RawKind::Int.too_long(-(1 << 60)));
        assert!(!RawKind::Int.too_long((1 << 53) - 1) && !MICROS.too_long(1 << 60));
    }

    #[test]
    fn places_are_those_that_are_needed() {
        let money = RawKind::Decimal { scale: 2 };
        assert_eq!((money.places(1), money.places(10), money.places(100), money.places(0)), (2, 1, 0, 0));
        assert_eq!(RawKind::Int.places(7), 0);
        assert_eq!(RawKind::Clock { ticks: 1_000 }.places(500), 1);
        assert_eq!(RawKind::Decimal { scale: 76 }.places(0), 38, "no overflow");
    }

    #[test]
    fn ranges() {
        assert_eq!(range(&DataType::UInt64).1, i128::from(u64::MAX));
        assert_eq!(range(&DataType::Int64), (i128::from(i64::MIN), i128::from(i64::MAX)));
        assert_eq!(range(&DataType::Decimal128(3, 1)), (-999, 999));
        assert_eq!(range(&DataType::Time32(TimeUnit::Second)), (0, 86_399));
    }
}
