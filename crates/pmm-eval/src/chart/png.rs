//! From SVG to PNG with embedded fonts, so that pictures do not depend on the machine.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, fontdb};

/// Why a picture could not be drawn.
///
/// ```
/// use pmm_eval::chart::{ChartError, Figure};
/// let error = Figure::new().png(-1.0).unwrap_err();
/// assert!(matches!(error, ChartError::Scale { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The scale is not positive and finite, or the picture would exceed 16384 pixels on a side.
    #[error("scale {scale} gives a picture of {width} × {height} pixels, not within 1 and {MAX_SIDE}")]
    Scale {
        /// The scale that was asked for.
        scale: f32,
        /// The width it would give.
        width: f32,
        /// The height it would give.
        height: f32,
    },
    /// The figure is not valid SVG.
    #[error("the figure is not valid SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture could not be written as PNG.
    #[error("the picture could not be written as PNG: {0}")]
    Png(String),
}

const MAX_SIDE: f32 = 16384.0;

/// Text is set in Noto Sans (© Google, SIL Open Font License 1.1); signs it lacks (∈, ∝, subscripts) come
/// from DejaVu Sans (© Bitstream, Bitstream Vera licence; DejaVu changes are in the public domain). Both
/// licences allow shipping the fonts inside a program.
fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        for data in [notosans::REGULAR_TTF, notosans::BOLD_TTF, dejavu::sans::regular()] {
            fonts.load_font_source(fontdb::Source::Binary(Arc::new(data)));
        }
        fonts.set_sans_serif_family("Noto Sans");
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// Reads an SVG with the embedded fonts.
pub(super) fn parse(svg: &str) -> Result<usvg::Tree, usvg::Error> {
    let options =
        usvg::Options { font_family: "Noto Sans".to_owned(), fontdb: fonts(), ..usvg::Options::default() };
    usvg::Tree::from_str(svg, &options)
}

/// Draws an SVG on white, `scale` pixels to the unit.
pub(super) fn draw(svg: &str, scale: f32) -> Result<Pixmap, ChartError> {
    let tree = parse(svg)?;
    let (width, height) = ((tree.size().width() * scale).ceil(), (tree.size().height() * scale).ceil());
    let fits = |side: f32| (1.0..=MAX_SIDE).contains(&side);
    let sized = if fits(width) && fits(height) { Pixmap::new(width as u32, height as u32) } else { None };
    let mut picture = sized.ok_or(ChartError::Scale { scale, width, height })?;
    picture.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    Ok(picture)
}

/// Draws an SVG on white and writes it as PNG.
pub(super) fn encode(svg: &str, scale: f32) -> Result<Vec<u8>, ChartError> {
    draw(svg, scale)?.encode_png().map_err(|error| ChartError::Png(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::document;

    fn dark_pixels(body: &str) -> usize {
        let picture = draw(&document((60.0, 30.0), "", body), 1.0).unwrap();
        picture.pixels().iter().filter(|pixel| pixel.red() < 160).count()
    }

    #[test]
    fn letters_and_mathematical_signs_are_drawn_without_system_fonts() {
        assert_eq!(dark_pixels(""), 0);
        for text in ["a", "ü", "λ", "−", "×", "∈", "∝", "₂", "⁻", "ℓ", "→"] {
            assert!(
                dark_pixels(&format!(r#"<text x="20" y="20" font-size="24">{text}</text>"#)) > 5,
                "{text}"
            );
        }
    }

    #[test]
    fn bold_text_is_bolder() {
        let text = |weight| {
            dark_pixels(&format!(r#"<text y="20" font-size="20" font-weight="{weight}">mean</text>"#))
        };
        assert!(text("bold") > text("normal") * 11 / 10);
    }

    #[test]
    fn impossible_scales_are_refused() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
            assert!(
                matches!(encode(&document((60.0, 30.0), "", ""), scale), Err(ChartError::Scale { .. })),
                "{scale}"
            );
        }
        assert!(matches!(encode("<svg", 1.0), Err(ChartError::Svg(_))));
    }
}
