//! One picture in a file → its look or its pixels.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use super::error::{ImageDataError, in_file, name};
use super::picture::Picture;
use super::store::Look;

/// The most memory for a decoded picture: 100 megapixels of whatever kind take at most 800 MB.
pub(super) const MOST: u64 = 1 << 30;

/// Reads one picture (PNG, JPEG, WebP; of an animation the first), scaled and cropped to `shape`: channels (1: grey, 3: colour),
/// height and width. The result is `[channels, height, width]`.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("dot.png");
/// std::fs::write(&path, pmm_data::grid_png(&[vec![7]], [1, 1, 1], 1)?)?;
/// assert_eq!(pmm_data::read_image(&path, [3, 1, 2])?, [7; 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_image(path: &Path, shape: [usize; 3]) -> Result<Vec<u8>, ImageDataError> {
    let [channels, height, width] = shape;
    if channels != 1 && channels != 3 {
        return Err(ImageDataError::Channels { channels });
    }
    check_size((height, width))?;
    Ok(decode(path)?.fit(height, width).planes(channels))
}

/// Whether a height and width can be those of an image.
pub(super) fn check_size((height, width): (usize, usize)) -> Result<(), ImageDataError> {
    let pixels = (height as u64).checked_mul(width as u64);
    if pixels.is_some_and(|pixels| (1..=MOST / 4).contains(&pixels)) {
        return Ok(());
    }
    Err(ImageDataError::Size { height, width })
}

/// What a picture looks like, from its first bytes.
pub(super) fn look(path: &Path) -> Result<Look, ImageDataError> {
    look_at(path, open(path)?)
}

/// The picture. 16 bits a sample become 8, palettes become colours, transparency becomes white; the orientation that a camera
/// notes is ignored.
pub(super) fn decode(path: &Path) -> Result<Picture, ImageDataError> {
    decode_at(path, open(path)?)
}

/// What a picture looks like whose bytes are at hand; the path is for messages.
pub(super) fn look_at(path: &Path, mut bytes: impl BufRead + Seek) -> Result<Look, ImageDataError> {
    let format = format(path, &mut bytes)?;
    let decoder = decoder(path, bytes, format)?;
    let (width, height) = decoder.dimensions();
    let colour = decoder.color_type();
    let (grey, opacity) = (!colour.has_color(), colour.has_alpha());
    Ok(Look { height: height as usize, width: width as usize, grey, opacity })
}

/// A picture whose bytes are at hand; the path is for messages.
pub(super) fn decode_at(path: &Path, mut bytes: impl BufRead + Seek) -> Result<Picture, ImageDataError> {
    let format = format(path, &mut bytes)?;
    if format == ImageFormat::Jpeg {
        check_end(path, &mut bytes)?;
    }
    let decoder = decoder(path, bytes, format)?;
    let (width, height) = decoder.dimensions();
    let colour = decoder.color_type();
    let mut samples = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut samples).map_err(|error| refused(path, error))?;
    let wide = matches!(colour, ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16);
    if wide {
        narrow(&mut samples);
    }
    let channels = usize::from(colour.channel_count());
    Ok(Picture::new(height as usize, width as usize, channels, samples))
}

/// 16 bits → 8, rounded, in place.
fn narrow(samples: &mut Vec<u8>) {
    let half = samples.len() / 2;
    for place in 0..half {
        let wide = u16::from_ne_bytes([samples[2 * place], samples[2 * place + 1]]);
        samples[place] = ((u32::from(wide) + 128) / 257) as u8;
    }
    samples.truncate(half);
}

/// A file that is not too large to be a picture.
fn open(path: &Path) -> Result<BufReader<File>, ImageDataError> {
    let file = in_file(path, || File::open(path))?;
    if in_file(path, || file.metadata())?.len() > MOST {
        return Err(ImageDataError::TooLarge { path: name(path), most: MOST });
    }
    Ok(BufReader::new(file))
}

/// A decoder that keeps to the limit of memory.
fn decoder<'a>(
    path: &Path,
    bytes: impl BufRead + Seek + 'a,
    format: ImageFormat,
) -> Result<impl ImageDecoder + 'a, ImageDataError> {
    let mut reader = ImageReader::with_format(bytes, format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| refused(path, error))?;
    if decoder.total_bytes() > MOST {
        return Err(ImageDataError::TooLarge { path: name(path), most: MOST });
    }
    Ok(decoder)
}

/// The format by the first bytes: names are often wrong.
fn format(path: &Path, bytes: &mut (impl BufRead + Seek)) -> Result<ImageFormat, ImageDataError> {
    let mut head = Vec::new();
    in_file(path, || {
        bytes.take(16).read_to_end(&mut head)?;
        bytes.rewind()
    })?;
    match image::guess_format(&head) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP)) => Ok(format),
        Ok(other) => Err(unsupported(path, &format!("{other:?}"))),
        Err(_) if head.is_empty() => Err(corrupt(path, "it is empty")),
        Err(_) => Err(corrupt(path, "it does not begin as PNG, JPEG and WebP files do")),
    }
}

/// Whether a JPEG file is whole: its decoder fills what is missing with grey. Within its data, a byte FF with another than 0
/// is a marker: DA begins data, D9 ends the picture.
fn check_end(path: &Path, bytes: &mut (impl BufRead + Seek)) -> Result<(), ImageDataError> {
    let mut all = Vec::new();
    in_file(path, || {
        bytes.read_to_end(&mut all)?;
        bytes.rewind()
    })?;
    let last = |marker: u8| all.windows(2).rposition(|pair| pair == [0xff, marker]);
    if last(0xda).is_some_and(|data| last(0xd9) < Some(data)) {
        return Err(corrupt(path, "it ends too early"));
    }
    Ok(())
}

/// A picture of a kind that is not read.
pub(super) fn unsupported(path: &Path, kind: &str) -> ImageDataError {
    ImageDataError::Unsupported { path: name(path), what: format!("a {} file", kind.to_uppercase()) }
}

fn corrupt(path: &Path, reason: &str) -> ImageDataError {
    ImageDataError::Corrupt { path: name(path), reason: reason.into() }
}

fn refused(path: &Path, error: ImageError) -> ImageDataError {
    match error {
        ImageError::IoError(source) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            ImageDataError::Io { path: name(path), source }
        }
        ImageError::Limits(_) => ImageDataError::TooLarge { path: name(path), most: MOST },
        // Some decoders end what they say with a line break.
        error => corrupt(path, error.to_string().trim()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;

    use image::codecs::gif::GifEncoder;
    use image::{DynamicImage, Frame, GrayImage, ImageBuffer, Luma, LumaA, Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn bytes(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut out = Cursor::new(vec![]);
        picture.write_to(&mut out, format).unwrap();
        out.into_inner()
    }

    fn read(content: &[u8]) -> Result<(Look, Picture), ImageDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, content).unwrap();
        let picture = decode(&path)?;
        let look = look(&path).unwrap();
        assert_eq!(Look { opacity: false, ..look }, picture.look());
        Ok((look, picture))
    }

    fn refusal(content: &[u8]) -> String {
        let error = read(content).unwrap_err();
        assert!(error.hint().is_some());
        let message = error.to_string();
        assert!(message.contains("a.png ") && !message.contains('\n'), "{message}");
        message
    }

    fn noise(height: u32, width: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            Rgb([x * 37 + y * 101, x * y * 7, x * 13 + y * 5].map(|value| value as u8))
        })
    }

    #[test]
    fn formats_are_told_by_their_content() {
        let picture = DynamicImage::from(noise(5, 7));
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let (look, read) = read(&bytes(&picture, format)).unwrap();
            assert_eq!(look, Look { height: 5, width: 7, grey: false, opacity: false });
            assert_eq!(read, Picture::new(5, 7, 3, picture.as_bytes().to_vec()));
        }
        let even = DynamicImage::from(GrayImage::from_pixel(9, 4, Luma([100])));
        let (look, read) = read(&bytes(&even, ImageFormat::Jpeg)).unwrap();
        assert_eq!(look, Look { height: 4, width: 9, grey: true, opacity: false });
        assert!(read.planes(1).iter().all(|&sample| sample.abs_diff(100) < 2));
    }

    #[test]
    fn sixteen_bits_become_eight() {
        let mut samples = [0u16, 128, 129, 65_406, 65_407, u16::MAX].map(u16::to_ne_bytes).concat();
        narrow(&mut samples);
        assert_eq!(samples, [0, 0, 1, 254, 255, 255]);
        let wide: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_fn(256, 1, |x, _| Luma([x as u16 * 257]));
        let (look, picture) = read(&bytes(&wide.into(), ImageFormat::Png)).unwrap();
        assert!(look.grey);
        assert_eq!(picture.planes(1), (0..=255).collect::<Vec<u8>>());
        let clear: ImageBuffer<Rgba<u16>, _> = ImageBuffer::from_pixel(1, 1, Rgba([0, 257, 514, 0]));
        assert_eq!(read(&bytes(&clear.into(), ImageFormat::Png)).unwrap().1.planes(3), [255; 3]);
    }

    #[test]
    fn transparency_becomes_white() {
        let clear = RgbaImage::from_fn(2, 1, |x, _| Rgba([1, 2, 3, 255 * x as u8]));
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let (look, picture) = read(&bytes(&clear.clone().into(), format)).unwrap();
            assert!(look.opacity);
            assert_eq!(picture, Picture::new(1, 2, 3, vec![255, 255, 255, 1, 2, 3]));
        }
        let grey: ImageBuffer<LumaA<u8>, _> = ImageBuffer::from_pixel(1, 1, LumaA([9, 0]));
        let (look, picture) = read(&bytes(&DynamicImage::ImageLumaA8(grey), ImageFormat::Png)).unwrap();
        assert!(look.grey);
        assert_eq!(picture.planes(1), [255]);
    }

    /// A PNG by hand: chunks with their checksums.
    fn png(chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in chunks {
            let mut crc = flate2::Crc::new();
            crc.update(*kind);
            crc.update(data);
            out.extend((data.len() as u32).to_be_bytes());
            out.extend(*kind);
            out.extend(data);
            out.extend(crc.sum().to_be_bytes());
        }
        out
    }

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        flate2::read::ZlibEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn palettes_become_colours() {
        // 2×1 pixels of 8 bits, kind 3 (palette); the second entry is transparent.
        let header = [0, 0, 0, 2, 0, 0, 0, 1, 8, 3, 0, 0, 0].to_vec();
        let (palette, data) = (vec![10, 20, 30, 40, 50, 60], deflated(&[0, 1, 0]));
        let plain = png(&[
            (b"IHDR", header.clone()),
            (b"PLTE", palette.clone()),
            (b"IDAT", data.clone()),
            (b"IEND", vec![]),
        ]);
        assert_eq!(read(&plain).unwrap().1, Picture::new(1, 2, 3, vec![40, 50, 60, 10, 20, 30]));
        let clear = png(&[
            (b"IHDR", header),
            (b"PLTE", palette),
            (b"tRNS", vec![255, 0]),
            (b"IDAT", data),
            (b"IEND", vec![]),
        ]);
        assert_eq!(read(&clear).unwrap().1, Picture::new(1, 2, 3, vec![255, 255, 255, 10, 20, 30]));
    }

    #[test]
    fn pictures_that_end_early_are_refused() {
        let picture = DynamicImage::from(noise(40, 40));
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let whole = bytes(&picture, format);
            for length in [whole.len() - 20, whole.len() / 2, 20] {
                let message = refusal(&whole[..length]);
                assert!(message.contains("is not a whole picture"), "{format:?} {length}: {message}");
            }
        }
    }

    #[test]
    fn what_is_not_a_picture_is_refused() {
        assert!(refusal(b"").ends_with("is not a whole picture: it is empty"));
        assert!(refusal(b"<!DOCTYPE html>").contains("does not begin as PNG"));
        let mut altered = bytes(&noise(8, 8).into(), ImageFormat::Png);
        let middle = altered.len() / 2;
        altered[middle] ^= 0xff;
        assert!(refusal(&altered).contains("is not a whole picture"));
    }

    #[test]
    fn a_gif_is_refused() {
        let mut out = vec![];
        let frame = || Frame::new(RgbaImage::new(2, 2));
        GifEncoder::new(&mut out).encode_frames([frame(), frame()]).unwrap();
        assert!(refusal(&out).ends_with("a.png is a GIF file, which is not read"));
    }

    #[test]
    fn of_an_animated_png_the_first_picture_is_taken() {
        let header = [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0].to_vec();
        let frame = |number: u8| {
            [&[0, 0, 0, number, 0, 0, 0, 1, 0, 0, 0, 1][..], &[0; 8], &[0, 1, 0, 1, 0, 0]].concat()
        };
        let second = [&[0, 0, 0, 2][..], &deflated(&[0, 9])].concat();
        let animated = png(&[
            (b"IHDR", header),
            (b"acTL", [0, 0, 0, 2, 0, 0, 0, 0].to_vec()),
            (b"fcTL", frame(0)),
            (b"IDAT", deflated(&[0, 5])),
            (b"fcTL", frame(1)),
            (b"fdAT", second),
            (b"IEND", vec![]),
        ]);
        assert_eq!(read(&animated).unwrap().1, Picture::new(1, 1, 1, vec![5]));
    }

    #[test]
    fn the_orientation_of_the_camera_is_ignored() {
        let plain = bytes(&noise(8, 16).into(), ImageFormat::Jpeg);
        // Entry 0x0112 of one short number, 6: turned by 90 degrees.
        let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let turned = [&plain[..2], &[0xff, 0xe1, 0, 2 + exif.len() as u8], exif, &plain[2..]].concat();
        assert_eq!(read(&turned).unwrap(), read(&plain).unwrap());
        assert_eq!(read(&turned).unwrap().0.width, 16);
    }

    #[test]
    fn no_altered_picture_panics() {
        let picture = DynamicImage::from(noise(12, 20));
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
            let whole = bytes(&picture, format);
            for (place, flip) in (0..whole.len()).flat_map(|place| [(place, 0xff), (place, 1)]) {
                let mut altered = whole.clone();
                altered[place] ^= flip;
                let _ = read(&altered);
            }
        }
    }

    #[test]
    fn a_picture_beyond_memory_is_refused_before_it_is_decoded() {
        let header = [&[0, 1, 0, 0, 0, 1, 0, 0][..], &[8, 2, 0, 0, 0]].concat();
        let huge = png(&[(b"IHDR", header), (b"IDAT", deflated(&[0])), (b"IEND", vec![])]);
        assert!(refusal(&huge).contains("is too large"));
    }

    #[test]
    fn a_picture_is_read_in_a_models_shape() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.webp");
        let large = GrayImage::from_fn(10_000, 10_000, |x, _| Luma([if x < 5_000 { 0 } else { 200 }]));
        fs::write(&path, bytes(&large.into(), ImageFormat::Png)).unwrap();
        let small = read_image(&path, [3, 2, 4]).unwrap();
        assert_eq!(small[..8], small[8..16]);
        // Lanczos overshoots beside an edge.
        assert!(small[0] < 3 && small[3].abs_diff(200) < 8, "{small:?}");
        assert!(matches!(read_image(&path, [2, 1, 1]), Err(ImageDataError::Channels { channels: 2 })));
        assert!(matches!(read_image(&path, [1, 0, 1]), Err(ImageDataError::Size { height: 0, width: 1 })));
        assert!(matches!(read_image(&path, [1, usize::MAX, 2]), Err(ImageDataError::Size { .. })));
        let missing = read_image(&folder.path().join("none"), [1, 1, 1]).unwrap_err();
        assert!(missing.to_string().contains("none: No such file"), "{missing}");
    }
}
