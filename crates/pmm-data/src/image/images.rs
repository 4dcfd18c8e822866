//! Images in a file, read where they lie.

use std::fs::File;
use std::path::Path;

use super::error::{ImageDataError, in_file, name};
use super::images_header::{Header, UNLABELLED};
use super::images_write;
use super::source::ImageSource;
use crate::map::Map;
use crate::sealed_header::HEADER;

/// Images of one size in a file that is read where it lies if it is large: bytes `[n, channels, height, width]`, with labels.
/// Sets of images larger than memory can be sampled from anywhere.
///
/// ```
/// use pmm_data::{ImageOptions, ImageSource, Images, grid_png};
/// let folder = tempfile::tempdir()?;
/// let (picture, file) = (folder.path().join("a.png"), folder.path().join("images"));
/// std::fs::write(&picture, grid_png(&[vec![1, 2, 3]], [3, 1, 1], 1)?)?;
/// let source = ImageSource::open(&picture, &ImageOptions::default())?;
/// Images::write(&source, &file, &mut |_| ())?;
/// let images = Images::open(&file)?;
/// assert_eq!((images.len(), images.shape(), images.pixels(0)), (1, [3, 1, 1], &[1, 2, 3][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Images {
    map: Map,
    header: Header,
    /// For messages.
    name: String,
}

impl Images {
    /// Writes images to a file, one at a time, under a temporary name until it is whole. `progress` gets the images written so
    /// far, of [`ImageSource::count`].
    pub fn write(
        source: &ImageSource,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ImageDataError> {
        images_write::write(source, path, progress)
    }

    /// Images in memory.
    pub fn read(source: &ImageSource, progress: &mut dyn FnMut(u64)) -> Result<Self, ImageDataError> {
        Self::of(Map::Memory(images_write::read(source, progress)?), Path::new("memory"))
    }

    /// Opens a file of images; one that is of another kind, cut short or altered in its header is refused.
    pub fn open(path: &Path) -> Result<Self, ImageDataError> {
        let refused = |reason| ImageDataError::NotImages { path: name(path), reason };
        let map = in_file(path, || {
            // A pipe in place of a file would be waited for.
            if std::fs::metadata(path)?.is_file() { Map::open(File::open(path)?) } else { Ok(None) }
        })?;
        Self::of(map.ok_or_else(|| refused("it is not a file with content".into()))?, path)
    }

    /// Whether every pixel and label is as it was written, which [`open`](Self::open) does not ask; reads all of the file.
    pub fn check_contents(&self) -> Result<(), ImageDataError> {
        let refused = |reason| ImageDataError::NotImages { path: self.name.clone(), reason };
        Header::check_contents(self.map.bytes()).map_err(refused)
    }

    fn of(map: Map, path: &Path) -> Result<Self, ImageDataError> {
        let refused = |reason| ImageDataError::NotImages { path: name(path), reason };
        let header = Header::read(map.bytes()).map_err(refused)?;
        Ok(Self { map, header, name: name(path) })
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        // The file has a byte for each.
        self.header.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Channels (1: grey, 3: colour), height and width.
    pub fn shape(&self) -> [usize; 3] {
        self.header.shape
    }

    /// An image: bytes `[channels, height, width]`.
    ///
    /// # Panics
    /// If there is no such image.
    pub fn pixels(&self, index: usize) -> &[u8] {
        assert!(index < self.len(), "image {index} of {}", self.len());
        let size = self.header.size();
        &self.map.bytes()[HEADER + index * size..][..size]
    }

    /// The class of an image, as a place in [`classes`](Self::classes).
    ///
    /// # Panics
    /// If there is no such image.
    pub fn label(&self, index: usize) -> Option<u32> {
        assert!(index < self.len(), "image {index} of {}", self.len());
        if self.header.classes.is_empty() {
            return None;
        }
        let labels = &self.map.bytes()[HEADER + self.len() * self.header.size()..];
        let label = u32::from_le_bytes(std::array::from_fn(|place| labels[4 * index + place]));
        Some(label).filter(|&label| label != UNLABELLED)
    }

    /// The names of the classes; none if the images have no labels.
    pub fn classes(&self) -> &[String] {
        &self.header.classes
    }

    /// BLAKE3 of shape, pixels, labels and classes, in 32 hexadecimal digits: the same for the same images from whatever files.
    pub fn source_digest(&self) -> &str {
        &self.header.source
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::npy::tests::npy;
    use super::super::source::{ImageOptions, ImageSize};
    use super::super::source::tests::save;
    use super::*;

    fn written(from: &Path, size: Option<(usize, usize)>) -> Result<Images, ImageDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images");
        let size = size.map_or(ImageSize::Same, ImageSize::Fixed);
        let source = ImageSource::open(from, &ImageOptions { size, grey: None })?;
        let mut seen = 0;
        let result = Images::write(&source, &path, &mut |images| {
            assert_eq!(images, seen + 1);
            seen = images;
        });
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, usize::from(result.is_ok()), "nothing is left behind");
        result?;
        assert_eq!(seen, source.count());
        Images::open(&path)
    }

    #[test]
    fn images_come_back_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("cat/a.png"), 1, 2, &[1, 2, 3]);
        save(&folder.path().join("dog/b.png"), 1, 2, &[4, 5, 6]);
        save(&folder.path().join("e.png"), 1, 2, &[7]);
        let images = written(folder.path(), None).unwrap();
        assert_eq!((images.len(), images.is_empty(), images.shape()), (3, false, [3, 1, 2]));
        assert_eq!(images.classes(), ["cat", "dog"]);
        let all: Vec<_> = (0..3).map(|index| (images.pixels(index).to_vec(), images.label(index))).collect();
        assert_eq!(
            all,
            [(vec![1, 1, 2, 2, 3, 3], Some(0)), (vec![4, 4, 5, 5, 6, 6], Some(1)), (vec![7; 6], None)]
        );
        assert_eq!(images.source_digest().len(), 32);
    }

    #[test]
    fn the_digest_is_that_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        save(&at("in/a.png"), 1, 2, &[1]);
        save(&at("in/b.webp"), 1, 2, &[2, 2, 2]);
        fs::write(at("x.npy"), npy("|u1", "(2, 1, 2, 3)", &[[1; 6], [2; 6]].concat())).unwrap();
        fs::write(at("y.npy"), npy("|u1", "(2, 2, 1, 3)", &[[1; 6], [2; 6]].concat())).unwrap();
        let digest = |name: &str| written(&at(name), None).unwrap().source_digest().to_owned();
        assert_eq!(digest("in"), digest("x.npy"));
        assert_ne!(digest("x.npy"), digest("y.npy"), "another shape");
        let before = digest("in");
        fs::create_dir(at("in/c")).unwrap();
        fs::rename(at("in/b.webp"), at("in/c/b.webp")).unwrap();
        assert_ne!(before, digest("in"), "another label");
    }

    #[test]
    fn nothing_is_half_written() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("a.png"), 8, 8, &[1, 2, 3]);
        let whole = fs::read(folder.path().join("a.png")).unwrap();
        fs::write(folder.path().join("b.png"), &whole[..whole.len() - 20]).unwrap();
        let error = written(folder.path(), None).unwrap_err();
        assert!(error.to_string().contains("b.png is not a whole picture"), "{error}");
        let source = ImageSource::open(&folder.path().join("a.png"), &ImageOptions::default()).unwrap();
        let nowhere = Images::write(&source, &folder.path().join("no/where"), &mut |_| ()).unwrap_err();
        assert!(nowhere.to_string().contains("where: No such file"), "{nowhere}");
    }

    #[test]
    fn the_smallest_image_is_one() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("a.png"), 1, 1, &[9]);
        let images = written(folder.path(), None).unwrap();
        assert_eq!((images.shape(), images.pixels(0), images.label(0)), ([1, 1, 1], &[9][..], None));
        assert_eq!(written(folder.path(), Some((2, 2))).unwrap().pixels(0), [9; 4]);
    }

    #[test]
    #[should_panic(expected = "image 1 of 1")]
    fn there_is_nothing_after_the_end() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("a.png"), 1, 1, &[9]);
        written(folder.path(), None).unwrap().pixels(1);
    }

    #[test]
    fn files_that_are_not_whole_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images");
        save(&folder.path().join("in/a/b.png"), 2, 2, &[9]);
        let source = ImageSource::open(&folder.path().join("in"), &ImageOptions::default()).unwrap();
        Images::write(&source, &path, &mut |_| ()).unwrap();
        let whole = fs::read(&path).unwrap();
        let refused = |content: &[u8], reason: &str| {
            fs::write(&path, content).unwrap();
            let error = Images::open(&path).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&name(&path)) && message.contains(reason), "{message}");
            assert!(error.hint().unwrap().contains("made again"));
        };
        refused(b"", "not a file with content");
        refused(b"some text", "does not begin");
        refused(&whole[..60], "ends within");
        refused(&whole[..whole.len() - 1], "instead of");
        refused(&[&whole[..], b"x"].concat(), "instead of");
        let missing = Images::open(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none: No such file"), "{missing}");
    }
}
