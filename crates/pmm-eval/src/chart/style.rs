//! How a mark looks, and what the legend calls it.

/// Colour, stroke and name of a mark.
///
/// ```
/// use pmm_eval::chart::Style;
/// let style = Style::new(1).width(2.0).opacity(0.5).dashed().label("Poisson");
/// assert_eq!(style, Style::new(1).label("Poisson").dashed().opacity(0.5).width(2.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    pub(super) colour: usize,
    pub(super) width: f64,
    pub(super) opacity: f64,
    pub(super) dashed: bool,
    pub(super) label: Option<String>,
}

impl Style {
    /// The palette's colour number `colour` (0 to 5, then again from 0), 1.5 px wide, opaque, solid, without
    /// a name.
    pub fn new(colour: usize) -> Self {
        Self { colour, width: 1.5, opacity: 1.0, dashed: false, label: None }
    }

    /// Stroke width in pixels, kept within 0.1 and 20; the size of points follows it.
    pub fn width(mut self, pixels: f64) -> Self {
        self.width = if pixels.is_finite() { pixels.clamp(0.1, 20.0) } else { 1.5 };
        self
    }

    /// Opacity, kept within 0 (invisible) and 1.
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = if opacity.is_finite() { opacity.clamp(0.0, 1.0) } else { 1.0 };
        self
    }

    /// Draws strokes dashed.
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// The name in the legend. Marks of one chart with the same name share an entry; a rule writes its name
    /// at its right end instead.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::new(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_numbers_are_brought_into_range() {
        let style = Style::new(0).width(f64::NAN).opacity(7.0);
        assert_eq!((style.width, style.opacity), (1.5, 1.0));
        assert_eq!(Style::new(0).width(-3.0).width, 0.1);
        assert_eq!(Style::new(0).opacity(f64::NAN).opacity, 1.0);
    }
}
