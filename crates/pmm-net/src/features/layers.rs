//! Layers with fixed weights.

use burn::tensor::Tensor;
use burn::tensor::activation::relu6;
use burn::tensor::module::{avg_pool2d, conv2d, max_pool2d};
use burn::tensor::ops::{AvgPoolOptions, ConvOptions, MaxPoolOptions};

/// What is put around an image before a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Padding {
    /// This many zeros above and below, and left and right.
    Zeros([usize; 2]),
    /// So many zeros that the output has ⌈side/stride⌉ pixels; the odd one comes last, as in TensorFlow.
    Same,
}

impl Padding {
    /// Zeros before and after, above and below, then left and right.
    pub(super) fn pairs(self, sides: [usize; 2], kernel: [usize; 2], stride: usize) -> [(usize, usize); 2] {
        match self {
            Self::Zeros(zeros) => zeros.map(|zeros| (zeros, zeros)),
            Self::Same => [0, 1].map(|axis| {
                let reach = (sides[axis].div_ceil(stride) - 1) * stride + kernel[axis];
                let zeros = reach.saturating_sub(sides[axis]);
                (zeros / 2, zeros - zeros / 2)
            }),
        }
    }
}

/// A convolution.
#[derive(Debug)]
pub(super) struct Conv {
    pub(super) kernel: Tensor<4>,
    pub(super) bias: Tensor<1>,
    pub(super) stride: usize,
    pub(super) padding: Padding,
    pub(super) groups: usize,
}

impl Conv {
    pub(super) fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [_, _, height, width] = x.dims();
        let [_, _, high, wide] = self.kernel.dims();
        let padding = self.padding.pairs([height, width], [high, wide], self.stride);
        let options = ConvOptions::new_with_padding([self.stride; 2], padding, [1, 1], self.groups);
        conv2d(x, self.kernel.clone(), Some(self.bias.clone()), options)
    }
}

/// What networks that are made of convolutions do to images, of whatever kind these are.
pub(super) trait Convolve {
    /// One or more images.
    type Image: Clone;

    /// The convolution.
    fn convolved(&self, x: &Self::Image) -> Self::Image;
    /// Held between 0 and 6.
    fn bounded(x: Self::Image) -> Self::Image;
    /// x + more.
    fn sum(x: Self::Image, more: &Self::Image) -> Self::Image;
}

impl Convolve for Conv {
    type Image = Tensor<4>;

    fn convolved(&self, x: &Tensor<4>) -> Tensor<4> {
        self.forward(x.clone())
    }
    fn bounded(x: Tensor<4>) -> Tensor<4> {
        relu6(x)
    }
    fn sum(x: Tensor<4>, more: &Tensor<4>) -> Tensor<4> {
        x + more.clone()
    }
}

/// x W + b.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) weight: Tensor<2>,
    pub(super) bias: Tensor<2>,
}

impl Linear {
    pub(super) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight.clone()) + self.bias.clone()
    }
}

/// The largest of each 3×3 pixels.
pub(super) fn max_of_three(x: Tensor<4>, stride: usize, padding: usize) -> Tensor<4> {
    max_pool2d(x, MaxPoolOptions::new([3, 3]).with_stride([stride; 2]).with_padding([padding; 2]))
}

/// The mean of each 3×3 pixels, of those only that are there.
pub(super) fn mean_of_three(x: Tensor<4>) -> Tensor<4> {
    let mut options = AvgPoolOptions::new([3, 3]).with_stride([1, 1]).with_padding([1, 1]);
    options.count_include_pad = false;
    avg_pool2d(x, options)
}

/// The mean over all pixels: `[batch, channels]`.
pub(super) fn mean_of_all(x: Tensor<4>) -> Tensor<2> {
    let [batch, channels, height, width] = x.dims();
    x.reshape([batch, channels, height * width]).mean_dim(2).reshape([batch, channels])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TensorFlow: 224 pixels at stride 2 get 0 and 1 for a kernel of 3, 1 and 2 for one of 5; 7 at stride 1 get 2 and 2.
    #[test]
    fn same_padding_is_tensorflows() {
        let same = |side, kernel, stride| Padding::Same.pairs([side; 2], [kernel; 2], stride)[0];
        assert_eq!((same(224, 3, 2), same(28, 5, 2), same(7, 5, 1)), ((0, 1), (1, 2), (2, 2)));
        assert_eq!((same(1, 3, 2), same(5, 1, 4)), ((1, 1), (0, 0)));
    }
}
