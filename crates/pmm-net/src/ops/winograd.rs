//! 3×3 convolutions of many channels by Winograd's F(4×4, 3×3): 36 products in place of 144 make 4×4 outputs of a channel.
//!
//! With tiles d of 6×6 pixels, which overlap by two, and a kernel g the outputs are y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A, with the points 0, ±1,
//! ±2 and ∞. The sums over channels are 36 products of matrices; channels come last, so that the maps on both sides of a tile are sums
//! of vectors. Numbers agree with the direct sums to about 1e-5 of the largest.

use std::marker::PhantomData;

use super::lines::Frame;
use super::matmul::{Matrix, matmul, turn, turned};
use super::moving::Moving;
use super::taps::ROOM;
use super::tile_maps::{
    Contract, ContractKernel, ExpandImage, ExpandKernel, ExpandSlope, Map, Mapped, SEEN, TILE,
};

/// Numbers of an expanded tile.
const POINTS: usize = SEEN * SEEN;

/// Whether channels are many enough, and a multiple of the longest vectors.
pub(super) fn suits(frame: Frame, input: usize, output: usize) -> bool {
    frame.side == 3 && input.min(output) >= LEAST && input.is_multiple_of(ROOM) && output.is_multiple_of(ROOM)
}

/// Channels below which direct sums are faster.
const LEAST: usize = 32;

/// How images are cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    frame: Frame,
    down: usize,
    across: usize,
}

impl Cut {
    fn new(frame: Frame) -> Self {
        Self { frame, down: frame.height.div_ceil(TILE), across: frame.width.div_ceil(TILE) }
    }

    /// Of an image.
    fn tiles(&self) -> usize {
        self.down * self.across
    }

    /// Pixels of a row of an image with its border, and of all of it.
    fn row(&self) -> usize {
        TILE * self.across + 2
    }
    fn pixels(&self) -> usize {
        (TILE * self.down + 2) * self.row()
    }

    /// Where each tile's first pixel is, border included.
    fn origins(&self) -> impl Iterator<Item = usize> {
        let Self { across, .. } = *self;
        let row = self.row();
        (0..self.tiles()).map(move |tile| TILE * (tile / across * row + tile % across))
    }
}

/// Some images, and room for their tiles.
pub(super) struct Tiles {
    cut: Cut,
    channels: usize,
    images: usize,
    /// `[image, channel, pixel]`.
    planes: Vec<f32>,
    /// One image with its border, channels last.
    padded: Vec<f32>,
    /// `[point, tile, channel]`.
    expanded: Expanded,
}

/// Images that came out of a convolution.
pub(super) struct Contracted {
    cut: Cut,
    channels: usize,
    products: Expanded,
    /// One image, channels last.
    last: Vec<f32>,
    /// `[image, channel, pixel]`.
    planes: Vec<f32>,
}

/// Matrices, one for each point.
#[derive(Default)]
pub(super) struct Expanded {
    values: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl Expanded {
    fn new(rows: usize, columns: usize) -> Self {
        let mut new = Self::default();
        new.resize(rows, columns);
        new
    }

    fn resize(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.values.resize(POINTS * self.stride(), 0.0);
    }

    /// From one point to the next: a line further than need be, since powers of two share places in the caches.
    fn stride(&self) -> usize {
        self.rows * self.columns + ROOM
    }

    fn at(&self, point: usize) -> Matrix<'_> {
        let size = self.rows * self.columns;
        Matrix::new(&self.values[point * self.stride()..][..size], self.rows, self.columns)
    }

    fn at_mut(&mut self, point: usize) -> &mut [f32] {
        let (stride, size) = (self.stride(), self.rows * self.columns);
        &mut self.values[point * stride..][..size]
    }

    /// Between rows and between columns of a tile.
    fn steps(&self) -> (usize, usize) {
        (SEEN * self.stride(), self.stride())
    }
}

impl Tiles {
    /// Expands all images by a map from the pixel at `first` of each tile on.
    fn expand<M: Map>(&mut self, first: (usize, usize)) {
        let (cut, channels) = (self.cut, self.channels);
        let Frame { width, .. } = cut.frame;
        let first = (first.0 * cut.row() + first.1) * channels;
        let steps = self.expanded.steps();
        for image in 0..self.images {
            let planes =
                &self.planes[image * channels * cut.frame.pixels()..][..channels * cut.frame.pixels()];
            for row in 0..cut.frame.height {
                let to = &mut self.padded[((row + 1) * cut.row() + 1) * channels..];
                turn(&planes[row * width..], (cut.frame.pixels(), channels), to, (channels, width));
            }
            let places = cut
                .origins()
                .enumerate()
                .map(|(tile, origin)| (first + origin * channels, (image * cut.tiles() + tile) * channels));
            Mapped::<M> {
                places: &places.collect::<Vec<_>>(),
                from: &self.padded,
                from_steps: (cut.row() * channels, channels),
                to: &mut self.expanded.values,
                to_steps: steps,
                count: channels,
                map: PhantomData,
            }
            .run();
        }
    }
}

impl Moving for Tiles {
    const PIXELS: usize = 1024;
    type Kernel = Expanded;
    type Sums = Contracted;
    type Slopes = Expanded;

    fn new(frame: Frame, channels: usize, images: usize) -> Self {
        let cut = Cut::new(frame);
        Self {
            cut,
            channels,
            images,
            planes: vec![0.0; images * channels * frame.pixels()],
            padded: vec![0.0; cut.pixels() * channels],
            expanded: Expanded::new(images * cut.tiles(), channels),
        }
    }

    fn put(&mut self, image: usize, channel: usize, pixels: &[f32]) {
        let start = (image * self.channels + channel) * pixels.len();
        self.planes[start..start + pixels.len()].copy_from_slice(pixels);
    }

    /// G g Gᵀ of a kernel `[output, input · 9]`, as `[point, input, output]`.
    fn kernel(_: Frame, kernel: &[f32], inputs: usize) -> Expanded {
        let outputs = kernel.len() / (9 * inputs);
        let taps = turned(kernel, outputs);
        let mut expanded = Expanded::new(inputs, outputs);
        let to_steps = expanded.steps();
        let places: Vec<_> = (0..inputs).map(|input| (9 * input * outputs, input * outputs)).collect();
        Mapped::<ExpandKernel> {
            places: &places,
            from: &taps,
            from_steps: (3 * outputs, outputs),
            to: &mut expanded.values,
            to_steps,
            count: outputs,
            map: PhantomData,
        }
        .run();
        expanded
    }

    fn sums(frame: Frame) -> Contracted {
        let products = Expanded::default();
        Contracted { cut: Cut::new(frame), channels: 0, products, last: Vec::new(), planes: Vec::new() }
    }

    fn convolved(&mut self, kernel: &Expanded, sums: &mut Contracted) {
        self.expand::<ExpandImage>((0, 0));
        sums.products.resize(self.expanded.rows, kernel.columns);
        for point in 0..POINTS {
            matmul(sums.products.at_mut(point), false, self.expanded.at(point), kernel.at(point));
        }
        sums.channels = kernel.columns;
        sums.contract(self.images);
    }

    fn take(sums: &Contracted, image: usize, channel: usize, pixels: &mut [f32]) {
        let start = (image * sums.channels + channel) * pixels.len();
        pixels.copy_from_slice(&sums.planes[start..start + pixels.len()]);
    }

    fn no_slopes(_: Frame, inputs: usize, outputs: usize) -> Expanded {
        Expanded::new(inputs, outputs)
    }

    /// The sum over tiles of Bᵀ d B times A y Aᵀ, with the gradient y by outputs.
    fn add_slopes(&mut self, by: &mut Self, slopes: &mut Expanded) {
        self.expand::<ExpandImage>((0, 0));
        by.expand::<ExpandSlope>((1, 1));
        for point in 0..POINTS {
            matmul(slopes.at_mut(point), true, self.expanded.at(point).transposed(), by.expanded.at(point));
        }
    }

    /// Gᵀ s G.
    fn by_kernel(slopes: Expanded) -> Vec<f32> {
        let (inputs, outputs) = (slopes.rows, slopes.columns);
        let mut taps = vec![0.0; 9 * inputs * outputs];
        let places: Vec<_> = (0..inputs).map(|input| (input * outputs, 9 * input * outputs)).collect();
        Mapped::<ContractKernel> {
            places: &places,
            from: &slopes.values,
            from_steps: slopes.steps(),
            to: &mut taps,
            to_steps: (3 * outputs, outputs),
            count: outputs,
            map: PhantomData,
        }
        .run();
        turned(&taps, 9 * inputs)
    }
}

impl Contracted {
    fn contract(&mut self, images: usize) {
        let (cut, channels) = (self.cut, self.channels);
        let Frame { height, width, .. } = cut.frame;
        self.last.resize(cut.pixels() * channels, 0.0);
        self.planes.resize(images * channels * height * width, 0.0);
        for image in 0..images {
            let places = cut
                .origins()
                .enumerate()
                .map(|(tile, origin)| ((image * cut.tiles() + tile) * channels, origin * channels));
            Mapped::<Contract> {
                places: &places.collect::<Vec<_>>(),
                from: &self.products.values,
                from_steps: self.products.steps(),
                to: &mut self.last,
                to_steps: (cut.row() * channels, channels),
                count: channels,
                map: PhantomData,
            }
            .run();
            let planes = &mut self.planes[image * channels * height * width..];
            for row in 0..height {
                let from = &self.last[row * cut.row() * channels..];
                turn(from, (channels, width), &mut planes[row * width..], (height * width, channels));
            }
        }
    }
}
