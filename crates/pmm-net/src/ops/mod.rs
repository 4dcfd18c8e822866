//! Fast kernels for the processor, each beside the plain composition that it must agree with.

mod activation;
mod matmul;
pub(crate) mod mlp;
