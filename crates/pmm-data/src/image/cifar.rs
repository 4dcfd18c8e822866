//! CIFAR-10 in its binary form: `data_batch_*.bin`, in which a label and 3 planes of 32×32 bytes are an image.

use std::fs;
use std::path::{Path, PathBuf};

use super::array::{Array, Arrays, Labels};
use super::bytes::Bytes;
use super::error::{ImageDataError, in_file};

const SIDE: usize = 32;
const RECORD: u64 = 1 + 3 * (SIDE * SIDE) as u64;
const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// Reads batches, one after the other.
pub(super) fn open(paths: &[PathBuf]) -> Result<Arrays, ImageDataError> {
    let arrays = paths.iter().map(|path| batch(path)).collect::<Result<_, _>>()?;
    Ok(Arrays { arrays, classes: CLASSES.map(str::to_owned).into() })
}

fn batch(path: &Path) -> Result<Array, ImageDataError> {
    let length = in_file(path, || fs::metadata(path))?.len();
    if !length.is_multiple_of(RECORD) {
        let reason = format!("its {length} bytes are not a multiple of {RECORD}, as they are in CIFAR-10");
        return Err(ImageDataError::not_array(path, reason));
    }
    Array {
        bytes: Bytes::file(path)?,
        skip: 0,
        count: length / RECORD,
        height: SIDE,
        width: SIDE,
        channels: 3,
        planar: true,
        labels: Labels::Before(CLASSES.len() as u8),
    }
    .check()
}

#[cfg(test)]
mod tests {
    use super::super::idx::tests::all;
    use super::*;

    #[test]
    fn batches_are_read_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.bin", "b.bin"].map(|name| folder.path().join(name));
        let planes: Vec<u8> = (0..3072).map(|place| (place % 251) as u8).collect();
        let image = |label: u8| [&[label], &planes[..]].concat();
        fs::write(&paths[0], [image(3), image(9)].concat()).unwrap();
        fs::write(&paths[1], image(0)).unwrap();
        let arrays = open(&paths).unwrap();
        let expected = [3, 9, 0].map(|label| (planes.clone(), Some(label)));
        assert_eq!(all(&arrays).unwrap(), expected);
        assert_eq!(arrays.classes[3], "cat");
        fs::write(&paths[1], [image(0), image(10)].concat()).unwrap();
        let error = all(&open(&paths).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("image 1 has label 10, not one of 0..10"), "{error}");
        fs::write(&paths[1], &image(0)[1..]).unwrap();
        let error = open(&paths).unwrap_err();
        assert!(error.to_string().contains("its 3072 bytes are not a multiple of 3073"), "{error}");
        fs::write(&paths[1], "").unwrap();
        assert!(matches!(open(&paths), Err(ImageDataError::NoImages { .. })));
    }
}
