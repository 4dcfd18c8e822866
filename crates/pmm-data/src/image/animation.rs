//! Pictures one after the other: an animated PNG.

use super::error::ImageDataError;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// An animated PNG of PNG files of one size and kind, each with the milliseconds that it is shown, over and over.
///
/// Viewers that do not know animations show the first. (Encoders of PNG write chunks; an animation is the same chunks with numbers
/// in front, so none is encoded anew.)
///
/// ```
/// use pmm_data::{animated_png, grid_png};
/// let frame = |grey: u8| grid_png(&[vec![grey; 4]], [1, 2, 2], 1);
/// let moving = animated_png(&[(frame(0)?, 100), (frame(255)?, 900)])?;
/// assert!(moving.starts_with(b"\x89PNG"));
/// assert_eq!(moving.windows(4).filter(|chunk| chunk == b"fcTL").count(), 2);
/// # Ok::<(), pmm_data::ImageDataError>(())
/// ```
pub fn animated_png(frames: &[(Vec<u8>, u16)]) -> Result<Vec<u8>, ImageDataError> {
    let refused =
        || ImageDataError::Grid { reason: "the frames are not PNG files of one size and kind".into() };
    let header = frames.first().and_then(|(frame, _)| frame.get(16..29)).ok_or_else(refused)?.to_vec();
    let mut out = SIGNATURE.to_vec();
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"acTL", &[(frames.len() as u32).to_be_bytes(), [0; 4]].concat());
    let mut number = 0u32;
    for (index, (frame, milliseconds)) in frames.iter().enumerate() {
        let data = image_data(frame).ok_or_else(refused)?;
        if frame.get(16..29) != Some(&header[..]) {
            return Err(refused());
        }
        // Number, size, offset 0, delay in thousandths of a second; the next frame takes its place.
        let mut control = number.to_be_bytes().to_vec();
        control.extend_from_slice(&header[..8]);
        control.extend_from_slice(&[0; 8]);
        control.extend_from_slice(&milliseconds.to_be_bytes());
        control.extend_from_slice(&1000u16.to_be_bytes());
        control.extend_from_slice(&[0, 0]);
        chunk(&mut out, b"fcTL", &control);
        number += 1;
        if index == 0 {
            chunk(&mut out, b"IDAT", &data);
        } else {
            chunk(&mut out, b"fdAT", &[&number.to_be_bytes()[..], &data].concat());
            number += 1;
        }
    }
    chunk(&mut out, b"IEND", &[]);
    Ok(out)
}

/// The contents of a file's chunks of pixels.
fn image_data(frame: &[u8]) -> Option<Vec<u8>> {
    let mut rest = frame.strip_prefix(SIGNATURE)?;
    let mut data = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        if after.get(..4)? == b"IDAT" {
            data.extend_from_slice(after.get(4..4 + length)?);
        }
        rest = after.get(length + 8..)?;
    }
    Some(data)
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = flate2::Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use image::AnimationDecoder;
    use image::codecs::png::PngDecoder;

    use super::super::grid::grid_png;
    use super::*;

    /// A decoder that knows animations finds all frames, with their pixels and delays.
    #[test]
    fn frames_come_back() {
        let frame = |grey: u8| grid_png(&[vec![grey; 6]], [1, 2, 3], 1).unwrap();
        let moving = animated_png(&[(frame(1), 40), (frame(9), 50), (frame(200), 1000)]).unwrap();
        let decoder = PngDecoder::new(std::io::Cursor::new(moving)).unwrap().apng().unwrap();
        let frames = decoder.into_frames().collect_frames().unwrap();
        let seen: Vec<(u8, u32)> = frames
            .iter()
            .map(|frame| (frame.buffer().get_pixel(2, 1)[0], frame.delay().numer_denom_ms().0))
            .collect();
        assert_eq!(seen, [(1, 40), (9, 50), (200, 1000)]);
        assert!(animated_png(&[]).is_err());
        let other = grid_png(&[vec![0; 4]], [1, 2, 2], 1).unwrap();
        assert!(animated_png(&[(frame(1), 1), (other, 1)]).is_err());
    }
}
