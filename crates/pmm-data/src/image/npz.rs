//! Archives as `numpy.savez` writes them: an array of images, perhaps with one of labels.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::array::{Arrays, Labels};
use super::bytes::Bytes;
use super::error::{ImageDataError, in_file, name};
use super::labels::{label, numbered_classes};
use super::npy::Header;
use super::zip;

/// Whether a file is an archive, from its first bytes.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04")
}

/// A named array.
struct Entry {
    name: String,
    bytes: Bytes,
    header: Header,
}

/// Reads the images of an archive: its array of three or four dimensions, or the one that has `train` in its name. An array of
/// as many whole numbers holds the labels.
pub(super) fn open(path: &Path) -> Result<Arrays, ImageDataError> {
    let entries = entries(path)?;
    let images = images(path, &entries)?;
    let count = images.header.shape[0];
    let labels = match labels_of(images, &entries) {
        Some(found) => Some(labels(path, found, count)?),
        None => None,
    };
    let classes = numbered_classes(labels.iter().flatten());
    let labels = labels.map_or(Labels::None, Labels::Apart);
    Ok(Arrays { arrays: vec![images.header.images(images.bytes.clone(), labels)?], classes })
}

fn entries(path: &Path) -> Result<Vec<Entry>, ImageDataError> {
    let members = in_file(path, || zip::members(&mut File::open(path)?))?;
    let entry = |member: zip::Member| {
        let name = member.name.strip_suffix(".npy")?.to_owned();
        let bytes = Bytes::member(path, member);
        Some(Header::read(&bytes).map(|header| Entry { name, bytes, header }))
    };
    members.into_iter().filter_map(entry).collect()
}

fn images<'a>(path: &Path, entries: &'a [Entry]) -> Result<&'a Entry, ImageDataError> {
    let mut found: Vec<_> = entries.iter().filter(|entry| entry.header.may_be_images()).collect();
    if found.len() > 1 && found.iter().any(|entry| is_train(entry)) {
        found.retain(|entry| is_train(entry));
    }
    match found[..] {
        [] => Err(ImageDataError::NoImages { path: name(path) }),
        [one] => Ok(one),
        _ => {
            let found = found.iter().map(|entry| entry.name.clone()).collect();
            Err(ImageDataError::Several { path: name(path), found })
        }
    }
}

fn is_train(entry: &Entry) -> bool {
    entry.name.to_lowercase().contains("train")
}

/// The one array of whole numbers that has a number for each image and is of the same part.
fn labels_of<'a>(images: &Entry, entries: &'a [Entry]) -> Option<&'a Entry> {
    let count = images.header.shape[0];
    let fits = |entry: &&Entry| {
        matches!(*entry.header.shape, [n] | [n, 1] if n == count)
            && integer(&entry.header.dtype).is_some()
            && is_train(entry) == is_train(images)
    };
    let mut found = entries.iter().filter(fits);
    found.next().filter(|_| found.next().is_none())
}

/// Bytes of a whole number that has the least byte first, and whether it has a sign.
fn integer(dtype: &str) -> Option<(usize, bool)> {
    let (signed, width) = match dtype.strip_prefix(['<', '|'])?.split_at_checked(1)? {
        ("i", width) => (true, width),
        ("u", width) => (false, width),
        _ => return None,
    };
    width.parse().ok().filter(|width| [1, 2, 4, 8].contains(width)).map(|width| (width, signed))
}

fn labels(path: &Path, entry: &Entry, count: u64) -> Result<Vec<u32>, ImageDataError> {
    let (width, signed) = integer(&entry.header.dtype).unwrap_or((1, false));
    let mut bytes = Vec::new();
    // One more than there should be is enough to tell.
    let mut reader =
        entry.bytes.reader(entry.header.skip)?.take(count.saturating_mul(width as u64).saturating_add(1));
    in_file(path, || reader.read_to_end(&mut bytes))?;
    super::labels::check_count(path, count, bytes.len().div_ceil(width) as u64)?;
    let value = |number: &[u8]| {
        let negative = signed && number.last().is_some_and(|&byte| byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide[..number.len()].copy_from_slice(number);
        label(path, count, i128::from_le_bytes(wide))
    };
    bytes.chunks_exact(width).map(value).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::idx::tests::all;
    use super::super::npy::tests::npy;
    use super::super::zip::tests::archive;
    use super::*;

    type Read = (Vec<(Vec<u8>, Option<u32>)>, Vec<String>);

    fn read(members: &[(&str, Vec<u8>)], deflate: bool) -> Result<Read, ImageDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        fs::write(&path, archive(members, deflate, true)).unwrap();
        let arrays = open(&path)?;
        Ok((all(&arrays)?, arrays.classes))
    }

    fn images() -> Vec<u8> {
        npy("|u1", "(2, 1, 2)", &[1, 2, 3, 4])
    }

    #[test]
    fn images_are_read_with_their_labels() {
        let labels = npy("<i8", "(2,)", &[2u64, 1].map(u64::to_le_bytes).concat());
        for deflate in [false, true] {
            let (all, classes) = read(&[("y.npy", labels.clone()), ("x.npy", images())], deflate).unwrap();
            assert_eq!(all, [(vec![1, 2], Some(2)), (vec![3, 4], Some(1))]);
            assert_eq!(classes, ["0", "1", "2"]);
        }
        let (all, classes) = read(&[("x.npy", images()), ("readme.txt", vec![])], false).unwrap();
        assert_eq!((all, classes), (vec![(vec![1, 2], None), (vec![3, 4], None)], vec![]));
    }

    #[test]
    fn the_part_for_training_is_taken() {
        let other = npy("|u1", "(2, 1, 2)", &[9; 4]);
        let (y, z) = (npy("|u1", "(2, 1)", &[1, 0]), npy("|u1", "(2, 1)", &[0, 0]));
        let members = [
            ("test_images.npy", other.clone()),
            ("test_labels.npy", z),
            ("train_images.npy", images()),
            ("train_labels.npy", y),
        ];
        assert_eq!(read(&members, true).unwrap().0, [(vec![1, 2], Some(1)), (vec![3, 4], Some(0))]);
        let error = read(&[("a.npy", images()), ("b.npy", other)], true).unwrap_err();
        assert!(error.to_string().ends_with("x.npz has several sets of images: a, b"), "{error}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn what_are_not_images_is_refused() {
        let error = read(&[("a.txt", vec![1])], false).unwrap_err();
        assert!(matches!(error, ImageDataError::NoImages { .. }));
        let negative = npy("|i1", "(2,)", &[0, 0xff]);
        let error = read(&[("x.npy", images()), ("y.npy", negative)], false).unwrap_err();
        assert!(error.to_string().contains("label -1 is not in"), "{error}");
        let floats = npy("<f8", "(2,)", &[0; 16]);
        assert_eq!(read(&[("x.npy", images()), ("y.npy", floats)], false).unwrap().1, [""; 0]);
        let error = read(&[("x.npy", npy("<f4", "(1, 1, 1)", &[0; 4]))], false).unwrap_err();
        assert!(matches!(error, ImageDataError::NotBytes { .. }));
    }

    #[test]
    fn an_altered_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        let mut bytes = archive(&[("x.npy", images())], false, false);
        let place = bytes.windows(4).position(|four| four == [1, 2, 3, 4]).unwrap();
        bytes[place] = 0;
        fs::write(&path, bytes).unwrap();
        let error = all(&open(&path).unwrap()).unwrap_err();
        assert!(error.to_string().contains("x.npz: the checksum is wrong"), "{error}");
    }
}
