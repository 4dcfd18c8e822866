//! What can go wrong with images, with file, size and value; `hint` says what to do about it.

use std::io;
use std::path::Path;

use thiserror::Error;

use super::words::image_count;

/// Images that cannot be read or written, or a file of images that is refused.
#[derive(Debug, Error)]
pub enum ImageDataError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is not one image.
    #[error("{path} has no images")]
    NoImages {
        /// The file or folder.
        path: String,
    },
    /// A format that is not read.
    #[error("{path} is {what}, which is not read")]
    Unsupported {
        /// The file.
        path: String,
        /// What it is.
        what: String,
    },
    /// A picture that cannot be decoded.
    #[error("{path} is not a whole picture: {reason}")]
    Corrupt {
        /// The file.
        path: String,
        /// What the decoder said.
        reason: String,
    },
    /// Several pictures that cannot be read.
    #[error("{count} pictures cannot be read: {}{}", .first.join("; "), more(*.count, .first.len()))]
    Pictures {
        /// What is wrong with the first few.
        first: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// A picture that would take too much memory.
    #[error("{path} is too large: it would take more than {most} bytes of memory")]
    TooLarge {
        /// The file.
        path: String,
        /// The most that is taken.
        most: u64,
    },
    /// Images of several sizes, where one is wanted.
    #[error(
        "the images have several sizes: {first} has {}×{} pixels, {second} has {}×{}",
        .first_size.1, .first_size.0, .second_size.1, .second_size.0
    )]
    MixedSizes {
        /// A file.
        first: String,
        /// Its height and width.
        first_size: (usize, usize),
        /// A file of another size.
        second: String,
        /// Its height and width.
        second_size: (usize, usize),
    },
    /// A size that images cannot have.
    #[error("images cannot be made {width}×{height} pixels large")]
    Size {
        /// The height asked for.
        height: usize,
        /// The width asked for.
        width: usize,
    },
    /// A number of channels that is neither grey nor colour.
    #[error("a picture of {channels} channels cannot be made: 1 is grey, 3 are colour")]
    Channels {
        /// The number asked for.
        channels: usize,
    },
    /// An array file (IDX, CIFAR-10, npy, npz) that does not hold images as it should.
    #[error("{path} cannot be read as images: {reason}")]
    NotArray {
        /// The file.
        path: String,
        /// The violated condition.
        reason: String,
    },
    /// An array of numbers that are not bytes.
    #[error("{path} holds numbers of type {dtype:?}, not bytes (\"|u1\")")]
    NotBytes {
        /// The file.
        path: String,
        /// Its type, as NumPy names it.
        dtype: String,
    },
    /// Several files or arrays, where it is not clear which is meant.
    #[error("{path} has several sets of images: {}", .found.join(", "))]
    Several {
        /// The folder or archive.
        path: String,
        /// Their names.
        found: Vec<String>,
    },
    /// Labels that do not belong to the images.
    #[error("{path} does not hold the labels of {}: {reason}", image_count(*.images))]
    Labels {
        /// The file of labels.
        path: String,
        /// How many images there are.
        images: u64,
        /// The violated condition.
        reason: String,
    },
    /// Images that do not make a grid.
    #[error("no grid can be made: {reason}")]
    Grid {
        /// The violated condition.
        reason: String,
    },
    /// An array in memory that holds no images.
    #[error("{reason}")]
    Array {
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is not a whole file of images.
    #[error("{path} is not a whole file of images: {reason}")]
    NotImages {
        /// The file.
        path: String,
        /// The violated condition.
        reason: String,
    },
}

impl ImageDataError {
    /// What the user can do, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof => {
                "the file ends too early; copy or download it again".into()
            }
            Self::NoImages { .. } => {
                "PNG, JPEG and WebP files are read, in a folder and the folders in it; GIF and others are not; \
                 name a file of another kind itself: IDX, CIFAR-10 .bin, .npy or .npz"
                    .into()
            }
            Self::Unsupported { .. } => {
                "PNG, JPEG and WebP are read: convert the picture, or move it out of the folder".into()
            }
            Self::Corrupt { .. } => "copy it again, or move it out of the folder".into(),
            Self::Pictures { .. } => "copy or convert them again, or move them out of the folder".into(),
            Self::TooLarge { .. } => "scale it down, or move it out of the folder".into(),
            Self::MixedSizes { .. } => {
                "set size to 32 to scale and crop all images to 32×32 pixels, or to another size".into()
            }
            Self::Size { .. } => "give a height and width from 1 on, such as 32".into(),
            Self::NotArray { .. } => {
                "arrays of bytes [n, height, width], [n, height, width, channels] or [n, channels, height, width] \
                 are read, with 1, 3 or 4 channels"
                    .into()
            }
            Self::NotBytes { .. } => "numpy.save(\"x.npy\", x.astype(\"uint8\")) writes bytes; values are 0 to 255".into(),
            Self::Several { .. } => "name one of the files, or save one array as .npy".into(),
            Self::Labels { .. } => "move the labels away to read the images without them".into(),
            Self::NotImages { .. } => "delete the file: it is made again from the images".into(),
            Self::Io { .. } | Self::Channels { .. } | Self::Grid { .. } | Self::Array { .. } => return None,
        })
    }

    /// Whether it is about one picture of several, of which the others may be read.
    pub(super) fn is_of_one_picture(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Unsupported { .. } | Self::TooLarge { .. })
    }

    /// An array file that is refused.
    pub(super) fn not_array(path: &Path, reason: impl Into<String>) -> Self {
        Self::NotArray { path: name(path), reason: reason.into() }
    }
}

fn more(count: usize, named: usize) -> String {
    if count > named { format!("; and {} more", count - named) } else { String::new() }
}

/// A file's name, for messages.
pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The result of an operation on a file, with its name in the error.
pub(super) fn in_file<T>(path: &Path, run: impl FnOnce() -> io::Result<T>) -> Result<T, ImageDataError> {
    run().map_err(|source| ImageDataError::Io { path: name(path), source })
}
