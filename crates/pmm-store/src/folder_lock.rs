//! One writer a folder: a lock that the system lets go of when its holder dies.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Holds a folder for one process, until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

/// Why a folder was not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else writes to it.
    #[error("{} is being written by {holder}", folder.display())]
    Held {
        /// The folder.
        folder: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl FolderLock {
    /// Takes a folder by its file `lock`.
    ///
    /// ```
    /// use pmm_store::{FolderLock, LockError};
    /// let folder = tempfile::tempdir()?;
    /// let held = FolderLock::take(folder.path())?;
    /// assert!(matches!(FolderLock::take(folder.path()), Err(LockError::Held { .. })));
    /// drop(held);
    /// FolderLock::take(folder.path())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(folder: &Path) -> Result<Self, LockError> {
        let path = folder.join("lock");
        let failed = |source| LockError::Io { path: path.clone(), source };
        let options = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = options.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Only a name for the message.
                let _ = file.read_to_string(&mut holder);
                let holder = if holder.trim().is_empty() { "another process".into() } else { holder };
                return Err(LockError::Held { folder: folder.into(), holder: holder.trim().to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut named = || -> io::Result<()> {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "process {}", std::process::id())
        };
        named().map_err(failed)?;
        Ok(Self { file })
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // The name of a holder that is gone would mislead.
        let _ = self.file.set_len(0);
        // To close it is not enough: a child that another thread has just forked has the file open until it becomes another program.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_inherited_holds_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let held = FolderLock::take(folder.path()).unwrap();
        let inherited = held.file.try_clone().unwrap();
        drop(held);
        FolderLock::take(folder.path()).unwrap();
        drop(inherited);
    }
}
