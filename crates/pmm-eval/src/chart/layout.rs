//! How much room a chart's texts need, and which ticks fit.

use super::mark::Shape;
use super::scale::{Frame, Scale};
use super::text::{shorten, width};
use super::ticks::{Label, Ticks};
use super::{Axis, Chart, FONT, legend};

/// The length of a tick.
pub(super) const TICK: f64 = 4.0;
/// Long category names are slanted under a horizontal axis: the angle in degrees and its sine.
pub(super) const SLANT: (f64, f64) = (35.0, 0.574);
/// The most room a category's or a rule's name may take.
pub(super) const LONGEST: f64 = 130.0;

/// The room around the plot area.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Margins {
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) left: f64,
}

/// The room the chart's texts need in a box of `wide` by `high` pixels.
pub(super) fn margins(chart: &Chart, wide: f64, high: f64) -> Margins {
    let title = if chart.title.is_empty() { 0.0 } else { 20.0 };
    let rows = legend::rows(&chart.marks, legend_room(chart, wide)) as f64;
    let top = 8.0 + title + if rows > 0.0 { rows * legend::ROW + 5.0 } else { 0.0 };
    // A narrow panel loses more than a fifth to the labels at its left.
    let (x_ticks, slanted) = x_ticks(&chart.x, x_domain(chart), (wide * 0.8).min(wide - 75.0).max(10.0));
    let bottom = TICK + x_labels_height(&chart.x, &x_ticks, slanted) + named(&chart.x, 18.0) + 4.0;
    let y_ticks = y_ticks(&chart.y, y_domain(chart), high - top - bottom);
    let labels = if chart.y.bare { 0.0 } else { widest(&y_ticks) + 4.0 };
    let slope = if slanted && !chart.x.bare { slanted_reach(&x_ticks, wide) } else { 0.0 };
    let left = (TICK + labels + named(&chart.y, 19.0) + 2.0)
        .max(overhang(&chart.x, x_ticks.major.first()))
        .max(slope.min(wide / 2.0));
    let right = rule_room(chart).max(overhang(&chart.x, x_ticks.major.last())).max(8.0);
    Margins { top, right, bottom, left }
}

fn named(axis: &Axis, room: f64) -> f64 {
    if axis.label.is_empty() { 0.0 } else { room }
}

pub(super) fn legend_room(chart: &Chart, wide: f64) -> f64 {
    (wide - 62.0 - named(&chart.y, 19.0)).max(40.0)
}

fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|tick| tick.1.width(FONT)).fold(0.0, f64::max)
}

fn x_labels_height(axis: &Axis, ticks: &Ticks, slanted: bool) -> f64 {
    match (axis.bare, slanted) {
        (true, _) => 0.0,
        (false, true) => widest(ticks) * SLANT.1 + 12.0,
        (false, false) => 15.0,
    }
}

/// How far the label of the first or last tick may reach past the end of the axis.
fn overhang(axis: &Axis, tick: Option<&(f64, Label)>) -> f64 {
    let shown = tick.filter(|_| !axis.bare && !axis.is_categories());
    shown.map_or(0.0, |(_, label)| label.width(FONT) / 2.0 + 2.0)
}

/// How far slanted names reach past the left end of an axis of categories in a box of `wide` pixels. The more they do, the less room
/// has each, and the further they reach: a few rounds settle it.
fn slanted_reach(ticks: &Ticks, wide: f64) -> f64 {
    let count = ticks.major.last().map_or(1.0, |tick| tick.0 + 1.0);
    let cosine = (1.0 - SLANT.1 * SLANT.1).sqrt();
    (0..8).fold(0.0, |left, _| {
        let slot = (wide - left - 8.0).max(0.0) / count;
        let reach = |(at, label): &(f64, Label)| label.width(FONT) * cosine - (at + 0.5) * slot + 2.0;
        ticks.major.iter().map(reach).fold(0.0, f64::max)
    })
}

/// The room that the names of the rules need at the right.
fn rule_room(chart: &Chart) -> f64 {
    rules(chart).map(|(_, _, name)| width(name, FONT).min(LONGEST) + 12.0).fold(0.0, f64::max)
}

/// Place, colour and name of every named rule.
pub(super) fn rules(chart: &Chart) -> impl Iterator<Item = (f64, usize, &str)> {
    chart.marks.iter().filter_map(|mark| match (&mark.shape, &mark.style.label) {
        (Shape::Rule(y), Some(name)) if !name.is_empty() => Some((*y, mark.style.colour, name.as_str())),
        _ => None,
    })
}

fn x_domain(chart: &Chart) -> (f64, f64) {
    chart.x.domain(chart.marks.iter().flat_map(|mark| mark.shape.xs()), has_points(chart))
}

fn y_domain(chart: &Chart) -> (f64, f64) {
    chart.y.domain(chart.marks.iter().flat_map(|mark| mark.shape.ys()), has_points(chart))
}

/// Whether the chart has marks with a size of their own, which should not sit on an axis line.
fn has_points(chart: &Chart) -> bool {
    chart.marks.iter().any(|mark| matches!(mark.shape, Shape::Points(_) | Shape::ErrorBars(_)))
}

/// As many ticks as fit side by side, and whether their labels must be slanted.
fn x_ticks(axis: &Axis, domain: (f64, f64), length: f64) -> (Ticks, bool) {
    if axis.is_categories() {
        return category_ticks(axis, domain, length);
    }
    let scale = Scale::new(axis, domain, 0.0, length);
    let fits = |ticks: &Ticks| {
        let spans: Vec<_> =
            ticks.major.iter().map(|(v, label)| (scale.within(*v), label.width(FONT) / 2.0)).collect();
        spans.windows(2).all(|pair| pair[0].0 + pair[0].1 + 9.0 <= pair[1].0 - pair[1].1)
    };
    let most = (length / 40.0).clamp(1.0, 10.0) as usize;
    let candidates = (1..=most).rev().map(|count| axis.ticks(domain, count));
    let mut ticks = candidates.into_iter().find(fits).unwrap_or_else(|| axis.ticks(domain, 1));
    if !fits(&ticks) {
        ticks.major.truncate(1);
    }
    (ticks, false)
}

fn category_ticks(axis: &Axis, domain: (f64, f64), length: f64) -> (Ticks, bool) {
    let ticks = axis.ticks(domain, 0);
    let slot = length / (domain.1 - domain.0);
    let slanted = ticks.major.iter().any(|tick| tick.1.width(FONT) + 6.0 > slot);
    (sparse(ticks, if slanted { 14.0 } else { 0.0 }, slot), slanted)
}

/// As many ticks as fit one above the other.
fn y_ticks(axis: &Axis, domain: (f64, f64), length: f64) -> Ticks {
    let ticks = axis.ticks(domain, (length / 32.0).clamp(1.0, 8.0) as usize);
    if axis.is_categories() { sparse(ticks, 14.0, length / (domain.1 - domain.0)) } else { ticks }
}

/// Every n-th category, shortened, such that names `room` pixels apart do not touch.
fn sparse(mut ticks: Ticks, room: f64, slot: f64) -> Ticks {
    let stride = (room / slot.max(1e-3)).ceil().max(1.0) as usize;
    let short = |(at, label): (f64, Label)| (at, Label::plain(shorten(&label.text, FONT, LONGEST)));
    ticks.major = ticks.major.into_iter().step_by(stride).map(short).collect();
    ticks
}

/// The ticks of both axes.
pub(super) struct Axes {
    pub(super) x: Ticks,
    pub(super) y: Ticks,
    /// Whether the labels below are slanted.
    pub(super) slanted: bool,
}

/// Scales and ticks of a chart whose plot area is `width` by `height` pixels.
pub(super) fn axes(chart: &Chart, width: f64, height: f64) -> (Frame<'_>, Axes) {
    let (x_domain, y_domain) = (x_domain(chart), y_domain(chart));
    let (low, high) = if chart.y.is_categories() { (0.0, height) } else { (height, 0.0) };
    let x = Scale::new(&chart.x, x_domain, 0.0, width);
    let y = Scale::new(&chart.y, y_domain, low, high);
    let (ticks, slanted) = x_ticks(&chart.x, x_domain, width);
    (Frame { x, y, width, height }, Axes { x: ticks, y: y_ticks(&chart.y, y_domain, height), slanted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn tick_labels_never_touch() {
        let axis = Axis::linear("");
        for length in [20.0, 60.0, 150.0, 700.0] {
            for domain in [(0.0, 1.0), (0.0, 123_456.0), (-1e9, 1e9), (0.99999, 1.00001)] {
                let scale = Scale::new(&axis, domain, 0.0, length);
                let (ticks, _) = x_ticks(&axis, domain, length);
                let ends = |(v, label): &(f64, Label)| (scale.within(*v), label.width(FONT) / 2.0);
                let spans: Vec<_> = ticks.major.iter().map(ends).collect();
                assert!(spans.windows(2).all(|w| w[0].0 + w[0].1 < w[1].0 - w[1].1), "{length} {domain:?}");
            }
        }
    }

    #[test]
    fn long_category_names_are_slanted_and_many_are_thinned() {
        let short = Axis::categories("", ["a", "b"]);
        assert!(!x_ticks(&short, (-0.5, 1.5), 300.0).1);
        let many = Axis::categories("", (0..1000).map(|i| format!("category number {i}")));
        let (ticks, slanted) = x_ticks(&many, (-0.5, 999.5), 300.0);
        assert!(slanted && ticks.major.len() <= 300 / 14 + 1, "{}", ticks.major.len());
    }

    #[test]
    fn slanted_names_stay_within_the_picture() {
        let long = ["a name of some length", "b", "c", "d", "e", "f"];
        let chart = |names: [&str; 6]| Chart::new("").x(Axis::categories("", names));
        let (wide, narrow) =
            (margins(&chart(long), 240.0, 190.0).left, margins(&chart(["a"; 6]), 240.0, 190.0).left);
        let (reach, slot) = (width(long[0], FONT).min(LONGEST) * 0.8, (240.0 - wide - 8.0) / 6.0);
        assert!(wide > narrow && wide + slot / 2.0 >= reach, "{wide} {narrow} {reach}");
    }

    #[test]
    fn margins_grow_with_what_they_hold() {
        let plain = Chart::new("").line(&[(0.0, 0.0), (1.0, 1.0)], Style::new(0));
        let bare = margins(&plain, 400.0, 300.0);
        let rich =
            plain.clone().y(Axis::linear("y")).x(Axis::linear("x")).rule(0.5, Style::new(1).label("a level"));
        let rich = margins(&rich.line(&[], Style::new(2).label("line")), 400.0, 300.0);
        assert!(
            rich.top > bare.top
                && rich.right > bare.right
                && rich.bottom > bare.bottom
                && rich.left > bare.left
        );
    }

    #[test]
    fn the_first_category_of_a_vertical_axis_is_at_the_top() {
        let chart = Chart::new("").y(Axis::categories("", ["first", "second"]));
        assert_eq!(axes(&chart, 100.0, 100.0).0.y.at(0.0), Some(25.0));
    }
}
