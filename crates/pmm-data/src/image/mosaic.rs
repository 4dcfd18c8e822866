//! Mosaics: many images of one size side by side in a picture, row by row; their labels are bytes in a file beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::decode::{decode, look};
use super::error::{ImageDataError, in_file, name};
use super::labels::numbered_classes;
use super::pictures::is_picture;
use super::store::{Item, Look, See, Sink, Store};

const LABELS: &str = "_labels.u8";

/// Mosaics, one after the other.
#[derive(Debug)]
pub(super) struct Mosaics {
    mosaics: Vec<Mosaic>,
    classes: Vec<String>,
}

/// A picture of square tiles, as many as there are labels.
#[derive(Debug)]
struct Mosaic {
    path: PathBuf,
    labels: Vec<u32>,
    side: usize,
    /// That of the whole.
    look: Look,
}

impl Mosaics {
    /// The mosaics of a folder, if it has labels: those that are for training by their name, or all if none is. `a_labels.u8`
    /// belongs to the picture `a`; `a_1_2_labels.u8` to `a_1` and `a_2`, half of it to each.
    pub(super) fn in_folder(folder: &Path) -> Result<Option<Self>, ImageDataError> {
        let mut groups = groups(folder)?;
        if groups.iter().any(|group| group.is_train()) {
            groups.retain(Group::is_train);
        }
        if groups.is_empty() {
            return Ok(None);
        }
        let mosaics = groups.iter().map(Group::mosaics).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Self::new(mosaics.into_iter().flatten().collect())))
    }

    /// One mosaic, if a file of labels beside it belongs to it.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, ImageDataError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        for group in groups(folder)? {
            let file = path.file_name();
            if group.pictures.iter().any(|picture| picture.file_name() == file) {
                let mut mosaics = group.mosaics()?;
                mosaics.retain(|mosaic| mosaic.path.file_name() == file);
                return Ok(Some(Self::new(mosaics)));
            }
        }
        Ok(None)
    }

    fn new(mosaics: Vec<Mosaic>) -> Self {
        let classes = numbered_classes(mosaics.iter().flat_map(|mosaic| &mosaic.labels));
        Self { mosaics, classes }
    }

    /// The names of the files.
    pub(super) fn files(&self) -> Vec<String> {
        let file = |mosaic: &Mosaic| mosaic.path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.mosaics.iter().filter_map(file).collect()
    }
}

impl Store for Mosaics {
    fn count(&self) -> u64 {
        self.mosaics.iter().map(|mosaic| mosaic.labels.len() as u64).sum()
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        self.mosaics.iter().try_for_each(|mosaic| {
            let look = Look { height: mosaic.side, width: mosaic.side, ..mosaic.look };
            see(&name(&mosaic.path), look)
        })
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        self.mosaics.iter().try_for_each(|mosaic| mosaic.read(sink))
    }
}

impl Mosaic {
    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        let (file, whole) = (name(&self.path), decode(&self.path)?);
        // The file may have changed since it was looked at.
        check(&self.path, whole.look(), self.labels.len())?;
        let columns = whole.look().width / self.side;
        for (index, &label) in self.labels.iter().enumerate() {
            let (top, left) = (index / columns * self.side, index % columns * self.side);
            let picture = whole.crop(top, left, self.side, self.side);
            sink(Item { file: &file, picture, label: Some(label) })?;
        }
        Ok(())
    }
}

/// A file of labels and the pictures that they belong to.
#[derive(Debug)]
struct Group {
    labels: PathBuf,
    pictures: Vec<PathBuf>,
}

impl Group {
    fn is_train(&self) -> bool {
        self.labels.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with("train"))
    }

    fn mosaics(&self) -> Result<Vec<Mosaic>, ImageDataError> {
        let labels = in_file(&self.labels, || fs::read(&self.labels))?;
        let each = labels.len() / self.pictures.len();
        if each * self.pictures.len() != labels.len() || each == 0 {
            let reason =
                format!("its {} labels are not as many for each of {}", labels.len(), self.pictures.len());
            return Err(ImageDataError::not_array(&self.labels, reason + " pictures"));
        }
        let mosaic = |(path, labels): (&PathBuf, &[u8])| {
            let look = look(path)?;
            let side = check(path, look, each)?;
            let labels = labels.iter().map(|&label| label.into()).collect();
            Ok(Mosaic { path: path.clone(), labels, side, look })
        };
        self.pictures.iter().zip(labels.chunks(each)).map(mosaic).collect()
    }
}

/// The side of square tiles that fill a picture.
fn check(path: &Path, look: Look, tiles: usize) -> Result<usize, ImageDataError> {
    let (height, width) = (look.height, look.width);
    let side = (height * width / tiles).isqrt();
    if side > 0 && side * side * tiles == height * width && height % side == 0 && width % side == 0 {
        return Ok(side);
    }
    let reason = format!("its {width}×{height} pixels are not {tiles} square images");
    Err(ImageDataError::not_array(path, reason))
}

/// The files of labels in a folder, each with the pictures that its name speaks of.
fn groups(folder: &Path) -> Result<Vec<Group>, ImageDataError> {
    let (mut labels, mut pictures) = (vec![], BTreeMap::new());
    for entry in in_file(folder, || fs::read_dir(folder))? {
        let path = in_file(folder, || entry)?.path();
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(stem) = file.strip_suffix(LABELS) {
            labels.push((stem.to_owned(), path));
        } else if is_picture(&path).unwrap_or(false) {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            pictures.insert(stem, path);
        }
    }
    labels.sort();
    let group = |(stem, labels): (String, PathBuf)| {
        let found = spoken_of(&stem).find_map(|stems| {
            stems.iter().map(|stem| pictures.get(stem).cloned()).collect::<Option<Vec<_>>>()
        });
        found.map(|pictures| Group { labels, pictures })
    };
    Ok(labels.into_iter().filter_map(group).collect())
}

/// The names that a name may stand for: `a_1_2` itself, or `a_1` and `a_2`.
fn spoken_of(stem: &str) -> impl Iterator<Item = Vec<String>> {
    let parts: Vec<&str> = stem.split('_').collect();
    let numbers = parts.iter().rev().take_while(|part| part.parse::<u32>().is_ok()).count();
    let (front, numbers) = parts.split_at(parts.len() - numbers);
    let each = numbers.iter().map(|number| format!("{}_{number}", front.join("_"))).collect::<Vec<_>>();
    [vec![stem.to_owned()], each].into_iter().filter(|stems| !stems.is_empty())
}

#[cfg(test)]
mod tests {
    use image::{GrayImage, Luma};

    use super::super::idx::tests::all;
    use super::*;

    /// A mosaic of 2×3 tiles of 2×2 pixels; each has its number, from `first` on.
    fn mosaic(folder: &Path, name: &str, first: u32) {
        let tile = |x: u32, y: u32| Luma([(first + y / 2 * 3 + x / 2) as u8]);
        GrayImage::from_fn(6, 4, tile).save(folder.join(name)).unwrap();
    }

    fn expected(first: u8, labels: &[u8]) -> Vec<(Vec<u8>, Option<u32>)> {
        (first..).zip(labels).map(|(value, &label)| (vec![value; 4], Some(label.into()))).collect()
    }

    #[test]
    fn tiles_are_read_row_by_row() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mosaic(folder.path(), "train_1.png", 0);
        mosaic(folder.path(), "train_2.png", 6);
        mosaic(folder.path(), "test.png", 12);
        assert!(Mosaics::in_folder(folder.path()).unwrap().is_none());
        fs::write(at("train_1_2_labels.u8"), [0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0]).unwrap();
        fs::write(at("test_labels.u8"), [9; 6]).unwrap();
        let train = Mosaics::in_folder(folder.path()).unwrap().unwrap();
        assert_eq!(all(&train).unwrap(), expected(0, &[0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0]));
        assert_eq!(train.classes, ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(train.files(), ["train_1.png", "train_2.png"]);
        let second = Mosaics::at(&at("train_2.png")).unwrap().unwrap();
        assert_eq!(all(&second).unwrap(), expected(6, &[5, 4, 3, 2, 1, 0]));
        let test = Mosaics::at(&at("test.png")).unwrap().unwrap();
        assert_eq!(all(&test).unwrap(), expected(12, &[9; 6]));
        fs::remove_file(at("train_1_2_labels.u8")).unwrap();
        assert!(Mosaics::at(&at("train_2.png")).unwrap().is_none());
    }

    #[test]
    fn labels_that_do_not_fit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let labels = |count: usize| fs::write(folder.path().join("a_labels.u8"), vec![0; count]).unwrap();
        let refusal = || Mosaics::in_folder(folder.path()).unwrap_err().to_string();
        mosaic(folder.path(), "a.png", 0);
        labels(5);
        assert!(refusal().ends_with("its 6×4 pixels are not 5 square images"), "{}", refusal());
        labels(0);
        assert!(refusal().contains("its 0 labels are not as many for each of 1 pictures"));
        labels(25);
        assert!(refusal().contains("are not 25 square images"));
        labels(24);
        assert_eq!(Mosaics::in_folder(folder.path()).unwrap().unwrap().count(), 24);
    }
}
