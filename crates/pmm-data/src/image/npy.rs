//! Arrays as `numpy.save` writes them.

use std::io::Read;
use std::path::Path;

use super::array::{Array, Arrays, Labels};
use super::bytes::Bytes;
use super::error::{ImageDataError, in_file, name};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header that is read.
const MOST: u64 = 1 << 20;

/// Whether a file is an array of NumPy, from its first bytes.
pub(super) fn is_npy(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads an array of images, without labels.
pub(super) fn open(path: &Path) -> Result<Arrays, ImageDataError> {
    let bytes = Bytes::file(path)?;
    let header = Header::read(&bytes)?;
    Ok(Arrays { arrays: vec![header.images(bytes, Labels::None)?], classes: vec![] })
}

/// What an array holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// The type of its numbers, as `|u1`.
    pub(super) dtype: String,
    /// Whether the first index runs fastest.
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
    /// Bytes before the numbers.
    pub(super) skip: u64,
}

impl Header {
    pub(super) fn read(bytes: &Bytes) -> Result<Self, ImageDataError> {
        let mut head = Vec::new();
        let mut reader = bytes.reader(0)?.take(MOST);
        in_file(bytes.path(), || reader.by_ref().take(12).read_to_end(&mut head))?;
        let length = length(&head);
        in_file(bytes.path(), || reader.take(length.unwrap_or(0)).read_to_end(&mut head))?;
        let refused =
            || ImageDataError::not_array(bytes.path(), "it does not begin as an array of NumPy does");
        length.and_then(|_| Self::parse(&head)).ok_or_else(refused)
    }

    /// Reads a header such as `{'descr': '|u1', 'fortran_order': False, 'shape': (10, 28, 28), }`.
    fn parse(head: &[u8]) -> Option<Self> {
        let skip = 12 + length(head)?;
        let text = String::from_utf8_lossy(head.get(10..)?).into_owned();
        if (head.len() as u64) < skip {
            return None;
        }
        let after = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        let dtype = after("descr")?;
        // A list of fields is no number; it is named as it stands.
        let dtype = match dtype.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'')?.0,
            None => dtype.split_once(']')?.0,
        };
        let shape = after("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        Some(Self {
            dtype: dtype.into(),
            fortran: after("fortran_order")?.starts_with("True"),
            shape: lengths.map(|length| length.parse().ok()).collect::<Option<_>>()?,
            skip,
        })
    }

    /// Whether the array may be one of images, by its dimensions.
    pub(super) fn may_be_images(&self) -> bool {
        matches!(self.shape.len(), 3 | 4)
    }

    /// The array as one of images. Of four dimensions the last is that of channels if it can be, else the second.
    pub(super) fn images(&self, bytes: Bytes, labels: Labels) -> Result<Array, ImageDataError> {
        let path = bytes.path();
        if self.dtype != "|u1" && self.dtype != "u1" {
            return Err(ImageDataError::NotBytes { path: name(path), dtype: self.dtype.clone() });
        }
        if self.fortran {
            return Err(ImageDataError::not_array(path, "its first index runs fastest (Fortran order)"));
        }
        let (count, height, width, channels, planar) = match *self.shape {
            [count, height, width] => (count, height, width, 1, false),
            [count, height, width, channels @ (1 | 3 | 4)] => (count, height, width, channels, false),
            [count, channels @ (1 | 3 | 4), height, width] => (count, height, width, channels, true),
            _ => return Err(ImageDataError::not_array(path, format!("its shape is {:?}", self.shape))),
        };
        let [height, width, channels] = [height, width, channels].map(|side| side as usize);
        Array { bytes, skip: self.skip, count, height, width, channels, planar, labels }.check()
    }
}

/// The length of a header after its first 12 bytes.
fn length(head: &[u8]) -> Option<u64> {
    let version = *head.get(6).filter(|_| is_npy(head))?;
    match (version, head.get(8..12)?) {
        // The first version has a length of two bytes; the text begins two bytes earlier.
        (1, &[low, high, ..]) => u64::from(u16::from_le_bytes([low, high])).checked_sub(2),
        (2 | 3, &[a, b, c, d]) => Some(u64::from(u32::from_le_bytes([a, b, c, d]))),
        _ => None,
    }
    .filter(|&length| length < MOST - 12)
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::super::idx::tests::all;
    use super::*;

    pub(in crate::image) fn npy(dtype: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        versioned(1, &format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"), values)
    }

    fn versioned(version: u8, text: &str, values: &[u8]) -> Vec<u8> {
        let length = (text.len() as u32 + 1).to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length[..] };
        [&MAGIC[..], &[version, 0], length, text.as_bytes(), b"\n", values].concat()
    }

    fn read(content: &[u8]) -> Result<Vec<Vec<u8>>, ImageDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        fs::write(&path, content).unwrap();
        Ok(all(&open(&path)?)?.into_iter().map(|(planes, _)| planes).collect())
    }

    #[test]
    fn all_layouts_are_read() {
        assert_eq!(read(&npy("|u1", "(2, 1, 2)", &[1, 2, 3, 4])).unwrap(), [[1, 2], [3, 4]]);
        let values = [1, 2, 3, 4, 5, 6];
        assert_eq!(read(&npy("|u1", "(1, 1, 2, 3)", &values)).unwrap(), [[1, 4, 2, 5, 3, 6]]);
        assert_eq!(read(&npy("|u1", "(1, 3, 1, 2)", &values)).unwrap(), [values]);
        assert_eq!(read(&npy("|u1", "(1, 1, 2, 2)", &[1, 2, 3, 4])).unwrap(), [[1, 2, 3, 4]]);
        assert_eq!(
            read(&npy("|u1", "(1, 4, 1, 2)", &[1, 2, 3, 4, 5, 6, 0, 255])).unwrap(),
            [[255, 2, 255, 4, 255, 6]]
        );
        let text = "{'shape': (1, 1, 1), 'fortran_order': False, 'descr': '|u1'}";
        for version in 1..=3 {
            assert_eq!(read(&versioned(version, text, &[9])).unwrap(), [[9]]);
        }
    }

    #[test]
    fn other_arrays_are_refused() {
        let refused = |content: &[u8], reason: &str| {
            let error = read(content).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("x.npy ") && message.contains(reason), "{message}");
            assert!(error.hint().is_some());
        };
        refused(&npy("<f4", "(1, 1, 1)", &[0; 4]), "numbers of type \"<f4\", not bytes");
        refused(&npy("|u1", "(4, 4)", &[0; 16]), "its shape is [4, 4]");
        refused(&npy("|u1", "(1, 5, 5, 5)", &[0; 125]), "its shape is [1, 5, 5, 5]");
        refused(&npy("|u1", "(0, 5, 5)", &[]), "has no images");
        refused(&npy("|u1", "(1, 5, 0)", &[]), "no pixels");
        refused(&npy("|u1", "(2, 1, 2)", &[1, 2, 3]), "it ends in image 1 of 2");
        refused(&npy("|u1", "(1, x, 2)", &[1, 2, 3]), "does not begin as an array");
        refused(&npy("|u1", "(2, 1, 2)", &[])[..40], "does not begin as an array");
        refused(&versioned(9, "", &[]), "does not begin as an array");
        refused(b"\x93NUMPY", "does not begin as an array");
        let text = "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1, 1)}";
        refused(&versioned(1, text, &[1]), "Fortran");
        let text = "{'descr': [('r', '|u1')], 'fortran_order': False, 'shape': (1, 1, 1)}";
        refused(&versioned(1, text, &[1]), "numbers of type");
    }
}
