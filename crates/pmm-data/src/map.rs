//! Bytes to read from: a file where it lies, or memory.

#![expect(
    unsafe_code,
    reason = "a mapped file changes if someone changes the file; the one place that maps says why none does"
)]

use std::fs::File;
use std::io::{self, Read};

use memmap2::Mmap;

/// Files up to this length are copied to memory: whatever happens to such a file afterwards, nobody notices. A longer one is read
/// where it lies; if someone cuts it short meanwhile, the system ends the program.
const COPIED: u64 = 1 << 28;

/// Bytes of a file that is read where it lies, or bytes in memory.
#[derive(Debug)]
pub(crate) enum Map {
    File(Mmap),
    Memory(Vec<u8>),
}

impl Map {
    /// The content of a file; none if it is no regular file or has none.
    pub(crate) fn open(mut file: File) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(None);
        }
        if metadata.len() <= COPIED {
            let mut bytes = Vec::with_capacity(metadata.len() as usize);
            file.read_to_end(&mut bytes)?;
            return Ok(Some(Self::Memory(bytes)));
        }
        // SAFETY: the map is only read, and every bit pattern is a valid byte. The file is made under a temporary name and
        // renamed when it is whole; this program never writes to it afterwards, and a new one takes its place by name only,
        // so that the mapped one keeps its content until it is unmapped.
        unsafe { Mmap::map(&file) }.map(Self::File).map(Some)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_short_after_it_was_opened_is_still_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        std::fs::write(&path, vec![7; 100_000]).unwrap();
        let map = Map::open(File::open(&path).unwrap()).unwrap().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(1).unwrap();
        assert!(map.bytes().len() == 100_000 && map.bytes().iter().all(|&byte| byte == 7));
        File::create(&path).unwrap();
        assert!(Map::open(File::open(&path).unwrap()).unwrap().is_none());
        assert!(Map::open(File::open(folder.path()).unwrap()).unwrap().is_none());
    }
}
