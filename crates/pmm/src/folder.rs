//! A model's folder `NAME.pmm/`: its files, who may write to it, and how one model takes the place of another.

use std::path::{Path, PathBuf};

use pmm_store::{FolderLock, LockError, remove_leftovers, write_whole};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::error::Error;
use crate::kind::DataKind;

pub(crate) const CONFIG: &str = "config.toml";
pub(crate) const WEIGHTS: &str = "weights.safetensors";
pub(crate) const CHECKPOINT: &str = "state/checkpoint.safetensors";
/// The trees of a table that are grown so far.
pub(crate) const TREES: &str = "state/trees.safetensors";
pub(crate) const LOG: &str = "log.csv";

/// Writes a file, whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, bytes).map_err(|source| Error::Io { path: path.into(), source })
}

/// Makes a folder, with those above it.
pub(crate) fn make(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|source| Error::Io { path: path.into(), source })
}

/// The text of a file that every model has.
pub(crate) fn read_text(folder: &Path, name: &'static str) -> Result<String, Error> {
    let path = folder.join(name);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NotAModel { path: folder.into(), missing: name });
        }
        Err(_) if folder.is_file() => return Err(Error::NotAModel { path: folder.into(), missing: name }),
        // A pipe in place of a file would be waited for.
        Ok(data) if !data.is_file() => {
            return Err(Error::DamagedModel { path, why: "it is not a regular file".into() });
        }
        _ => {}
    }
    std::fs::read_to_string(&path).map_err(|source| Error::Io { path, source })
}

/// Of what kind the model in a folder is; none if it is no model.
pub fn kind_of(folder: &Path) -> Option<DataKind> {
    let table: toml::Table = read_text(folder, CONFIG).ok()?.parse().ok()?;
    match table.get("kind") {
        // No settings are those of no model.
        None if table.is_empty() => None,
        None => Some(DataKind::Table),
        Some(kind) => DataKind::from_name(kind.as_str()?),
    }
}

/// Where a fit is to be kept, and what may be there already.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) mode: Mode,
}

/// What a fit does with a folder that is a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// There must be none.
    #[default]
    New,
    /// Goes on with it.
    Resume,
    /// Takes its place, once whole.
    Replace,
    /// Reads it, and writes nothing: another rank has the folder, and writes.
    Follow,
}

/// A folder that this process alone writes to, until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    /// Where the fit is.
    pub(crate) path: PathBuf,
    /// Where it goes when it is whole, if that is somewhere else.
    target: Option<PathBuf>,
    /// Folders that were made for it, to be removed if nothing comes of it.
    made: Vec<PathBuf>,
    lock: Option<FolderLock>,
    /// That of the model whose place it takes.
    old: Option<FolderLock>,
}

impl Place {
    /// Takes the folder, after a look at what is there; nothing that is there is changed.
    pub(crate) fn take(&self) -> Result<WorkFolder, Error> {
        let folder = &self.folder;
        let is_model = folder.join(CONFIG).exists();
        let begun = next_to(folder);
        let (path, target) = match self.mode {
            Mode::New if is_model => return Err(Error::ModelExists { folder: folder.clone() }),
            Mode::New if !is_empty(folder) => return Err(Error::FolderInUse { folder: folder.clone() }),
            Mode::New => (folder.clone(), None),
            // A replacement that was stopped goes on before what it would replace.
            Mode::Resume if begun.join(CONFIG).exists() => (begun, Some(folder.clone())),
            Mode::Resume if is_model => (folder.clone(), None),
            Mode::Resume => return Err(Error::NothingToResume { folder: folder.clone() }),
            Mode::Replace if is_model => (begun, Some(folder.clone())),
            Mode::Replace if !is_empty(folder) => return Err(Error::FolderInUse { folder: folder.clone() }),
            Mode::Replace => (folder.clone(), None),
            Mode::Follow => {
                return Ok(WorkFolder {
                    path: folder.clone(),
                    target: None,
                    made: Vec::new(),
                    lock: None,
                    old: None,
                });
            }
        };
        check_files(&path)?;
        let old = target.as_ref().map_or(Ok(None), |target| hold(&target.join("state")))?;
        let made = make_noting(&path.join("state"))?;
        let mut work = WorkFolder { path, target, made, lock: None, old };
        work.lock = Some(FolderLock::take(&work.path.join("state"))?);
        if self.mode == Mode::Replace && work.target.is_some() {
            work.clear()?;
        }
        remove_leftovers(&work.path);
        remove_leftovers(&work.path.join("state"));
        Ok(work)
    }
}

impl WorkFolder {
    /// A replacement that was begun before is given up.
    fn clear(&self) -> Result<(), Error> {
        let failed = |source| Error::Io { path: self.path.clone(), source };
        for entry in std::fs::read_dir(&self.path).map_err(failed)?.flatten() {
            let path = entry.path();
            let removed = match path.is_dir() {
                true => clear_state(&path),
                false => std::fs::remove_file(&path),
            };
            removed.map_err(|source| Error::Io { path, source })?;
        }
        Ok(())
    }

    /// Something has come of it: what was made stays.
    pub(crate) fn keep(&mut self) {
        self.made.clear();
    }

    /// Puts a whole model in its place; returns where that is.
    pub(crate) fn finish(mut self) -> Result<PathBuf, Error> {
        self.keep();
        let Some(target) = self.target.take() else { return Ok(self.path.clone()) };
        self.lock = None;
        self.old = None;
        exchange(&self.path, &target)?;
        Ok(target)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = self.lock.take();
        if self.made.is_empty() {
            return;
        }
        // Made in vain; folders that hold anything else stay.
        let _ = std::fs::remove_file(self.path.join("state/lock"));
        for folder in self.made.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Holds the model that is to be replaced; one that somebody writes to is refused. Where there is nothing to lock, nobody writes.
fn hold(state: &Path) -> Result<Option<FolderLock>, Error> {
    match FolderLock::take(state) {
        Ok(lock) => Ok(Some(lock)),
        Err(error @ LockError::Held { .. }) => Err(error.into()),
        Err(LockError::Io { .. }) => Ok(None),
    }
}

/// Refuses a folder that holds pipes or devices: whoever writes to one under the name of a file waits for ever.
fn check_files(folder: &Path) -> Result<(), Error> {
    for folder in [folder.to_owned(), folder.join("state")] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if std::fs::metadata(&path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
                return Err(Error::DamagedModel { path, why: "it is not a regular file".into() });
            }
        }
    }
    Ok(())
}

/// All but the lock, which is held.
fn clear_state(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name() != "lock" {
            let path = entry.path();
            if path.is_dir() { std::fs::remove_dir_all(path)? } else { std::fs::remove_file(path)? }
        }
    }
    Ok(())
}

/// Makes a folder and those above it; returns those that were not there, the outermost first.
fn make_noting(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .map(Into::into)
        .collect();
    make(folder)?;
    Ok(missing.into_iter().rev().collect())
}

/// Whether there is nothing but what a fit leaves that was killed before it wrote its settings: a lock, copies of its data, and files
/// that were not yet whole.
fn is_empty(folder: &Path) -> bool {
    let passing = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        let kept = ["lock", "tokens.bin", "images.bin"].contains(&&*name);
        kept || name.starts_with('.') && name.ends_with(".tmp")
    };
    let only_passing = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).all(|name| passing(&name))
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries.flatten(),
        Err(_) => return !folder.exists(),
    };
    let mut entries = entries.map(|entry| entry.path());
    entries.all(|path| match path.file_name() {
        Some(name) if name == "state" => only_passing(&path),
        // The description comes just before the settings.
        Some(name) if ["schema.json", "tokenizer.json", "images.json"].iter().any(|one| name == *one) => {
            folder.join("state/lock").exists()
        }
        Some(name) => name.to_string_lossy().starts_with('.') && passing(name),
        None => false,
    })
}

/// `.NAME.pmm.next` beside `NAME.pmm`: where its replacement is made.
fn next_to(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    folder.with_file_name(format!(".{name}.next"))
}

/// Makes a folder of files and puts it where `folder` is, whole.
pub(crate) fn replace(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let mode = if folder.join(CONFIG).exists() { Mode::Replace } else { Mode::New };
    let work = Place { folder: folder.into(), mode }.take()?;
    fill(&work.path)?;
    work.finish().map(drop)
}

/// Puts the folder `from` where `to` is, and removes what was there: at no moment is there no whole folder at `to`.
fn exchange(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = |source: std::io::Error| Error::Io { path: to.into(), source };
    let swapped = renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE);
    if swapped.is_err() {
        // A file system that cannot: for an instant the old one has another name.
        let aside = to.with_extension("old");
        std::fs::rename(to, &aside).map_err(failed)?;
        std::fs::rename(from, to).map_err(failed)?;
        std::fs::rename(&aside, from).map_err(failed)?;
    }
    std::fs::remove_dir_all(from).map_err(|source| Error::Io { path: from.into(), source })
}

/// Bytes of a folder's files, with those in folders within.
pub(crate) fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path, mode: Mode) -> Place {
        Place { folder: folder.join("m.pmm"), mode }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_comes_to_nothing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(place(folder.path(), Mode::New).take().unwrap());
        assert!(names(folder.path()).is_empty());
        assert!(matches!(place(folder.path(), Mode::Resume).take(), Err(Error::NothingToResume { .. })));
    }

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("m.pmm")).unwrap();
        std::fs::write(folder.path().join("m.pmm/thesis.txt"), "years").unwrap();
        for mode in [Mode::New, Mode::Replace] {
            assert!(matches!(place(folder.path(), mode).take(), Err(Error::FolderInUse { .. })));
        }
        assert_eq!(names(&folder.path().join("m.pmm")), ["thesis.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_among_the_files_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        replace(&folder.path().join("m.pmm"), |place| write(&place.join(CONFIG), b"old = 1")).unwrap();
        let pipe = folder.path().join("m.pmm/state/tokens.bin");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = place(folder.path(), Mode::Resume).take().unwrap_err();
        assert!(error.to_string().contains("tokens.bin"), "{error}");
    }

    #[test]
    fn one_writes_and_the_other_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = place(folder.path(), Mode::New).take().unwrap();
        write(&first.path.join(CONFIG), b"").unwrap();
        first.keep();
        for mode in [Mode::Resume, Mode::Replace] {
            let error = place(folder.path(), mode).take().unwrap_err();
            assert!(error.to_string().contains("process"), "{error}");
            assert_eq!(names(folder.path()), ["m.pmm"], "nothing is begun");
        }
        drop(first);
        place(folder.path(), Mode::Resume).take().unwrap();
        let second = place(folder.path(), Mode::Replace).take().unwrap();
        assert!(place(folder.path(), Mode::Replace).take().is_err(), "a replacement holds both");
        drop(second);
    }

    #[test]
    fn a_model_is_replaced_when_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.pmm");
        replace(&model, |place| write(&place.join(CONFIG), b"old = 1")).unwrap();
        let mut work = place(folder.path(), Mode::Replace).take().unwrap();
        write(&work.path.join(CONFIG), b"new = 1").unwrap();
        work.keep();
        drop(work); // stopped on its way
        assert_eq!(std::fs::read(model.join(CONFIG)).unwrap(), b"old = 1");
        // It goes on where it was, and takes the place at its end.
        let work = place(folder.path(), Mode::Resume).take().unwrap();
        assert_eq!(std::fs::read(work.path.join(CONFIG)).unwrap(), b"new = 1");
        assert_eq!(work.finish().unwrap(), model);
        assert_eq!(std::fs::read(model.join(CONFIG)).unwrap(), b"new = 1");
        assert_eq!(names(folder.path()), ["m.pmm"]);
    }
}
