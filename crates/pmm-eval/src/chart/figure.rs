//! A grid of charts under one caption.

use std::fmt::Write;

use super::layout::{Margins, margins};
use super::palette::{SOFT, TEXT};
use super::path::number;
use super::text::{escape, wrap};
use super::{Chart, ChartError, FONT, panel, png};

const CAPTION: f64 = 12.0;
const LEADING: f64 = 17.0;
const GAP: f64 = 18.0;

/// Charts in rows and columns whose plot areas line up.
///
/// ```
/// use pmm_eval::chart::{Axis, Chart, Figure, Style, histogram};
/// let path = Chart::new("Path").y(Axis::linear("mean").range(0.0, 1.0))
///     .line(&[(0.0, 0.0), (1.0, 0.8)], Style::new(0));
/// let ends = Chart::new("Ends").y(Axis::linear("").range(0.0, 1.0).bare())
///     .horizontal_bars(&histogram(&[0.8], (0.0, 1.0), 10), Style::new(0));
/// let figure = Figure::new().columns(&[3.0, 1.0]).panel(path).panel(ends).caption("A path and where it ends.");
/// assert!(figure.svg().contains(">A path and where it ends.<"));
/// assert!(figure.png(1.0)?.starts_with(b"\x89PNG"));
/// # Ok::<(), pmm_eval::chart::ChartError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    panels: Vec<Chart>,
    columns: Vec<f64>,
    width: f64,
    row_height: f64,
    caption: String,
}

impl Default for Figure {
    fn default() -> Self {
        Self {
            panels: Vec::new(),
            columns: vec![1.0],
            width: 720.0,
            row_height: 320.0,
            caption: String::new(),
        }
    }
}

impl Figure {
    /// An empty figure of one column, 720 px wide, with rows of 320 px.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chart at the next free place, row by row.
    pub fn panel(mut self, chart: Chart) -> Self {
        self.panels.push(chart);
        self
    }

    /// Sets the columns by their relative widths; widths that are not positive count as 1, none at all as one
    /// column.
    pub fn columns(mut self, widths: &[f64]) -> Self {
        self.columns = widths.iter().map(|&w| if w.is_finite() && w > 0.0 { w } else { 1.0 }).collect();
        if self.columns.is_empty() {
            self.columns.push(1.0);
        }
        self
    }

    /// Sets the width of the figure and the height of each row in pixels, kept within 100 and 4000.
    pub fn size(mut self, width: f64, row_height: f64) -> Self {
        let usable = |side: f64, default| if side.is_finite() { side.clamp(100.0, 4000.0) } else { default };
        (self.width, self.row_height) = (usable(width, self.width), usable(row_height, self.row_height));
        self
    }

    /// Sets the text under the charts.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// The figure as SVG with light colours and a transparent ground, ready to be inlined into a page; with
    /// [`stylesheet`](super::stylesheet) on the page it follows dark mode.
    pub fn svg(&self) -> String {
        let rows = self.panels.len().div_ceil(self.columns.len());
        let caption = wrap(&self.caption, CAPTION, self.width - 8.0);
        let charts_height = rows as f64 * (self.row_height + GAP) - if rows > 0 { GAP } else { 0.0 };
        let caption_height = if caption.is_empty() { 0.0 } else { caption.len() as f64 * LEADING + 10.0 };
        let body = self.grid() + &caption_text(&caption, charts_height + 20.0);
        let height = (charts_height + caption_height + 4.0).max(20.0);
        document((self.width, height), &self.description(), &body)
    }

    /// The figure as PNG on white, `scale` pixels to the unit (2 for sharp print on screens).
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, ChartError> {
        png::encode(&self.svg(), scale)
    }

    fn grid(&self) -> String {
        let boxes = self.boxes();
        let needs: Vec<Margins> = self
            .panels
            .iter()
            .zip(&boxes)
            .map(|(chart, place)| margins(chart, place.width, self.row_height))
            .collect();
        let mut out = String::new();
        for (i, (chart, place)) in self.panels.iter().zip(&boxes).enumerate() {
            let margins = aligned(&needs, i, self.columns.len());
            let drawing = panel::draw(chart, margins, place.width, self.row_height);
            let _ = write!(
                out,
                r#"<g transform="translate({} {})">{drawing}</g>"#,
                number(place.x),
                number(place.y)
            );
        }
        out
    }

    /// Where each panel goes.
    fn boxes(&self) -> Vec<Place> {
        let n = self.columns.len();
        let share = (self.width - GAP * (n - 1) as f64).max(1.0) / self.columns.iter().sum::<f64>();
        let place = |i: usize| {
            let before: f64 = self.columns[..i % n].iter().map(|w| w * share + GAP).sum();
            let y = (i / n) as f64 * (self.row_height + GAP);
            Place { x: before, y, width: self.columns[i % n] * share }
        };
        (0..self.panels.len()).map(place).collect()
    }

    fn description(&self) -> String {
        let titles: Vec<&str> =
            self.panels.iter().map(|chart| chart.title.as_str()).filter(|t| !t.is_empty()).collect();
        if titles.is_empty() { self.caption.clone() } else { titles.join("; ") }
    }
}

struct Place {
    x: f64,
    y: f64,
    width: f64,
}

/// The margins of panel `i`, as large as its neighbours need them: above and below within its row, left and
/// right within its column.
fn aligned(needs: &[Margins], i: usize, columns: usize) -> Margins {
    let row = || needs.iter().skip(i / columns * columns).take(columns);
    let column = || needs.iter().skip(i % columns).step_by(columns);
    Margins {
        top: row().map(|m| m.top).fold(0.0, f64::max),
        bottom: row().map(|m| m.bottom).fold(0.0, f64::max),
        left: column().map(|m| m.left).fold(0.0, f64::max),
        right: column().map(|m| m.right).fold(0.0, f64::max),
    }
}

fn caption_text(lines: &[String], top: f64) -> String {
    let line = |(i, text): (usize, &String)| {
        let y = number(top + i as f64 * LEADING);
        format!(
            r#"<text x="4" y="{y}" font-size="{CAPTION}" {} fill="currentColor">{}</text>"#,
            SOFT.attributes(),
            escape(text)
        )
    };
    lines.iter().enumerate().map(line).collect()
}

/// Sans serif families of about the same widths, the embedded one first.
const FAMILIES: &str = "'Noto Sans', 'Helvetica Neue', Arial, sans-serif";

/// A whole SVG document around `body`.
pub(super) fn document((width, height): (f64, f64), description: &str, body: &str) -> String {
    let (width, height) = (number(width), number(height));
    let root = format!(r#"xmlns="http://www.w3.org/2000/svg" {}"#, TEXT.attributes());
    let size = format!(r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}""#);
    let type_face = format!(r#"font-family="{FAMILIES}" font-size="{FONT}" fill="currentColor""#);
    let description = escape(description);
    format!(r#"<svg {root} {size} {type_face} role="img" aria-label="{description}">{body}</svg>"#)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use resvg::tiny_skia::Pixmap;

    use super::*;
    use crate::chart::{Axis, Style, histogram};

    fn has_colour(picture: &Pixmap, rgb: (u8, u8, u8)) -> bool {
        let near = |a: u8, b: u8| a.abs_diff(b) <= 2;
        picture
            .pixels()
            .iter()
            .any(|p| near(p.red(), rgb.0) && near(p.green(), rgb.1) && near(p.blue(), rgb.2))
    }

    #[test]
    fn a_drawn_line_shows_its_colour_on_white() {
        let line = |colour| Chart::new("").line(&[(0.0, 0.0), (1.0, 1.0)], Style::new(colour).width(4.0));
        let draw = |chart| png::draw(&Figure::new().size(300.0, 200.0).panel(chart).svg(), 2.0).unwrap();
        let (blue, vermilion) = ((0x1F, 0x5F, 0xA8), (0xDB, 0x44, 0x10));
        let picture = draw(line(0));
        assert!(
            has_colour(&picture, blue)
                && !has_colour(&picture, vermilion)
                && has_colour(&picture, (255, 255, 255))
        );
        assert!(has_colour(&draw(line(1)), vermilion));
    }

    #[test]
    fn a_level_line_lies_where_its_value_says() {
        let axis = || Axis::linear("").range(0.0, 1.0);
        let chart = Chart::new("").x(axis()).y(axis()).rule(0.25, Style::new(1).width(3.0));
        let need = margins(&chart, 300.0, 200.0);
        let expected = need.top + 0.75 * (200.0 - need.top - need.bottom);
        let picture = png::draw(&Figure::new().size(300.0, 200.0).panel(chart).svg(), 1.0).unwrap();
        let red = |y: u32| picture.pixel(150, y).is_some_and(|p| p.red() > 200 && p.blue() < 80);
        let rows: Vec<f64> = (0..200).filter(|&y| red(y)).map(f64::from).collect();
        let middle = rows.iter().sum::<f64>() / rows.len() as f64 + 0.5;
        assert!((middle - expected).abs() <= 1.0, "{middle} {expected}");
    }

    #[test]
    fn what_lies_outside_the_range_is_cut_off() {
        let chart = |y| {
            let axes = Chart::new("").x(Axis::linear("").range(0.0, 1.0)).y(Axis::linear("").range(0.0, 1.0));
            axes.line(&[(0.0, y), (1.0, y)], Style::new(1).width(4.0))
        };
        let draw = |y| png::draw(&Figure::new().size(300.0, 200.0).panel(chart(y)).svg(), 1.0).unwrap();
        assert!(has_colour(&draw(0.5), (0xDB, 0x44, 0x10)));
        assert!(!has_colour(&draw(1.1), (0xDB, 0x44, 0x10)));
    }

    #[test]
    fn empty_charts_and_figures_still_render() {
        assert!(Figure::new().png(1.0).is_ok());
        let svg = Figure::new()
            .panel(Chart::new("nothing").x(Axis::log("x")).y(Axis::categories::<String>("y", [])))
            .svg();
        assert!(svg.contains(">nothing<") && png::parse(&svg).is_ok());
    }

    #[test]
    fn text_is_escaped() {
        let chart = Chart::new("a < b & c").x(Axis::linear("\"x\"")).rule(0.0, Style::new(0).label("<rule>"));
        let svg =
            Figure::new().panel(chart.points(&[], Style::new(1).label("<i>"))).caption("<script>").svg();
        assert!(
            svg.contains("a &lt; b &amp; c") && !svg.contains("<script") && !svg.contains("<rule"),
            "{svg}"
        );
        assert!(png::parse(&svg).is_ok());
    }

    #[test]
    fn a_long_line_makes_a_small_file() {
        let walk: Vec<(f64, f64)> =
            (0..200_000).map(|i| (f64::from(i), (f64::from(i) * 0.7).sin())).collect();
        let svg = Figure::new().panel(Chart::new("").line(&walk, Style::new(0))).svg();
        assert!(svg.len() < 40_000, "{} bytes", svg.len());
    }

    #[test]
    fn panels_of_a_row_share_their_upper_and_lower_edges() {
        let need = |top, left| Margins { top, left, ..Margins::default() };
        let needs = [need(10.0, 5.0), need(30.0, 7.0), need(20.0, 9.0)];
        assert_eq!(aligned(&needs, 0, 2), need(30.0, 9.0));
        assert_eq!(aligned(&needs, 1, 2), need(30.0, 7.0));
        assert_eq!(aligned(&needs, 2, 2), need(20.0, 9.0));
    }

    /// Any text that cannot spell `NaN` or `inf`, which must then not occur in the figure.
    const TEXT_WITHOUT_N_I: &str = "(?s)[^Ni]{0,16}";

    fn any_axis() -> impl Strategy<Value = Axis> {
        let number = || proptest::num::f64::ANY;
        prop_oneof![
            Just(Axis::linear("x")),
            Just(Axis::log("y")),
            (number(), number()).prop_map(|(a, b)| Axis::linear("").range(a, b)),
            (number(), number()).prop_map(|(a, b)| Axis::log("log").range(a, b)),
            proptest::collection::vec(TEXT_WITHOUT_N_I, 0..40)
                .prop_map(|names| Axis::categories("names", names)),
        ]
    }

    fn any_triples() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
        let number = || prop_oneof![proptest::num::f64::ANY, -10.0..10.0];
        proptest::collection::vec((number(), number(), number()), 0..12)
    }

    fn every_mark(triples: &[(f64, f64, f64)], label: &str) -> Chart {
        let points: Vec<(f64, f64)> = triples.iter().map(|t| (t.0, t.1)).collect();
        let values: Vec<f64> = triples.iter().map(|t| t.2).collect();
        let (low, high) = triples.first().map_or((0.0, 1.0), |t| (t.0, t.1));
        let chart = Chart::new(label)
            .line(&points, Style::new(0).label(label))
            .step(&points, Style::new(1).width(low));
        let chart = chart.points(&points, Style::new(2).opacity(high)).error_bars(triples, Style::new(3));
        let chart = chart
            .bars(triples, Style::new(4))
            .horizontal_bars(triples, Style::new(5))
            .band(triples, Style::new(6));
        chart
            .cells(triples, Style::new(9).label(label))
            .rule(low, Style::new(7).dashed().label(label))
            .bars(&histogram(&values, (low, high), 7), Style::new(8))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

        /// Whatever the numbers and texts, the figure is valid SVG that the renderer accepts.
        #[test]
        fn any_input_renders(x in any_axis(), y in any_axis(), triples in any_triples(), label in TEXT_WITHOUT_N_I,
                             width in proptest::num::f64::ANY) {
            let chart = every_mark(&triples, &label).x(x).y(y);
            let figure = Figure::new().size(width, 200.0).columns(&[width, 1.0]).caption(label);
            let figure = figure.panel(chart.clone()).panel(chart);
            let svg = figure.svg();
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            prop_assert!(png::parse(&svg).is_ok(), "{}", svg);
        }
    }
}
