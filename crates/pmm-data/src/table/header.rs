//! Whether the first record of a text names the columns, and the names.

use super::date_scan::Scan;
use super::duration::DurationForm;
use super::missing::{MISSING, Markers};
use super::number_scan::Pieces;
use super::numbers::Number;

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// Guessed by what stands below: a text above numbers or dates is a name, a text that comes again below is none.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called c1, c2, ….
    No,
}

/// What the first records show about a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderEvidence {
    /// The first record cannot be data.
    Names,
    /// It cannot be names.
    Data,
    /// Texts above texts: taken for names.
    Nothing,
}

/// What a text is, as far as it matters here: two texts of one class may stand in one column of numbers or dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class<'a> {
    Number,
    /// With currency or unit.
    Dressed(&'a str, &'a str),
    Date,
    Duration,
}

fn class(cell: &str) -> Option<Class<'_>> {
    if Number::parse(cell).is_some() {
        return Some(Class::Number);
    }
    if Scan::new(cell).is_some_and(|scan| scan.orders().next().is_some()) {
        return Some(Class::Date);
    }
    if DurationForm::of(cell).is_some() {
        return Some(Class::Duration);
    }
    let pieces = Pieces::new(cell)?;
    let groups = [',', '.', '\'', '’', ' ', '\u{a0}', '\u{202f}', '\u{2009}'];
    let read = |point: char| {
        groups.iter().any(|&group| group != point && pieces.number(point, Some(group)).is_some())
    };
    match (read('.') || read(','), pieces.prefix, pieces.suffix) {
        (false, ..) => None,
        (true, "", "") => Some(Class::Number),
        (true, prefix, suffix) => Some(Class::Dressed(prefix, suffix)),
    }
}

/// The share of cells that are numbers or dates.
pub(crate) fn typed_share(records: &[Vec<String>]) -> f64 {
    let cells = records.iter().flatten().filter(|cell| !cell.is_empty());
    let (typed, all) =
        cells.fold((0, 0), |(typed, all), cell| (typed + usize::from(class(cell).is_some()), all + 1));
    f64::from(typed as u32) / f64::from(all.max(1) as u32)
}

/// What the first record is, by all of them.
pub(crate) fn evidence(records: &[Vec<String>]) -> HeaderEvidence {
    let Some((first, rest)) = records.split_first() else { return HeaderEvidence::Data };
    if counts_up(first) && !rest.iter().any(|record| counts_up(record)) {
        return HeaderEvidence::Names;
    }
    let markers = Markers::new(&MISSING);
    let missing = |cell: &str| markers.is_missing(cell);
    // A name fewer than fields: the first column holds the names of the rows.
    let shift = usize::from(rest.first().is_some_and(|record| record.len() == first.len() + 1));
    let mut typed = first.iter().all(|cell| class(cell).is_some() || missing(cell));
    for (place, name) in first.iter().enumerate() {
        let cells = rest.iter().filter_map(|record| record.get(place + shift)).filter(|cell| !missing(cell));
        let cells: Vec<&String> = cells.collect();
        let Some(one) = main_class(&cells) else { continue };
        typed |= class(name) == Some(one);
        if class(name) != Some(one) && !missing(name) && !cells.contains(&name) {
            return HeaderEvidence::Names;
        }
    }
    if typed { HeaderEvidence::Data } else { text_evidence(first, rest, shift) }
}

/// The class of a column of numbers or dates: at least four cells in five have it.
fn main_class<'a>(cells: &[&'a String]) -> Option<Class<'a>> {
    let classes: Vec<Option<Class<'a>>> = cells.iter().map(|cell| class(cell)).collect();
    let count = |one: Class<'a>| classes.iter().filter(|class| **class == Some(one)).count();
    // One of the first two is of the class, or there are too many others.
    let mut candidates = classes.iter().flatten().take(2).copied();
    candidates.find(|&one| count(one) * 5 >= cells.len() * 4)
}

/// `0,1,2,…` and `country,2019,2020,2021`: names that count up, unlike any other record.
fn counts_up(record: &[String]) -> bool {
    let numbers: Vec<i64> = record.iter().filter_map(|cell| cell.parse().ok()).collect();
    let steps = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let years = numbers.len() < record.len() && numbers.iter().all(|year| (1900..=2100).contains(year));
    steps && (numbers.len() >= 5 && (numbers[0] == 0 || numbers[0] == 1) || numbers.len() >= 3 && years)
}

/// Columns of texts only: a text that comes again below is a level; a code like those below is a code.
fn text_evidence(first: &[String], rest: &[Vec<String>], shift: usize) -> HeaderEvidence {
    let mut found = HeaderEvidence::Nothing;
    for (place, name) in first.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        // A header may stand between files that were joined.
        let others = rest.iter().filter(|record| first.len() == 1 || record.as_slice() != first);
        let cells: Vec<&String> =
            others.filter_map(|record| record.get(place + shift)).filter(|cell| !cell.is_empty()).collect();
        if cells.contains(&name) {
            return HeaderEvidence::Data;
        }
        let Some(shape) = cells.first().map(|cell| shape(cell)) else { continue };
        let codes =
            cells.len() >= 3 && shape.contains('9') && cells.iter().all(|cell| self::shape(cell) == shape);
        if codes && self::shape(name) == shape {
            return HeaderEvidence::Data;
        }
        if codes {
            found = HeaderEvidence::Names;
        }
    }
    found
}

/// `AB-12` and `XYZ-7` are both `A-9`.
fn shape(text: &str) -> String {
    let kind = |c: char| match c {
        _ if c.is_ascii_digit() => '9',
        _ if c.is_uppercase() => 'A',
        _ if c.is_alphabetic() => 'a',
        _ => c,
    };
    let mut shape: String = text.chars().map(kind).collect();
    let mut last = None;
    shape.retain(|c| last.replace(c) != Some(c));
    shape
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

    fn of(text: &str) -> HeaderEvidence {
        let records: Vec<Vec<String>> =
            text.lines().map(|line| line.split(',').map(|cell| cell.trim().to_owned()).collect()).collect();
        evidence(&records)
    }

    #[test]
    fn headers() {
        use HeaderEvidence::*;
        for (text, expected) in [
            ("a,b\n1,2", Names),
            ("1,2\n3,4", Data),
            ("x,1\ny,2", Data),
            ("NA,1,\n3,4,5", Data),
            ("name,colour\nAnn,red", Nothing),
            ("id,year,2020\n1,2,3", Names),
            ("a,b\n1,x,2\n2,y,3", Names),
            ("when,what\n2020-01-01,x\n2020-01-02,y", Names),
            ("2020-01-01,x\n2020-01-02,y", Data),
            ("price,what\n$5,x\n$7,y", Names),
            ("1stFloor,what\n5,x\n7,y", Names),
            ("Ann,Rome\nBob,Oslo\nCyd,Rome", Data),
            ("Name,City\nAnn,Rome\nBob,Rome", Nothing),
            ("red\nblue\nred", Data),
            ("colour\nred\nblue\nred", Nothing),
            ("AB-1,x\nCD-2,y\nEF-3,z\nGH-4,w", Data),
            ("code,what\nCD-2,y\nEF-3,z\nGH-4,w", Names),
            ("a,b\nx,y\na,b\nz,y", Nothing),
            ("0,1,2,3,4\n1.5,2.5,3.5,4.5,g", Names),
            ("country,2019,2020,2021\nA,1,2,4", Names),
            ("k,price\na,$5\nk,$7\nc,free\nd,$9\ne,$3", Names),
            ("2020-01,2020-02\n5,6\n7,9", Names),
            ("1,2\nx,y\nz,w", Data),
            ("a,b", Nothing),
            ("", Data),
        ] {
            assert_eq!(of(text), expected, "{text:?}");
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
