//! Results on their way out: rows, texts, images.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use pmm::arrow::RecordBatch;
use pmm::image::{DrawnImage, ImageFacts, grid_png};
use pmm::table::{FileFormat, NumberedFiles, OutputColumn, WriteError, Writer};
use pmm::text;

use crate::cli::{Format, Output};
use crate::output::{print, refuse};
use crate::terminal::interrupted;

/// Where rows go: one file or stream, or numbered files.
pub(crate) enum RowsWriter {
    One(Writer),
    Numbered(NumberedFiles),
}

impl RowsWriter {
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        match self {
            Self::One(writer) => writer.write(batch),
            Self::Numbered(files) => files.write(batch),
        }
    }

    pub(crate) fn finish(self) -> Result<(), WriteError> {
        match self {
            Self::One(writer) => writer.finish(),
            Self::Numbered(files) => files.finish(),
        }
    }
}

/// A writer of rows, from the one with a number on, to files or to standard output.
pub(crate) fn rows(
    output: &Output,
    delimiter: char,
    columns: &[OutputColumn],
    first_row: u64,
) -> anyhow::Result<RowsWriter> {
    let format = format(output)?;
    Ok(match (&output.out, output.rows_per_file) {
        (Some(path), Some(rows)) => {
            RowsWriter::Numbered(NumberedFiles::create(path, columns, rows, first_row)?)
        }
        (Some(path), None) if NumberedFiles::is_pattern(path) => {
            return refuse(
                format!("{} has a *, but it is not said how many rows a file has", path.display()),
                "--rows-per-file 1e6, or a name without a *",
            );
        }
        (Some(path), None) => RowsWriter::One(Writer::create(path, columns)?),
        (None, _) => {
            let format = format.unwrap_or(FileFormat::Delimited(delimiter));
            RowsWriter::One(Writer::stream(std::io::stdout(), format, columns)?)
        }
    })
}

/// Whether rows are written as text, which has no types.
pub(crate) fn is_delimited(output: &Output) -> anyhow::Result<bool> {
    Ok(format(output)?.is_none_or(FileFormat::is_delimited))
}

/// The format that is asked for: by name, or by the file's; none for standard output as it comes.
fn format(output: &Output) -> anyhow::Result<Option<FileFormat>> {
    let named = match output.format {
        None => None,
        Some(Format::Csv) => Some(FileFormat::Delimited(',')),
        Some(Format::Tsv) => Some(FileFormat::Delimited('\t')),
        Some(Format::Parquet) => Some(FileFormat::Parquet),
        Some(Format::Arrow) => Some(FileFormat::Arrow),
        Some(Format::Txt | Format::Jsonl | Format::Fasta) => {
            return refuse("a table is no text", "--format csv, tsv, parquet or arrow");
        }
    };
    let Some(path) = &output.out else { return Ok(named) };
    match (FileFormat::of(path)?, named) {
        (found, Some(named)) if found != named => refuse(
            format!("--format does not go with the name {}", path.display()),
            "name the file .csv, .tsv, .parquet or .arrow, or write to standard output",
        ),
        (found, _) => Ok(Some(found)),
    }
}

/// A file, whole or not at all.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    pmm::write_file(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// The ending of a name that says what is in the file: `fasta` of new.fasta and of new.fasta.gz.
pub(crate) fn ending(path: &Path) -> Option<&str> {
    let plain = if is_gzip(path) { Path::new(path.file_stem()?) } else { path };
    plain.extension()?.to_str()
}

fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Text to a file, whole or not at all; packed if its name ends in .gz.
pub(crate) fn text_file(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    if !is_gzip(path) {
        return file(path, text);
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text)?;
    file(path, &packer.finish()?)
}

/// Makes a folder, with those above it.
pub(crate) fn folder(path: &Path) -> anyhow::Result<()> {
    match std::fs::create_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) => {
            let what = format!("cannot make the folder {}: {error}", path.display());
            refuse(what, "choose another place with --out")
        }
    }
}

/// Texts that are written together.
pub(crate) struct Texts {
    texts: Vec<Vec<u8>>,
    /// −log₂ p of each, where it is known.
    bits: Vec<Option<f64>>,
    /// Whether they are sequences.
    sequences: bool,
    /// What each is; sequences are named by it and their numbers.
    name: &'static str,
}

/// Letters of a line of FASTA.
const LINE: usize = 60;

impl Texts {
    pub(crate) fn of(model: &text::Model, name: &'static str, texts: Vec<Vec<u8>>) -> Self {
        Self { bits: vec![None; texts.len()], texts, sequences: model.is_of_sequences(), name }
    }

    /// With what is known of their likelihoods.
    pub(crate) fn with_bits(self, bits: Vec<Option<f64>>) -> Self {
        Self { bits, ..self }
    }

    /// The format: as is asked for, by the file's name, or by what the texts are.
    fn format(&self, to: &Output) -> Format {
        let by_name = match to.out.as_deref().and_then(ending) {
            Some("jsonl") => Some(Format::Jsonl),
            Some(ending) if pmm::text::FASTA_ENDINGS.contains(&ending) => Some(Format::Fasta),
            _ => None,
        };
        let usual = if self.sequences { Format::Fasta } else { Format::Txt };
        to.format.or(by_name).unwrap_or(usual)
    }

    fn plain(&self) -> Vec<u8> {
        let mut bytes = self.texts.join(&b"\n---\n"[..]);
        bytes.push(b'\n');
        bytes
    }

    fn json_lines(&self) -> Vec<u8> {
        let line = |(text, bits): (&Vec<u8>, &Option<f64>)| {
            let mut object = serde_json::json!({ "text": String::from_utf8_lossy(text) });
            if let Some(bits) = bits {
                object["bits"] = (*bits).into();
            }
            format!("{object}\n")
        };
        self.texts.iter().zip(&self.bits).map(line).collect::<String>().into_bytes()
    }

    fn fasta(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (number, (text, bits)) in (1..).zip(self.texts.iter().zip(&self.bits)) {
            let bits = bits.map_or(String::new(), |bits| format!(" bits={bits:.2}"));
            bytes.extend(format!(">{}_{number}{bits}\n", self.name).into_bytes());
            for line in text.chunks(LINE) {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            }
        }
        bytes
    }
}

/// Refuses what only rows can be cut into.
fn refuse_numbered(to: &Output) -> anyhow::Result<()> {
    match to.rows_per_file {
        Some(_) => refuse("--rows-per-file is for the rows of tables", "leave it out"),
        None => Ok(()),
    }
}

/// Texts to a file or standard output.
pub(crate) fn texts(texts: &Texts, to: &Output) -> anyhow::Result<()> {
    refuse_numbered(to)?;
    let bytes = match texts.format(to) {
        Format::Txt => texts.plain(),
        Format::Jsonl => texts.json_lines(),
        Format::Fasta => texts.fasta(),
        _ => return refuse("a text is no table", "--format txt, jsonl or fasta"),
    };
    match &to.out {
        Some(path) => text_file(path, &bytes),
        None => print(&bytes),
    }
}

/// Whether texts go to standard output as they are.
pub(crate) fn is_plain_text(to: &Output) -> bool {
    to.out.is_none() && to.format.is_none_or(|format| format == Format::Txt)
}

/// A text to standard output as it is made; on a terminal every piece is seen at once.
pub(crate) fn stream(text: text::TextStream<'_>) -> anyhow::Result<()> {
    let seen = std::io::stdout().is_terminal();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for piece in text {
        if interrupted().is_set() {
            out.write_all(b"\n")?;
            out.flush()?;
            return Err(pmm::Error::Stopped.into());
        }
        out.write_all(&piece?)?;
        if seen {
            out.flush()?;
        }
    }
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// Images: to a grid in one file or on standard output, or to a file each in a folder, with their classes in `labels.csv`.
pub(crate) fn images(images: &[DrawnImage], facts: &ImageFacts, to: &Output) -> anyhow::Result<()> {
    let pixels: Vec<Vec<u8>> = images.iter().map(|image| image.pixels.clone()).collect();
    let columns = ((images.len() as f64).sqrt().ceil() as usize).max(1);
    let Some(path) = &to.out else { return print(&grid_png(&pixels, facts.shape, columns)?) };
    if path.extension().is_some() && !path.is_dir() {
        return file(path, &grid_png(&pixels, facts.shape, columns)?);
    }
    folder(path)?;
    let mut labels = vec![["file".to_owned(), "label".to_owned()]];
    for (index, image) in images.iter().enumerate() {
        let name = format!("{index:06}.png");
        file(&path.join(&name), &grid_png(&pixels[index..=index], facts.shape, 1)?)?;
        if let Some(class) = image.label.and_then(|label| facts.classes.get(label as usize)) {
            labels.push([name, class.clone()]);
        }
    }
    if labels.len() > 1 {
        file(&path.join("labels.csv"), &comma_separated(&labels)?)?;
    }
    Ok(())
}

/// Lines of cells, quoted where they must be.
fn comma_separated(lines: &[[String; 2]]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line)?;
    }
    Ok(writer.into_inner()?)
}

/// Refuses what images cannot be written to, before anything is drawn.
pub(crate) fn check_images(to: &Output) -> anyhow::Result<()> {
    refuse_numbered(to)?;
    let hint = "--out grid.png for one picture of all, --out folder for a file each";
    if to.format.is_some() {
        return refuse("images are written as PNG", "leave out --format");
    }
    match &to.out {
        None if std::io::stdout().is_terminal() => refuse("a picture is not for the terminal", hint),
        Some(path) if !path.is_dir() && path.extension().is_some_and(|e| !e.eq_ignore_ascii_case("png")) => {
            refuse(format!("{} is not named .png", path.display()), hint)
        }
        _ => Ok(()),
    }
}
