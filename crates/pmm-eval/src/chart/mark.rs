//! What a chart can show: the data of each kind of mark, and the range it covers.

use super::Style;

/// Data and look of one mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) shape: Shape,
    pub(super) style: Style,
}

/// The data of a mark, in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A line through points.
    Line(Vec<(f64, f64)>),
    /// A piecewise constant path: each height holds until the next place.
    Step(Vec<(f64, f64)>),
    /// Separate points.
    Points(Vec<(f64, f64)>),
    /// (x, y, half height).
    ErrorBars(Vec<(f64, f64, f64)>),
    /// (left, right, height), from 0.
    Bars(Vec<(f64, f64, f64)>),
    /// (lower, upper, length), from 0.
    HorizontalBars(Vec<(f64, f64, f64)>),
    /// (x, lower, upper).
    Band(Vec<(f64, f64, f64)>),
    /// A line across the panel.
    Rule(f64),
    /// (x, y, strength): unit squares around (x, y).
    Cells(Vec<(f64, f64, f64)>),
}

impl Shape {
    /// The values the x axis has to show.
    pub(super) fn xs(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Step(points) | Self::Points(points) => {
                points.iter().map(|p| p.0).collect()
            }
            Self::ErrorBars(points) | Self::Band(points) => points.iter().map(|p| p.0).collect(),
            Self::Bars(bars) => edges(bars),
            Self::HorizontalBars(bars) => lengths(bars),
            Self::Rule(_) => Vec::new(),
            Self::Cells(cells) => cells.iter().flat_map(|cell| [cell.0 - 0.5, cell.0 + 0.5]).collect(),
        }
    }

    /// The values the y axis has to show.
    pub(super) fn ys(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Step(points) | Self::Points(points) => {
                points.iter().map(|p| p.1).collect()
            }
            Self::ErrorBars(bars) => bars.iter().flat_map(|&(_, y, half)| [y, y - half, y + half]).collect(),
            Self::Band(band) => band.iter().flat_map(|&(_, lower, upper)| [lower, upper]).collect(),
            Self::Bars(bars) => lengths(bars),
            Self::HorizontalBars(bars) => edges(bars),
            Self::Rule(y) => vec![*y],
            Self::Cells(cells) => cells.iter().flat_map(|cell| [cell.1 - 0.5, cell.1 + 0.5]).collect(),
        }
    }
}

fn edges(bars: &[(f64, f64, f64)]) -> Vec<f64> {
    bars.iter().flat_map(|&(from, to, _)| [from, to]).collect()
}

/// Bar lengths and the zero they start from.
fn lengths(bars: &[(f64, f64, f64)]) -> Vec<f64> {
    bars.iter().flat_map(|&(_, _, length)| [0.0, length]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_reach_from_zero_along_their_own_axis() {
        let bars = vec![(1.0, 2.0, 5.0)];
        assert_eq!(
            (Shape::Bars(bars.clone()).xs(), Shape::Bars(bars.clone()).ys()),
            (vec![1.0, 2.0], vec![0.0, 5.0])
        );
        assert_eq!(Shape::HorizontalBars(bars.clone()).xs(), [0.0, 5.0]);
        assert_eq!(Shape::HorizontalBars(bars).ys(), [1.0, 2.0]);
    }

    #[test]
    fn error_bars_cover_their_ends_and_rules_no_x() {
        assert_eq!(Shape::ErrorBars(vec![(1.0, 5.0, 2.0)]).ys(), [5.0, 3.0, 7.0]);
        assert!(Shape::Rule(3.0).xs().is_empty());
        assert_eq!(Shape::Rule(3.0).ys(), [3.0]);
    }
}
