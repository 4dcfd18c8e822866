//! Images side by side in one picture.

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

use super::decode::check_size;
use super::error::ImageDataError;

/// A PNG file of images in rows of at most `columns`, without gaps; what is left of the last row is white. Each image is
/// `[channels, height, width]` as told by `shape`, with 1 channel for grey or 3 for colour.
///
/// ```
/// let png = pmm_data::grid_png(&[vec![0; 4], vec![255; 4], vec![0; 4]], [1, 2, 2], 2)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), pmm_data::ImageDataError>(())
/// ```
pub fn grid_png(images: &[Vec<u8>], shape: [usize; 3], columns: usize) -> Result<Vec<u8>, ImageDataError> {
    let [channels, height, width] = shape;
    let colour = match channels {
        1 => ExtendedColorType::L8,
        3 => ExtendedColorType::Rgb8,
        _ => return Err(ImageDataError::Channels { channels }),
    };
    check(images, shape, columns)?;
    let columns = columns.min(images.len());
    let (rows, across) = (images.len().div_ceil(columns), columns.saturating_mul(width));
    let down = rows.saturating_mul(height);
    check_size((down, across))?;
    let mut samples = vec![255; down * across * channels];
    for (index, image) in images.iter().enumerate() {
        let (top, left) = (index / columns * height, index % columns * width);
        for (place, &sample) in image.iter().enumerate() {
            let (channel, pixel) = (place / (height * width), place % (height * width));
            let at = (top + pixel / width) * across + left + pixel % width;
            samples[at * channels + channel] = sample;
        }
    }
    let mut png = Vec::new();
    PngEncoder::new(&mut png)
        .write_image(&samples, across as u32, down as u32, colour)
        .map_err(|error| refused(error.to_string()))?;
    Ok(png)
}

fn check(images: &[Vec<u8>], shape: [usize; 3], columns: usize) -> Result<(), ImageDataError> {
    if images.is_empty() {
        return Err(refused("there are no images"));
    }
    if columns == 0 {
        return Err(refused("it would have no columns"));
    }
    check_size((shape[1], shape[2]))?;
    let size: usize = shape.iter().product();
    match images.iter().enumerate().find(|(_, image)| image.len() != size) {
        None => Ok(()),
        Some((index, image)) => {
            Err(refused(format!("image {index} has {} bytes; {shape:?} are {size}", image.len())))
        }
    }
}

fn refused(reason: impl Into<String>) -> ImageDataError {
    ImageDataError::Grid { reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stand_in_rows() {
        let images: Vec<Vec<u8>> = (0..5).map(|index| vec![index * 10, index * 10 + 1]).collect();
        let grid = image::load_from_memory(&grid_png(&images, [1, 2, 1], 3).unwrap()).unwrap();
        assert_eq!((grid.width(), grid.height()), (3, 4));
        assert_eq!(grid.into_luma8().into_raw(), [0, 10, 20, 1, 11, 21, 30, 40, 255, 31, 41, 255]);
        let grid = grid_png(&[vec![1, 2, 3, 4, 5, 6]], [3, 1, 2], 8).unwrap();
        let grid = image::load_from_memory(&grid).unwrap().into_rgb8();
        assert_eq!((grid.dimensions(), grid.into_raw()), ((2, 1), vec![1, 3, 5, 2, 4, 6]));
    }

    #[test]
    fn what_makes_no_grid_is_refused() {
        let refusal =
            |images: &[Vec<u8>], shape, columns| grid_png(images, shape, columns).unwrap_err().to_string();
        assert_eq!(refusal(&[], [1, 1, 1], 1), "no grid can be made: there are no images");
        assert_eq!(refusal(&[vec![1]], [1, 1, 1], 0), "no grid can be made: it would have no columns");
        let images = [vec![0; 4], vec![0; 3]];
        assert_eq!(
            refusal(&images, [1, 2, 2], 1),
            "no grid can be made: image 1 has 3 bytes; [1, 2, 2] are 4"
        );
        assert!(refusal(&images, [2, 1, 2], 1).contains("2 channels"));
        assert!(refusal(&[vec![]], [1, 0, 2], 1).contains("2×0 pixels"));
    }
}
