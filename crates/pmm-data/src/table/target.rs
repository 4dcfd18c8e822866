//! Where a file is written: whole or not at all where that can be had, straight to pipes and devices.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::WriteError;
use crate::temporary::temporary;

/// An output on its way.
#[derive(Debug)]
pub(crate) enum Target {
    /// A temporary file that gets its name when it is whole.
    Replace { file: NamedTempFile, path: PathBuf },
    /// A pipe, a device or another thing that is no regular file: never replaced.
    Straight,
}

/// Symbolic links that are followed, as systems do.
const LINKS: usize = 40;

impl Target {
    /// The target of a path, and the file to write to. Symbolic links are followed; the file that they lead to is replaced,
    /// with the permissions that it had.
    pub(crate) fn open(path: &Path) -> Result<(Self, File), WriteError> {
        let error = |source| WriteError::Io { path: path.display().to_string(), source };
        let real = followed(path).map_err(error)?;
        let before = fs::metadata(&real).ok();
        if before.as_ref().is_some_and(|before| before.is_dir()) {
            return Err(error(io::Error::new(io::ErrorKind::IsADirectory, "is a folder")));
        }
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            let file = OpenOptions::new().write(true).open(&real).map_err(error)?;
            return Ok((Self::Straight, file));
        }
        let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let (path, folder) = (path.display().to_string(), folder.display().to_string());
            return Err(WriteError::NoFolder { path, folder });
        }
        let file = temporary(&real).map_err(error)?;
        if let Some(before) = before {
            file.as_file().set_permissions(before.permissions()).map_err(error)?;
        }
        let output = file.reopen().map_err(error)?;
        Ok((Self::Replace { file, path: real }, output))
    }

    /// Gives the file its name, once it is on the disk.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Self::Replace { file, path } = self else { return Ok(()) };
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|failed| failed.error)?;
        // The name itself, where folders can be synced.
        if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// The path at the end of a chain of links, which need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().map_or(next.clone(), |folder| folder.join(&next)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn write(path: &Path) -> Result<(), WriteError> {
        let (target, mut file) = Target::open(path)?;
        file.write_all(b"new").expect("three bytes");
        target.finish().expect("a name");
        Ok(())
    }

    #[test]
    fn links_are_followed_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/real"), "old").unwrap();
        symlink("deep/real", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        write(&at("two")).unwrap();
        assert!(fs::symlink_metadata(at("one")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(at("two")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("deep/real")).unwrap(), "new");
        // A link to what is not there yet.
        symlink("deep/fresh", at("dangling")).unwrap();
        write(&at("dangling")).unwrap();
        assert_eq!(fs::read_to_string(at("deep/fresh")).unwrap(), "new");
        symlink(at("loop"), at("loop")).unwrap();
        assert!(write(&at("loop")).is_err());
    }

    #[test]
    fn permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(write(folder.path()), Err(WriteError::Io { .. })));
        let error = write(&folder.path().join("no/such/t.csv")).unwrap_err();
        assert!(matches!(error, WriteError::NoFolder { .. }) && error.hint().unwrap().contains("mkdir"));
    }
}
