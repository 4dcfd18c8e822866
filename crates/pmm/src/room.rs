//! Whether there is room for data before they are unpacked.

use std::path::Path;

use crate::error::Error;

/// Refuses images that neither the disk of a folder nor, without a folder, memory holds: few bytes may unpack to very many.
pub(crate) fn check_room(
    data: &str,
    count: u64,
    shape: [usize; 3],
    folder: Option<&Path>,
) -> Result<(), Error> {
    let needed = shape.iter().fold(count, |bytes, &side| bytes.saturating_mul(side as u64));
    let (available, place) = match folder {
        Some(folder) => (free_disk(folder), "on the disk"),
        None => (free_memory(), "in memory"),
    };
    match available {
        Some(available) if needed > available => {
            Err(Error::NoRoom { data: data.to_owned(), needed, available, place })
        }
        _ => Ok(()),
    }
}

fn free_disk(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// What the system could give, where it tells.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_disk_and_no_memory_holds_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for folder in [None, Some(folder.path())] {
            check_room("x", 10, [3, 8, 8], folder).unwrap();
            for count in [1 << 50, u64::MAX] {
                let error = check_room("x.npz", count, [3, 1024, 1024], folder).unwrap_err();
                assert!(error.to_string().starts_with("x.npz unpacks to"), "{error}");
            }
        }
    }
}
