//! The one format that fits all dates of a column.

use super::date_scan::Scan;
use super::dates::{DateFormat, DateGrid, DateOrder};
use super::month_names::MonthFormat;
use super::time_of_day::{FractionZeros, TimeFormat, TimeScan, Zone};

/// Fewer texts than this say nothing about a grid, nor about eight digits.
const FEW: u32 = 3;

/// The formats that fit all texts seen so far.
#[derive(Debug, Clone)]
pub(crate) struct DateProfile {
    /// The format, with a provisional order and padding.
    format: Option<DateFormat>,
    orders: Vec<DateOrder>,
    /// A day or month, or an hour, below ten was seen with, and without, a zero.
    zeros: (bool, bool),
    hours: (bool, bool),
    fractions: Fractions,
    grid: DateGrid,
    /// The month of the first date, and whether another has come.
    month: Option<(u32, f64)>,
    months_differ: bool,
    seasons: bool,
    /// Some hour is twelve or later.
    late: bool,
    mixed_offsets: bool,
    texts: u32,
    /// The column's name speaks of dates.
    named: bool,
    failed: bool,
}

impl Default for DateProfile {
    fn default() -> Self {
        Self {
            format: None,
            orders: Vec::new(),
            zeros: (false, false),
            hours: (false, false),
            fractions: Fractions::default(),
            grid: DateGrid::Year,
            month: None,
            months_differ: false,
            seasons: true,
            late: false,
            mixed_offsets: false,
            texts: 0,
            named: false,
            failed: false,
        }
    }
}

/// The fractions of seconds seen.
#[derive(Debug, Clone, Copy, Default)]
struct Fractions {
    /// Some time has none.
    none: bool,
    /// Two lengths were seen.
    lengths: bool,
}

impl DateProfile {
    /// A profile of a column with this name: eight digits under a name such as `date` are dates.
    pub(crate) fn named(name: &str) -> Self {
        let lower = name.to_lowercase();
        let named = ["date", "datum", "day", "dob", "birth", "ymd", "when", "time"];
        Self { named: named.iter().any(|part| lower.contains(part)), ..Self::default() }
    }

    /// Takes note of one trimmed text.
    pub(crate) fn add(&mut self, text: &str) {
        if !self.failed {
            self.failed = Scan::new(text).and_then(|scan| self.merge(&scan)).is_none();
        }
    }

    fn merge(&mut self, scan: &Scan) -> Option<()> {
        match &mut self.format {
            None => {
                self.orders = scan.orders().collect();
                let order = *self.orders.first()?;
                let format = first_format(scan, order);
                self.fractions.none = format.time.is_some_and(|time| time.fraction == 0);
                self.format = Some(format);
            }
            Some(format) => {
                let month = scan.name.map_or(MonthFormat::Number, |(_, month)| month);
                let months = (self.month.map_or(0, |(month, _)| month), scan.month(format.order));
                format.month = format.month.joined(month, months.0, months.1)?;
                self.orders.retain(|&order| scan.value(&DateFormat { order, ..*format }).is_some());
                format.order = *self.orders.first()?;
                if let (Some(time), Some(own)) = (&mut format.time, scan.time) {
                    self.mixed_offsets |= join_times(time, &own, &mut self.fractions)?;
                }
            }
        }
        self.note(scan);
        Some(())
    }

    /// Takes note of what does not change the format.
    fn note(&mut self, scan: &Scan) {
        let Some(format) = &self.format else { return };
        let (padded, bare) = scan.zeros(format.order);
        self.zeros = (self.zeros.0 || padded, self.zeros.1 || bare);
        if let Some(time) = scan.time {
            let shows = time.shows_padding;
            self.hours =
                (self.hours.0 || shows && time.format.padded, self.hours.1 || shows && !time.format.padded);
            self.late |= time.hour >= 12;
        }
        self.grid = self.grid.min(scan.grid(format.order));
        let days = scan.days(format.order).unwrap_or_default();
        // A month's name is kept while all could be May; a different month is enough to show a spread.
        let (month, first) = *self.month.get_or_insert((scan.month(format.order), days));
        let here = scan.month(format.order);
        self.months_differ |= here != month || (days - first).abs() > 31.0;
        if here != 5 {
            self.month = Some((here, first));
        }
        self.seasons &= scan.is_season();
        self.texts = self.texts.saturating_add(1);
    }

    /// The one format of the column; none if there are several or texts that are no dates.
    pub(crate) fn format(&self) -> Option<DateFormat> {
        let one = self.orders.len() == 1 && self.zeros != (true, true) && self.hours != (true, true);
        let mut format = self.format.filter(|_| !self.failed && one)?;
        format.padded = !self.zeros.1;
        if let Some(time) = &mut format.time {
            time.padded = !self.hours.1;
            time.zeros = match self.fractions {
                Fractions { lengths: true, .. } => FractionZeros::Dropped,
                Fractions { none: true, .. } if time.fraction > 0 => FractionZeros::NoneIfWhole,
                _ => FractionZeros::Kept,
            };
        }
        format.grid = self.grid_of(&format);
        self.is_plausible(&format).then_some(format)
    }

    /// The coarsest grid; with several offsets, or after few texts, no coarser than the text shows.
    fn grid_of(&self, format: &DateFormat) -> DateGrid {
        let whole = matches!(format.order, DateOrder::YearMonth | DateOrder::MonthYear | DateOrder::YearWeek);
        let bare = if format.time.is_none() { DateGrid::Day } else { DateGrid::Written };
        let grid = if self.mixed_offsets { self.grid.min(DateGrid::Minute) } else { self.grid };
        if self.texts < FEW || whole && grid < DateGrid::Year || grid <= bare {
            DateGrid::Written
        } else {
            grid
        }
    }

    /// Eight digits, two fields and bare times may mean other things.
    fn is_plausible(&self, format: &DateFormat) -> bool {
        let spread = self.named || self.texts >= FEW && self.months_differ;
        match format.order {
            DateOrder::NoDate => format.time.is_some_and(|time| {
                time.half_day.is_some() || self.late || !time.seconds && time.padded && self.hours.0
            }),
            DateOrder::YearMonth => !(self.seasons && self.texts > 1),
            DateOrder::YearMonthDay if format.separator.is_none() => spread,
            _ => true,
        }
    }

    /// All texts are dates, but day and month cannot be told apart.
    pub(crate) fn is_ambiguous(&self) -> bool {
        !self.failed && self.format.is_some() && self.orders.len() > 1
    }

    /// What was decided that a reader may not expect.
    pub(crate) fn remark(&self) -> Option<&'static str> {
        let format = self.format()?;
        if self.mixed_offsets {
            return Some("their offsets differ: written in UTC");
        }
        (format.separator.is_none() && format.order != DateOrder::NoDate)
            .then_some("every number is year, month and day")
    }
}

fn first_format(scan: &Scan, order: DateOrder) -> DateFormat {
    DateFormat {
        order,
        separator: scan.separator,
        comma: scan.comma,
        month: scan.name.map_or(MonthFormat::Number, |(_, month)| month),
        padded: true,
        short_year: scan.short_year(order),
        time: scan.time.map(|time| time.format),
        grid: DateGrid::Written,
    }
}

/// Joins the formats of two times; whether their offsets differ.
fn join_times(time: &mut TimeFormat, own: &TimeScan, fractions: &mut Fractions) -> Option<bool> {
    let own = &own.format;
    (time.separator == own.separator && time.half_day == own.half_day).then_some(())?;
    fractions.none |= own.fraction == 0;
    fractions.lengths |= time.fraction != own.fraction && time.fraction > 0 && own.fraction > 0;
    time.seconds |= own.seconds;
    time.fraction = time.fraction.max(own.fraction);
    if time.zone == own.zone && (time.offset == own.offset || time.zone == Zone::Utc) {
        return Some(false);
    }
    // Different offsets in one column, as summer and winter have: written in UTC.
    time.zone = Zone::Utc;
    Some(true)
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
        let columns: [&[&str]; 32] = [
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
            &["15 Mar 2020", "1 Jan 1999", "30 May 2021"],
            &["March 15, 2020", "May 1, 1999", "December 31, 2021"],
            &["Mar 15 2020", "Jan 09 1999"],
            &["15-MAR-20", "09-JAN-99"],
            &["2020-Mar-15", "2020-May-01"],
            &["15 May 2020", "16 May 2020", "1 June 2021"],
            &["2020-05", "1999-12", "2021-01"],
            &["05/2020", "12/1999"],
            &["Mar 2020", "May 2021"],
            &["20090312", "20101231", "19991001"],
            &["2020-W12", "2021-W01", "2020-W53"],
            &["14:05", "09:30", "00:00"],
            &["14:05:59", "09:30:00"],
            &["3:05 PM", "12:00 AM", "11:59 PM"],
            &["03:05pm", "12:00am"],
            &["1/2/2020 9:05", "12/31/2020 23:59"],
            &["1/2/2020 9:05:00 AM", "12/31/2020 12:59:30 PM"],
            &["2020-01-01 10:00:00.5", "2020-01-01 10:00:01", "2020-01-01 10:00:00.25"],
            &["2020-01-01 10:00:00.500000", "2020-01-01 10:00:01", "2020-01-01 10:00:00.250000"],
            &["2020-01-01T10:00:00+0530", "2020-06-01T11:00:00+0530"],
            &["2020-01-01 10:00:00-03", "2020-06-01 11:00:00-03"],
            &["15 Mar 2020 14:05", "1 Jan 1999 00:30"],
        ];
        for column in columns {
            let format = profile(column).format().unwrap_or_else(|| panic!("{column:?}"));
            assert!(format.is_valid(), "{format:?}");
            for text in column {
                let value = format.value(text).unwrap_or_else(|| panic!("{text} {format:?}"));
                assert_eq!(&format.text(value), text, "{format:?}");
            }
        }
    }

    /// `datetime(2011, 1, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=2))).timestamp()` is 1296511199, and
    /// `date.fromisocalendar(2020, 12, 1)` is 2020-03-16, day 18337.
    #[test]
    fn values_are_days_and_seconds() {
        let value = |text: &str| profile(&[text]).format().unwrap().value(text).unwrap();
        assert_eq!(value("2011-01-31"), 15005.0);
        assert_eq!(value("31 January 2011"), 15005.0);
        assert_eq!(value("2011-02"), 15006.0);
        assert_eq!(value("2020-W12"), 18337.0);
        assert_eq!(value("2011-01-31T23:59:59+02:00"), 1_296_511_199.0);
        assert_eq!(value("1970-01-01 00:00:01.5"), 1.5);
        assert_eq!(value("1:00 PM"), 46_800.0);
    }

    #[test]
    fn rounding_carries_over() {
        let format = profile(&["2011-12-31 23:59:59.5"]).format().unwrap();
        assert_eq!(format.text(format.value("2011-12-31 23:59:59.99").unwrap()), "2012-01-01 00:00:00.0");
        let minutes = profile(&["2011-12-31 23:59"]).format().unwrap();
        assert_eq!(minutes.text(minutes.value("2011-12-31 23:59:40").unwrap()), "2012-01-01 00:00");
    }

    /// What was never seen is written on the grid of what was.
    #[test]
    fn unseen_dates_stay_on_the_grid() {
        let text = |texts: &[&str], value: f64| profile(texts).format().unwrap().text(value);
        let noon = 18_263.5 * 86_400.0 + 1_234.5; // 2020-01-02 12:20:34.5
        assert_eq!(
            text(&["2020-01-01 10:05:00", "2020-01-02 11:20:00", "2020-02-03 09:59:00"], noon),
            "2020-01-02 12:21:00"
        );
        assert_eq!(
            text(&["2020-01-01 10:00:00", "2020-01-02 11:00:00", "2020-02-03 09:00:00"], noon),
            "2020-01-02 12:00:00"
        );
        assert_eq!(
            text(&["2020-01-01 00:00:00", "2020-01-02 00:00:00", "2020-02-03 00:00:00"], noon),
            "2020-01-03 00:00:00"
        );
        assert_eq!(text(&["2020-01-01", "2020-02-01", "2020-07-01"], 18_280.0), "2020-02-01");
        assert_eq!(text(&["2020-01-01", "2019-01-01", "2015-01-01"], 18_280.0), "2020-01-01");
        assert_eq!(text(&["2020-01-01", "2020-02-01"], 18_280.0), "2020-01-19", "two texts show no grid");
        assert_eq!(text(&["2020-05", "2020-06"], 18_280.4), "2020-02");
        assert_eq!(text(&["2020-W12"], 18_341.0), "2020-W13");
        assert_eq!(text(&["14:05", "09:00", "10:15"], 90_000.0), "23:59");
        let mixed = ["2020-01-01T00:00:00+01:00", "2020-07-01T00:00:00+02:00", "2020-07-02T00:00:00+02:00"];
        assert_eq!(text(&mixed, noon), "2020-01-02T12:21:00Z");
        let format = profile(&["2020-01-01", "2020-02-01", "2020-07-01"]).format().unwrap();
        assert_eq!(format.round(18_280.0), 18_293.0);
    }

    #[test]
    fn mixed_offsets_are_instants() {
        let profile = profile(&["2020-01-01T00:00:00+01:00", "2020-07-01T00:30:00+02:00"]);
        let format = profile.format().unwrap();
        assert_eq!(format.text(format.value("2020-07-01T00:30:00+02:00").unwrap()), "2020-06-30T22:30:00Z");
        assert_eq!(profile.remark(), Some("their offsets differ: written in UTC"));
    }

    #[test]
    fn eight_digits_need_a_spread_or_a_name() {
        assert!(profile(&["20090312", "20090313", "20090314"]).format().is_none(), "row numbers, perhaps");
        assert!(profile(&["20090312", "20090313", "20090401"]).format().is_some());
        assert!(profile(&["20090312", "20090313", "20091399"]).format().is_none());
        let mut named = DateProfile::named("SaleDate");
        named.add("20090312");
        assert_eq!(named.remark(), Some("every number is year, month and day"));
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
            &["3:45", "4:02"],
            &["2011-01-01T10:00:00Z", "2011-01-01T10:00:00"],
            &["é011-01-01"],
            &["2011-01-01T10:00+é"],
            &["2001-02", "2002-03", "2010-11"],
            &["15 Mar 2020", "15 March 2020"],
            &["15 MAR 2020", "15 Apr 2020"],
            &["1 2 2020"],
            &["2020.05"],
            &["5.2020"],
            &["2020-13"],
            &["Mar, 2020"],
            &["20210230"],
            &["1/2"],
            &["March"],
            &["2020-W54"],
        ] {
            assert!(profile(texts).format().is_none(), "{texts:?}");
        }
    }

    #[test]
    fn any_number_is_written() {
        for text in ["2011-01-31T23:59:59.123456", "14:05", "2020-05", "2020-W12", "1/31/11", "3:05 PM"] {
            let format = profile(&[text]).format().unwrap();
            for value in [f64::NAN, f64::INFINITY, -1e300, 1e300, 0.0] {
                for grid in [
                    DateGrid::Written,
                    DateGrid::Second,
                    DateGrid::Hour,
                    DateGrid::Day,
                    DateGrid::Month,
                    DateGrid::Year,
                ] {
                    let format = DateFormat { grid, ..format };
                    assert!(
                        format.value(&format.text(value)).is_some(),
                        "{text} {value} {grid:?} {}",
                        format.text(value)
                    );
                }
            }
        }
    }
}
