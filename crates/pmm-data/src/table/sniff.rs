//! Delimiter and header of a delimited text, guessed from its beginning.

use super::missing::{MISSING, Markers};
use super::numbers::Number;

/// How much of a file is looked at.
pub(crate) const HEAD: usize = 1 << 18;
/// How many of its records.
const RECORDS: usize = 200;

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Guessed: there is none when all cells of the first line are numbers or missing, or when the columns of numbers have
    /// a number there, too.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called c1, c2, ….
    No,
}

/// The first records of a text, cut by `delimiter`.
pub(crate) fn first_records(head: &[u8], whole: bool, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(head);
    let mut records = Vec::new();
    let mut record = csv::ByteRecord::new();
    while records.len() <= RECORDS && reader.read_byte_record(&mut record).unwrap_or(false) {
        records.push(record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect());
    }
    // The last record may be cut in the middle.
    if !whole && records.len() > 1 && records.len() <= RECORDS {
        records.pop();
    }
    records
}

/// The delimiter under which most records have the same number of fields; then the one with the most fields.
pub(crate) fn delimiter(head: &[u8], whole: bool) -> u8 {
    let mut best = (b',', 0.0, 1);
    for candidate in *b",\t;|" {
        let widths: Vec<usize> = first_records(head, whole, candidate).iter().map(Vec::len).collect();
        let (width, share) = mode(&widths);
        if width > 1 && (share > best.1 || share == best.1 && width > best.2) {
            best = (candidate, share, width);
        }
    }
    best.0
}

/// The most frequent width and its share.
fn mode(widths: &[usize]) -> (usize, f64) {
    let count = |width: usize| widths.iter().filter(|&&other| other == width).count();
    let width = widths.iter().copied().max_by_key(|&width| (count(width), width)).unwrap_or(1);
    (width, count(width) as f64 / widths.len().max(1) as f64)
}

/// Whether the first record names the columns.
pub(crate) fn has_header(records: &[Vec<String>]) -> bool {
    let markers = Markers::new(&MISSING);
    let number = |cell: &String| Number::parse(cell).is_some();
    let missing = |cell: &String| markers.is_missing(cell);
    let Some((first, rest)) = records.split_first() else { return false };
    if first.iter().all(|cell| number(cell) || missing(cell)) {
        return false;
    }
    // A name fewer than fields: the first column holds the names of the rows.
    let shift = usize::from(rest.first().is_some_and(|record| record.len() == first.len() + 1));
    let mut numeric = 0;
    for (place, name) in first.iter().enumerate() {
        let mut cells = rest
            .iter()
            .filter_map(|record| record.get(place + shift))
            .filter(|cell| !missing(cell))
            .peekable();
        if cells.peek().is_some() && cells.all(number) {
            numeric += 1;
            if !number(name) && !missing(name) {
                return true;
            }
        }
    }
    numeric == 0
}

/// Makes names unique and not empty; returns what was changed.
pub(crate) fn unique_names(names: &mut [String]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut taken: std::collections::HashSet<String> =
        names.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut seen = std::collections::HashSet::new();
    for (place, slot) in names.iter_mut().enumerate() {
        let base = if slot.is_empty() { format!("c{}", place + 1) } else { slot.clone() };
        if !slot.is_empty() && seen.insert(base.clone()) {
            continue;
        }
        let mut name = base.clone();
        let mut number = 2;
        while taken.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        notes.push(match slot.as_str() {
            "" => format!("column {} has no name: called {name}", place + 1),
            twice => format!("column {} is another {twice}: called {name}", place + 1),
        });
        taken.insert(name.clone());
        *slot = name;
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("name,text\nx,\"a;b;c\"\ny,\"d;e;f\"\n", b','),
            ("alone\n1\n2\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text:?}");
        }
    }

    #[test]
    fn headers() {
        for (text, expected) in [
            ("a,b\n1,2\n", true),
            ("1,2\n3,4\n", false),
            ("x,1\ny,2\n", false),
            ("NA,1,\n3,4,5\n", false),
            ("name,colour\nAnn,red\n", true),
            ("id,year,2020\n1,2,3\n", true),
            ("a,b\n1,x,2\n2,y,3\n", true),
        ] {
            assert_eq!(has_header(&first_records(text.as_bytes(), true, b',')), expected, "{text:?}");
        }
    }

    #[test]
    fn names_become_unique() {
        let mut names: Vec<String> = ["a", "", "a", "a_2", "c2", "a"].map(String::from).to_vec();
        let notes = unique_names(&mut names);
        assert_eq!(names, ["a", "c2_2", "a_3", "a_2", "c2", "a_4"]);
        assert_eq!(notes.len(), 3);
        assert_eq!(notes[0], "column 2 has no name: called c2_2");
    }
}
