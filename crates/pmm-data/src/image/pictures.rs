//! Pictures, a file each: those of a folder, in which direct subfolders are classes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::decode::{decode, look, unsupported};
use super::error::{ImageDataError, in_file, name};
use super::store::{Item, See, Sink, Store};

/// Extensions of pictures that are read.
const READ: [&str; 4] = ["png", "jpg", "jpeg", "webp"];
/// Extensions of pictures that are not: leaving them out silently would change what is learned.
const NOT_READ: [&str; 12] =
    ["gif", "bmp", "tif", "tiff", "avif", "heic", "heif", "jxl", "jp2", "jfif", "tga", "ppm"];

/// Picture files, in order.
#[derive(Debug)]
pub(super) struct Pictures {
    files: Vec<(PathBuf, Option<u32>)>,
    classes: Vec<String>,
}

impl Pictures {
    /// One picture, without a class.
    pub(super) fn one(path: &Path) -> Self {
        Self { files: vec![(path.to_owned(), None)], classes: vec![] }
    }

    /// The pictures of a folder and of the folders in it, by path. Hidden ones are passed over.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, ImageDataError> {
        let found = picture_files(folder)?;
        let class = |path: &Path| {
            let mut below = path.strip_prefix(folder).unwrap_or(path).components();
            let first = below.next()?.as_os_str().to_string_lossy().into_owned();
            below.next().map(|_| first)
        };
        let (files, classes) = by_class(found.into_iter().map(|path| (class(&path), path)).collect());
        Ok(Self { files, classes })
    }
}

/// What each has as its class, and the classes in order.
pub(super) fn by_class<T>(named: Vec<(Option<String>, T)>) -> (Vec<(T, Option<u32>)>, Vec<String>) {
    let classes: BTreeSet<String> = named.iter().filter_map(|(class, _)| class.clone()).collect();
    let classes: Vec<String> = classes.into_iter().collect();
    let label = |class: String| classes.binary_search(&class).ok().map(|label| label as u32);
    let labelled = named.into_iter().map(|(class, item)| (item, class.and_then(label))).collect();
    (labelled, classes)
}

impl Store for Pictures {
    fn count(&self) -> u64 {
        self.files.len() as u64
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        self.files.iter().try_for_each(|(path, _)| see(&name(path), look(path)?))
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        self.files.iter().try_for_each(|(path, label)| {
            sink(Item { file: &name(path), picture: decode(path)?, label: *label })
        })
    }
}

fn picture_files(folder: &Path) -> Result<Vec<PathBuf>, ImageDataError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in in_file(&folder, || fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>())? {
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            // Links to folders may lead round in circles; links to files may not.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.is_file() && is_picture(&path)? {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file is a picture by its name; an error if it is one that is not read.
pub(super) fn is_picture(path: &Path) -> Result<bool, ImageDataError> {
    let extension = path.extension().map(|text| text.to_string_lossy().to_lowercase()).unwrap_or_default();
    if NOT_READ.contains(&extension.as_str()) {
        return Err(unsupported(path, &extension));
    }
    Ok(READ.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    #[test]
    fn direct_subfolders_are_classes() {
        let names =
            ["dog/b.png", "cat/x/y.JPEG", "cat/z.jpg", "a.webp", ".git/a.png", "dog/.a.png", "notes/a.txt"];
        let folder = folder(&names);
        let pictures = Pictures::in_folder(folder.path()).unwrap();
        assert_eq!(pictures.classes, ["cat", "dog"]);
        let expected =
            [("a.webp", None), ("cat/x/y.JPEG", Some(0)), ("cat/z.jpg", Some(0)), ("dog/b.png", Some(1))];
        assert_eq!(pictures.files, expected.map(|(file, label)| (folder.path().join(file), label)));
    }

    #[test]
    fn pictures_that_are_not_read_are_not_passed_over() {
        let folder = folder(&["a.png", "b/c.GIF", "d.txt"]);
        let error = Pictures::in_folder(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with("c.GIF is a GIF file, which is not read"), "{error}");
        assert!(error.hint().unwrap().contains("convert the picture"));
    }
}
