//! Pictures, a file each: those of a folder, in which direct subfolders are classes, unless `labels.csv` says them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::broken::each;
use super::decode::{decode, look, unsupported};
use super::error::{ImageDataError, in_file, name};
use super::found::{Classed, Found};
use super::labels_csv::LABELS_CSV;
use super::store::{Item, See, Sink, Store};

/// Extensions of pictures that are read.
const READ: [&str; 4] = ["png", "jpg", "jpeg", "webp"];
/// Extensions of pictures that are not: leaving them out silently would change what is learned.
const NOT_READ: [&str; 12] =
    ["gif", "bmp", "tif", "tiff", "avif", "heic", "heif", "jxl", "jp2", "jfif", "tga", "ppm"];

/// Picture files, in order.
#[derive(Debug)]
pub(super) struct Pictures(Classed<PathBuf>);

impl Pictures {
    /// One picture, without a class.
    pub(super) fn one(path: &Path) -> Self {
        let pictures = vec![(path.to_owned(), None)];
        Self(Classed { pictures, classes: vec![], has_labels: false, notes: vec![] })
    }

    /// The pictures of a folder and of the folders in it, by path. Hidden ones are passed over.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, ImageDataError> {
        let mut found = Found { pictures: vec![], others: vec![], labels: None };
        each(files(folder)?, |path| {
            let below = below(folder, &path);
            if is_picture(&path)? {
                found.pictures.push((below, path));
            } else if below == LABELS_CSV {
                found.labels = Some(in_file(&path, || fs::read(&path))?);
            } else {
                found.others.push(name(&path));
            }
            Ok(())
        })?;
        Ok(Self(found.classed(folder)?))
    }

    /// Whether the classes are those of `labels.csv`.
    pub(super) fn has_labels(&self) -> bool {
        self.0.has_labels
    }
}

/// A file's name below a folder, with `/` between its parts.
fn below(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl Store for Pictures {
    fn count(&self) -> u64 {
        self.0.pictures.len() as u64
    }

    fn classes(&self) -> &[String] {
        &self.0.classes
    }

    fn notes(&self) -> &[String] {
        &self.0.notes
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        each(&self.0.pictures, |(path, _)| see(&name(path), look(path)?))
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        each(&self.0.pictures, |(path, label)| {
            sink(Item { file: &name(path), picture: decode(path)?, label: *label })
        })
    }
}

/// The files of a folder and of the folders in it, by path, but for hidden ones.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ImageDataError> {
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
            } else if path.is_file() {
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
        assert_eq!(pictures.classes(), ["cat", "dog"]);
        let expected =
            [("a.webp", None), ("cat/x/y.JPEG", Some(0)), ("cat/z.jpg", Some(0)), ("dog/b.png", Some(1))];
        assert_eq!(pictures.0.pictures, expected.map(|(file, label)| (folder.path().join(file), label)));
        assert_eq!(pictures.notes().len(), 2, "notes/a.txt is no picture, a.webp has no class");
    }

    #[test]
    fn labels_csv_says_the_classes() {
        let folder = folder(&["b.png", "a/a.png"]);
        fs::write(folder.path().join(LABELS_CSV), "file,label\nb.png,dog\na/a.png,cat\n").unwrap();
        let pictures = Pictures::in_folder(folder.path()).unwrap();
        let labels: Vec<_> = pictures.0.pictures.iter().map(|(_, label)| *label).collect();
        assert_eq!(
            (pictures.classes(), &labels[..]),
            (&["cat".into(), "dog".into()][..], &[Some(0), Some(1)][..])
        );
        assert!(pictures.has_labels() && pictures.notes().is_empty());
        fs::write(folder.path().join(LABELS_CSV), "file,label\nb.png,dog\n").unwrap();
        let error = Pictures::in_folder(folder.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("labels.csv does not hold the labels of 2 images: it has no line for a/a.png"),
            "{error}"
        );
    }

    #[test]
    fn all_broken_pictures_are_named() {
        let folder = folder(&["a.png", "b.jpg", "c.webp"]);
        let pictures = Pictures::in_folder(folder.path()).unwrap();
        for error in [pictures.looks(&mut |_, _| Ok(())), pictures.read(&mut |_| Ok(()))] {
            let error = error.unwrap_err().to_string();
            assert!(
                error.starts_with("3 pictures cannot be read: ") && error.contains("b.jpg is not"),
                "{error}"
            );
        }
    }

    #[test]
    fn pictures_that_are_not_read_are_not_passed_over() {
        let folder = folder(&["a.png", "b/c.GIF", "d.txt"]);
        let error = Pictures::in_folder(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with("c.GIF is a GIF file, which is not read"), "{error}");
        assert!(error.hint().unwrap().contains("convert the picture"));
    }
}
