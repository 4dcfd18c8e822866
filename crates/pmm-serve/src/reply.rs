//! Rows on their way to a client: in the format it accepts, as they come, and no faster than it takes them.

use std::io::{self, Write};
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use pmm::arrow::RecordBatch;
use pmm::table::{FileFormat, OutputColumn, Writer};

use crate::app::Shared;
use crate::arrow_json;
use crate::problem::Problem;
use crate::shelf::Opened;
use crate::stream::{Chunks, streamed};
use crate::work::Turn;

/// What rows can be sent as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
    ArrowStream,
    Parquet,
}

const FORMATS: [(Format, &str); 4] = [
    (Format::Json, "application/json"),
    (Format::Csv, "text/csv"),
    (Format::ArrowStream, "application/vnd.apache.arrow.stream"),
    (Format::Parquet, "application/vnd.apache.parquet"),
];

impl Format {
    /// The format that a client likes best, of those that there are; JSON if it does not say.
    pub(crate) fn accepted(headers: &HeaderMap) -> Result<Self, Problem> {
        let Some(accept) = headers.get(header::ACCEPT) else { return Ok(Self::Json) };
        let accept = accept.to_str().unwrap_or("");
        let mut best: Option<(f32, Self)> = None;
        for part in accept.split(',') {
            let mut parts = part.split(';').map(str::trim);
            let media = parts.next().unwrap_or("");
            let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
            let known = FORMATS.iter().find(|(_, name)| {
                media.eq_ignore_ascii_case(name)
                    || media == "*/*"
                    || media.strip_suffix("/*").is_some_and(|group| name.starts_with(&format!("{group}/")))
            });
            if let Some((format, _)) = known
                && quality > 0.0
                && best.is_none_or(|(found, _)| quality > found)
            {
                best = Some((quality, *format));
            }
        }
        best.map(|(_, format)| format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(_, name)| *name).collect();
            Problem::unacceptable(format!("{accept:?} is none of the formats"))
                .remedy(format!("accept {}", names.join(", ")))
        })
    }

    pub(crate) fn media(self) -> &'static str {
        FORMATS.iter().find(|(format, _)| *format == self).map_or("application/json", |(_, name)| name)
    }
}

/// Where rows go.
pub(crate) struct Rows {
    format: Format,
    out: Option<Chunks>,
    seed: u64,
    sink: Sink,
    turn: Turn,
}

enum Sink {
    /// Nothing is known of the columns yet.
    New,
    Typed(Writer),
    Json {
        out: Chunks,
        is_first: bool,
    },
}

impl Rows {
    /// Whether rows are sent as text, which has no types.
    pub(crate) fn is_text(&self) -> bool {
        self.format == Format::Csv
    }

    /// Sends rows; the columns are those of the first.
    pub(crate) fn write(&mut self, columns: &[OutputColumn], batch: &RecordBatch) -> Result<(), Problem> {
        self.turn.check()?;
        self.begin(columns)?;
        match &mut self.sink {
            Sink::New => {}
            Sink::Typed(writer) => writer.write(batch).map_err(|error| Problem::of(&error.into()))?,
            Sink::Json { out, is_first } => {
                for row in arrow_json::rows(batch)? {
                    let comma = if std::mem::take(is_first) { "\n" } else { ",\n" };
                    out.write_all(comma.as_bytes()).map_err(gone)?;
                    serde_json::to_writer(&mut *out, &row).map_err(|error| gone(error.into()))?;
                }
            }
        }
        self.turn.count(batch.num_rows() as u64);
        Ok(())
    }

    fn begin(&mut self, columns: &[OutputColumn]) -> Result<(), Problem> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        let format = match self.format {
            Format::Json => {
                let names: Vec<&str> = columns.iter().map(|column| column.field.name().as_str()).collect();
                let names = serde_json::to_string(&names).unwrap_or_default();
                write!(out, "{{\"seed\":{},\"columns\":{names},\"rows\":[", self.seed).map_err(gone)?;
                self.sink = Sink::Json { out, is_first: true };
                return Ok(());
            }
            Format::Csv => FileFormat::Delimited(','),
            Format::ArrowStream => FileFormat::ArrowStream,
            Format::Parquet => FileFormat::Parquet,
        };
        self.sink =
            Sink::Typed(Writer::stream(out, format, columns).map_err(|error| Problem::of(&error.into()))?);
        Ok(())
    }

    /// All rows were sent; `columns` are those of no rows at all.
    fn finish(mut self, columns: &[OutputColumn]) -> Result<(), Problem> {
        self.begin(columns)?;
        match self.sink {
            Sink::New => Ok(()),
            Sink::Typed(writer) => writer.finish().map_err(|error| Problem::of(&error.into())),
            Sink::Json { mut out, .. } => {
                out.write_all(b"]}\n").map_err(gone)?;
                out.flush().map_err(gone)
            }
        }
    }
}

fn gone(error: io::Error) -> Problem {
    Problem::stopped(error.to_string())
}

/// Rows of a model, as they are made. `make` writes them, and returns the columns.
pub(crate) async fn rows(
    app: &Shared,
    opened: &Arc<Opened>,
    headers: &HeaderMap,
    seed: u64,
    make: impl FnOnce(&pmm::table::Model, &mut Rows) -> Result<Vec<OutputColumn>, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let format = Format::accepted(headers)?;
    let (model, root) = (opened.clone(), app.workspace.root().to_owned());
    let body = streamed(app, move |out, turn| {
        let mut rows = Rows { format, out: Some(out), seed, sink: Sink::New, turn };
        let result = match &model.model {
            pmm::Model::Table(model) => make(model, &mut rows).and_then(|columns| rows.finish(&columns)),
            other => Err(Problem::conflict(format!("{} is a model of {}s", model.name, other.kind().name()))),
        };
        result.map_err(|problem| problem.within(&root))
    })
    .await?;
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static(format.media());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    mark(response.headers_mut(), opened, Some(seed));
    Ok(response)
}

/// By which model, and with which seed.
pub(crate) fn mark(headers: &mut HeaderMap, opened: &Opened, seed: Option<u64>) {
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", opened.hash)) {
        headers.insert(header::ETAG, tag);
    }
    if let Some(seed) = seed {
        headers.insert("pmm-seed", HeaderValue::from(seed));
    }
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(accept: &str) -> Result<Format, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        Format::accepted(&headers)
    }

    #[test]
    fn the_best_format_is_taken() {
        assert_eq!(Format::accepted(&HeaderMap::new()).unwrap(), Format::Json);
        for (accept, format) in [
            ("*/*", Format::Json),
            ("text/csv", Format::Csv),
            ("text/*", Format::Csv),
            ("application/json;q=0.5, text/csv;q=0.9", Format::Csv),
            ("application/vnd.apache.arrow.stream, */*;q=0.1", Format::ArrowStream),
            ("image/png, application/vnd.apache.parquet", Format::Parquet),
        ] {
            assert_eq!(accepted(accept).unwrap(), format, "{accept}");
        }
        for accept in ["image/png", "text/csv;q=0", ""] {
            assert_eq!(accepted(accept).unwrap_err().status, 406, "{accept}");
        }
    }
}
