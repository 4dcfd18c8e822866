//! Reading a file that is not on this machine, in ranges of bytes.

use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::remote::Remote;

/// Bytes that are asked for at a time.
const AT_ONCE: u64 = 8 << 20;

impl Length for Remote {
    fn len(&self) -> u64 {
        self.length()
    }
}

impl ChunkReader for Remote {
    type T = RangedReader;

    fn get_read(&self, start: u64) -> Result<RangedReader, ParquetError> {
        Ok(RangedReader { at: start, ..RangedReader::new(self) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.range(start..start + length as u64)?)
    }
}

/// Reads a file from its first byte on, some megabytes at a time.
pub(crate) struct RangedReader {
    file: Remote,
    /// The place of the next byte.
    at: u64,
    /// Bytes from there on that are here already.
    bytes: Bytes,
}

impl RangedReader {
    pub(crate) fn new(file: &Remote) -> Self {
        Self { file: file.clone(), at: 0, bytes: Bytes::new() }
    }
}

impl Read for RangedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && self.at < self.file.length() {
            self.bytes = self.file.range(self.at..(self.at + AT_ONCE).min(self.file.length()))?;
        }
        let count = out.len().min(self.bytes.len());
        out[..count].copy_from_slice(&self.bytes.split_to(count));
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for RangedReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.length().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let before = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the first byte");
        let at = at.ok_or_else(before)?;
        let ahead = at.checked_sub(self.at).and_then(|ahead| usize::try_from(ahead).ok());
        match ahead.filter(|ahead| *ahead <= self.bytes.len()) {
            Some(ahead) => drop(self.bytes.split_to(ahead)),
            None => self.bytes.clear(),
        }
        self.at = at;
        Ok(at)
    }
}
