//! The folder that is served: its models and data by name. No name leads out of it, nor does a link in it.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use pmm::DataKind;
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// The ending of models' folders.
pub(crate) const MODEL: &str = ".pmm";
/// Where the server keeps what it must know when it is started again.
const RECORDS: &str = ".pmm-serve";
/// The longest name, in bytes.
const LONGEST: usize = 200;
/// Entries of a folder of data that are looked at for links that lead out of it.
const MOST_ENTRIES: usize = 1_000_000;

/// The folder that is served.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
}

/// A file or folder of data.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DataEntry {
    /// Its name in the folder.
    pub(crate) name: String,
    /// `table`, `text` or `image`.
    pub(crate) kind: &'static str,
    /// Bytes of a file.
    pub(crate) bytes: Option<u64>,
    /// Seconds since 1970 when it was changed.
    pub(crate) changed: u64,
}

impl Workspace {
    pub(crate) fn open(folder: &Path) -> std::io::Result<Self> {
        let root = folder.canonicalize()?;
        if !root.is_dir() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotADirectory, "is not a folder"));
        }
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a model, whether it is there or not.
    pub(crate) fn model_path(&self, name: &str) -> Result<PathBuf, Problem> {
        check_name(name)?;
        Ok(self.root.join(format!("{name}{MODEL}")))
    }

    /// The folder of a model that is there, none of whose files is a link out of the folder.
    pub(crate) fn model(&self, name: &str) -> Result<PathBuf, Problem> {
        let path = self.model_path(name)?;
        if std::fs::symlink_metadata(&path).is_err() {
            return Err(Problem::missing(format!("there is no model {name}")));
        }
        self.check_inside(&path)?;
        Ok(path)
    }

    /// A file or folder of data that is there.
    pub(crate) fn data(&self, name: &str) -> Result<PathBuf, Problem> {
        check_name(name)?;
        let path = self.root.join(name);
        if std::fs::symlink_metadata(&path).is_err() || name.ends_with(MODEL) {
            return Err(Problem::missing(format!("there is no data file {name}")));
        }
        self.check_inside(&path)?;
        Ok(path)
    }

    /// Where a new data file goes. What is there must not be replaced.
    pub(crate) fn new_data(&self, name: &str) -> Result<PathBuf, Problem> {
        check_name(name)?;
        if name.ends_with(MODEL) {
            return Err(Problem::bad(format!("{name} would be a model, not data")));
        }
        Ok(self.root.join(name))
    }

    /// Where what is known of a fit is kept.
    pub(crate) fn record(&self, name: &str) -> PathBuf {
        self.records().join(format!("{name}.json"))
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.root.join(RECORDS)
    }

    /// The names of the models, those that are not fitted yet among them.
    pub(crate) fn models(&self) -> Vec<String> {
        let name = |entry: &std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_suffix(MODEL)?.to_owned();
            (check_name(&name).is_ok() && self.model(&name).is_ok() && entry.path().is_dir()).then_some(name)
        };
        self.entries().iter().filter_map(name).collect()
    }

    /// The data files and folders.
    pub(crate) fn data_entries(&self) -> Vec<DataEntry> {
        let of = |entry: &std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let path = self.data(&name).ok()?;
            let found = std::fs::metadata(&path).ok()?;
            if !(found.is_file() && is_data_name(&name) || found.is_dir() && holds_data(&path)) {
                return None;
            }
            let kind = pmm::recognise(&path, None).ok()?;
            if kind != DataKind::Image && name.to_lowercase().ends_with(".zip") {
                // Of archives only those of pictures are read.
                return None;
            }
            let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            Some(DataEntry {
                name,
                kind: kind.name(),
                bytes: found.is_file().then_some(found.len()),
                changed: changed.map_or(0, |time| time.as_secs()),
            })
        };
        self.entries().iter().filter_map(of).collect()
    }

    /// What is in the folder, by name.
    fn entries(&self) -> Vec<std::fs::DirEntry> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut entries: Vec<_> =
            entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        entries
    }

    /// Refuses what is, or holds, a link that leads out of the folder, and what is neither file nor folder.
    fn check_inside(&self, path: &Path) -> Result<(), Problem> {
        let mut left = MOST_ENTRIES;
        self.check_entry(path, &mut left)
    }

    fn check_entry(&self, path: &Path, left: &mut usize) -> Result<(), Problem> {
        let name = || path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        let real = path.canonicalize().map_err(|error| Problem::missing(format!("{}: {error}", name())))?;
        if !real.starts_with(&self.root) {
            return Err(Problem::forbidden(format!("{} leads out of the folder", name())));
        }
        let found = std::fs::symlink_metadata(&real).map_err(|error| Problem::missing(error.to_string()))?;
        if found.is_dir() {
            for entry in std::fs::read_dir(&real).into_iter().flatten().flatten() {
                *left = left
                    .checked_sub(1)
                    .ok_or_else(|| Problem::refused(format!("{} holds too many files", name())))?;
                // Plain files cannot lead anywhere.
                if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    self.check_entry(&entry.path(), left)?;
                }
            }
        } else if !found.is_file() {
            return Err(Problem::forbidden(format!("{} is not a regular file", name())));
        }
        Ok(())
    }
}

/// Refuses names that are paths, hidden, or that no file should have.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let refused = |why: &str| Err(Problem::bad(format!("{name:?} is no name: {why}")));
    if name.is_empty() || name.len() > LONGEST {
        return refused("it must have 1 to 200 bytes");
    }
    if name.starts_with('.') || name != name.trim() {
        return refused("it must not begin with a dot, nor begin or end with a blank");
    }
    if name.contains(['/', '\\', ':']) || name.chars().any(char::is_control) {
        return refused("it must not contain slashes, colons or control characters");
    }
    Ok(())
}

/// Whether a name in the folder looks like data: notes and programs beside them are not listed.
fn is_data_name(name: &str) -> bool {
    const ENDINGS: [&str; 25] = [
        "csv", "tsv", "tab", "parquet", "arrow", "feather", "ipc", "arrows", "txt", "text", "md", "jsonl",
        "ndjson", "npz", "npy", "png", "fa", "faa", "fasta", "fna", "fastq", "ubyte", "bin", "dat", "zip",
    ];
    let name = name.to_lowercase();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(&name);
    plain.ends_with("ubyte")
        || plain.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
        || plain.starts_with("text8")
}

/// Whether a folder holds texts or images to learn.
fn holds_data(folder: &Path) -> bool {
    matches!(pmm::recognise(folder, None), Ok(DataKind::Image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "x\0y", "a\nb", " a", "c:x"] {
            assert_eq!(check_name(name).unwrap_err().status, 400, "{name:?}");
        }
        for name in ["penguins", "my data.csv", "Größe-2.parquet", "a..b"] {
            check_name(name).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_refused() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret.csv"), "a\n1\n").unwrap();
        let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(from, to);
        link(&outside.path().join("secret.csv"), &inside.path().join("link.csv")).unwrap();
        link(outside.path(), &inside.path().join("m.pmm")).unwrap();
        std::fs::create_dir(inside.path().join("n.pmm")).unwrap();
        link(&outside.path().join("secret.csv"), &inside.path().join("n.pmm/report.html")).unwrap();
        std::fs::write(inside.path().join("real.csv"), "a\n1\n").unwrap();
        link(Path::new("real.csv"), &inside.path().join("alias.csv")).unwrap();
        let workspace = Workspace::open(inside.path()).unwrap();
        assert_eq!(workspace.data("link.csv").unwrap_err().status, 403);
        assert_eq!(workspace.model("m").unwrap_err().status, 403);
        assert_eq!(workspace.model("n").unwrap_err().status, 403);
        workspace.data("alias.csv").unwrap();
        let names: Vec<String> = workspace.data_entries().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["alias.csv", "real.csv"]);
        assert!(workspace.models().is_empty());
    }
}
