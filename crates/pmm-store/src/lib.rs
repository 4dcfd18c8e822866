//! Files of models: each is written whole or not at all, and read whole and unaltered or refused by name.
//!
//! [`save_tensors`] and [`load_tensors`] keep named tensors with facts and a checksum, [`save_state`] and [`load_state`] what a run
//! needs to go on. No network engine is needed here, so that readers of files can be tested, and fuzzed, without one.

mod checkpoint;
mod files;
mod state;
mod tensors;

pub use checkpoint::{load_state, save_state};
pub use files::{remove_leftovers, write_atomically};
pub use state::{Best, State};
pub use tensors::{Facts, Named, TensorFileError, load_tensors, parse_tensors, save_tensors};
