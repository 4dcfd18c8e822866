//! Text in a picture: escaping, estimated widths, wrapping.

use std::borrow::Cow;

/// Makes `text` safe inside XML or HTML, as content and as a quoted attribute.
///
/// Characters that XML 1.0 forbids even when escaped (most control codes) become `\u{FFFD}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| replacement(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match replacement(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn replacement(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        '\t' | '\n' | '\r' => None,
        '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => Some("\u{fffd}"),
        _ => None,
    }
}

/// Estimated width in pixels of `text` set at `size` pixels.
///
/// The embedded font is not consulted: an inlined figure is set in whatever the reader's browser has, so
/// a class of widths per character is as exact as a layout can be. It errs to the wide side.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        '\u{2009}' => 0.2,            // thin space
        '\u{300}'..='\u{36f}' => 0.0, // combining accents sit on the letter before
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.29,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' => 0.4,
        'm' | 'M' | 'W' | 'w' | '@' | '%' => 0.9,
        'A'..='Z' => 0.67,
        '\u{2e80}'..='\u{ffef}' => 1.0, // ideographs and full-width forms
        _ => 0.59,
    }
}

/// Breaks `text` at spaces into lines that fit `max` pixels; a single longer word keeps its own line.
pub(crate) fn wrap(text: &str, size: f64, max: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + em(' ') * size + width(word, size) <= max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `text` if it fits `max` pixels, else its beginning with an ellipsis.
pub(crate) fn shorten(text: &str, size: f64, max: f64) -> Cow<'_, str> {
    if width(text, size) <= max {
        return Cow::Borrowed(text);
    }
    let mut used = em('…') * size;
    let kept = text.chars().take_while(|&c| {
        used += em(c) * size;
        used <= max
    });
    Cow::Owned(kept.collect::<String>().trim_end().to_owned() + "…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::document;
    use crate::chart::png::parse;

    #[test]
    fn markup_and_forbidden_characters_are_escaped() {
        assert_eq!(escape("a<b & \"c\" > 'd'"), "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;");
        assert_eq!(escape("bell\u{7}\u{0}"), "bell\u{fffd}\u{fffd}");
        assert!(matches!(escape("plain é 中"), Cow::Borrowed(_)));
    }

    /// The estimate must not be too small, or labels collide, nor so large that margins gape.
    #[test]
    fn the_width_estimate_follows_the_embedded_font() {
        for text in [
            "0.0025",
            "1000000",
            "Number of network calls",
            "body_mass_g",
            "Wasserstein distance",
            "ILLINOIS",
        ] {
            let tree =
                parse(&document((400.0, 40.0), "", &format!(r#"<text y="20" font-size="12">{text}</text>"#)))
                    .unwrap();
            let real = f64::from(tree.root().abs_bounding_box().width());
            let ratio = width(text, 12.0) / real;
            assert!((0.95..1.25).contains(&ratio), "{text}: estimated {ratio} of the real width");
        }
    }

    #[test]
    fn wrapping_keeps_every_word_and_the_limit() {
        let text = "the posterior mean converges as evidence accumulates over time";
        let lines = wrap(text, 12.0, 120.0);
        assert!(lines.len() > 2);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 120.0));
        assert_eq!(wrap("  ", 12.0, 120.0), Vec::<String>::new());
    }

    #[test]
    fn shortening_leaves_short_text_alone_and_fits_long_text() {
        assert_eq!(shorten("abc", 10.0, 100.0), "abc");
        let short = shorten("a rather long category name", 10.0, 60.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 60.0, "{short}");
    }
}
