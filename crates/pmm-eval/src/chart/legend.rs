//! The legend: a key and a name for every labelled mark, in rows above the panel.

use super::draw::{fill, marker, stroke};
use super::mark::{Mark, Shape};
use super::path::{Path, number};
use super::text::{escape, shorten, width};
use super::{FONT, Style};

/// Widths of the keys of lines and of other marks, and of the space between a key and its name.
const LINE_KEY: f64 = 20.0;
const SMALL_KEY: f64 = 12.0;
const SPACE: f64 = 6.0;
const GAP: f64 = 16.0;
/// The height of one row.
pub(super) const ROW: f64 = 16.0;

/// One line of the legend: a name and the marks that carry it.
struct Entry<'a> {
    name: &'a str,
    marks: Vec<&'a Mark>,
}

impl Entry<'_> {
    fn key_width(&self) -> f64 {
        let line = |mark: &&Mark| matches!(mark.shape, Shape::Line(_) | Shape::Step(_));
        if self.marks.iter().any(line) { LINE_KEY } else { SMALL_KEY }
    }
}

/// The entries in order of first appearance; marks with the same name share one.
fn entries(marks: &[Mark]) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for mark in marks.iter().filter(|mark| !matches!(mark.shape, Shape::Rule(_))) {
        let Some(name) = mark.style.label.as_deref().filter(|name| !name.is_empty()) else { continue };
        match entries.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => entry.marks.push(mark),
            None => entries.push(Entry { name, marks: vec![mark] }),
        }
    }
    entries
}

/// Places entries from left to right into rows that fit `room`; gives each its column and row.
fn places(entries: &[Entry<'_>], room: f64) -> Vec<(f64, usize)> {
    let (mut x, mut row) = (0.0, 0);
    let mut place = |entry: &Entry<'_>| {
        let wide = entry.key_width() + SPACE + width(entry.name, FONT).min(room);
        if x > 0.0 && x + wide > room {
            (x, row) = (0.0, row + 1);
        }
        let at = (x, row);
        x += wide + GAP;
        at
    };
    entries.iter().map(&mut place).collect()
}

/// How many rows the legend needs within `room` pixels.
pub(super) fn rows(marks: &[Mark], room: f64) -> usize {
    places(&entries(marks), room).last().map_or(0, |place| place.1 + 1)
}

/// The legend with its first row's middle at height `top`.
pub(super) fn draw(marks: &[Mark], room: f64, top: f64) -> String {
    let entries = entries(marks);
    let places = places(&entries, room);
    entries
        .iter()
        .zip(places)
        .map(|(entry, (x, row))| draw_entry(entry, x, top + row as f64 * ROW, room))
        .collect()
}

fn draw_entry(entry: &Entry<'_>, x: f64, y: f64, room: f64) -> String {
    let wide = entry.key_width();
    let keys: String = entry.marks.iter().map(|mark| key(mark, (x, x + wide), y)).collect();
    let name = shorten(entry.name, FONT, (room - wide - SPACE).max(30.0));
    format!(
        r#"{keys}<text x="{}" y="{}">{}</text>"#,
        number(x + wide + SPACE),
        number(y + 4.0),
        escape(&name)
    )
}

fn key(mark: &Mark, (left, right): (f64, f64), y: f64) -> String {
    let style = Style { opacity: mark.style.opacity.max(0.5), ..mark.style.clone() };
    let middle = (left + right) / 2.0;
    let mut path = Path::default();
    match mark.shape {
        Shape::Points(_) => {
            marker(&mut path, (middle, y), &style);
            fill(&path, &style, 1.0)
        }
        Shape::Bars(_) | Shape::HorizontalBars(_) | Shape::Band(_) | Shape::Cells(_) => {
            path.polygon(&[(left, y - 5.0), (right, y - 5.0), (right, y + 5.0), (left, y + 5.0)]);
            let opacity = if matches!(mark.shape, Shape::Band(_)) { 0.25 } else { style.opacity };
            fill(&path, &style, opacity)
        }
        Shape::ErrorBars(_) => {
            path.segment((middle, y - 6.0), (middle, y + 6.0));
            stroke(&path, &style)
        }
        Shape::Line(_) | Shape::Step(_) | Shape::Rule(_) => {
            path.segment((left, y), (right, y));
            stroke(&path, &style)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str) -> Mark {
        Mark { shape: Shape::Line(vec![]), style: Style::new(0).label(name) }
    }

    #[test]
    fn equal_names_share_an_entry_and_rules_have_none() {
        let rule = Mark { shape: Shape::Rule(0.0), style: Style::new(0).label("level") };
        let points = Mark { shape: Shape::Points(vec![]), ..line("a") };
        let unnamed = Mark { style: Style::new(2), ..line("") };
        let marks = [line("a"), line("b"), points, rule, unnamed];
        let entries = entries(&marks);
        assert_eq!(entries.iter().map(|e| (e.name, e.marks.len())).collect::<Vec<_>>(), [("a", 2), ("b", 1)]);
    }

    #[test]
    fn entries_that_do_not_fit_start_a_new_row() {
        let marks = ["one", "two", "three", "four"].map(line);
        assert_eq!(rows(&marks, 1000.0), 1);
        assert_eq!(rows(&marks, 140.0), 2);
        assert_eq!(rows(&marks, 10.0), 4);
        assert_eq!(rows(&[], 100.0), 0);
    }
}
