//! One decoded picture, and how pictures are made alike.

use image::imageops::{self, FilterType};
use image::{ImageBuffer, Luma, Pixel, Rgb};

use super::store::Look;

/// A picture of bytes `[height, width, channels]`: grey or colour, without transparency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picture {
    height: usize,
    width: usize,
    channels: usize, // 1 or 3
    samples: Vec<u8>,
}

impl Picture {
    /// A picture from samples `[height, width, channels]`. With 2 or 4 channels the last is opacity: the picture is laid on
    /// white.
    pub(super) fn new(height: usize, width: usize, channels: usize, mut samples: Vec<u8>) -> Self {
        debug_assert_eq!(samples.len(), height * width * channels);
        if channels == 1 || channels == 3 {
            return Self { height, width, channels, samples };
        }
        let colours = channels - 1;
        // In place: a large picture is not copied.
        for pixel in 0..height * width {
            let opacity = samples[pixel * channels + colours];
            for colour in 0..colours {
                samples[pixel * colours + colour] = on_white(samples[pixel * channels + colour], opacity);
            }
        }
        samples.truncate(height * width * colours);
        Self { height, width, channels: colours, samples }
    }

    /// A picture from planes `[channels, height, width]`.
    pub(super) fn of_planes(height: usize, width: usize, channels: usize, planes: &[u8]) -> Self {
        let area = height * width;
        let samples =
            (0..area).flat_map(|pixel| (0..channels).map(move |plane| planes[plane * area + pixel]));
        Self::new(height, width, channels, samples.collect())
    }

    pub(super) fn look(&self) -> Look {
        Look { height: self.height, width: self.width, grey: self.channels == 1, opacity: false }
    }

    /// A part of the picture.
    pub(super) fn crop(&self, top: usize, left: usize, height: usize, width: usize) -> Self {
        let row = |row| {
            let start = (row * self.width + left) * self.channels;
            &self.samples[start..start + width * self.channels]
        };
        let samples = (top..top + height).flat_map(row).copied().collect();
        Self { height, width, channels: self.channels, samples }
    }

    /// The middle of the picture, as much of it as has the wanted proportions, in the wanted size: as if the shorter side were
    /// scaled and the longer one cropped. Lanczos with three lobes makes smaller, linear interpolation larger.
    pub(super) fn fit(self, height: usize, width: usize) -> Self {
        if (self.height, self.width) == (height, width) {
            return self;
        }
        let channels = self.channels;
        let samples = if channels == 1 {
            self.scaled::<Luma<u8>>(height, width)
        } else {
            self.scaled::<Rgb<u8>>(height, width)
        };
        Self { height, width, channels, samples }
    }

    fn scaled<P: Pixel<Subpixel = u8> + 'static>(self, height: usize, width: usize) -> Vec<u8> {
        let (rows, columns) = middle((self.height, self.width), (height, width));
        let (top, left) = ((self.height - rows) / 2, (self.width - columns) / 2);
        let filter = if rows > height { FilterType::Lanczos3 } else { FilterType::Triangle };
        let buffer = ImageBuffer::<P, Vec<u8>>::from_raw(self.width as u32, self.height as u32, self.samples)
            .expect("a picture has a sample for each channel of each pixel");
        let part = imageops::crop_imm(&buffer, left as u32, top as u32, columns as u32, rows as u32);
        imageops::resize(&*part, width as u32, height as u32, filter).into_raw()
    }

    /// The samples as planes `[channels, height, width]`, in grey for one channel, in colour for three.
    pub(super) fn planes(self, channels: usize) -> Vec<u8> {
        match (self.channels, channels) {
            (1, 1) => self.samples,
            (1, _) => self.samples.repeat(channels),
            (_, 1) => self.samples.as_chunks().0.iter().map(luminance).collect(),
            (from, _) => {
                (0..from).flat_map(|plane| self.samples.iter().skip(plane).step_by(from)).copied().collect()
            }
        }
    }
}

/// A sample of some opacity on white, rounded.
fn on_white(sample: u8, opacity: u8) -> u8 {
    let (sample, opacity) = (u32::from(sample), u32::from(opacity));
    ((sample * opacity + 255 * (255 - opacity) + 127) / 255) as u8
}

/// 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), rounded; as other programs make pictures grey.
fn luminance(pixel: &[u8; 3]) -> u8 {
    let [red, green, blue] = pixel.map(u32::from);
    ((red * 19_595 + green * 38_470 + blue * 7_471 + 0x8000) >> 16) as u8
}

/// The largest (height, width) within `from` with the proportions of `to`, at least one pixel.
fn middle(from: (usize, usize), to: (usize, usize)) -> (usize, usize) {
    let share = |side: usize, a: usize, b: usize| {
        // Rounded; sides are below 2³², so the product is in range.
        let rounded = (2 * side as u128 * a as u128 + b as u128) / (2 * b as u128);
        (rounded as usize).max(1)
    };
    if from.1 as u128 * to.0 as u128 > from.0 as u128 * to.1 as u128 {
        (from.0, share(from.0, to.1, to.0).min(from.1))
    } else {
        (share(from.1, to.0, to.1).min(from.0), from.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transparency_is_laid_on_white() {
        let picture = Picture::new(1, 3, 4, vec![10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 200, 128]);
        assert_eq!(picture, Picture::new(1, 3, 3, vec![10, 20, 30, 255, 255, 255, 127, 177, 227]));
        assert_eq!(Picture::new(2, 1, 2, vec![7, 255, 7, 0]).planes(1), [7, 255]);
    }

    #[test]
    fn planes_and_samples_are_the_same_picture() {
        let picture = Picture::new(2, 1, 3, vec![1, 2, 3, 4, 5, 6]);
        assert_eq!(picture.clone().planes(3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(Picture::of_planes(2, 1, 3, &[1, 4, 2, 5, 3, 6]), picture);
        let grey = Picture::new(1, 2, 1, vec![8, 9]);
        assert_eq!(grey.clone().planes(3), [8, 9, 8, 9, 8, 9]);
        assert_eq!(grey.planes(1), [8, 9]);
    }

    #[test]
    fn grey_keeps_the_grey_and_weighs_the_colours() {
        for grey in 0..=255 {
            assert_eq!(luminance(&[grey; 3]), grey);
        }
        // Pillow: Image.new("RGB", (1, 1), c).convert("L").getpixel((0, 0)) for red, green, blue
        assert_eq!([[255, 0, 0], [0, 255, 0], [0, 0, 255]].map(|pixel| luminance(&pixel)), [76, 150, 29]);
    }

    #[test]
    fn the_middle_has_the_wanted_proportions() {
        assert_eq!(middle((100, 300), (32, 32)), (100, 100));
        assert_eq!(middle((300, 100), (32, 32)), (100, 100));
        assert_eq!(middle((64, 64), (32, 16)), (64, 32));
        assert_eq!(middle((1, 1), (32, 64)), (1, 1));
        assert_eq!(middle((1, 100_000), (32, 32)), (1, 1));
        assert_eq!(middle((3, 3), (1, 1000)), (1, 3));
    }

    #[test]
    fn the_shorter_side_is_scaled_and_the_longer_cropped() {
        // Thirds of 10, 20 and 30 from left to right: the middle is 20.
        let samples: Vec<u8> = (0..6 * 18).map(|place| 10 * (1 + (place % 18 / 6) as u8)).collect();
        let wide = Picture::new(6, 18, 1, samples);
        assert_eq!(wide.clone().fit(2, 2).planes(1), [20; 4]);
        assert_eq!(wide.clone().fit(12, 12).planes(1), [20; 144]);
        assert_eq!(wide.clone().fit(6, 18), wide);
        assert_eq!(wide.crop(0, 5, 1, 8).planes(1), [10, 20, 20, 20, 20, 20, 20, 30]);
    }

    #[test]
    fn a_pixel_becomes_an_even_picture() {
        let picture = Picture::new(1, 1, 3, vec![1, 2, 3]).fit(2, 3);
        assert_eq!(picture.planes(3), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
    }
}
