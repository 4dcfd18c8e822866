//! Headline figures, a row each.

use std::fmt::Write;

use serde::Serialize;

/// One headline figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryRow {
    /// What is measured.
    pub name: String,
    /// The figure.
    pub value: String,
    /// The same for real rows, or for a forecast that knows nothing of the row.
    pub baseline: String,
    /// How to read it.
    pub meaning: String,
}

/// Rows as a table for a terminal; empty without rows.
pub(super) fn aligned(rows: &[SummaryRow]) -> String {
    let head = ["score", "here", "baseline", "meaning"];
    let cells = |row: &SummaryRow| -> [String; 4] {
        [row.name.clone(), row.value.clone(), row.baseline.clone(), row.meaning.clone()]
    };
    let table: Vec<[String; 4]> =
        std::iter::once(head.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let widest = |i: usize| table.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let (a, b, c) = (widest(0), widest(1), widest(2));
    let mut out = String::new();
    for [name, value, baseline, meaning] in table.iter().filter(|_| table.len() > 1) {
        let _ = writeln!(out, "{name:<a$}  {value:>b$}  {baseline:>c$}  {meaning}");
    }
    out
}
