//! Fast kernels for the processor, each beside the plain composition that it must agree with.

mod activation;
mod attention;
pub(crate) mod columns;
pub(crate) mod conv;
mod conv_work;
pub(crate) mod decoder;
mod flex;
mod layers;
mod lines;
pub(crate) mod matmul;
pub(crate) mod mlp;
mod moving;
pub(crate) mod ordered;
mod ordered_attention;
pub(crate) mod ordered_mlp;
mod ordered_rows;
pub(crate) mod ordered_step;
pub(crate) mod orthogonal;
pub(crate) mod resample;
pub(crate) mod revealing;
mod rows;
mod taps;
mod tile_maps;
pub(crate) mod transformer;
#[cfg(test)]
mod ways;
mod winograd;

pub(crate) use attention::softmax;
