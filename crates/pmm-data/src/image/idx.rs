//! IDX files, as MNIST has them: `train-images-idx3-ubyte`, with its labels in `train-labels-idx1-ubyte`.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::array::{Array, Arrays, Labels};
use super::bytes::Bytes;
use super::error::{ImageDataError, in_file};
use super::labels::{check_count, numbered_classes};

/// Whether a file is an IDX file of images, from its first bytes, decompressed.
pub(super) fn is_idx(head: &[u8]) -> bool {
    head.starts_with(&[0, 0, 8, 3])
}

/// Reads images, with the labels beside them if there are any.
pub(super) fn open(path: &Path) -> Result<Arrays, ImageDataError> {
    let bytes = Bytes::file(path)?;
    let [count, height, width] = header(&bytes)?;
    let labels = match labels_beside(path) {
        Some(beside) => Some(labels(&beside, count)?),
        None => None,
    };
    let classes = numbered_classes(labels.iter().flatten());
    let labels = labels.map_or(Labels::None, Labels::Apart);
    let (height, width) = (height as usize, width as usize);
    let array = Array { bytes, skip: 16, count, height, width, channels: 1, planar: false, labels };
    Ok(Arrays { arrays: vec![array.check()?], classes })
}

/// The lengths of an array of bytes with N dimensions.
fn header<const N: usize>(bytes: &Bytes) -> Result<[u64; N], ImageDataError> {
    let mut head = Vec::new();
    let mut reader = bytes.reader(0)?.take(4 + 4 * N as u64);
    in_file(bytes.path(), || reader.read_to_end(&mut head))?;
    if head.len() < 4 + 4 * N || head[..4] != [0, 0, 8, N as u8] {
        let reason = format!("it does not begin as an IDX file of bytes in {N} dimensions");
        return Err(ImageDataError::not_array(bytes.path(), reason));
    }
    Ok(std::array::from_fn(|place| {
        u32::from_be_bytes(std::array::from_fn(|byte| head[4 + 4 * place + byte])).into()
    }))
}

/// The file of labels that belongs to a file of images, by its name.
fn labels_beside(path: &Path) -> Option<PathBuf> {
    let file = path.file_name()?.to_str()?;
    let labels = file.replace("images", "labels").replace("idx3", "idx1");
    let plain = labels.strip_suffix(".gz").unwrap_or(&labels);
    let names = [labels.clone(), plain.to_owned(), format!("{plain}.gz")];
    let beside = |name: String| path.with_file_name(name);
    names.into_iter().filter(|name| name != file).map(beside).find(|path| path.is_file())
}

fn labels(path: &Path, images: u64) -> Result<Vec<u32>, ImageDataError> {
    let bytes = Bytes::file(path)?;
    let [count] = header(&bytes)?;
    check_count(path, images, count)?;
    let mut labels = Vec::new();
    let mut reader = bytes.reader(8)?.take(count);
    in_file(path, || reader.read_to_end(&mut labels))?;
    check_count(path, images, labels.len() as u64)?;
    Ok(labels.into_iter().map(u32::from).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    pub(in crate::image) fn idx(lengths: &[u32], values: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0, 8, lengths.len() as u8];
        lengths.iter().for_each(|length| out.extend(length.to_be_bytes()));
        out.extend(values);
        out
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    type Read = Vec<(Vec<u8>, Option<u32>)>;

    pub(in crate::image) fn all(store: &dyn super::super::store::Store) -> Result<Read, ImageDataError> {
        let mut all = vec![];
        store.read(&mut |item| {
            let channels = if item.picture.look().grey { 1 } else { 3 };
            all.push((item.picture.planes(channels), item.label));
            Ok(())
        })?;
        assert_eq!(all.len() as u64, store.count());
        Ok(all)
    }

    #[test]
    fn images_are_read_with_the_labels_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("t10k-images-idx3-ubyte");
        fs::write(&images, idx(&[2, 1, 2], &[1, 2, 3, 4])).unwrap();
        let plain = open(&images).unwrap();
        assert_eq!(all(&plain).unwrap(), [(vec![1, 2], None), (vec![3, 4], None)]);
        assert!(plain.classes.is_empty());
        fs::write(folder.path().join("t10k-labels-idx1-ubyte.gz"), gzip(&idx(&[2], &[2, 0]))).unwrap();
        let labelled = open(&images).unwrap();
        assert_eq!(all(&labelled).unwrap(), [(vec![1, 2], Some(2)), (vec![3, 4], Some(0))]);
        assert_eq!(labelled.classes, ["0", "1", "2"]);
        let packed = folder.path().join("t10k-images.idx3-ubyte.gz");
        fs::write(&packed, gzip(&idx(&[1, 1, 1], &[9]))).unwrap();
        fs::write(folder.path().join("t10k-labels.idx1-ubyte"), idx(&[1], &[1])).unwrap();
        assert_eq!(all(&open(&packed).unwrap()).unwrap(), [(vec![9], Some(1))]);
    }

    #[test]
    fn files_that_are_not_whole_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("images");
        let refused = |content: &[u8], reason: &str| {
            fs::write(&images, content).unwrap();
            let error = open(&images).and_then(|arrays| all(&arrays)).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("images") && message.contains(reason), "{message}");
            assert!(error.hint().is_some());
        };
        refused(&idx(&[2, 1, 2], &[1, 2, 3]), "it ends in image 1 of 2");
        let packed = gzip(&idx(&[2, 1, 2], &[1, 2, 3, 4]));
        refused(&packed[..packed.len() - 9], "it ends in image");
        refused(&packed[..packed.len() - 1], "it ends in image");
        refused(&idx(&[0, 1, 2], &[]), "has no images");
        refused(&idx(&[1, 0, 2], &[]), "no pixels");
        refused(&idx(&[1, u32::MAX, u32::MAX], &[]), "too large");
        refused(&idx(&[2], &[1, 2]), "in 3 dimensions");
        fs::write(folder.path().join("labels"), idx(&[3], &[1, 2, 3])).unwrap();
        let error = {
            fs::write(&images, idx(&[2, 1, 1], &[1, 2])).unwrap();
            open(&images).unwrap_err()
        };
        assert!(error.to_string().ends_with("labels of 2 images: it holds 3 labels"), "{error}");
        fs::write(folder.path().join("labels"), idx(&[2], &[1])).unwrap();
        assert!(open(&images).unwrap_err().to_string().ends_with("it holds 1 labels"));
    }
}
