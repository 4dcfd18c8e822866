//! From marks to SVG: one path a mark.

use std::collections::HashSet;

use super::Style;
use super::mark::{Mark, Shape};
use super::palette;
use super::path::{Path, number, thin};
use super::scale::Frame;

/// Bands are this much fainter than lines of the same opacity.
const BAND: f64 = 0.2;
/// Steps of opacity in a heat map.
const SHADES: usize = 20;

/// The marks of one panel that are cut off at its edge: all but points.
pub(super) fn lines(marks: &[Mark], frame: &Frame<'_>) -> String {
    let lines = marks.iter().filter(|mark| !is_points(mark)).map(|mark| element(mark, frame));
    // A nested svg cuts off at its edge without an id, which would clash when several figures share a page.
    let (width, height) = (number(frame.width + 2.0), number(frame.height + 2.0));
    format!(
        r#"<svg x="-1" y="-1" width="{width}" height="{height}" viewBox="-1 -1 {width} {height}" overflow="hidden" stroke-linejoin="round">{}</svg>"#,
        lines.collect::<String>(),
    )
}

/// The points of one panel, which lie over the axes, so that a point on the edge is drawn whole.
pub(super) fn points(marks: &[Mark], frame: &Frame<'_>) -> String {
    marks.iter().filter(|mark| is_points(mark)).map(|mark| element(mark, frame)).collect()
}

fn is_points(mark: &Mark) -> bool {
    matches!(mark.shape, Shape::Points(_))
}

fn element(mark: &Mark, frame: &Frame<'_>) -> String {
    let style = &mark.style;
    match &mark.shape {
        Shape::Line(points) => stroke(&line(points, frame), style),
        Shape::Step(points) => stroke(&line(&corners(points), frame), style),
        Shape::ErrorBars(bars) => stroke(&error_bars(bars, frame), style),
        Shape::Rule(y) => stroke(&rule(*y, frame), style),
        Shape::Points(points) => fill(&markers(points, style, frame), style, style.opacity),
        Shape::Bars(bars) => fill(&columns(bars, frame), style, style.opacity),
        Shape::HorizontalBars(bars) => fill(&rows(bars, frame), style, style.opacity),
        Shape::Band(band) => fill(&area(band, frame), style, style.opacity * BAND),
        Shape::Cells(cells) => shades(cells, style, frame),
    }
}

/// A stroked path in the style's colour; nothing if it is empty.
pub(super) fn stroke(path: &Path, style: &Style) -> String {
    let dash = if style.dashed {
        format!(r#" stroke-dasharray="{0} {0}""#, number(style.width.max(1.0) * 3.0))
    } else {
        String::new()
    };
    path_element(
        path,
        style,
        &format!(r#" fill="none" stroke="currentColor" stroke-width="{}"{dash}"#, number(style.width)),
        style.opacity,
    )
}

/// A filled path in the style's colour; nothing if it is empty.
pub(super) fn fill(path: &Path, style: &Style, opacity: f64) -> String {
    path_element(path, style, r#" fill="currentColor""#, opacity)
}

fn path_element(path: &Path, style: &Style, attributes: &str, opacity: f64) -> String {
    if path.data().is_empty() {
        return String::new();
    }
    let faint = if opacity < 1.0 { format!(r#" opacity="{opacity:.2}""#) } else { String::new() };
    format!(
        r#"<path {}{attributes}{faint} d="{}"/>"#,
        palette::series(style.colour).attributes(),
        path.data()
    )
}

/// Points in pixels, cut into pieces where one has no place.
fn pieces<P: Copy, Q>(points: &[P], place: impl Fn(P) -> Option<Q>) -> Vec<Vec<Q>> {
    let mut pieces = vec![Vec::new()];
    for &point in points {
        match (place(point), pieces.last_mut()) {
            (Some(pixel), Some(piece)) => piece.push(pixel),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn line(points: &[(f64, f64)], frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    for piece in pieces(points, |point| frame.at(point)) {
        if piece.len() > 1 {
            path.polyline(&thin(piece));
        }
    }
    path
}

/// The corners of a piecewise constant path.
fn corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let after = points.windows(2).flat_map(|pair| [(pair[1].0, pair[0].1), pair[1]]);
    points.first().copied().into_iter().chain(after).collect()
}

fn error_bars(bars: &[(f64, f64, f64)], frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    let placed = |&(x, y, half): &(f64, f64, f64)| Some((frame.x.inside(x)?, frame.y.at(y)?, y, half.abs()));
    for (x, _, y, half) in bars.iter().filter_map(placed).filter(|bar| bar.3.is_finite()) {
        let (low, high) = (frame.y.within(y - half), frame.y.within(y + half));
        path.segment((x, low), (x, high));
        for end in [low, high] {
            path.segment((x - 2.5, end), (x + 2.5, end));
        }
    }
    path
}

fn rule(y: f64, frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    if let Some(y) = frame.y.inside(y) {
        path.segment((0.0, y), (frame.width, y));
    }
    path
}

fn columns(bars: &[(f64, f64, f64)], frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    for &(left, right, height) in bars.iter().filter(|bar| drawable(bar)) {
        let (left, right) = spaced(frame.x.within(left), frame.x.within(right));
        rectangle(&mut path, (left, frame.y.within(0.0)), (right, frame.y.within(height)));
    }
    path
}

fn rows(bars: &[(f64, f64, f64)], frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    for &(lower, upper, length) in bars.iter().filter(|bar| drawable(bar)) {
        let (lower, upper) = spaced(frame.y.within(lower), frame.y.within(upper));
        rectangle(&mut path, (frame.x.within(0.0), lower), (frame.x.within(length), upper));
    }
    path
}

fn drawable(bar: &(f64, f64, f64)) -> bool {
    bar.0.is_finite() && bar.1.is_finite() && !bar.2.is_nan()
}

/// Leaves a hair between neighbouring bars that are wide enough for it.
fn spaced(from: f64, to: f64) -> (f64, f64) {
    let gap = if (to - from).abs() > 4.0 { 0.5 * (to - from).signum() } else { 0.0 };
    (from + gap, to - gap)
}

fn rectangle(path: &mut Path, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) {
    if (x1 - x0).abs() >= 0.05 && (y1 - y0).abs() >= 0.05 {
        path.polygon(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1)]);
    }
}

fn area(band: &[(f64, f64, f64)], frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    let place = |(x, lower, upper): (f64, f64, f64)| {
        let usable = !lower.is_nan() && !upper.is_nan();
        usable.then_some(()).and(Some((frame.x.at(x)?, frame.y.within(lower), frame.y.within(upper))))
    };
    for piece in pieces(band, place) {
        let lower = thin(piece.iter().map(|p| (p.0, p.1)).collect());
        let upper = thin(piece.iter().map(|p| (p.0, p.2)).collect());
        path.polygon(&lower.into_iter().chain(upper.into_iter().rev()).collect::<Vec<_>>());
    }
    path
}

/// Cells of a heat map, a path for each of twenty shades.
fn shades(cells: &[(f64, f64, f64)], style: &Style, frame: &Frame<'_>) -> String {
    let mut paths: Vec<Path> = (0..=SHADES).map(|_| Path::default()).collect();
    for &(x, y, strength) in cells.iter().filter(|cell| drawable(cell) && cell.2 > 0.0) {
        let path = &mut paths[(strength.min(1.0) * SHADES as f64).round() as usize];
        let (left, right) = spaced(frame.x.within(x - 0.5), frame.x.within(x + 0.5));
        let (lower, upper) = spaced(frame.y.within(y - 0.5), frame.y.within(y + 0.5));
        rectangle(path, (left, lower), (right, upper));
    }
    let shade = |(i, path): (usize, &Path)| fill(path, style, style.opacity * i as f64 / SHADES as f64);
    paths.iter().enumerate().skip(1).map(shade).collect()
}

fn markers(points: &[(f64, f64)], style: &Style, frame: &Frame<'_>) -> Path {
    let mut path = Path::default();
    let mut seen = HashSet::new();
    for &(x, y) in points {
        if let (Some(x), Some(y)) = (frame.x.inside(x), frame.y.inside(y)) {
            let cell = ((x * 10.0).round() as i32, (y * 10.0).round() as i32);
            if seen.insert(cell) {
                marker(&mut path, (x, y), style);
            }
        }
    }
    path
}

/// One marker; colours differ in form too, so that a figure survives a black-and-white printer.
pub(super) fn marker(path: &mut Path, (x, y): (f64, f64), style: &Style) {
    let r = 1.2 + style.width;
    let around =
        |corners: &[(f64, f64)]| corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect::<Vec<_>>();
    match style.colour % 6 {
        0 => path.circle((x, y), r),
        1 => path.polygon(&around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)])),
        2 => path.polygon(&around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)])),
        3 => path.polygon(&around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)])),
        4 => path.polygon(&around(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)])),
        _ => path.polygon(&around(&[(-1.3, -0.6), (1.3, -0.6), (1.3, 0.6), (-1.3, 0.6)])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Axis;
    use crate::chart::scale::Scale;

    fn with_frame<T>(log_y: bool, test: impl FnOnce(&Frame<'_>) -> T) -> T {
        let (x, y) = (Axis::linear(""), if log_y { Axis::log("") } else { Axis::linear("") });
        let domain = if log_y { (1.0, 100.0) } else { (0.0, 10.0) };
        let (x, y) = (Scale::new(&x, (0.0, 10.0), 0.0, 100.0), Scale::new(&y, domain, 100.0, 0.0));
        test(&Frame { x, y, width: 100.0, height: 100.0 })
    }

    #[test]
    fn a_line_breaks_at_points_without_a_place() {
        let points = [(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, 4.0)];
        with_frame(false, |frame| assert_eq!(line(&points, frame).data(), "M0 100l10-10M30 70l10-10"));
    }

    #[test]
    fn a_step_holds_each_height_until_the_next_place() {
        assert_eq!(corners(&[(0.0, 1.0), (2.0, 3.0)]), [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)]);
        assert!(corners(&[]).is_empty());
    }

    #[test]
    fn bars_on_a_log_axis_start_at_its_low_end() {
        with_frame(true, |frame| assert_eq!(columns(&[(0.0, 0.3, 10.0)], frame).data(), "M0 100h3v-50h-3z"));
    }

    #[test]
    fn horizontal_bars_swap_the_axes() {
        with_frame(false, |frame| {
            assert_eq!(rows(&[(2.0, 2.3, 5.0)], frame).data(), "M0 80h50v-3h-50z");
            assert_eq!(rows(&[(2.0, 2.3, f64::NAN), (2.0, 2.3, 0.0)], frame).data(), "");
        });
    }

    #[test]
    fn cells_of_equal_strength_share_a_path_and_empty_ones_are_not_drawn() {
        with_frame(false, |frame| {
            let cells =
                [(1.0, 1.0, 0.5), (2.0, 1.0, 0.51), (3.0, 1.0, 7.0), (4.0, 1.0, 0.0), (5.0, 1.0, f64::NAN)];
            let svg = shades(&cells, &Style::new(0), frame);
            assert_eq!((svg.matches("<path").count(), svg.matches('M').count()), (2, 3), "{svg}");
            assert!(svg.contains(r#"opacity="0.50""#));
        });
    }

    #[test]
    fn an_error_bar_that_reaches_zero_ends_at_the_edge_of_a_log_axis() {
        with_frame(true, |frame| {
            assert!(error_bars(&[(5.0, 10.0, 10.0)], frame).data().starts_with("M50 100v-65.1M"));
        });
    }

    #[test]
    fn coincident_points_are_drawn_once_and_outside_points_not_at_all() {
        with_frame(false, |frame| {
            let drawn =
                markers(&[(1.0, 1.0), (1.0, 1.0001), (11.0, 1.0), (1.0, -1.0)], &Style::new(1), frame);
            assert_eq!(drawn.data().matches('M').count(), 1);
        });
    }
}
