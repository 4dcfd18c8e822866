//! 3×3 convolutions of many channels by Winograd's F(4×4, 3×3): 36 products in place of 144 make 4×4 outputs of a channel.
//!
//! With tiles d of 6×6 pixels, which overlap by two, and a kernel g the outputs are y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A, with the points 0, ±1,
//! ±2 and ∞. The sums over channels are 36 products of matrices; channels come last, so that the maps on both sides of a tile are sums
//! of vectors. Numbers agree with the direct sums to about 1e-5 of the largest.

#![expect(clippy::needless_range_loop, reason = "a map goes by columns, then by rows of the same square")]

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::lines::Frame;
use super::matmul::{Matrix, matmul, turn, turned};
use super::moving::Moving;
use super::taps::ROOM;

/// Outputs of a tile along one side, and pixels that they come from.
const TILE: usize = 4;
const SEEN: usize = 6;
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

/// A map of the numbers along one side of a tile.
trait Map {
    const FROM: usize;
    const TO: usize;
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN];
}

/// A map on both sides of tiles, whose numbers are vectors.
struct Mapped<'a, M> {
    /// Where each tile begins in `from` and in `to`.
    places: &'a [(usize, usize)],
    from: &'a [f32],
    /// Between rows and between columns of a tile.
    from_steps: (usize, usize),
    to: &'a mut [f32],
    to_steps: (usize, usize),
    /// Numbers of a vector, a multiple of [`ROOM`].
    count: usize,
    map: PhantomData<M>,
}

impl<M: Map> Mapped<'_, M> {
    fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl<M: Map> WithSimd for Mapped<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = S::F32_LANES;
        for &(from, to) in self.places {
            for lane in (0..self.count).step_by(lanes) {
                let mut half = [[simd.splat_f32s(0.0); SEEN]; SEEN];
                for column in 0..M::FROM {
                    let mut x = [simd.splat_f32s(0.0); SEEN];
                    for (row, x) in x.iter_mut().enumerate().take(M::FROM) {
                        let place = from + lane + row * self.from_steps.0 + column * self.from_steps.1;
                        *x = S::as_simd_f32s(&self.from[place..place + lanes]).0[0];
                    }
                    let y = M::map(simd, x);
                    for row in 0..M::TO {
                        half[row][column] = y[row];
                    }
                }
                for (row, half) in half.into_iter().enumerate().take(M::TO) {
                    let y = M::map(simd, half);
                    for (column, y) in y.into_iter().enumerate().take(M::TO) {
                        let place = to + lane + row * self.to_steps.0 + column * self.to_steps.1;
                        S::as_mut_simd_f32s(&mut self.to[place..place + lanes]).0[0] = y;
                    }
                }
            }
        }
    }
}

/// Bᵀ.
struct ExpandImage;
/// A.
struct ExpandSlope;
/// G.
struct ExpandKernel;
/// Aᵀ.
struct Contract;
/// Gᵀ.
struct ContractKernel;

impl Map for ExpandImage {
    const FROM: usize = 6;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let ends = |x0, x2, x4| times(4.0, x0, times(-5.0, x2, x4));
        let (even, odd) = (times(-4.0, x[2], x[4]), times(-4.0, x[1], x[3]));
        let (near, far) = (simd.sub_f32s(x[4], x[2]), simd.sub_f32s(x[3], x[1]));
        [
            ends(x[0], x[2], x[4]),
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            times(2.0, far, near),
            times(-2.0, far, near),
            ends(x[1], x[3], x[5]),
        ]
    }
}

impl Map for ExpandSlope {
    const FROM: usize = 4;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let (even, odd) = (simd.add_f32s(x[0], x[2]), simd.add_f32s(x[1], x[3]));
        let (far, odd_far) = (times(4.0, x[2], x[0]), times(4.0, x[3], x[1]));
        [
            x[0],
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            times(2.0, odd_far, far),
            times(-2.0, odd_far, far),
            x[3],
        ]
    }
}

impl Map for ExpandKernel {
    const FROM: usize = 3;
    const TO: usize = 6;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let by = |a: f32, x: S::f32s| simd.mul_f32s(simd.splat_f32s(a), x);
        let (even, odd) = (by(-1.0 / 6.0, simd.add_f32s(x[0], x[2])), by(-1.0 / 6.0, x[1]));
        let (far, odd_far) = (simd.add_f32s(by(1.0 / 24.0, x[0]), by(1.0 / 6.0, x[2])), by(1.0 / 12.0, x[1]));
        [
            by(0.25, x[0]),
            simd.add_f32s(even, odd),
            simd.sub_f32s(even, odd),
            simd.add_f32s(far, odd_far),
            simd.sub_f32s(far, odd_far),
            x[2],
        ]
    }
}

impl Map for Contract {
    const FROM: usize = 6;
    const TO: usize = 4;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let (even, odd) = (simd.add_f32s(x[1], x[2]), simd.sub_f32s(x[1], x[2]));
        let (far, odd_far) = (simd.add_f32s(x[3], x[4]), simd.sub_f32s(x[3], x[4]));
        [
            simd.add_f32s(x[0], simd.add_f32s(even, far)),
            times(2.0, odd_far, odd),
            times(4.0, far, even),
            simd.add_f32s(times(8.0, odd_far, odd), x[5]),
            x[0],
            x[0],
        ]
    }
}

impl Map for ContractKernel {
    const FROM: usize = 6;
    const TO: usize = 3;

    #[inline(always)]
    fn map<S: Simd>(simd: S, x: [S::f32s; SEEN]) -> [S::f32s; SEEN] {
        let times = |a: f32, x: S::f32s, y: S::f32s| simd.mul_add_e_f32s(simd.splat_f32s(a), x, y);
        let by = |a: f32, x: S::f32s| simd.mul_f32s(simd.splat_f32s(a), x);
        let (even, odd) = (by(-1.0 / 6.0, simd.add_f32s(x[1], x[2])), simd.sub_f32s(x[2], x[1]));
        let (far, odd_far) = (simd.add_f32s(x[3], x[4]), simd.sub_f32s(x[3], x[4]));
        [
            times(0.25, x[0], times(1.0 / 24.0, far, even)),
            times(1.0 / 6.0, odd, by(1.0 / 12.0, odd_far)),
            simd.add_f32s(x[5], times(1.0 / 6.0, far, even)),
            x[0],
            x[0],
            x[0],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::ways::every_way;
    use super::*;

    /// Tiles whose numbers are vectors, mapped on both sides, in every way.
    fn mapped<M: Map>(from: &[f32]) -> Vec<Vec<f32>> {
        every_way!(M::TO * M::TO * ROOM, |to| Mapped::<M> {
            places: &[(0, 0)],
            from,
            from_steps: (M::FROM * ROOM, ROOM),
            to,
            to_steps: (M::TO * ROOM, ROOM),
            count: ROOM,
            map: PhantomData,
        })
    }

    fn numbers(n: usize, factor: f32) -> Vec<f32> {
        (0..n * ROOM).map(|i| (factor * i as f32).sin()).collect()
    }

    fn assert_near(found: &[f32], right: &[f32]) {
        assert_eq!(found.len(), right.len());
        for (found, right) in found.iter().zip(right) {
            assert!((found - right).abs() < 2e-5, "{found} {right}");
        }
    }

    fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
        a.iter().zip(b).map(|(a, b)| a * b).collect()
    }

    /// A tile comes out as the sums over the nine taps.
    #[test]
    fn a_tile_is_a_convolution() {
        let (image, kernel) = (numbers(POINTS, 0.7), numbers(9, 1.3));
        let right: Vec<f32> = (0..TILE * TILE * ROOM)
            .map(|k| {
                let (row, column, lane) = (k / ROOM / TILE, k / ROOM % TILE, k % ROOM);
                let tap = |tap: usize| {
                    let pixel = (row + tap / 3) * SEEN + column + tap % 3;
                    kernel[tap * ROOM + lane] * image[pixel * ROOM + lane]
                };
                (0..9).map(tap).sum()
            })
            .collect();
        for (image, kernel) in mapped::<ExpandImage>(&image).iter().zip(mapped::<ExpandKernel>(&kernel)) {
            for found in mapped::<Contract>(&product(image, &kernel)) {
                assert_near(&found, &right);
            }
        }
    }

    /// The maps of the gradient are those of the value, transposed: ⟨contract(x), y⟩ = ⟨x, expand(y)⟩.
    #[test]
    fn gradients_take_the_maps_back() {
        let sum = |numbers: Vec<f32>| numbers.iter().map(|x| f64::from(*x)).sum::<f64>();
        let (tiles, outputs, kernel) = (numbers(POINTS, 0.7), numbers(16, 1.3), numbers(9, 0.4));
        for (contracted, expanded) in mapped::<Contract>(&tiles).iter().zip(mapped::<ExpandSlope>(&outputs)) {
            let (one, two) = (sum(product(contracted, &outputs)), sum(product(&tiles, &expanded)));
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
        for (contracted, expanded) in
            mapped::<ContractKernel>(&tiles).iter().zip(mapped::<ExpandKernel>(&kernel))
        {
            let (one, two) = (sum(product(contracted, &kernel)), sum(product(&tiles, &expanded)));
            assert!((one - two).abs() < 1e-3, "{one} {two}");
        }
    }
}
