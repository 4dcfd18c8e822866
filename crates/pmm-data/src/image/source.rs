//! Images in files, made alike: one size, grey or colour.

use std::path::Path;

use super::decode::check_size;
use super::error::ImageDataError;
use super::find::find;
use super::memory::ImageArray;
use super::store::Store;
use super::words::{image_count, of_files};

/// How images are made alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Height and width: the shorter side is scaled, of the longer the middle is taken.
    pub size: ImageSize,
    /// Whether images are grey. By default they are if all are stored as grey.
    pub grey: Option<bool>,
}

/// Sides that are chosen for images of several sizes: a network can halve them a few times.
const SIDES: [usize; 5] = [64, 48, 32, 24, 16];

/// What size images get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImageSize {
    /// The one that all of them have; several sizes are refused.
    #[default]
    Same,
    /// This height and width.
    Fixed((usize, usize)),
    /// A square: as they are, if they are alike, square and no larger than this; else the largest of 64, 48, 32, 24 and 16 that
    /// is neither above this nor above their shortest side.
    Square(usize),
}

/// Images in a folder or file. Read are
///
/// - a folder or zip of PNG, JPEG and WebP files, by path; folders directly in it are classes, unless a `labels.csv` in it says
///   the class of each file, in lines `file,label`;
/// - IDX files as of MNIST (`*-images-idx3-ubyte`, also with `.gz`), with the labels beside them;
/// - CIFAR-10 in its binary form (`data_batch_*.bin`);
/// - mosaics: pictures of square tiles, with a byte for each in `*_labels.u8` beside them;
/// - arrays of bytes `[n, height, width]`, `[n, height, width, channels]` or `[n, channels, height, width]` in `.npy` and `.npz`.
///
/// Of a folder with a part for training and one for tests the part for training is read; the other is read if its file is
/// named. GIF and other pictures are refused, never passed over. Of animations the first picture is taken, transparency
/// becomes white, 16 bits become 8, and the orientation that a camera notes is ignored.
///
/// ```
/// use pmm_data::{ImageOptions, ImageSource, Images, grid_png};
/// let folder = tempfile::tempdir()?;
/// for (class, value) in [("dark", 10), ("light", 200)] {
///     std::fs::create_dir_all(folder.path().join("in").join(class))?;
///     let png = grid_png(&[vec![value; 6]], [1, 2, 3], 1)?;
///     std::fs::write(folder.path().join("in").join(class).join("a.png"), png)?;
/// }
/// let source = ImageSource::open(&folder.path().join("in"), &ImageOptions::default())?;
/// assert_eq!((source.count(), source.shape()), (2, [1, 2, 3]));
/// Images::write(&source, &folder.path().join("images"), &mut |_| ())?;
/// let images = Images::open(&folder.path().join("images"))?;
/// assert_eq!((images.pixels(1), images.label(1)), (&[200; 6][..], Some(1)));
/// assert_eq!(images.classes(), ["dark", "light"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ImageSource {
    name: String,
    store: Box<dyn Store>,
    shape: [usize; 3],
    /// Whether images of other sizes are made to fit.
    fits: bool,
    notes: Vec<String>,
}

/// Takes the pixels of an image `[channels, height, width]` and its label.
pub(super) type Take<'a> = dyn FnMut(&[u8], Option<u32>) -> Result<(), ImageDataError> + 'a;

impl ImageSource {
    /// Opens a folder or file. Unless both options are given, the beginning of every picture is read, to see what they have in
    /// common.
    pub fn open(path: &Path, options: &ImageOptions) -> Result<Self, ImageDataError> {
        options.size.check()?;
        let (name, store) = find(path)?;
        Self::of(name, store, options)
    }

    /// Images in memory.
    ///
    /// ```
    /// use pmm_data::{ImageArray, ImageOptions, ImageSource, Images};
    /// let array = ImageArray { shape: [1, 2, 2], pixels: vec![0, 1, 2, 3, 4, 5, 6, 7], ..ImageArray::default() };
    /// let images = Images::read(&ImageSource::from_array(array, &ImageOptions::default())?, &mut |_| ())?;
    /// assert_eq!((images.len(), images.pixels(1)), (2, &[4, 5, 6, 7][..]));
    /// # Ok::<(), pmm_data::ImageDataError>(())
    /// ```
    pub fn from_array(array: ImageArray, options: &ImageOptions) -> Result<Self, ImageDataError> {
        options.size.check()?;
        array.check()?;
        Self::of(image_count(array.count() as u64), Box::new(array), options)
    }

    fn of(name: String, store: Box<dyn Store>, options: &ImageOptions) -> Result<Self, ImageDataError> {
        if store.count() == 0 {
            return Err(ImageDataError::NoImages { path: name });
        }
        let mut notes = store.notes().to_vec();
        let (size, grey, as_they_are) = match (options.size, options.grey) {
            (ImageSize::Fixed(size), Some(grey)) => (size, grey, false),
            (size, grey) => {
                let common = Common::of(&*store, size == ImageSize::Same)?;
                let chosen = size.of(&common);
                let as_they_are = common.alike && common.first == chosen;
                notes.extend(common.transparent());
                notes.extend(common.scaled(size, chosen).filter(|_| !as_they_are));
                (chosen, grey.unwrap_or(common.grey), as_they_are)
            }
        };
        let fits = match options.size {
            ImageSize::Same => false,
            ImageSize::Fixed(_) => true,
            ImageSize::Square(_) => !as_they_are,
        };
        let shape = [if grey { 1 } else { 3 }, size.0, size.1];
        Ok(Self { name, store, shape, fits, notes })
    }

    /// The file's or folder's name, for messages.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// How many images there are.
    pub fn count(&self) -> u64 {
        self.store.count()
    }

    /// Channels (1: grey, 3: colour), height and width of the images when they are alike.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Whether images of other sizes are scaled and cropped.
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// What a person should know: what was passed over, and how images are changed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of the classes; none if no image has a label.
    pub fn classes(&self) -> &[String] {
        self.store.classes()
    }

    /// Hands out all images, one at a time.
    pub(super) fn read(&self, take: &mut Take<'_>) -> Result<(), ImageDataError> {
        let [channels, height, width] = self.shape;
        self.store.read(&mut |item| {
            let look = item.picture.look();
            if !self.fits && (look.height, look.width) != (height, width) {
                // It has changed since it was looked at.
                return Err(ImageDataError::MixedSizes {
                    first: self.name(),
                    first_size: (height, width),
                    second: item.file.into(),
                    second_size: (look.height, look.width),
                });
            }
            take(&item.picture.fit(height, width).planes(channels), item.label)
        })
    }
}

/// What images have in common.
struct Common {
    /// The first one's height and width.
    first: (usize, usize),
    /// Whether all have that size.
    alike: bool,
    /// The file with the shortest side of all, and its height and width.
    smallest: (String, (usize, usize)),
    /// How many files say how opaque their pixels are, and the first of them.
    transparent: (usize, Option<String>),
    /// Whether all are grey.
    grey: bool,
}

impl Common {
    /// Looks at all images; refuses several sizes if they are to be the `same`.
    fn of(store: &dyn Store, same: bool) -> Result<Self, ImageDataError> {
        let mut first: Option<(String, (usize, usize))> = None;
        let mut smallest = (String::new(), (usize::MAX, usize::MAX));
        let (mut alike, mut grey, mut transparent) = (true, true, (0, None));
        store.looks(&mut |file, look| {
            let size = (look.height, look.width);
            grey &= look.grey;
            if shorter(size) < shorter(smallest.1) {
                smallest = (file.to_owned(), size);
            }
            if look.opacity {
                transparent.0 += 1;
                transparent.1.get_or_insert_with(|| file.to_owned());
            }
            let (other, first_size) = first.get_or_insert_with(|| (file.to_owned(), size));
            alike &= *first_size == size;
            if same && !alike {
                return Err(ImageDataError::MixedSizes {
                    first: other.clone(),
                    first_size: *first_size,
                    second: file.into(),
                    second_size: size,
                });
            }
            Ok(())
        })?;
        let first = first.map_or((0, 0), |(_, size)| size);
        Ok(Self { first, alike, smallest, transparent, grey })
    }

    /// What becomes of transparency, where there may be some.
    fn transparent(&self) -> Option<String> {
        let (count, first) = &self.transparent;
        of_files(
            *count,
            first.as_deref(),
            "may be transparent: it is laid on white",
            "may be transparent and are laid on white",
        )
    }

    /// That images are made squares of a size, why it is that, and what to do for another.
    fn scaled(&self, asked: ImageSize, (side, _): (usize, usize)) -> Option<String> {
        let ImageSize::Square(most) = asked else { return None };
        let (file, (height, width)) = &self.smallest;
        let why = match !self.alike && *height.min(width) < most {
            true => format!(", as the smallest, {file}, has {width}×{height}"),
            false => String::new(),
        };
        let other = if side == 32 { 64 } else { 32 };
        Some(format!(
            "the images are scaled and cropped to {side}×{side} pixels{why}; set size={other} for {other}×{other} pixels, or another size"
        ))
    }
}

fn shorter((height, width): (usize, usize)) -> usize {
    height.min(width)
}

impl ImageSize {
    fn check(self) -> Result<(), ImageDataError> {
        match self {
            Self::Fixed(size) => check_size(size),
            Self::Same | Self::Square(_) => Ok(()),
        }
    }

    /// Height and width for images that have this in common.
    fn of(self, images: &Common) -> (usize, usize) {
        match self {
            Self::Same => images.first,
            Self::Fixed(size) => size,
            Self::Square(most) => {
                let (height, width) = images.first;
                let most = most.min(shorter(images.smallest.1));
                let side = match images.alike && height == width && height <= most {
                    true => height,
                    false => SIDES.into_iter().find(|side| *side <= most).unwrap_or(most),
                };
                (side, side)
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use image::{DynamicImage, GrayImage, Luma, Rgb, RgbImage};

    use super::*;

    /// Saves an even picture, grey or colour.
    pub(in crate::image) fn save(path: &Path, height: u32, width: u32, colour: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let picture: DynamicImage = match *colour {
            [grey] => GrayImage::from_pixel(width, height, Luma([grey])).into(),
            [red, green, blue] => RgbImage::from_pixel(width, height, Rgb([red, green, blue])).into(),
            _ => panic!("{colour:?}"),
        };
        picture.save(path).unwrap();
    }

    /// Pixels and labels.
    type Read = Vec<(Vec<u8>, Option<u32>)>;

    fn read(source: &ImageSource) -> Result<Read, ImageDataError> {
        let mut all = vec![];
        source.read(&mut |pixels, label| {
            all.push((pixels.to_vec(), label));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn images_are_grey_if_all_are() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            |grey| ImageSource::open(folder.path(), &ImageOptions { size: ImageSize::Same, grey }).unwrap();
        save(&folder.path().join("a.png"), 1, 2, &[9]);
        assert_eq!(read(&open(None)).unwrap(), [(vec![9; 2], None)]);
        assert_eq!(open(Some(false)).shape(), [3, 1, 2]);
        save(&folder.path().join("b.webp"), 1, 2, &[255, 0, 0]);
        let expected = [(vec![9; 6], None), (vec![255, 255, 0, 0, 0, 0], None)];
        assert_eq!(read(&open(None)).unwrap(), expected);
        assert_eq!(read(&open(Some(true))).unwrap(), [(vec![9; 2], None), (vec![76; 2], None)]);
    }

    #[test]
    fn mixed_sizes_are_refused_unless_one_is_given() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("a/x.png"), 32, 32, &[1]);
        save(&folder.path().join("b/y.jpg"), 28, 30, &[2]);
        save(&folder.path().join("b/z.png"), 1, 1, &[3]);
        let error = ImageSource::open(folder.path(), &ImageOptions::default()).unwrap_err();
        let message = error.to_string().replace(&folder.path().display().to_string(), "");
        assert_eq!(message, "the images have several sizes: /a/x.png has 32×32 pixels, /b/y.jpg has 30×28");
        assert!(error.hint().unwrap().starts_with("set size to 32"));
        for grey in [None, Some(true)] {
            let source =
                ImageSource::open(folder.path(), &ImageOptions { size: ImageSize::Fixed((4, 8)), grey })
                    .unwrap();
            assert_eq!(source.shape(), [1, 4, 8]);
            let all = read(&source).unwrap();
            let labels: Vec<_> = all.iter().map(|(_, label)| *label).collect();
            assert_eq!(labels, [Some(0), Some(1), Some(1)]);
            assert!(all.iter().zip(1..).all(|((pixels, _), value)| *pixels == [value; 32]));
        }
    }

    #[test]
    fn photos_of_any_size_become_squares() {
        let folder = tempfile::tempdir().unwrap();
        let side = |most| {
            let options = ImageOptions { size: ImageSize::Square(most), grey: None };
            ImageSource::open(folder.path(), &options).unwrap().shape()
        };
        save(&folder.path().join("a.png"), 28, 28, &[1]);
        assert_eq!(side(64), [1, 28, 28]); // alike, square and small: as they are
        assert_eq!(side(20), [1, 16, 16]);
        save(&folder.path().join("b.png"), 300, 41, &[1]);
        assert_eq!(side(64), [1, 24, 24]);
        save(&folder.path().join("c.png"), 5, 9, &[1]);
        assert_eq!(side(64), [1, 5, 5]);
    }

    #[test]
    fn what_decides_the_size_and_what_is_laid_on_white_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let notes = || {
            let options = ImageOptions { size: ImageSize::Square(64), grey: None };
            ImageSource::open(folder.path(), &options).unwrap().notes().join("\n")
        };
        save(&folder.path().join("a.png"), 32, 32, &[1]);
        assert_eq!(notes(), "");
        save(&folder.path().join("tiny.png"), 20, 90, &[1]);
        assert!(notes().contains("to 16×16 pixels, as the smallest, "), "{}", notes());
        assert!(notes().contains("tiny.png, has 90×20; set size=32 for 32×32 pixels"), "{}", notes());
        image::RgbaImage::new(40, 40).save(folder.path().join("clear.png")).unwrap();
        assert!(notes().contains("clear.png may be transparent: it is laid on white"), "{}", notes());
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let open = |size| ImageSource::open(folder.path(), &ImageOptions { size, grey: None });
        assert!(matches!(open(ImageSize::Same), Err(ImageDataError::NoImages { .. })));
        assert!(matches!(open(ImageSize::Fixed((0, 4))), Err(ImageDataError::Size { height: 0, width: 4 })));
        fs::write(folder.path().join("a.png"), "not a picture").unwrap();
        let error = open(ImageSize::Same).unwrap_err();
        assert!(error.to_string().contains("a.png is not a whole picture"), "{error}");
    }

    #[test]
    fn a_picture_that_changes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        save(&path, 2, 2, &[1]);
        let source = ImageSource::open(&path, &ImageOptions::default()).unwrap();
        save(&path, 3, 2, &[1]);
        assert!(matches!(read(&source), Err(ImageDataError::MixedSizes { second_size: (3, 2), .. })));
    }
}
