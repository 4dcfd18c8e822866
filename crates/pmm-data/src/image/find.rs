//! Which images a path means.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bytes::Bytes;
use super::error::{ImageDataError, in_file, name};
use super::mosaic::Mosaics;
use super::pictures::{Pictures, is_picture};
use super::store::Store;
use super::zipped::ZippedPictures;
use super::{cifar, idx, npy, npz};

/// The images at a path, and what to call them.
pub(super) fn find(path: &Path) -> Result<(String, Box<dyn Store>), ImageDataError> {
    if in_file(path, || fs::metadata(path))?.is_dir() { folder(path) } else { file(path) }
}

fn folder(path: &Path) -> Result<(String, Box<dyn Store>), ImageDataError> {
    if let Some(mosaics) = Mosaics::in_folder(path)? {
        return Ok((format!("{} ({})", name(path), mosaics.files().join(", ")), Box::new(mosaics)));
    }
    let images = files(path, |name| name.contains("images") && name.contains("idx3"))?;
    if !images.is_empty() {
        let one = for_training(path, images)?;
        return Ok((name(&one), Box::new(idx::open(&one)?)));
    }
    let batches = files(path, |name| name.starts_with("data_batch_") && name.ends_with(".bin"))?;
    if !batches.is_empty() {
        return Ok((name(path), Box::new(cifar::open(&batches)?)));
    }
    let pictures = Pictures::in_folder(path)?;
    Ok((described(path, pictures.has_labels()), Box::new(pictures)))
}

/// What to call a folder or archive, and where its classes are from.
fn described(path: &Path, has_labels: bool) -> String {
    let classes = if has_labels { " (classes of labels.csv)" } else { "" };
    name(path) + classes
}

fn file(path: &Path) -> Result<(String, Box<dyn Store>), ImageDataError> {
    let mut head = Vec::new();
    let mut reader = Bytes::file(path)?.reader(0)?.take(16);
    in_file(path, || reader.read_to_end(&mut head))?;
    let store: Box<dyn Store> = match &head[..] {
        head if npy::is_npy(head) => Box::new(npy::open(path)?),
        head if npz::is_zip(head) => match ZippedPictures::open(path)? {
            Some(pictures) => return Ok((described(path, pictures.has_labels()), Box::new(pictures))),
            None => Box::new(npz::open(path)?),
        },
        head if idx::is_idx(head) => Box::new(idx::open(path)?),
        _ if path.extension().is_some_and(|extension| extension == "bin") => {
            Box::new(cifar::open(&[path.to_owned()])?)
        }
        head if is_picture(path)? || image::guess_format(head).is_ok() => match Mosaics::at(path)? {
            Some(mosaics) => Box::new(mosaics),
            None => Box::new(Pictures::one(path)),
        },
        _ => return Err(ImageDataError::NoImages { path: name(path) }),
    };
    Ok((name(path), store))
}

/// The files of a folder whose names in lower case are such, by path.
fn files(folder: &Path, such: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, ImageDataError> {
    let mut found = Vec::new();
    for entry in in_file(folder, || fs::read_dir(folder))? {
        let entry = in_file(folder, || entry)?;
        let file = entry.file_name().to_string_lossy().to_lowercase();
        if such(&file) && !file.starts_with('.') && entry.path().is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The one file, or the one that is for training by its name.
fn for_training(folder: &Path, mut files: Vec<PathBuf>) -> Result<PathBuf, ImageDataError> {
    let file =
        |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if files.len() > 1 {
        // A file may lie there compressed and plain.
        let plain = files.clone();
        files.retain(|path| {
            !plain.contains(&path.with_extension("")) || path.extension().is_none_or(|it| it != "gz")
        });
    }
    let train: Vec<_> = files.iter().filter(|path| file(path).to_lowercase().contains("train")).collect();
    match (&files[..], &train[..]) {
        ([one], _) | (_, &[one]) => Ok(one.clone()),
        _ => Err(ImageDataError::Several { path: name(folder), found: files.iter().map(file).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::idx::tests::{all, idx};
    use super::super::npy::tests::npy;
    use super::super::zip::tests::archive;
    use super::*;

    fn values(path: &Path) -> Vec<u8> {
        all(&*find(path).unwrap().1).unwrap().into_iter().map(|(planes, _)| planes[0]).collect()
    }

    #[test]
    fn files_are_told_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let array = npy("|u1", "(2, 1, 1)", &[1, 2]);
        fs::write(at("a"), &array).unwrap();
        fs::write(at("b"), archive(&[("x.npy", array)], true, false)).unwrap();
        fs::write(at("c"), idx(&[2, 1, 1], &[3, 4])).unwrap();
        fs::write(at("d.bin"), [0; 3073]).unwrap();
        fs::write(at("e"), crate::grid_png(&[vec![5]], [1, 1, 1], 1).unwrap()).unwrap();
        assert_eq!(
            ["a", "b", "c", "d.bin", "e"].map(|name| values(&at(name))),
            [vec![1, 2], vec![1, 2], vec![3, 4], vec![0], vec![5]]
        );
        fs::write(at("f.csv"), "1,2,3").unwrap();
        let error = find(&at("f.csv")).unwrap_err();
        assert!(error.to_string().ends_with("f.csv has no images"), "{error}");
        assert!(error.hint().unwrap().contains("GIF and others are not"));
        let error = find(&at("none")).unwrap_err();
        assert!(error.to_string().contains("none: No such file"), "{error}");
        fs::write(at("g.gif"), "GIF89a").unwrap();
        assert!(
            find(&at("g.gif")).unwrap_err().to_string().ends_with("g.gif is a GIF file, which is not read")
        );
    }

    #[test]
    fn of_a_folder_the_part_for_training_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("t10k-images-idx3-ubyte"), idx(&[1, 1, 1], &[1])).unwrap();
        assert_eq!(values(folder.path()), [1]);
        fs::write(at("other-images-idx3-ubyte"), idx(&[1, 1, 1], &[2])).unwrap();
        let error = find(folder.path()).unwrap_err();
        assert!(matches!(&error, ImageDataError::Several { found, .. } if found.len() == 2), "{error}");
        fs::write(at("train-images-idx3-ubyte"), idx(&[1, 1, 1], &[3])).unwrap();
        fs::write(at("train-images-idx3-ubyte.gz"), "the same, compressed").unwrap();
        assert_eq!(values(folder.path()), [3]);
        assert!(find(folder.path()).unwrap().0.ends_with("train-images-idx3-ubyte"));
    }

    #[test]
    fn batches_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in [("data_batch_2.bin", 2), ("data_batch_1.bin", 1), ("test_batch.bin", 3)] {
            fs::write(folder.path().join(name), vec![value; 3073]).unwrap();
        }
        assert_eq!(values(folder.path()), [1, 2]);
        assert_eq!(values(&folder.path().join("test_batch.bin")), [3]);
    }
}
