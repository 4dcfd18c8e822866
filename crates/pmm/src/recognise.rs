//! Of what kind data are: the one place where that is decided.

use std::path::Path;

use pmm_data::FASTA_ENDINGS;
use pmm_train::image::IMAGE_PRESETS;
use pmm_train::text::TEXT_PRESETS;

use crate::error::Error;
use crate::kind::DataKind;

/// The kind of data at a path: by a preset, if one is named, else by what is there. Nothing that can be read only once is read.
pub fn recognise(path: impl AsRef<Path>, preset: Option<&str>) -> Result<DataKind, Error> {
    let path = path.as_ref();
    refuse_nothing(path)?;
    let is =
        |presets: &[(&str, &str)]| preset.is_some_and(|name| presets.iter().any(|(known, _)| *known == name));
    Ok(if is(&IMAGE_PRESETS) {
        DataKind::Image
    } else if is(&TEXT_PRESETS) {
        DataKind::Text
    } else if is_regular(path) && pmm_data::holds_images(path) {
        DataKind::Image
    } else if pmm_data::holds_tables(path) && !holds(path, &is_text_name) {
        DataKind::Table
    } else if is_text_name(path) {
        DataKind::Text
    } else {
        DataKind::Table
    })
}

/// A file or a folder; a look into a pipe would take something out of it.
fn is_regular(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.is_file() || data.is_dir())
}

/// Refuses a folder without a file in it, or in the folders in it, whatever kind it was meant to be.
fn refuse_nothing(path: &Path) -> Result<(), Error> {
    if path.is_dir() && !holds(path, &|_| true) {
        return Err(Error::NothingToLearn {
            data: path.display().to_string(),
            why: "it is an empty folder".into(),
            remedy: "put texts (.txt), images (PNG, JPEG, WebP) or a table (.parquet, .csv) into it, or name a file"
                .into(),
        });
    }
    Ok(())
}

/// Whether such a file is in a folder, or in the folders in it. What cannot be looked into may hold one.
fn holds(folder: &Path, such: &dyn Fn(&Path) -> bool) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => holds(&entry.path(), such),
        _ => such(&entry.path()),
    })
}

fn is_text_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    path.is_dir()
        || FASTA_ENDINGS.contains(&ending)
        || [".txt", ".text", ".md", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending))
        || name.starts_with("text8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_by_name() {
        for name in ["book.txt", "book.TXT.gz", "a.jsonl.xz", "text8.first70M.xz", "notes.md", "p.faa.gz"] {
            assert_eq!(recognise(name, None).unwrap(), DataKind::Text, "{name}");
        }
        for name in ["rows.csv", "rows.csv.gz", "-", "rows.parquet", "txt.tsv"] {
            assert_eq!(recognise(name, None).unwrap(), DataKind::Table, "{name}");
        }
        assert_eq!(recognise("rows.csv", Some("text8-tiny")).unwrap(), DataKind::Text);
        assert_eq!(recognise("rows.csv", Some("mnist")).unwrap(), DataKind::Image);
    }
}
