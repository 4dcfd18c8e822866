//! Rows that a client sends: CSV, Parquet, Arrow, or JSON.

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use pmm::table::{Data, Header, ReadOptions, Schema};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::given::Cell;
use crate::problem::Problem;

/// Rows as JSON: `{"columns": ["a", "b"], "rows": [[1, "x"], [null, "y"]]}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableBody {
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows, each with a cell for every column; null is a missing one.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl TableBody {
    /// As a table that is read as typed by hand.
    pub(crate) fn data(&self) -> Result<Data, Problem> {
        let mut text = String::new();
        line(&mut text, self.columns.iter().map(String::as_str));
        for (at, row) in self.rows.iter().enumerate() {
            if row.len() != self.columns.len() {
                let (cells, columns) = (row.len(), self.columns.len());
                return Err(Problem::refused(format!(
                    "row {at} has {cells} cells, there are {columns} columns"
                )));
            }
            let cells: Vec<String> = row.iter().map(Cell::text).collect();
            line(&mut text, cells.iter().map(String::as_str));
        }
        let options = ReadOptions { header: Header::Yes, delimiter: Some(',') };
        Ok(Data::from_csv(text).reading(options))
    }
}

/// Every field in quotes: whatever is in it stays.
fn line<'a>(text: &mut String, fields: impl Iterator<Item = &'a str>) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push('"');
        text.push_str(&field.replace('"', "\"\""));
        text.push('"');
    }
    text.push('\n');
}

/// The rows of a request.
pub(crate) fn data(headers: &HeaderMap, body: Bytes, schema: &Schema) -> Result<Data, Problem> {
    if body.is_empty() {
        return Err(Problem::bad("the request has no rows").remedy("send CSV, Parquet, Arrow or JSON"));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        let table: TableBody = serde_json::from_slice(&body)
            .map_err(|error| Problem::bad(format!("the rows are not understood: {error}")))?;
        return table.data();
    }
    // Columnar formats name their columns themselves.
    Ok(Data::from_csv(body.to_vec()).reading(ReadOptions::like(schema)))
}
