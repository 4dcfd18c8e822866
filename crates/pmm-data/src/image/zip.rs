//! Zip archives, as far as NumPy writes them: members that are stored or deflated, also in large archives (zip64).

use std::fs::File;
use std::io::{self, BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use crate::unpacked::Unpacked;

/// The longest table of contents that is read.
const MOST: u64 = 1 << 24;
/// The last record, and the longest comment after it.
const END: usize = 22;
const COMMENT: u64 = 65_535;

/// A file within an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    deflated: bool,
    checksum: u32,
    packed: u64,
    /// Bytes that it unpacks to.
    size: u64,
    /// Where its own header is.
    header: u64,
}

impl Member {
    /// The content, from an archive opened anew. At its end the checksum is compared.
    pub(super) fn reader(&self, mut archive: File) -> io::Result<Box<dyn Read>> {
        archive.seek(SeekFrom::Start(self.header))?;
        let mut head = [0; 30];
        archive.read_exact(&mut head)?;
        if !head.starts_with(b"PK\x03\x04") {
            return Err(broken("a member does not begin where it should"));
        }
        let names = u64::from(u16_at(&head, 26)?) + u64::from(u16_at(&head, 28)?);
        archive.seek(SeekFrom::Start(self.header.saturating_add(30 + names)))?;
        let packed = BufReader::with_capacity(1 << 16, archive.take(self.packed));
        let content: Box<dyn Read> =
            if self.deflated { Box::new(DeflateDecoder::new(packed)) } else { Box::new(packed) };
        let content = Checked { content, so_far: Crc::new(), checksum: self.checksum, left: self.size };
        Ok(Box::new(Unpacked::new(content, self.packed)))
    }
}

/// Bytes whose number and checksum are known.
struct Checked {
    content: Box<dyn Read>,
    so_far: Crc,
    checksum: u32,
    left: u64,
}

impl Read for Checked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(out)?;
        self.so_far.update(&out[..count]);
        self.left =
            self.left.checked_sub(count as u64).ok_or_else(|| broken("it holds more than it says"))?;
        if count == 0 && !out.is_empty() && self.so_far.sum() != self.checksum {
            return Err(broken("the checksum is wrong: the file was altered or cut short"));
        }
        Ok(count)
    }
}

/// The members of an archive.
pub(super) fn members(archive: &mut File) -> io::Result<Vec<Member>> {
    let (start, length) = contents(archive)?;
    if length > MOST {
        return Err(broken("the table of contents is too long"));
    }
    archive.seek(SeekFrom::Start(start))?;
    let mut table = Vec::new();
    archive.take(length).read_to_end(&mut table)?;
    let mut rest = table.as_slice();
    let mut members = Vec::new();
    while rest.starts_with(b"PK\x01\x02") {
        let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(rest, at).map(usize::from));
        let (name, extra) = (46 + name?, extra?);
        let length = name + extra + comment?;
        let entry = rest.get(..length).ok_or_else(|| broken("the table of contents is cut short"))?;
        members.push(member(entry, &entry[46..name], &entry[name..name + extra])?);
        rest = &rest[length..];
    }
    Ok(members)
}

fn member(entry: &[u8], name: &[u8], extra: &[u8]) -> io::Result<Member> {
    let name = String::from_utf8_lossy(name).into_owned();
    if u16_at(entry, 8)? & 1 != 0 {
        return Err(broken(&format!("{name} is encrypted")));
    }
    let deflated = match u16_at(entry, 10)? {
        0 => false,
        8 => true,
        other => {
            return Err(broken(&format!("{name} is compressed by method {other}; only deflate is read")));
        }
    };
    // What does not fit in 32 bits is in an extra field, in this order.
    let mut large = large_sizes(extra);
    let mut size = |at| match u32_at(entry, at)? {
        u32::MAX => large.next().ok_or_else(|| broken("a size is missing")),
        small => Ok(u64::from(small)),
    };
    let (size, packed, header) = (size(24)?, size(20)?, size(42)?);
    Ok(Member { name, deflated, checksum: u32_at(entry, 16)?, packed, size, header })
}

/// The numbers of the extra field for large members.
fn large_sizes(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Ok(kind), Ok(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let end = (4 + usize::from(length)).min(extra.len());
        if kind == 1 {
            found = &extra[4..end];
        }
        extra = &extra[end..];
    }
    found.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect::<Vec<_>>().into_iter()
}

/// Start and length of the table of contents.
fn contents(archive: &mut File) -> io::Result<(u64, u64)> {
    let length = archive.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(END as u64 + COMMENT + 20);
    archive.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    archive.take(length - start).read_to_end(&mut tail)?;
    let is_end = |bytes: &[u8]| bytes.starts_with(b"PK\x05\x06");
    let place = tail.windows(END).rposition(is_end).ok_or_else(|| broken("the archive is cut short"))?;
    let (size, offset) = (u32_at(&tail, place + 12)?, u32_at(&tail, place + 16)?);
    let locator = place.checked_sub(20).map(|start| &tail[start..place]);
    match locator.filter(|bytes| bytes.starts_with(b"PK\x06\x07")) {
        Some(locator) if size == u32::MAX || offset == u32::MAX => {
            let mut end = [0; 56];
            archive.seek(SeekFrom::Start(u64_at(locator, 8)?))?;
            archive.read_exact(&mut end)?;
            Ok((u64_at(&end, 48)?, u64_at(&end, 40)?))
        }
        _ => Ok((offset.into(), size.into())),
    }
}

fn broken(reason: &str) -> Error {
    Error::new(ErrorKind::InvalidData, reason)
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().ok_or_else(|| broken("the archive is cut short"))
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;

    /// An archive; with `large` its sizes and places are written in 64 bits.
    pub(in crate::image) fn archive(members: &[(&str, Vec<u8>)], deflate: bool, large: bool) -> Vec<u8> {
        let (mut out, mut table) = (vec![], vec![]);
        for (name, content) in members {
            let mut packed = content.clone();
            if deflate {
                packed.clear();
                let mut encoder =
                    flate2::read::DeflateEncoder::new(content.as_slice(), flate2::Compression::fast());
                encoder.read_to_end(&mut packed).unwrap();
            }
            let mut crc = Crc::new();
            crc.update(content);
            let sizes = [content.len() as u64, packed.len() as u64, out.len() as u64];
            let extra = [&[1, 0, 24, 0][..], &sizes.map(u64::to_le_bytes).concat()].concat();
            let extra = if large { extra } else { vec![9, 9, 1, 0, 7] };
            let small = |size: u64| if large { [0xff; 4] } else { (size as u32).to_le_bytes() };
            let method = [if deflate { 8 } else { 0 }, 0];
            let lengths = [(name.len() as u16).to_le_bytes(), (extra.len() as u16).to_le_bytes()].concat();
            let common = [&method[..], &[0; 4], &crc.sum().to_le_bytes(), &small(sizes[1]), &small(sizes[0])];
            let common = [&common.concat()[..], &lengths].concat();
            out.extend([b"PK\x03\x04\x14\0\0\0", &common[..], name.as_bytes(), &extra, &packed].concat());
            table.extend([b"PK\x01\x02\x14\0\x14\0\0\0", &common[..], &[0; 10], &small(sizes[2])].concat());
            table.extend([name.as_bytes(), &extra].concat());
        }
        let (start, count) = (out.len() as u64, (members.len() as u16).to_le_bytes());
        out.extend(&table);
        let mut end = [(table.len() as u32).to_le_bytes(), (start as u32).to_le_bytes()].concat();
        if large {
            end = vec![0xff; 8];
            let place = out.len() as u64;
            out.extend([&b"PK\x06\x06"[..], &[0; 36]].concat());
            out.extend([table.len() as u64, start].map(u64::to_le_bytes).concat());
            out.extend([b"PK\x06\x07\0\0\0\0", &place.to_le_bytes()[..], &[1, 0, 0, 0]].concat());
        }
        out.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &end, &[3, 0], b"end"].concat());
        out
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        fs::write(&path, bytes).unwrap();
        let members = members(&mut File::open(&path)?)?.into_iter().map(|member| {
            let mut content = vec![];
            member.reader(File::open(&path)?)?.read_to_end(&mut content)?;
            Ok((member.name, content))
        });
        members.collect()
    }

    #[test]
    fn members_come_back() {
        let members = [("a.npy", b"abcabcabcabc".repeat(100)), ("b", vec![]), ("ü", vec![7; 70_000])];
        for (deflate, large) in [(false, false), (true, false), (false, true), (true, true)] {
            let read = read(&archive(&members, deflate, large)).unwrap();
            let expected: Vec<_> =
                members.iter().map(|(name, bytes)| (name.to_string(), bytes.clone())).collect();
            assert_eq!(read, expected, "{deflate} {large}");
        }
    }

    /// Made by Python: `z = zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED)`, then
    /// `with z.open("a", "w", force_zip64=True) as f: f.write(b"abab" * 3)`, as `numpy.savez_compressed` does.
    const PYTHON: &str = "504b03042d0000000800000021001cdf8bbbffffffffffffffff0100140061010010000c000000000000000600\
        0000000000004b4c4a844300504b01022d032d0000000800000021001cdf8bbb060000000c0000000100000000\
        0000000000000080010000000061504b050600000000010001002f000000390000000000";

    #[test]
    fn an_archive_of_python_is_read() {
        let bytes: Vec<u8> = (0..PYTHON.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&PYTHON[at..at + 2], 16).unwrap())
            .collect();
        assert_eq!(read(&bytes).unwrap(), [("a".to_owned(), b"abab".repeat(3))]);
    }

    #[test]
    fn archives_that_are_not_whole_are_refused() {
        let whole = archive(&[("a", b"0123456789".to_vec()), ("b", vec![1; 1000])], false, false);
        for length in 0..whole.len() - 3 {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let mut altered = whole.clone();
        altered[40] ^= 1;
        assert!(read(&altered).unwrap_err().to_string().contains("checksum"));
        for place in 0..whole.len() {
            let mut altered = whole.clone();
            altered[place] ^= 0xff;
            let _ = read(&altered);
        }
        let mut bzip = archive(&[("a", vec![1])], false, false);
        let place = bzip.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
        bzip[place + 10] = 12;
        assert!(read(&bzip).unwrap_err().to_string().contains("method 12; only deflate is read"));
    }
}
