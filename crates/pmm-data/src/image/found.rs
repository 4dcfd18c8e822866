//! What is found in a folder or an archive: pictures with their classes, and what is passed over.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::{ImageDataError, name};
use super::labels_csv::{LABELS_CSV, read_labels};
use super::words::of_files;

/// Pictures by their names below the folder or archive, such as `dog/a.png`, and what is beside them.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) pictures: Vec<(String, T)>,
    /// Files that are no pictures, as messages call them.
    pub(super) others: Vec<String>,
    /// The content of `labels.csv`.
    pub(super) labels: Option<Vec<u8>>,
}

/// Pictures with their classes.
#[derive(Debug)]
pub(super) struct Classed<T> {
    pub(super) pictures: Vec<(T, Option<u32>)>,
    pub(super) classes: Vec<String>,
    /// Whether the classes are those of `labels.csv`.
    pub(super) has_labels: bool,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

impl<T> Found<T> {
    /// The classes: those of `labels.csv`, else the folders directly below. `place` is the folder or archive, for messages.
    pub(super) fn classed(self, place: &Path) -> Result<Classed<T>, ImageDataError> {
        let at = |file: &str| name(&place.join(file));
        let (files, pictures): (Vec<String>, Vec<T>) = self.pictures.into_iter().unzip();
        let has_labels = self.labels.is_some() && !files.is_empty();
        let named: Vec<Option<String>> = match self.labels.filter(|_| has_labels) {
            Some(text) => {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                let labels = read_labels(&place.join(LABELS_CSV), &text, &files)?;
                labels.into_iter().map(Some).collect()
            }
            None => files.iter().map(|file| Some(file.split_once('/')?.0.to_owned())).collect(),
        };
        let classes: Vec<String> =
            named.iter().flatten().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let labels: Vec<Option<u32>> =
            named.iter().map(|class| Some(classes.binary_search(class.as_ref()?).ok()? as u32)).collect();
        let outside: Vec<&String> = match classes.is_empty() {
            true => vec![],
            false => {
                files.iter().zip(&labels).filter(|(_, label)| label.is_none()).map(|(file, _)| file).collect()
            }
        };
        let first_outside = outside.first().map(|file| at(file));
        let notes = [
            of_files(
                self.others.len(),
                self.others.first().map(String::as_str),
                "is no picture and is passed over",
                "are no pictures and are passed over",
            ),
            of_files(
                outside.len(),
                first_outside.as_deref(),
                "lies outside the folders that are classes: it has no class",
                "lie outside the folders that are classes and have no class",
            ),
        ];
        let notes = notes.into_iter().flatten().collect();
        Ok(Classed { pictures: pictures.into_iter().zip(labels).collect(), classes, has_labels, notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pictures: &[&str], others: &[&str], labels: Option<&str>) -> Classed<()> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = Found {
            pictures: owned(pictures).into_iter().map(|name| (name, ())).collect(),
            others: owned(others),
            labels: labels.map(|text| text.as_bytes().to_vec()),
        };
        found.classed(Path::new("x")).unwrap()
    }

    fn labels(classed: &Classed<()>) -> Vec<Option<u32>> {
        classed.pictures.iter().map(|(_, label)| *label).collect()
    }

    #[test]
    fn what_is_passed_over_and_what_has_no_class_is_said() {
        let all = found(&["a.png", "b.png", "dog/c.png", "cat/d/e.png"], &["x/z.txt"], None);
        assert_eq!(all.classes, ["cat", "dog"]);
        assert_eq!(labels(&all), [None, None, Some(1), Some(0)]);
        let notes = [
            "x/z.txt is no picture and is passed over",
            "2 files lie outside the folders that are classes and have no class, such as x/a.png",
        ];
        assert_eq!(all.notes, notes);
        let plain = found(&["a.png"], &["x/y.txt", "x/z.txt"], None);
        assert_eq!(plain.notes, ["2 files are no pictures and are passed over, such as x/y.txt"]);
        assert!(plain.classes.is_empty() && !plain.has_labels);
    }

    #[test]
    fn labels_csv_counts_more_than_folders() {
        let all = found(&["a.png", "dog/b.png"], &[], Some("file,label\na.png,2\ndog/b.png,1\n"));
        assert_eq!(
            (&all.classes[..], labels(&all)),
            (&["1".to_owned(), "2".to_owned()][..], vec![Some(1), Some(0)])
        );
        assert!(all.has_labels && all.notes.is_empty());
    }
}
