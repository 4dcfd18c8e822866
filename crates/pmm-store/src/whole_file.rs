//! Files that are either whole or absent: the one place where files are written.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file in the making. A regular file appears under its name with [`finish`](Self::finish) and not before: it is written to a
/// temporary name in the same folder, synced and renamed. A file that it replaces leaves it its permissions. Symbolic links are
/// followed. Anything else that stands there (a pipe, a device) is written to as it is, never replaced.
///
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.txt");
/// let mut file = pmm_store::WholeFile::create(&path)?;
/// file.write_all(b"whole")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// The temporary file and its name to be.
    Temporary(NamedTempFile, PathBuf),
    /// What is no regular file.
    Straight(File),
}

impl WholeFile {
    /// Begins a file of this name.
    pub fn create(path: &Path) -> io::Result<Self> {
        let before = std::fs::metadata(path).ok();
        let target = match &before {
            Some(data) if data.is_dir() => {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
            }
            Some(data) if !data.is_file() => Target::Straight(File::options().write(true).open(path)?),
            // What a link points to is replaced, not the link; a link to nothing makes what it points to.
            _ => {
                let path = resolved(path)?;
                let file = temporary_in(folder_of(&path))?;
                if let Some(before) = &before {
                    file.as_file().set_permissions(before.permissions())?;
                }
                Target::Temporary(file, path)
            }
        };
        Ok(Self { target })
    }

    /// Where the bytes are at present, for writers that want a path; none if they go straight to a pipe or a device.
    pub fn place(&self) -> Option<&Path> {
        match &self.target {
            Target::Temporary(file, _) => Some(file.path()),
            Target::Straight(_) => None,
        }
    }

    /// A second handle to the same bytes, for a writer that keeps it.
    pub fn handle(&self) -> io::Result<File> {
        match &self.target {
            Target::Temporary(file, _) => file.reopen(),
            Target::Straight(file) => file.try_clone(),
        }
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Target::Straight(mut file) => file.flush(),
            Target::Temporary(file, path) => {
                // Whoever wrote by the path may have put another file in its place.
                File::open(file.path())?.sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                // The name itself, where folders can be synced.
                if let Ok(folder) = File::open(folder_of(&path)) {
                    let _ = folder.sync_all();
                }
                Ok(())
            }
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(file, _) => file.write(bytes),
            Target::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Temporary(file, _) => file.flush(),
            Target::Straight(file) => file.flush(),
        }
    }
}

/// Writes a whole file or nothing: a reader sees the old file or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a path stands for once links are followed; a path without a link stays as it is.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many links as the system would follow.
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A temporary file, readable by others as new files are.
fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Removes what writers that were killed have left in a folder: hidden files with `tmp` at either end of their names.
pub fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".tmp") || (name.starts_with('.') && name.ends_with(".tmp")) {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_go_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let keep = [".hidden", "a.tmp", "weights.safetensors"];
        for name in keep.iter().chain(&[".tmpAb12", ".Xy34.tmp"]) {
            write_whole(&folder.path().join(name), b"x").unwrap();
        }
        remove_leftovers(folder.path());
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, keep);
    }

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        drop(WholeFile::create(&path).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(&folder.path().join("no/such/a.txt"), b"x").is_err());
        assert!(write_whole(folder.path(), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write_whole(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("round");
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert!(write_whole(&path, b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        for text in [b"one", b"two"] {
            write_whole(&link, text).unwrap();
            assert_eq!(std::fs::read(&real).unwrap(), text);
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_written_to_and_stay_pipes() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read(path).unwrap()
        });
        write_whole(&path, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
    }
}
