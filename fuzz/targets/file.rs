//! A place for the bytes of readers that want a file.

use std::path::PathBuf;

/// Writes an input to a file of this process, in memory where there is such a place.
pub fn file(ending: &str, bytes: &[u8]) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let path = folder.join(format!("pmm-fuzz-{}{ending}", std::process::id()));
    std::fs::write(&path, bytes).expect("can be written");
    path
}
