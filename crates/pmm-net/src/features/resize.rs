//! Bytes of an image → numbers of a square one, by bilinear interpolation.

/// Where the pixels of the smaller and the larger image meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Pixel i has its centre at i + ½, as in PyTorch (without corners aligned).
    Centres,
    /// Pixel i is at i, as in TensorFlow's first operation of that kind, with which Inception was made.
    Corner,
}

/// Between two pixels: their places, and the share of the second.
struct Between {
    low: usize,
    high: usize,
    share: f32,
}

/// Places in `from` pixels for each of `to`.
fn places(from: usize, to: usize, align: Align) -> Vec<Between> {
    let scale = from as f64 / to as f64;
    let place = |i: usize| {
        let at = match align {
            Align::Centres => ((i as f64 + 0.5) * scale - 0.5).max(0.0),
            Align::Corner => i as f64 * scale,
        };
        let low = (at as usize).min(from - 1);
        Between { low, high: (low + 1).min(from - 1), share: (at - low as f64) as f32 }
    };
    (0..to).map(place).collect()
}

/// An image `[channels, height, width]` as `[3, side, side]`, with values of 0 to 255; a single channel is taken three times.
pub(super) fn resized(pixels: &[u8], shape: [usize; 3], side: usize, align: Align) -> Vec<f32> {
    let [channels, height, width] = shape;
    let (rows, columns) = (places(height, side, align), places(width, side, align));
    let mut out = Vec::with_capacity(3 * side * side);
    for channel in (0..3).map(|channel| channel.min(channels - 1)) {
        let plane = &pixels[channel * height * width..][..height * width];
        for row in &rows {
            let [low, high] = [row.low, row.high].map(|row| &plane[row * width..][..width]);
            let across = |line: &[u8], at: &Between| {
                let (a, b) = (f32::from(line[at.low]), f32::from(line[at.high]));
                a + (b - a) * at.share
            };
            out.extend(columns.iter().map(|at| {
                let (a, b) = (across(low, at), across(high, at));
                a + (b - a) * row.share
            }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_is_the_same_image() {
        let pixels: Vec<u8> = (0..12).collect();
        let expected: Vec<f32> = (0..12).map(|value| value as f32).collect();
        for align in [Align::Centres, Align::Corner] {
            assert_eq!(resized(&pixels, [3, 2, 2], 2, align), expected);
            assert_eq!(resized(&pixels[..4], [1, 2, 2], 2, align), expected[..4].repeat(3));
            assert_eq!(resized(&[7], [1, 1, 1], 5, align), [7.0; 75]);
        }
    }

    /// torch.nn.functional.interpolate(torch.tensor([[[[0., 100.]]]]), (1, 4), mode="bilinear") → 0, 25, 75, 100;
    /// tf.compat.v1.image.resize_bilinear of the same → 0, 50, 100, 100.
    #[test]
    fn both_alignments() {
        let line = |align| resized(&[0, 100, 0, 100], [1, 2, 2], 4, align)[..4].to_vec();
        assert_eq!(line(Align::Centres), [0.0, 25.0, 75.0, 100.0]);
        assert_eq!(line(Align::Corner), [0.0, 50.0, 100.0, 100.0]);
    }
}
