//! From values to pixels.

use super::Axis;

/// The map of an axis' domain onto a stretch of pixels.
#[derive(Clone, Debug)]
pub(super) struct Scale<'a> {
    axis: &'a Axis,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl<'a> Scale<'a> {
    /// Maps `domain` onto `start..end`, where `start > end` turns the axis round.
    pub(super) fn new(axis: &'a Axis, domain: (f64, f64), start: f64, end: f64) -> Self {
        let place = |value| axis.transform(value).unwrap_or(0.0);
        Self { axis, low: place(domain.0), high: place(domain.1), start, end }
    }

    /// Where `value` is drawn, perhaps outside the stretch; `None` if it has no place on the axis.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        // Halved before subtracting: the ends may be 1e300 apart in both directions.
        let (value, low, high) = (self.axis.transform(value)? / 2.0, self.low / 2.0, self.high / 2.0);
        let share = (value - low) / (high - low);
        let pixel = self.start + share * (self.end - self.start);
        pixel.is_finite().then(|| pixel.clamp(-1e5, 1e5))
    }

    /// Where `value` is drawn, moved to the nearer end if it lies outside. What has no place on a log axis
    /// goes to its low end.
    pub(super) fn within(&self, value: f64) -> f64 {
        let (first, last) = (self.start.min(self.end), self.start.max(self.end));
        match self.at(value) {
            Some(pixel) => pixel.clamp(first, last),
            None if value == f64::INFINITY => self.end,
            None => self.start,
        }
    }

    /// Where `value` is drawn, if that is within the stretch.
    pub(super) fn inside(&self, value: f64) -> Option<f64> {
        let (first, last) = (self.start.min(self.end), self.start.max(self.end));
        self.at(value).filter(|&pixel| pixel >= first - 0.05 && pixel <= last + 0.05)
    }
}

/// The two scales of a panel and its size in pixels; the origin is the upper left corner.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    pub(super) x: Scale<'a>,
    pub(super) y: Scale<'a>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame<'_> {
    /// Where a point is drawn, if both its values have a place.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.at(x)?, self.y.at(y)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_where_the_formula_says() {
        let (linear, log) = (Axis::linear(""), Axis::log(""));
        assert_eq!(Scale::new(&linear, (0.0, 10.0), 0.0, 200.0).at(2.5), Some(50.0));
        assert_eq!(Scale::new(&linear, (0.0, 10.0), 200.0, 0.0).at(2.5), Some(150.0));
        assert_eq!(Scale::new(&log, (1.0, 1e4), 0.0, 200.0).at(10.0), Some(50.0));
    }

    #[test]
    fn outside_values_are_bounded_moved_or_dropped() {
        let axis = Axis::log("");
        let scale = Scale::new(&axis, (1.0, 100.0), 0.0, 100.0);
        assert_eq!([scale.at(0.0), scale.at(f64::NAN)], [None, None]);
        assert_eq!([scale.within(-1.0), scale.within(1e9), scale.within(f64::INFINITY)], [0.0, 100.0, 100.0]);
        assert_eq!([scale.inside(0.5), scale.inside(100.0)], [None, Some(100.0)]);
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let axis = Axis::linear("");
        let scale = Scale::new(&axis, (-1e300, 1e300), 0.0, 100.0);
        assert_eq!(scale.at(0.0), Some(50.0));
        assert_eq!(scale.at(f64::MAX), Some(100.0));
    }
}
