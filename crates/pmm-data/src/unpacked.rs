//! What a compressed file unpacks to, with an end: a few bytes may unpack to more than any disk holds.

use std::io::{self, Read};

/// So many times its size may a file unpack to. Tables and texts shrink 3 to 50 times; deflate can do 1032, xz 7000.
const RATIO: u64 = 200;
/// So much may come of any file.
const HARMLESS: u64 = 1 << 26;

/// Unpacked bytes, refused once there are too many of them for the bytes they came from.
pub(crate) struct Unpacked<R> {
    from: R,
    most: u64,
    left: u64,
}

impl<R: Read> Unpacked<R> {
    /// What comes of `packed` bytes.
    pub(crate) fn new(from: R, packed: u64) -> Self {
        let most = packed.saturating_mul(RATIO).max(HARMLESS);
        Self { from, most, left: most }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(out)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => {
                let most = self.most;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "it unpacks to more than {most} bytes, over {RATIO} times its size, as files do that are made to fill disks; \
                         if that is what it holds, unpack it first"
                    ),
                ));
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_too_much_is_refused() {
        let length = |packed: u64, bytes: u64| {
            io::copy(&mut Unpacked::new(io::repeat(0).take(bytes), packed), &mut io::sink())
        };
        assert_eq!(length(1, HARMLESS).unwrap(), HARMLESS);
        assert_eq!(length(HARMLESS / RATIO + 1, HARMLESS + 100).unwrap(), HARMLESS + 100);
        let error = length(1, HARMLESS + 1).unwrap_err().to_string();
        assert!(error.contains("67108864 bytes, over 200 times"), "{error}");
    }
}
