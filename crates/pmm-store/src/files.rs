//! Files that are either whole or absent.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes to a temporary name in the same folder, syncs, and renames: a reader sees the old file or the new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically_by(path, |place| File::create(place)?.write_all(bytes))
}

/// The same by a function that writes to the place it is given.
pub(crate) fn write_atomically_by<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
    write(file.path())?;
    // Whoever wrote may have put another file in its place.
    let written = File::open(file.path())?;
    written.sync_data()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        written.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
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
            write_atomically(&folder.path().join(name), b"x").unwrap();
        }
        remove_leftovers(folder.path());
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, keep);
    }
}
