//! Where a table is written: whole or not at all where that can be had, straight to pipes and devices.

use std::fs::File;
use std::path::Path;

use pmm_store::WholeFile;

use super::error::WriteError;

/// Begins a file of this name; the second handle is for the format's writer, which keeps it.
pub(crate) fn create(path: &Path) -> Result<(WholeFile, File), WriteError> {
    let error = |source| WriteError::Io { path: path.display().to_string(), source };
    let target = WholeFile::create(path).map_err(|source| match missing_folder(path) {
        Some(folder) => WriteError::NoFolder { path: path.display().to_string(), folder },
        None => error(source),
    })?;
    let file = target.handle().map_err(error)?;
    Ok((target, file))
}

/// The folder that would have to be there.
fn missing_folder(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| folder.display().to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path) -> Result<(), WriteError> {
        let (target, mut file) = create(path)?;
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
        assert!(fs::symlink_metadata(at("two")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("deep/real")).unwrap(), "new");
        // A link to what is not there yet.
        symlink("deep/fresh", at("dangling")).unwrap();
        write(&at("dangling")).unwrap();
        assert_eq!(fs::read_to_string(at("deep/fresh")).unwrap(), "new");
    }

    #[test]
    fn folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(write(folder.path()), Err(WriteError::Io { .. })));
        let error = write(&folder.path().join("no/such/t.csv")).unwrap_err();
        assert!(matches!(error, WriteError::NoFolder { .. }) && error.hint().unwrap().contains("mkdir"));
    }
}
