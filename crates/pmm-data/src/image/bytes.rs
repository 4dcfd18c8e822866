//! Where an array's bytes lie: in a file, plain or compressed, or in a member of an archive.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::{ImageDataError, in_file};
use super::zip::Member;
use crate::unpacked::Unpacked;

/// Bytes that can be read from their beginning as often as wanted.
#[derive(Debug, Clone)]
pub(super) struct Bytes {
    path: PathBuf,
    packing: Packing,
}

#[derive(Debug, Clone)]
enum Packing {
    Plain,
    Gzip,
    Member(Member),
}

impl Bytes {
    /// A file; its first bytes tell whether it is compressed.
    pub(super) fn file(path: &Path) -> Result<Self, ImageDataError> {
        let mut head = Vec::new();
        in_file(path, || File::open(path)?.take(2).read_to_end(&mut head))?;
        let packing = if head == [0x1f, 0x8b] { Packing::Gzip } else { Packing::Plain };
        Ok(Self { path: path.to_owned(), packing })
    }

    /// A member of an archive.
    pub(super) fn member(path: &Path, member: Member) -> Self {
        Self { path: path.to_owned(), packing: Packing::Member(member) }
    }

    /// The file that they are in.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes from `skip` on.
    pub(super) fn reader(&self, skip: u64) -> Result<Box<dyn Read>, ImageDataError> {
        in_file(&self.path, || {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            if matches!(self.packing, Packing::Plain) {
                file.seek(io::SeekFrom::Start(skip))?;
                return Ok(Box::new(BufReader::with_capacity(1 << 16, file)) as Box<dyn Read>);
            }
            let mut reader: Box<dyn Read> = match &self.packing {
                Packing::Member(member) => member.reader(file)?,
                _ => {
                    let gzip = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file));
                    Box::new(Unpacked::new(gzip, length))
                }
            };
            io::copy(&mut reader.by_ref().take(skip), &mut io::sink())?;
            Ok(reader)
        })
    }
}
