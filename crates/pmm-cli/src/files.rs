//! Writing files so that none is ever half written: to a temporary name, synced, renamed.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use crate::output::Advice;

const ELSEWHERE: &str = "choose another place with --out";

/// Makes a folder, with those above it.
pub(crate) fn make_folder(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path)
        .with_context(|| Advice::new(format!("cannot make the folder {}", path.display()), ELSEWHERE))
}

/// Takes away the weights of a model that is being replaced, so that they are never taken for the new one's.
pub(crate) fn begin_anew(folder: &Path, resume: bool) -> anyhow::Result<()> {
    let weights = folder.join("weights.safetensors");
    if resume || !weights.exists() {
        return Ok(());
    }
    std::fs::remove_file(&weights).with_context(|| format!("cannot replace {}", weights.display()))
}

/// Writes a whole file or nothing.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let try_write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        readable_as_usual(path)
    };
    try_write().with_context(|| Advice::new(format!("cannot write {}", path.display()), ELSEWHERE))
}

/// Temporary files are private to their owner; a result is not.
#[cfg(unix)]
fn readable_as_usual(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_as_usual(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = format!("{:#}", write(&folder.path().join("no/such/a.txt"), b"x").unwrap_err());
        assert!(error.starts_with("cannot write ") && error.contains("a.txt: "), "{error}");
    }
}
