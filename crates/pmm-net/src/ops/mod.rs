//! Fast kernels for the processor, each beside the plain composition that it must agree with.

mod activation;
mod attention;
pub(crate) mod conv;
pub(crate) mod decoder;
mod flex;
pub(crate) mod group_norm;
mod matmul;
pub(crate) mod mlp;
mod rows;
pub(crate) mod transformer;
