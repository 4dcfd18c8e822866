//! Texts that may stand for a missing cell, and what they stand for in a column.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The built-in markers; blanks around them and the case of letters do not count. An empty cell is always missing.
pub const MISSING: [&str; 13] =
    ["NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "none", "nil", ".", "?", "-", "#NA"];

/// A set of markers.
#[derive(Debug, Clone)]
pub(crate) struct Markers {
    texts: Vec<String>,
    /// The user listed them: they are missing in every column.
    listed: bool,
}

/// What a cell is before its column is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marked {
    /// Empty, or a marker that the user listed.
    Missing,
    /// A built-in marker: missing or a level, as the column decides.
    Perhaps,
    /// Neither.
    No,
}

impl Markers {
    /// The markers given, whatever their case. Any list but the built-in one is the user's.
    pub(crate) fn new<T: AsRef<str>>(markers: &[T]) -> Self {
        let built_in = markers.iter().map(AsRef::as_ref).eq(MISSING);
        let texts = markers.iter().map(|marker| marker.as_ref().trim().to_lowercase()).collect();
        Self { texts, listed: !built_in }
    }

    /// Whether a trimmed cell is empty or a marker.
    pub(crate) fn is_missing(&self, cell: &str) -> bool {
        self.mark(cell) != Marked::No
    }

    /// What a trimmed cell is.
    pub(crate) fn mark(&self, cell: &str) -> Marked {
        match cell {
            "" => Marked::Missing,
            _ if !self.texts.iter().any(|marker| same(marker, cell)) => Marked::No,
            _ if self.listed => Marked::Missing,
            _ => Marked::Perhaps,
        }
    }
}

/// Equality up to case; `marker` is lower case already.
fn same(marker: &str, cell: &str) -> bool {
    if marker.is_ascii() { marker.eq_ignore_ascii_case(cell) } else { marker == cell.to_lowercase() }
}

/// How often markers occur in a column, each as it is written, blanks included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MarkerCounts {
    texts: BTreeMap<String, u64>,
    /// The user listed them.
    listed: bool,
}

/// Ways of writing markers that are told apart; more are counted by their trimmed text.
const WAYS: usize = 64;
/// Markers that a sentence names.
const MOST: usize = 5;

impl MarkerCounts {
    /// Takes note of a cell, if it is a marker.
    pub(crate) fn add(&mut self, cell: &str, marked: Marked) {
        if marked == Marked::No || cell.trim().is_empty() {
            return;
        }
        self.listed |= marked == Marked::Missing;
        let told_apart = self.texts.contains_key(cell) || self.texts.len() < WAYS;
        let text = if told_apart { cell } else { cell.trim() };
        *self.texts.entry(text.to_owned()).or_default() += 1;
    }

    /// What the markers stand for.
    ///
    /// Those that the user listed are missing. Built-in ones cannot be values among numbers, dates and two opposites (such as true
    /// and false): they are missing. Among other levels they are levels, too, and only empty cells are missing. Where there is nothing else in a column, every
    /// cell is missing.
    pub(crate) fn decide(&self, others: OtherCells) -> MarkerUse {
        let level = others == OtherCells::Levels && !self.listed && !self.texts.is_empty();
        let role = if level { MarkerRole::Level } else { MarkerRole::Missing };
        let markers =
            self.texts.iter().map(|(text, &cells)| MarkerCount { text: text.clone(), cells }).collect();
        MarkerUse { role, markers }
    }
}

/// What the cells of a column are that are neither empty nor markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherCells {
    /// There are none.
    None,
    /// Texts.
    Levels,
    /// Numbers or dates, with at most a few other texts.
    Numbers,
    /// Two opposites, such as true and false.
    Opposites,
}

/// What markers stand for in one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerRole {
    /// A missing cell.
    #[default]
    Missing,
    /// A level like others.
    Level,
}

/// A marker as it is written, and its cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkerCount {
    /// The text, blanks included.
    pub text: String,
    /// How many cells have it.
    pub cells: u64,
}

/// The markers of one column, and what they stand for.
///
/// ```
/// use pmm_data::{MarkerCount, MarkerRole, MarkerUse};
/// let markers = vec![MarkerCount { text: "NA".into(), cells: 12 }];
/// let found = MarkerUse { role: MarkerRole::Level, markers };
/// assert_eq!(found.missing(), 0);
/// assert_eq!(found.note().as_deref(), Some("NA (12 cells) is a level"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkerUse {
    /// What they stand for.
    pub role: MarkerRole,
    /// The markers, by text; none if the column has none.
    pub markers: Vec<MarkerCount>,
}

impl MarkerUse {
    /// How many cells are missing because of a marker.
    pub fn missing(&self) -> u64 {
        if self.role == MarkerRole::Missing { self.cells() } else { 0 }
    }

    /// How many cells have a marker, whatever it stands for.
    pub fn cells(&self) -> u64 {
        self.markers.iter().map(|marker| marker.cells).sum()
    }

    /// Whether the column has no markers.
    pub fn is_empty(&self) -> bool {
        self.markers.is_empty()
    }

    /// The markers and their cells: `NA (12 cells), ? (1 cell)`; at most five.
    fn listed(&self) -> String {
        let cells = |n: u64| if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") };
        let part = |marker: &MarkerCount| format!("{} ({})", marker.text.trim(), cells(marker.cells));
        let mut text = self.markers.iter().take(MOST).map(part).collect::<Vec<_>>().join(", ");
        if self.markers.len() > MOST {
            text += ", …";
        }
        text
    }

    /// The choice in words, if there was one.
    pub fn note(&self) -> Option<String> {
        let verb = match (self.role, self.markers.as_slice()) {
            (_, []) => return None,
            (MarkerRole::Missing, [_]) => "is missing",
            (MarkerRole::Missing, _) => "are missing",
            (MarkerRole::Level, [_]) => "is a level",
            (MarkerRole::Level, _) => "are levels",
        };
        Some(format!("{} {verb}", self.listed()))
    }
}

/// Markers that were met while a file was read, in one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMarkers {
    /// The column.
    pub column: String,
    /// The markers, and what they stood for.
    pub found: MarkerUse,
}

/// Columns that a sentence names.
const COLUMNS: usize = 10;

impl ColumnMarkers {
    /// Takes note of a cell.
    pub(crate) fn add(&mut self, cell: &str) {
        let markers = &mut self.found.markers;
        match markers.iter().position(|marker| marker.text == cell) {
            Some(place) => markers[place].cells += 1,
            None if markers.len() < WAYS => markers.push(MarkerCount { text: cell.to_owned(), cells: 1 }),
            None => markers[WAYS - 1].cells += 1,
        }
    }

    /// `age: NA (12 cells); income: NA (3 cells), ? (1 cell)` for the markers that stood for `role`; none if there are none.
    pub(crate) fn listed(columns: &[Self], role: MarkerRole) -> Option<String> {
        let found: Vec<&Self> = columns.iter().filter(|one| one.found.role == role).collect();
        let part = |one: &&Self| format!("{}: {}", one.column, one.found.listed());
        let mut text = found.iter().take(COLUMNS).map(part).collect::<Vec<_>>().join("; ");
        if found.len() > COLUMNS {
            text += &format!("; and {} more columns", found.len() - COLUMNS);
        }
        (!found.is_empty()).then_some(text)
    }
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

    #[test]
    fn listed_markers_are_missing_everywhere() {
        assert_eq!(Markers::new(&MISSING).mark("NA"), Marked::Perhaps);
        assert_eq!(Markers::new(&["NA"]).mark("na"), Marked::Missing);
        assert_eq!(Markers::new(&["NA"]).mark("?"), Marked::No);
        assert_eq!(Markers::new::<&str>(&[]).mark("NA"), Marked::No);
        assert_eq!(Markers::new::<&str>(&[]).mark(""), Marked::Missing);
    }

    #[test]
    fn the_column_decides() {
        let mut counts = MarkerCounts::default();
        ["NA", " NA", "NA", "?"].into_iter().for_each(|cell| counts.add(cell, Marked::Perhaps));
        counts.add("", Marked::Missing);
        counts.add("x", Marked::No);
        let numbers = counts.decide(OtherCells::Numbers);
        assert_eq!((numbers.missing(), numbers.role), (4, MarkerRole::Missing));
        assert_eq!(numbers.note().unwrap(), "NA (1 cell), ? (1 cell), NA (2 cells) are missing");
        let levels = counts.decide(OtherCells::Levels);
        assert_eq!((levels.missing(), levels.markers.len()), (0, 3), "as written: blanks make another level");
        assert_eq!(counts.decide(OtherCells::None).missing(), 4);
        assert_eq!(counts.decide(OtherCells::Opposites).missing(), 4);
        let mut listed = MarkerCounts::default();
        listed.add("-9", Marked::Missing);
        assert_eq!(listed.decide(OtherCells::Levels).missing(), 1, "as listed, among levels, too");
        assert_eq!(MarkerCounts::default().decide(OtherCells::Levels).note(), None);
    }
}
