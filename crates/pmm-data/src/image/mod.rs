//! Images: files → pictures of one size → a file of pixels and labels; pixels → a picture to look at.

mod animation;
mod array;
mod broken;
mod bytes;
mod cifar;
mod decode;
mod error;
mod find;
mod floats;
mod found;
mod grid;
mod idx;
mod images;
mod images_header;
mod images_write;
mod labels;
mod labels_csv;
mod memory;
mod mosaic;
mod npy;
mod npz;
mod picture;
mod pictures;
#[cfg(test)]
mod real;
mod recognise;
mod source;
mod store;
mod words;
mod zip;
mod zipped;

pub use animation::animated_png;
pub use decode::read_image;
pub use error::ImageDataError;
pub use floats::{ArrayFileError, NamedArray, read_npz, write_npz};
pub use grid::grid_png;
pub use images::Images;
pub use memory::ImageArray;
pub use recognise::holds_images;
pub use source::{ImageOptions, ImageSize, ImageSource};
pub use words::image_count;
