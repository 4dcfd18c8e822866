//! Ticks at round dates and times.

use super::ticks::{Label, Ticks};

/// What the numbers of an axis of dates count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calendar {
    /// Days since 1970.
    Days,
    /// Seconds since 1970.
    Seconds,
    /// Seconds since midnight.
    Clock,
}

/// A distance between ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Seconds(f64),
    Months(i64),
}

const DAY: f64 = 86_400.0;
/// Round distances, from the finest on; then come years.
const STEPS: [Step; 22] = [
    Step::Seconds(1.0),
    Step::Seconds(2.0),
    Step::Seconds(5.0),
    Step::Seconds(10.0),
    Step::Seconds(30.0),
    Step::Seconds(60.0),
    Step::Seconds(120.0),
    Step::Seconds(300.0),
    Step::Seconds(600.0),
    Step::Seconds(1800.0),
    Step::Seconds(3600.0),
    Step::Seconds(7200.0),
    Step::Seconds(10_800.0),
    Step::Seconds(21_600.0),
    Step::Seconds(43_200.0),
    Step::Seconds(DAY),
    Step::Seconds(2.0 * DAY),
    Step::Seconds(7.0 * DAY),
    Step::Seconds(14.0 * DAY),
    Step::Months(1),
    Step::Months(3),
    Step::Months(6),
];

impl Step {
    /// Its length in seconds, roughly for months.
    fn seconds(self) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Months(months) => months as f64 * 30.44 * DAY,
        }
    }

    /// The finest round step of which at most about `count` fit into `span` seconds.
    fn fitting(span: f64, count: usize, calendar: Calendar) -> Self {
        let years =
            (0..5).flat_map(|power| [1, 2, 5].map(|factor| Self::Months(12 * factor * 10i64.pow(power))));
        let least = if calendar == Calendar::Days { DAY } else { 0.0 };
        let mut steps = STEPS.into_iter().chain(years).filter(|step| step.seconds() >= least);
        steps.find(|step| span / step.seconds() <= count.max(1) as f64 + 0.5).unwrap_or(Self::Months(120_000))
    }

    /// The label of a tick, in seconds since 1970.
    fn label(self, second: f64, calendar: Calendar) -> String {
        let (day, second) = ((second / DAY).floor(), second.rem_euclid(DAY) as u64);
        let (year, month, date) = civil(day as i64);
        let clock = match self {
            Self::Seconds(step) if step < 60.0 => {
                format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
            }
            _ => format!("{:02}:{:02}", second / 3600, second / 60 % 60),
        };
        match self {
            _ if calendar == Calendar::Clock && day > 0.0 => "24:00".to_owned(),
            _ if calendar == Calendar::Clock => clock,
            Self::Seconds(step) if step < DAY => format!("{month:02}-{date:02} {clock}"),
            Self::Seconds(_) => format!("{year}-{month:02}-{date:02}"),
            Self::Months(months) if months < 12 => format!("{year}-{month:02}"),
            Self::Months(_) => year.to_string(),
        }
    }
}

/// At most about `count` ticks at round dates within `low..=high`.
pub(super) fn dates((low, high): (f64, f64), count: usize, calendar: Calendar) -> Ticks {
    let unit = if calendar == Calendar::Days { DAY } else { 1.0 };
    let (low, high) = (low * unit, high * unit);
    let step = Step::fitting(high - low, count, calendar);
    let most = 2 * count + 2;
    let seconds: Vec<f64> = match step {
        Step::Seconds(length) => {
            let first = (low / length - 1e-9).ceil();
            (0..most).map(|i| (first + i as f64) * length).collect()
        }
        Step::Months(months) => {
            let (year, month, _) = civil((low / DAY).floor().clamp(-1e7, 1e7) as i64);
            let first = (year * 12 + month - 1).div_euclid(months);
            (0..most as i64 + 1).map(|i| first_of_month((first + i) * months) as f64 * DAY).collect()
        }
    };
    let within = seconds.into_iter().filter(|second| (low - 1e-6..=high + 1e-6).contains(second));
    let tick = |second: f64| (second / unit, Label::plain(step.label(second, calendar)));
    Ticks { major: within.map(tick).collect(), minor: Vec::new() }
}

/// Year, month and day of a day since 1970, in the Gregorian calendar (years are counted from March, so that leap days end them).
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

/// The day since 1970 on which a month begins, months counted from that of the year 0.
fn first_of_month(month: i64) -> i64 {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: (f64, f64), count: usize, calendar: Calendar) -> Vec<String> {
        dates(range, count, calendar).major.into_iter().map(|tick| tick.1.text).collect()
    }

    #[test]
    fn days_and_months_agree_with_the_calendar() {
        assert_eq!(
            [civil(0), civil(-1), civil(11_016), civil(19_782)],
            [(1970, 1, 1), (1969, 12, 31), (2000, 2, 29), (2024, 2, 29)]
        );
        for month in -30_000..60_000 {
            let (year, of_year, day) = civil(first_of_month(month));
            assert_eq!((year * 12 + of_year - 1, day), (month, 1));
        }
    }

    #[test]
    fn the_span_chooses_the_step() {
        assert_eq!(labels((14_245.0, 18_245.0), 5, Calendar::Days), ["2010", "2012", "2014", "2016", "2018"]);
        assert_eq!(labels((18_322.0, 18_500.0), 4, Calendar::Days), ["2020-04", "2020-07"]);
        assert_eq!(
            labels((18_322.0, 18_325.0), 4, Calendar::Days),
            ["2020-03-01", "2020-03-02", "2020-03-03", "2020-03-04"]
        );
        let start = 18_322.0 * DAY;
        assert_eq!(
            labels((start, start + 1.2 * DAY), 3, Calendar::Seconds),
            ["03-01 00:00", "03-01 12:00", "03-02 00:00"]
        );
        assert_eq!(labels((0.0, DAY), 4, Calendar::Clock), ["00:00", "06:00", "12:00", "18:00", "24:00"]);
        assert_eq!(labels((3.0, 11.0), 4, Calendar::Clock), ["00:00:04", "00:00:06", "00:00:08", "00:00:10"]);
    }

    #[test]
    fn any_range_has_few_ticks() {
        for range in [(-1e300, 1e300), (0.0, 1e-9), (5.0, 5.0), (-7e5, 3e6)] {
            for calendar in [Calendar::Days, Calendar::Seconds, Calendar::Clock] {
                assert!(dates(range, 6, calendar).major.len() <= 15, "{range:?} {calendar:?}");
            }
        }
    }
}
