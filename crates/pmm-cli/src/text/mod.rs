//! Models of texts: one file a verb.

pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod gaps;
pub(crate) mod info;
mod plan;
mod recover;
pub(crate) mod sample;
pub(crate) mod trace;
mod write;

use std::path::Path;

use pmm_train::TEXT_PRESETS;

use crate::cli::FitArgs;

/// Whether the data of a fit are a text: by what the user says, else by the name.
pub(crate) fn is_text(args: &FitArgs) -> bool {
    if let Some(kind) = args.set.iter().rev().find_map(|set| set.strip_prefix("kind=")) {
        return kind == "text";
    }
    if args.preset.as_deref().is_some_and(|name| TEXT_PRESETS.iter().any(|(preset, _)| *preset == name)) {
        return true;
    }
    is_text_name(&args.data)
}

fn is_text_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(&name);
    path.is_dir()
        || [".txt", ".text", ".md", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending))
        || name.starts_with("text8")
}

/// The presets in words.
pub(crate) fn presets() -> String {
    let list: Vec<String> = TEXT_PRESETS.iter().map(|(name, what)| format!("{name} ({what})")).collect();
    format!("presets are {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_by_name() {
        for name in ["book.txt", "book.TXT.gz", "a.jsonl.xz", "text8.first70M.xz", "notes.md"] {
            assert!(is_text_name(Path::new(name)), "{name}");
        }
        for name in ["rows.csv", "rows.csv.gz", "-", "rows.parquet", "txt.tsv"] {
            assert!(!is_text_name(Path::new(name)), "{name}");
        }
    }
}
