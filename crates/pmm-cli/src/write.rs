//! Results on their way out: rows, texts, images.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Context;
use pmm::image::grid_png;
use pmm::table::{FileFormat, OutputColumn, Writer};

use crate::cli::{Format, Output};
use crate::output::{print, refuse};

/// A writer of rows to a file or to standard output.
pub(crate) fn rows(output: &Output, delimiter: char, columns: &[OutputColumn]) -> anyhow::Result<Writer> {
    let format = format(output)?;
    match &output.out {
        None => Ok(Writer::stream(
            std::io::stdout(),
            format.unwrap_or(FileFormat::Delimited(delimiter)),
            columns,
        )?),
        Some(path) => Ok(Writer::create(path, columns)?),
    }
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
        Some(Format::Txt | Format::Jsonl) => {
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

/// Texts to a file or standard output.
pub(crate) fn texts(texts: &[Vec<u8>], to: &Output) -> anyhow::Result<()> {
    let by_name = to.out.as_ref().and_then(|path| path.extension()).is_some_and(|ending| ending == "jsonl");
    let bytes = match to.format.unwrap_or(if by_name { Format::Jsonl } else { Format::Txt }) {
        Format::Txt => {
            let mut bytes = texts.join(&b"\n---\n"[..]);
            bytes.push(b'\n');
            bytes
        }
        Format::Jsonl => {
            let line = |text: &Vec<u8>| {
                format!("{}\n", serde_json::json!({ "text": String::from_utf8_lossy(text) }))
            };
            texts.iter().map(line).collect::<String>().into_bytes()
        }
        _ => return refuse("a text is no table", "--format txt or --format jsonl"),
    };
    match &to.out {
        Some(path) => file(path, &bytes),
        None => print(&bytes),
    }
}

/// Images: to a grid in one file or on standard output, or to a file each in a folder.
pub(crate) fn images(images: &[Vec<u8>], shape: [usize; 3], to: &Output) -> anyhow::Result<()> {
    let columns = ((images.len() as f64).sqrt().ceil() as usize).max(1);
    let Some(path) = &to.out else { return print(&grid_png(images, shape, columns)?) };
    if path.extension().is_some() && !path.is_dir() {
        return file(path, &grid_png(images, shape, columns)?);
    }
    folder(path)?;
    for (index, image) in images.iter().enumerate() {
        let png = grid_png(std::slice::from_ref(image), shape, 1)?;
        file(&path.join(format!("{index:06}.png")), &png)?;
    }
    Ok(())
}

/// Refuses what images cannot be written to, before anything is drawn.
pub(crate) fn check_images(to: &Output) -> anyhow::Result<()> {
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
