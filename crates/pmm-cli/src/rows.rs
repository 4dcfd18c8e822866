//! Rows in and out: records of a file as cells of a model, filled, and written.

use anyhow::bail;
use pmm_core::Streams;
use pmm_data::{Coder, Field, FileFormat, ReadOptions, Record, Records, Schema, Source, Writer};
use pmm_net::table::Cell;
use pmm_train::Model;

use crate::cli::{Format, Output};
use crate::output::Advice;

/// Rows that are in memory at a time.
pub(crate) const CHUNK: usize = 4096;

/// A writer to a file or to standard output.
pub(crate) fn writer(output: &Output, delimiter: char, fields: &[Field]) -> anyhow::Result<Writer> {
    let format = match output.format {
        None => None,
        Some(Format::Csv) => Some(FileFormat::Delimited(',')),
        Some(Format::Tsv) => Some(FileFormat::Delimited('\t')),
        Some(Format::Parquet) => Some(FileFormat::Parquet),
        Some(Format::Arrow) => Some(FileFormat::Arrow),
        Some(Format::Txt | Format::Jsonl) => {
            bail!(Advice::new("a table is no text".into(), "--format csv, tsv, parquet or arrow"))
        }
    };
    match (&output.out, format) {
        (None, format) => {
            let format = format.unwrap_or(FileFormat::Delimited(delimiter));
            Ok(Writer::stream(std::io::stdout(), format, fields)?)
        }
        (Some(path), Some(format)) if format != FileFormat::of(path) => bail!(Advice::new(
            format!("--format does not go with the name {}", path.display()),
            "name the file .csv, .tsv, .parquet or .arrow, or write to standard output"
        )),
        (Some(path), _) => Ok(Writer::create(path, fields)?),
    }
}

/// Another file of a model's table, read in chunks.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    coder: Coder<'a>,
    records: Records<'a>,
}

/// Some records of a file, as they are and coded.
pub(crate) struct Chunk {
    pub(crate) records: Vec<Record>,
    pub(crate) coded: Vec<Vec<(u32, f64)>>,
}

pub(crate) fn open(path: &std::path::Path, schema: &Schema) -> anyhow::Result<Source> {
    Ok(Source::open(path, &ReadOptions::like(schema))?)
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source, schema: &'a Schema) -> anyhow::Result<Self> {
        let (coder, records) = (schema.coder(source)?, source.records()?);
        Ok(Self { source, coder, records })
    }

    /// The next rows, none at the end.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<Chunk>> {
        let mut chunk = Chunk { records: Vec::new(), coded: Vec::new() };
        for record in self.records.by_ref().take(CHUNK) {
            let record = record?;
            chunk.coded.push(self.coder.code(&record)?.cells);
            chunk.records.push(record);
        }
        Ok((!chunk.records.is_empty()).then_some(chunk))
    }

    /// Says what was noticed.
    pub(crate) fn say(&self, quiet: bool) {
        if !quiet {
            self.source
                .notes()
                .iter()
                .chain(&self.coder.notes().messages())
                .for_each(|note| eprintln!("note: {note}"));
        }
    }
}

/// Cells of the modelled columns; a missing cell is unknown where it is to be filled, else what the model knows as missing.
pub(crate) fn cells(model: &Model, coded: &[Vec<(u32, f64)>], fill: bool) -> Vec<Cell> {
    let places = &model.denoiser.net().coordinates().columns;
    let cell = |row: &Vec<(u32, f64)>, place: &pmm_net::table::ColumnPlace| {
        let (code, value) = row[place.column];
        if fill && code == pmm_data::EMPTY {
            return Cell::default();
        }
        place.cell(&model.schema.columns[place.column], code, value)
    };
    coded.iter().flat_map(|row| places.iter().map(move |place| cell(row, place))).collect()
}

/// The text of a coded cell; `u` for levels that share a code comes from the cell's own stream.
pub(crate) fn text(model: &Model, column: usize, cell: (u32, f64), row: u64, streams: &Streams) -> String {
    let u = streams.block_stream(pmm_core::Purpose::RARE_LEVEL, column as u32, 0, row).unit();
    model.schema.columns[column].decode(cell.0, cell.1, u)
}
