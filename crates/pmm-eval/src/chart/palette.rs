//! Colours: six series hues that stay apart for colour-blind readers, on white and on dark pages.
//!
//! Every coloured element of a figure carries a class (`c0` … `c5`, `grid`, `soft`) and, as an attribute, the
//! light colour. Attributes yield to style sheets, so the same SVG is right on its own, in a PNG, and, where
//! [`stylesheet`] is present, on a page that follows the reader's light or dark mode.

use std::fmt::Write;

/// A named colour in both modes.
pub(super) struct Ink {
    pub(super) class: &'static str,
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

const fn ink(class: &'static str, light: &'static str, dark: &'static str) -> Ink {
    Ink { class, light, dark }
}

/// Blue, vermilion, green, pink, brown (sand on dark), sky: hues in the spirit of Okabe and Ito's set.
const SERIES: [Ink; 6] = [
    ink("c0", "#1F5FA8", "#4A88DB"),
    ink("c1", "#DB4410", "#F47B20"),
    ink("c2", "#00906A", "#0FB585"),
    ink("c3", "#DB62AC", "#E39AD2"),
    ink("c4", "#6B3E2A", "#EFDC72"),
    ink("c5", "#2C97EA", "#B5E2FF"),
];

/// Text and axes.
pub(super) const TEXT: Ink = ink("chart", "#1B1F24", "#E4E7EB");
/// Tick labels, captions and other quiet text.
pub(super) const SOFT: Ink = ink("soft", "#59616B", "#A3ABB6");
/// Grid lines.
pub(super) const GRID: Ink = ink("grid", "#E6E8EB", "#2A2F37");
/// The page behind the figure.
pub(crate) const PAPER: (&str, &str) = ("#FFFFFF", "#15181D");

/// The colour of series `index`; indices past the last hue start again.
pub(super) fn series(index: usize) -> &'static Ink {
    &SERIES[index % SERIES.len()]
}

impl Ink {
    /// The attributes that give an element this colour as its `currentColor`.
    pub(super) fn attributes(&self) -> String {
        format!(r#"class="{}" color="{}""#, self.class, self.light)
    }
}

/// The style sheet a page needs for its inlined figures to follow light and dark mode.
///
/// ```
/// let css = pmm_eval::chart::stylesheet();
/// assert!(css.contains("prefers-color-scheme: dark") && css.contains(".chart .c0"));
/// ```
pub fn stylesheet() -> String {
    let mut css = String::from("@media (prefers-color-scheme: dark) {\n");
    let _ = writeln!(css, "  .chart {{ color: {} }}", TEXT.dark);
    for ink in SERIES.iter().chain([&SOFT, &GRID]) {
        let _ = writeln!(css, "  .chart .{} {{ color: {} }}", ink.class, ink.dark);
    }
    css + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vec3 = [f64; 3];
    type Matrix = [Vec3; 3];

    const SAME: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Full protanopia, deuteranopia and tritanopia in linear RGB: Machado, Oliveira and Fernandes (2009),
    // table 1.
    const PROTAN: Matrix =
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
    const DEUTAN: Matrix =
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
    const TRITAN: Matrix =
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]];
    // Ottosson's Oklab.
    const CONES: Matrix = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    const LAB: Matrix = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];

    fn times(m: &Matrix, v: Vec3) -> Vec3 {
        m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    fn linear(hex: &str) -> Vec3 {
        [1, 3, 5].map(|i| {
            let c = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let luminance =
            |hex| linear(hex).iter().zip([0.2126, 0.7152, 0.0722]).map(|(c, w)| c * w).sum::<f64>() + 0.05;
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    fn seen(hex: &str, eye: &Matrix) -> Vec3 {
        let rgb = times(eye, linear(hex)).map(|c| c.clamp(0.0, 1.0));
        times(&LAB, times(&CONES, rgb).map(f64::cbrt))
    }

    /// Oklab distance 0.02 is just noticeable side by side; thin lines need a few times that.
    fn closest_pair(colours: &[&str], eye: &Matrix) -> f64 {
        let seen: Vec<Vec3> = colours.iter().map(|hex| seen(hex, eye)).collect();
        let distance = |a: &Vec3, b: &Vec3| a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
        let pairs = (0..seen.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| distance(&seen[i], &seen[j])).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn hues_stay_apart_for_every_kind_of_colour_vision() {
        for mode in [SERIES.each_ref().map(|ink| ink.light), SERIES.each_ref().map(|ink| ink.dark)] {
            for eye in [SAME, PROTAN, DEUTAN, TRITAN] {
                let gap = closest_pair(&mode, &eye);
                assert!(gap > 0.075, "{mode:?}: {gap}");
            }
        }
    }

    /// WCAG asks 3 : 1 of graphics and 4.5 : 1 of text.
    #[test]
    fn contrast_with_the_page_suffices() {
        for ink in &SERIES {
            assert!(
                contrast(ink.light, PAPER.0) >= 3.0 && contrast(ink.dark, PAPER.1) >= 3.0,
                "{}",
                ink.class
            );
        }
        for ink in [&TEXT, &SOFT] {
            assert!(
                contrast(ink.light, PAPER.0) >= 4.5 && contrast(ink.dark, PAPER.1) >= 4.5,
                "{}",
                ink.class
            );
        }
    }

    #[test]
    fn indices_past_the_last_hue_start_again() {
        assert_eq!(series(6).class, "c0");
        assert_eq!(series(usize::MAX).class, series(usize::MAX % 6).class);
    }
}
