//! Gaps in a text: `____`, `[MASK:12]` and `[MASK]`.

/// Underscores from which on they are a gap.
const LEAST: usize = 3;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Kept to the byte.
    Fixed(String),
    /// So many tokens are wanted.
    Gap(usize),
    /// Some tokens are wanted; how many is not said.
    OpenGap,
}

/// Cuts a text into what is fixed and what is wanted.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut fixed = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let Some((part, len)) = gap(rest) else {
            fixed.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        if !fixed.is_empty() {
            parts.push(Part::Fixed(std::mem::take(&mut fixed)));
        }
        parts.push(part);
        rest = &rest[len..];
    }
    if !fixed.is_empty() {
        parts.push(Part::Fixed(fixed));
    }
    parts
}

/// The gap at the start of a text, and its bytes.
fn gap(text: &str) -> Option<(Part, usize)> {
    let underscores = text.bytes().take_while(|byte| *byte == b'_').count();
    if underscores >= LEAST {
        return Some((Part::Gap(underscores), underscores));
    }
    if text.starts_with("[MASK]") {
        return Some((Part::OpenGap, "[MASK]".len()));
    }
    let (number, _) = text.strip_prefix("[MASK:")?.split_once(']')?;
    let tokens = number.parse().ok().filter(|&tokens: &usize| tokens > 0)?;
    Some((Part::Gap(tokens), "[MASK:]".len() + number.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found() {
        let fixed = |text: &str| Part::Fixed(text.into());
        assert_eq!(
            parts("the ____ of é[MASK:12]"),
            [fixed("the "), Part::Gap(4), fixed(" of é"), Part::Gap(12)]
        );
        assert_eq!(parts("a_b __init__ [MASK:x] [MASK:0]"), [fixed("a_b __init__ [MASK:x] [MASK:0]")]);
        assert_eq!(parts("___"), [Part::Gap(3)]);
        assert_eq!(parts("[MASK] end[MASK"), [Part::OpenGap, fixed(" end[MASK")]);
        assert_eq!(parts(""), []);
    }
}
