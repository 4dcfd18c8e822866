//! One chart within a figure: grid, axes, names, title.

use std::fmt::Write;

use super::layout::{Axes, LONGEST, Margins, SLANT, TICK, axes, legend_room, margins, rules};
use super::palette::{GRID, SOFT, series};
use super::path::{Path, number};
use super::scale::{Frame, Scale};
use super::text::{escape, shorten};
use super::ticks::{Label, RAISED, Ticks};
use super::{Axis, Chart, FONT, draw, legend};

const TITLE: f64 = 13.5;
/// How much wider bold letters run.
const BOLD: f64 = 1.06;
const NAME: f64 = 12.0;

/// The chart in a box of `wide` by `high` pixels whose upper left corner is the origin, with the `outer`
/// margins, which may be wider than its own where neighbours need them.
pub(super) fn draw(chart: &Chart, outer: Margins, wide: f64, high: f64) -> String {
    let width = (wide - outer.left - outer.right).max(10.0);
    let height = (high - outer.top - outer.bottom).max(10.0);
    let (frame, axes) = axes(chart, width, height);
    let mut out = format!(r#"<g transform="translate({} {})">"#, number(outer.left), number(outer.top));
    if !chart.frameless {
        out += &grid(chart, &axes, &frame);
    }
    out += &draw::lines(&chart.marks, &frame);
    if !chart.frameless {
        out += &spines(&axes, &frame);
    }
    out += &draw::points(&chart.marks, &frame);
    out += &tick_labels(chart, &axes, &frame);
    out += &names(chart, margins(chart, wide, high), &frame);
    out += &rule_names(chart, &frame);
    out += &heading(chart, outer, &frame, legend_room(chart, wide));
    out + "</g>"
}

/// The places in pixels of those labelled ticks that lie on the axis.
fn labelled<'t>(ticks: &'t Ticks, scale: &Scale<'_>) -> impl Iterator<Item = (f64, &'t Label)> {
    ticks.major.iter().filter_map(|(value, label)| Some((scale.inside(*value)?, label)))
}

fn grid(chart: &Chart, axes: &Axes, frame: &Frame<'_>) -> String {
    let mut path = Path::default();
    for (x, _) in labelled(&axes.x, &frame.x).filter(|_| !chart.x.is_categories()) {
        path.segment((x, 0.0), (x, frame.height));
    }
    for (y, _) in labelled(&axes.y, &frame.y).filter(|_| !chart.y.is_categories()) {
        path.segment((0.0, y), (frame.width, y));
    }
    format!(r#"<path {} fill="none" stroke="currentColor" d="{}"/>"#, GRID.attributes(), path.data())
}

/// The places and lengths in pixels of all ticks that lie on the axis.
fn lengths(ticks: &Ticks, scale: &Scale<'_>) -> Vec<(f64, f64)> {
    let minor = ticks.minor.iter().filter_map(|&value| Some((scale.inside(value)?, TICK / 2.0)));
    labelled(ticks, scale).map(|(at, _)| (at, TICK)).chain(minor).collect()
}

/// The two axis lines and all ticks.
fn spines(axes: &Axes, frame: &Frame<'_>) -> String {
    let (mut path, bottom) = (Path::default(), frame.height);
    path.polyline(&[(0.0, 0.0), (0.0, bottom), (frame.width, bottom)]);
    for (x, length) in lengths(&axes.x, &frame.x) {
        path.segment((x, bottom), (x, bottom + length));
    }
    for (y, length) in lengths(&axes.y, &frame.y) {
        path.segment((0.0, y), (-length, y));
    }
    format!(r#"<path {} fill="none" stroke="currentColor" d="{}"/>"#, SOFT.attributes(), path.data())
}

fn tick_labels(chart: &Chart, axes: &Axes, frame: &Frame<'_>) -> String {
    let group = |anchor: &str, texts: String| match texts.as_str() {
        "" => String::new(),
        texts => {
            format!(r#"<g {} fill="currentColor" text-anchor="{anchor}">{texts}</g>"#, SOFT.attributes())
        }
    };
    let (anchor, shift) = if axes.slanted { ("end", 4.0) } else { ("middle", 0.0) };
    let below = frame.height + TICK + 12.0;
    let xs = labelled(&axes.x, &frame.x).filter(|_| !chart.x.bare);
    let ys = labelled(&axes.y, &frame.y).filter(|_| !chart.y.bare);
    let xs = xs.map(|(x, label)| tick_label(x + shift, below, label, axes.slanted)).collect();
    let ys = ys.map(|(y, label)| tick_label(-TICK - 4.0, y + 4.0, label, false)).collect();
    group(anchor, xs) + &group("end", ys)
}

fn tick_label(x: f64, y: f64, label: &Label, slanted: bool) -> String {
    let (x, y) = (number(x), number(y));
    let turn = if slanted { format!(r#" transform="rotate(-{} {x} {y})""#, SLANT.0) } else { String::new() };
    let raised = |exponent: &String| {
        format!(
            r#"<tspan dy="-{}" font-size="{}">{exponent}</tspan>"#,
            number(FONT * 0.36),
            number(FONT * RAISED)
        )
    };
    let exponent = label.exponent.as_ref().map_or(String::new(), raised);
    format!(r#"<text x="{x}" y="{y}"{turn}>{}{exponent}</text>"#, escape(&label.text))
}

/// The names of the axes, just outside the tick labels.
fn names(chart: &Chart, margins: Margins, frame: &Frame<'_>) -> String {
    let fitted = |axis: &Axis, room| escape(&shorten(&axis.label, NAME, room)).into_owned();
    let mut out = String::new();
    if !chart.x.label.is_empty() {
        let (x, y) = (number(frame.width / 2.0), number(frame.height + margins.bottom - 6.0));
        let name = fitted(&chart.x, frame.width + margins.left + margins.right);
        let _ = write!(out, r#"<text x="{x}" y="{y}" font-size="{NAME}" text-anchor="middle">{name}</text>"#);
    }
    if !chart.y.label.is_empty() {
        let (x, y) = (number(-frame.height / 2.0), number(12.0 - margins.left));
        let name = fitted(&chart.y, frame.height + margins.top + margins.bottom);
        let _ = write!(
            out,
            r#"<text transform="rotate(-90)" x="{x}" y="{y}" font-size="{NAME}" text-anchor="middle">{name}</text>"#
        );
    }
    out
}

/// The names of the rules at the right edge, moved apart where rules lie close together.
fn rule_names(chart: &Chart, frame: &Frame<'_>) -> String {
    let inside = |(y, colour, name)| Some((frame.y.inside(y)?, colour, name));
    let mut rules: Vec<_> = rules(chart).filter_map(inside).collect();
    rules.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut out, mut free) = (String::new(), f64::NEG_INFINITY);
    for (y, colour, name) in rules {
        let y = y.max(free);
        free = y + FONT * 1.15;
        let (attributes, x, y) = (series(colour).attributes(), number(frame.width + 6.0), number(y + 4.0));
        let name = shorten(name, FONT, LONGEST);
        let _ =
            write!(out, r#"<text {attributes} fill="currentColor" x="{x}" y="{y}">{}</text>"#, escape(&name));
    }
    out
}

fn heading(chart: &Chart, margins: Margins, frame: &Frame<'_>, room: f64) -> String {
    let mut out = String::new();
    if !chart.title.is_empty() {
        let title = shorten(&chart.title, TITLE * BOLD, frame.width + margins.right);
        let (y, title) = (number(16.0 - margins.top), escape(&title));
        let _ = write!(out, r#"<text y="{y}" font-size="{TITLE}" font-weight="bold">{title}</text>"#);
    }
    let rows = legend::rows(&chart.marks, room) as f64;
    out + &legend::draw(&chart.marks, room, legend::ROW / 2.0 - rows * legend::ROW - 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn names_of_close_rules_are_moved_apart() {
        let chart = Chart::new("").rule(1.0, Style::new(0).label("a")).rule(1.001, Style::new(1).label("b"));
        let (x, y) = (Axis::linear(""), Axis::linear(""));
        let (x, y) = (Scale::new(&x, (0.0, 1.0), 0.0, 100.0), Scale::new(&y, (0.0, 2.0), 100.0, 0.0));
        let svg = rule_names(&chart, &Frame { x, y, width: 100.0, height: 100.0 });
        let heights: Vec<f64> =
            svg.split(" y=\"").skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
        assert!(heights[1] - heights[0] > FONT, "{heights:?}");
    }

    #[test]
    fn frameless_charts_have_no_axis_lines() {
        let paths =
            |chart: &Chart| draw(chart, margins(chart, 300.0, 200.0), 300.0, 200.0).matches("<path").count();
        assert_eq!(paths(&Chart::new("").frameless()) + 2, paths(&Chart::new("")));
    }

    #[test]
    fn exponents_are_raised_and_bare_axes_unlabelled() {
        let chart =
            Chart::new("").x(Axis::log("").range(1.0, 1e6)).y(Axis::linear("").range(0.0, 1.0).bare());
        let (frame, axes) = axes(&chart, 400.0, 200.0);
        let svg = tick_labels(&chart, &axes, &frame);
        assert!(svg.contains(r#"10<tspan dy="-4.1" font-size="8.3">6</tspan></text>"#), "{svg}");
        assert!(!svg.contains(">0.5<"));
    }
}
