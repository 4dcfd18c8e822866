//! Images as lines: each channel of a few images is one line on which they follow each other with a border of zeros, so that a tap of a
//! kernel is a distance along the line.

#![expect(clippy::manual_memcpy, reason = "a loop is copied in place, where a copy of a slice is a call")]

use multiversion::multiversion;

use super::moving::Moving;
use super::taps::{Blocks, ROOM, SQUARE, Slopes, Sums};

/// Images that a kernel of a given side is moved over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) height: usize,
    pub(super) width: usize,
    /// Of the kernel: 1 or 3.
    pub(super) side: usize,
}

impl Frame {
    pub(super) fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Of a kernel, for one channel.
    pub(super) fn taps(&self) -> usize {
        self.side * self.side
    }

    /// Of a row with its border: the zeros at its end are those before the next.
    fn row(&self) -> usize {
        self.width + self.side / 2
    }

    /// From a pixel of one image to the same of the next.
    fn image(&self) -> usize {
        (self.height + self.side / 2) * self.row()
    }

    /// Where the first pixel is on a line.
    fn first(&self) -> usize {
        self.side / 2 * (self.row() + 1)
    }

    /// How far along a line a tap looks, of a pixel that is taken to be at 0.
    fn ahead(&self, tap: usize) -> usize {
        tap / self.side * self.row() + tap % self.side
    }

    /// The numbers of a line that can be pixels, or lie between them, for so many images.
    fn span(&self, images: usize) -> usize {
        images * self.image() - self.side / 2 * self.row()
    }
}

/// The channels of some images, a line each.
pub(super) struct Lines {
    frame: Frame,
    channels: usize,
    images: usize,
    values: Vec<f32>,
    stride: usize,
}

impl Moving for Lines {
    const PIXELS: usize = 256;
    type Kernel = Blocks;
    type Sums = Convolved;
    type Slopes = Vec<f32>;

    fn new(frame: Frame, channels: usize, images: usize) -> Self {
        let stride = (2 * frame.first() + images * frame.image()).next_multiple_of(ROOM) + ROOM;
        Self {
            frame,
            channels,
            images,
            values: vec![0.0; channels.next_multiple_of(SQUARE) * stride],
            stride,
        }
    }

    fn put(&mut self, image: usize, channel: usize, pixels: &[f32]) {
        let Frame { width, .. } = self.frame;
        let row = self.frame.row();
        let start = channel * self.stride + self.frame.first() + image * self.frame.image();
        let to = &mut self.values[start..][..self.frame.image()];
        copy_rows(to, pixels, (row, width), width);
        // Rows that were copied with what follows them have gone over the border.
        for border in width..row {
            to[border..].iter_mut().step_by(row).for_each(|number| *number = 0.0);
        }
    }

    fn kernel(frame: Frame, kernel: &[f32], inputs: usize) -> Blocks {
        Blocks::new(kernel, inputs * frame.taps())
    }

    fn sums(frame: Frame) -> Convolved {
        Convolved { frame, values: Vec::new(), stride: 0 }
    }

    fn convolved(&mut self, kernel: &Blocks, sums: &mut Convolved) {
        let (frame, taps) = (self.frame, self.frame.taps());
        let starts: Vec<usize> =
            (0..self.channels * taps).map(|tap| tap / taps * self.stride + frame.ahead(tap % taps)).collect();
        let span = frame.span(self.images);
        sums.stride = span.next_multiple_of(ROOM);
        sums.values.resize(kernel.outputs() * sums.stride, 0.0);
        let (out, stride) = (sums.values.as_mut_slice(), sums.stride);
        Sums { x: &self.values, starts: &starts, kernel, out, stride, span }.run();
    }

    fn take(sums: &Convolved, image: usize, channel: usize, pixels: &mut [f32]) {
        let from = channel * sums.stride + image * sums.frame.image();
        copy_rows(pixels, &sums.values[from..], (sums.frame.width, sums.frame.row()), sums.frame.width);
    }

    fn no_slopes(frame: Frame, inputs: usize, outputs: usize) -> Vec<f32> {
        vec![0.0; inputs * outputs * frame.taps()]
    }

    fn add_slopes(&mut self, by: &mut Self, slopes: &mut Vec<f32>) {
        let frame = self.frame;
        let ahead: Vec<usize> = (0..frame.taps()).map(|tap| frame.ahead(tap)).collect();
        Slopes {
            x: &self.values,
            d: &by.values[frame.first()..],
            stride: self.stride,
            ahead: &ahead,
            span: frame.span(self.images).next_multiple_of(ROOM),
            inputs: self.channels,
            outputs: by.channels,
            out: slopes,
        }
        .run();
    }

    fn by_kernel(slopes: Vec<f32>) -> Vec<f32> {
        slopes
    }
}

/// Images that came out of a convolution, still with what lies between their rows.
pub(super) struct Convolved {
    frame: Frame,
    values: Vec<f32>,
    stride: usize,
}

/// Copies rows of so many numbers, which are so far apart in `to` and in `from`; up to 32 numbers in one go, whatever the width, if
/// there is room, since most rows are short. What then lies between the rows of `to` is overwritten.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn copy_rows(to: &mut [f32], from: &[f32], strides: (usize, usize), width: usize) {
    if width <= 8 {
        copy_rows_of::<8>(to, from, strides, width);
    } else if width <= 16 {
        copy_rows_of::<16>(to, from, strides, width);
    } else {
        copy_rows_of::<32>(to, from, strides, width);
    }
}

#[inline(always)]
fn copy_rows_of<const AT_ONCE: usize>(to: &mut [f32], from: &[f32], strides: (usize, usize), width: usize) {
    let rows = (to.len() / strides.0).min(from.len().div_ceil(strides.1));
    for row in 0..rows {
        let (mut start, mut begin) = (row * strides.0, row * strides.1);
        let end = start + width;
        while start < end {
            if start + AT_ONCE <= to.len() && begin + AT_ONCE <= from.len() {
                let (to, from) = (&mut to[start..start + AT_ONCE], &from[begin..begin + AT_ONCE]);
                for i in 0..AT_ONCE {
                    to[i] = from[i];
                }
            } else {
                for i in 0..end - start {
                    to[start + i] = from[begin + i];
                }
                break;
            }
            start += AT_ONCE;
            begin += AT_ONCE;
        }
    }
}
