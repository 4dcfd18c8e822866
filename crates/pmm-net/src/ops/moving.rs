//! How a kernel is moved over images.

use super::lines::Frame;

/// A few images, in the form in which a kernel is moved over them.
pub(super) trait Moving: Sized {
    /// Pixels that go through in one go, at least, where there are as many: small images go together.
    const PIXELS: usize;
    /// A kernel, prepared.
    type Kernel: Sync;
    /// What comes out.
    type Sums;
    /// The sum of gradients by a kernel.
    type Slopes;

    /// Room for so many images.
    fn new(frame: Frame, channels: usize, images: usize) -> Self;

    /// Puts a channel of an image in its place; images in their order.
    fn put(&mut self, image: usize, channel: usize, pixels: &[f32]);

    /// Prepares a kernel `[output, input · side²]`.
    fn kernel(frame: Frame, kernel: &[f32], inputs: usize) -> Self::Kernel;

    /// A place for what comes out.
    fn sums(frame: Frame) -> Self::Sums;

    /// Convolves the images with a kernel.
    fn convolved(&mut self, kernel: &Self::Kernel, sums: &mut Self::Sums);

    /// Takes a channel of an image.
    fn take(sums: &Self::Sums, image: usize, channel: usize, pixels: &mut [f32]);

    /// The gradient by a kernel, of no image yet.
    fn no_slopes(frame: Frame, inputs: usize, outputs: usize) -> Self::Slopes;

    /// Adds to the gradient by a kernel that was moved over these images, from the gradient by what came out.
    fn add_slopes(&mut self, by: &mut Self, slopes: &mut Self::Slopes);

    /// The gradient by a kernel, as `[output, input · side²]`.
    fn by_kernel(slopes: Self::Slopes) -> Vec<f32>;
}
