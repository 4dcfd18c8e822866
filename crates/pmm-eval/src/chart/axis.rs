//! An axis: its name, its scale, and the range it shows.

use super::date_ticks::{self, Calendar};
use super::ticks::{self, Label, Ticks};

/// One axis of a [`Chart`](super::Chart).
///
/// Unless a range is given, the axis shows all data, widened to round numbers.
///
/// ```
/// use pmm_eval::chart::{Axis, Chart, Figure, Style};
/// let chart = Chart::new("Error").x(Axis::log("network calls")).y(Axis::linear("bits").range(0.0, 8.0));
/// let svg = Figure::new().panel(chart.line(&[(1.0, 7.0), (100.0, 2.0)], Style::new(0))).svg();
/// assert!(svg.contains(">network calls<") && svg.contains(">100<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    kind: Kind,
    range: Option<(f64, f64)>,
    pub(super) bare: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Kind {
    #[default]
    Linear,
    Log,
    Dates(Calendar),
    Categories(Vec<String>),
}

/// Values beyond this (or on a log axis below its inverse) are drawn as if they were here.
const LIMIT: f64 = 1e300;

impl Axis {
    /// An axis with equal distances for equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// An axis with equal distances for equal ratios; values that are not positive are not shown.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), kind: Kind::Log, ..Self::default() }
    }

    /// An axis of dates or times, with ticks at round ones.
    pub fn dates(label: impl Into<String>, calendar: Calendar) -> Self {
        Self { label: label.into(), kind: Kind::Dates(calendar), ..Self::default() }
    }

    /// An axis whose places 0, 1, 2, … carry names; on a vertical axis the first is at the top.
    pub fn categories<S: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = S>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { label: label.into(), kind: Kind::Categories(names), ..Self::default() }
    }

    /// Shows `low..high` whatever the data. A range the scale cannot show (empty, not finite, or not positive
    /// on a log axis) is ignored.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low.min(high), low.max(high)));
        self
    }

    /// Leaves out tick labels, for a panel that shares this axis with its neighbour.
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    pub(super) fn is_log(&self) -> bool {
        self.kind == Kind::Log
    }

    pub(super) fn is_categories(&self) -> bool {
        matches!(self.kind, Kind::Categories(_))
    }

    /// The value on the straight scale (its log₁₀ on a log axis), if it has a place there.
    pub(super) fn transform(&self, value: f64) -> Option<f64> {
        match self.kind {
            Kind::Log if value > 0.0 => Some(value.clamp(1.0 / LIMIT, LIMIT).log10()),
            Kind::Log => None,
            _ => Some(value.clamp(-LIMIT, LIMIT)),
        }
        .filter(|_| value.is_finite())
    }

    /// The range to show for `data`, with a little `room` past its ends if asked.
    pub(super) fn domain(&self, data: impl Iterator<Item = f64>, room: bool) -> (f64, f64) {
        if let Some(range) = self.range.filter(|&range| self.can_show(range)) {
            return range;
        }
        match &self.kind {
            Kind::Dates(_) => widen(extent(data, LIMIT).unwrap_or((0.0, 1.0))),
            Kind::Linear => {
                let range = widen(extent(data, LIMIT).unwrap_or((0.0, 1.0)));
                let round = ticks::round_outwards(range, 6);
                if room { apart(round, range) } else { round }
            }
            Kind::Log => {
                let positive = data.filter(|&v| v > 0.0).map(|v| v.max(1.0 / LIMIT));
                let range = widen_log(extent(positive, LIMIT).unwrap_or((1.0, 10.0)));
                let round = ticks::round_outwards_log(range);
                if room { apart_log(round, range) } else { round }
            }
            Kind::Categories(names) => (-0.5, names.len().max(1) as f64 - 0.5),
        }
    }

    fn can_show(&self, (low, high): (f64, f64)) -> bool {
        let placed = |value: f64| value.abs() <= LIMIT && self.transform(value).is_some();
        let apart = if self.is_log() { high / low > 1.0 + 1e-9 } else { widen((low, high)) == (low, high) };
        placed(low) && placed(high) && apart && low < high
    }

    /// Ticks for `domain`, at most about `count` of them labelled (every category, for the caller to thin).
    pub(super) fn ticks(&self, domain: (f64, f64), count: usize) -> Ticks {
        match &self.kind {
            Kind::Linear => ticks::linear(domain, count),
            Kind::Log => ticks::log(domain, count),
            Kind::Dates(calendar) => date_ticks::dates(domain, count, *calendar),
            Kind::Categories(names) => Ticks {
                major: (0..).map(f64::from).zip(names.iter().map(Label::plain)).take(10_000).collect(),
                minor: Vec::new(),
            },
        }
    }
}

fn extent(data: impl Iterator<Item = f64>, limit: f64) -> Option<(f64, f64)> {
    let usable = data.filter(|v| v.is_finite()).map(|v| v.clamp(-limit, limit));
    usable.fold(None, |range, v| {
        Some(range.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
    })
}

/// Opens a range that is too narrow for its ticks to differ in f64.
fn widen((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > (size * 1e-11).max(1e-290) {
        return (low, high);
    }
    let pad = if size > 1e-280 { size * 0.1 } else { 1.0 };
    (low - pad, high + pad)
}

/// Moves an end of `round` out by 3 % of its length where it touches the data's `range`.
fn apart(round: (f64, f64), range: (f64, f64)) -> (f64, f64) {
    let (gap, limit) = ((round.1 - round.0) * 0.03, LIMIT);
    let low = if range.0 - round.0 < gap { (range.0 - gap).max(-limit) } else { round.0 };
    let high = if round.1 - range.1 < gap { (range.1 + gap).min(limit) } else { round.1 };
    (low, high)
}

fn apart_log(round: (f64, f64), range: (f64, f64)) -> (f64, f64) {
    let logs = |(low, high): (f64, f64)| (low.log10(), high.log10());
    let (low, high) = apart(logs(round), logs(range));
    (10f64.powf(low.max(-300.0)), 10f64.powf(high.min(300.0)))
}

fn widen_log((low, high): (f64, f64)) -> (f64, f64) {
    if high / low > 1.0 + 1e-6 { (low, high) } else { (low / 2.0, high * 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(axis: &Axis, data: &[f64]) -> (f64, f64) {
        axis.domain(data.iter().copied(), false)
    }

    #[test]
    fn automatic_ranges_are_round_and_cover_the_data() {
        assert_eq!(domain(&Axis::linear(""), &[3.0, 97.0, f64::NAN, f64::INFINITY]), (0.0, 100.0));
        assert_eq!(domain(&Axis::log(""), &[-1.0, 0.0, 0.04, 700.0]), (0.03, 1000.0));
        assert_eq!(Axis::categories("", ["a", "b", "c"]).domain([9.0].into_iter(), false), (-0.5, 2.5));
    }

    #[test]
    fn room_is_made_only_where_the_data_touch_an_end() {
        assert_eq!(Axis::linear("").domain([0.0, 9.0].into_iter(), true), (-0.3, 10.0));
        let (low, high) = Axis::log("").domain([1.0, 1000.0].into_iter(), true);
        assert!((low.log10() + 0.09).abs() < 1e-12 && (high.log10() - 3.09).abs() < 1e-12);
    }

    #[test]
    fn no_data_or_one_value_still_give_a_range() {
        assert_eq!(domain(&Axis::linear(""), &[]), (0.0, 1.0));
        assert_eq!(domain(&Axis::log(""), &[0.0]), (1.0, 10.0));
        let (low, high) = domain(&Axis::linear(""), &[7.0]);
        assert!(low < 7.0 && high > 7.0);
        assert_eq!(domain(&Axis::linear(""), &[0.0, 0.0]), (-1.0, 1.0));
    }

    #[test]
    fn fixed_ranges_win_unless_the_scale_cannot_show_them() {
        assert_eq!(domain(&Axis::linear("").range(2.0, -3.5), &[99.0]), (-3.5, 2.0));
        assert_eq!(domain(&Axis::log("").range(0.0, 1.0), &[10.0, 1000.0]), (10.0, 1000.0));
        assert_eq!(domain(&Axis::linear("").range(1.0, 1.0), &[0.0, 10.0]), (0.0, 10.0));
        assert_eq!(domain(&Axis::linear("").range(f64::NAN, 1.0), &[0.0, 10.0]), (0.0, 10.0));
    }

    #[test]
    fn only_positive_finite_values_have_a_place_on_a_log_axis() {
        let axis = Axis::log("");
        assert_eq!(axis.transform(1000.0), Some(3.0));
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(|v| axis.transform(v)), [None; 4]);
    }
}
