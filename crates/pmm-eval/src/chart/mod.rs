//! Charts as SVG, for pages that follow light and dark mode, and as PNG, the same on every machine.
//!
//! A [`Chart`] collects marks and axes; a [`Figure`] sets charts in a grid and writes it.

mod axis;
mod date_ticks;
mod draw;
mod figure;
mod histogram;
mod layout;
mod legend;
mod mark;
mod palette;
mod panel;
mod path;
mod png;
mod scale;
mod style;
pub(crate) mod text;
mod ticks;

pub use axis::Axis;
pub use date_ticks::Calendar;
pub use figure::Figure;
pub use histogram::histogram;
pub(crate) use palette::PAPER;
pub use palette::stylesheet;
pub use png::ChartError;
pub use style::Style;

use mark::{Mark, Shape};

/// Size of tick labels and legends in pixels.
const FONT: f64 = 11.5;

/// One panel: a title, two axes and marks, drawn in the order in which they were added, points last.
///
/// Points with a coordinate that is not finite, or not positive on a log axis, are left out; a line is broken
/// there.
///
/// ```
/// use pmm_eval::chart::{Axis, Chart, Figure, Style};
/// let chart = Chart::new("Bound")
///     .x(Axis::log("steps"))
///     .y(Axis::linear("bits per character"))
///     .line(&[(1.0, 3.1), (10.0, 2.2), (100.0, 1.9)], Style::new(0).label("model"))
///     .rule(1.8, Style::new(1).dashed().label("entropy"));
/// let svg = Figure::new().panel(chart).svg();
/// assert!(svg.starts_with("<svg") && svg.contains(">entropy<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    marks: Vec<Mark>,
    frameless: bool,
}

impl Chart {
    /// An empty chart with unnamed linear axes.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Leaves out grid, axis lines and ticks, for pictures whose axes mean nothing.
    pub fn frameless(mut self) -> Self {
        self.frameless = true;
        self
    }

    /// Sets the horizontal axis.
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// Sets the vertical axis.
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a line through `points`, in their order.
    pub fn line(self, points: &[(f64, f64)], style: Style) -> Self {
        self.mark(Shape::Line(points.to_vec()), style)
    }

    /// Adds a piecewise constant path: from each point it runs level to the next point's x, then jumps.
    pub fn step(self, points: &[(f64, f64)], style: Style) -> Self {
        self.mark(Shape::Step(points.to_vec()), style)
    }

    /// Adds separate points; each palette colour has its own form.
    pub fn points(self, points: &[(f64, f64)], style: Style) -> Self {
        self.mark(Shape::Points(points.to_vec()), style)
    }

    /// Adds vertical error bars, each (x, y, half height).
    pub fn error_bars(self, bars: &[(f64, f64, f64)], style: Style) -> Self {
        self.mark(Shape::ErrorBars(bars.to_vec()), style)
    }

    /// Adds vertical bars, each (left, right, height), standing on 0 (on a log axis, on its low end).
    pub fn bars(self, bars: &[(f64, f64, f64)], style: Style) -> Self {
        self.mark(Shape::Bars(bars.to_vec()), style)
    }

    /// Adds horizontal bars, each (lower, upper, length), as for a marginal histogram beside a panel.
    pub fn horizontal_bars(self, bars: &[(f64, f64, f64)], style: Style) -> Self {
        self.mark(Shape::HorizontalBars(bars.to_vec()), style)
    }

    /// Adds a band between two curves, each point (x, lower, upper), at a fifth of the style's opacity.
    pub fn band(self, band: &[(f64, f64, f64)], style: Style) -> Self {
        self.mark(Shape::Band(band.to_vec()), style)
    }

    /// Adds a level line at `y` across the panel, named at its right end.
    pub fn rule(self, y: f64, style: Style) -> Self {
        self.mark(Shape::Rule(y), style)
    }

    /// Adds cells of a heat map, each (x, y, strength): a unit square around (x, y), as opaque as its strength from 0
    /// (not drawn) to 1. Signs are told apart by two marks of different colours.
    pub fn cells(self, cells: &[(f64, f64, f64)], style: Style) -> Self {
        self.mark(Shape::Cells(cells.to_vec()), style)
    }

    fn mark(mut self, shape: Shape, style: Style) -> Self {
        self.marks.push(Mark { shape, style });
        self
    }
}
