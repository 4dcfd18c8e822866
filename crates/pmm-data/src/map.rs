//! Bytes to read from: a file where it lies, or memory.

#![expect(
    unsafe_code,
    reason = "a mapped file changes if someone changes the file; the one place that maps says why none does"
)]

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Bytes of a file that is read where it lies, or bytes in memory.
#[derive(Debug)]
pub(crate) enum Map {
    File(Mmap),
    Memory(Vec<u8>),
}

impl Map {
    /// Maps a file that has content.
    pub(crate) fn open(file: &File) -> io::Result<Self> {
        // SAFETY: the map is only read, and every bit pattern is a valid byte. The file is made under a temporary name and
        // renamed when it is whole; this program never writes to it afterwards, and a new one takes its place by name only,
        // so that the mapped one keeps its content until it is unmapped.
        unsafe { Mmap::map(file) }.map(Self::File)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}
