//! Images in files, made alike: one size, grey or colour.

use std::path::Path;

use super::decode::check_size;
use super::error::ImageDataError;
use super::find::find;
use super::memory::ImageArray;
use super::store::{Look, Store};

/// How images are made alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Height and width: the shorter side is scaled, of the longer the middle is taken. By default all images must have one
    /// size, and have that.
    pub size: Option<(usize, usize)>,
    /// Whether images are grey. By default they are if all are stored as grey.
    pub grey: Option<bool>,
}

/// Images in a folder or file. Read are
///
/// - a folder of PNG, JPEG and WebP files, by path; folders directly in it are classes;
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
}

/// Takes the pixels of an image `[channels, height, width]` and its label.
pub(super) type Take<'a> = dyn FnMut(&[u8], Option<u32>) -> Result<(), ImageDataError> + 'a;

impl ImageSource {
    /// Opens a folder or file. Unless both options are given, the beginning of every picture is read, to see what they have in
    /// common.
    pub fn open(path: &Path, options: &ImageOptions) -> Result<Self, ImageDataError> {
        options.size.map_or(Ok(()), check_size)?;
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
        options.size.map_or(Ok(()), check_size)?;
        array.check()?;
        Self::of(format!("{} images", array.count()), Box::new(array), options)
    }

    fn of(name: String, store: Box<dyn Store>, options: &ImageOptions) -> Result<Self, ImageDataError> {
        if store.count() == 0 {
            return Err(ImageDataError::NoImages { path: name });
        }
        let ((height, width), grey) = match (options.size, options.grey) {
            (Some(size), Some(grey)) => (size, grey),
            (size, grey) => {
                let common = common(&*store, size.is_none())?;
                (size.unwrap_or((common.height, common.width)), grey.unwrap_or(common.grey))
            }
        };
        let shape = [if grey { 1 } else { 3 }, height, width];
        Ok(Self { name, store, shape, fits: options.size.is_some() })
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

/// The first image's size, which is that of all if they are to be `same`, and whether all are grey.
fn common(store: &dyn Store, same: bool) -> Result<Look, ImageDataError> {
    let mut first: Option<(String, Look)> = None;
    let mut grey = true;
    store.looks(&mut |file, look| {
        grey &= look.grey;
        let (other, size) = first.get_or_insert_with(|| (file.to_owned(), look));
        if same && (size.height, size.width) != (look.height, look.width) {
            return Err(ImageDataError::MixedSizes {
                first: other.clone(),
                first_size: (size.height, size.width),
                second: file.into(),
                second_size: (look.height, look.width),
            });
        }
        Ok(())
    })?;
    let look = first.map_or(Look { height: 0, width: 0, grey }, |(_, look)| look);
    Ok(Look { grey, ..look })
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
        let open = |grey| ImageSource::open(folder.path(), &ImageOptions { size: None, grey }).unwrap();
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
                ImageSource::open(folder.path(), &ImageOptions { size: Some((4, 8)), grey }).unwrap();
            assert_eq!(source.shape(), [1, 4, 8]);
            let all = read(&source).unwrap();
            let labels: Vec<_> = all.iter().map(|(_, label)| *label).collect();
            assert_eq!(labels, [Some(0), Some(1), Some(1)]);
            assert!(all.iter().zip(1..).all(|((pixels, _), value)| *pixels == [value; 32]));
        }
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let open = |size| ImageSource::open(folder.path(), &ImageOptions { size, grey: None });
        assert!(matches!(open(None), Err(ImageDataError::NoImages { .. })));
        assert!(matches!(open(Some((0, 4))), Err(ImageDataError::Size { height: 0, width: 4 })));
        fs::write(folder.path().join("a.png"), "not a picture").unwrap();
        let error = open(None).unwrap_err();
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
