//! Texts that stand for a missing cell.

/// The built-in markers; blanks around them and the case of letters do not count. An empty cell is always missing.
pub const MISSING: [&str; 13] =
    ["NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "none", "nil", ".", "?", "-", "#NA"];

/// A set of markers.
#[derive(Debug, Clone)]
pub(crate) struct Markers(Vec<String>);

impl Markers {
    /// The markers given, whatever their case.
    pub(crate) fn new<T: AsRef<str>>(markers: &[T]) -> Self {
        Self(markers.iter().map(|marker| marker.as_ref().trim().to_lowercase()).collect())
    }

    /// Whether a trimmed cell is missing.
    pub(crate) fn is_missing(&self, cell: &str) -> bool {
        cell.is_empty() || self.0.iter().any(|marker| same(marker, cell))
    }
}

/// Equality up to case; `marker` is lower case already.
fn same(marker: &str, cell: &str) -> bool {
    if marker.is_ascii() { marker.eq_ignore_ascii_case(cell) } else { marker == cell.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_ignore_case() {
        let markers = Markers::new(&MISSING);
        for cell in ["", "na", "NaN", "NULL", "None", "?", "-", ".", "n/a"] {
            assert!(markers.is_missing(cell), "{cell}");
        }
        for cell in ["0", "no", "nan1", "--", "inf"] {
            assert!(!markers.is_missing(cell), "{cell}");
        }
        assert!(Markers::new(&["Ω"]).is_missing("ω"));
    }
}
