//! Files of models: each is written whole or not at all, and read whole and unaltered or refused by name.
//!
//! [`WholeFile`] writes files; [`save_tensors`] and [`load_tensors`] keep named tensors with facts about them and a checksum,
//! [`save_state`] and [`load_state`] what a run needs to go on; an [`Identity`] says what files belong together, a [`FolderLock`]
//! that one process writes them. No network engine is needed here, so that readers of files can be tested, and fuzzed, without one.

mod checkpoint;
mod folder_lock;
mod identity;
mod state;
mod tensors;
mod whole_file;

pub use checkpoint::{Checkpoint, load_state, parse_state, save_state};
pub use folder_lock::{FolderLock, LockError};
pub use identity::{Difference, FORMAT, Identity};
pub use state::{Best, State};
pub use tensors::{Named, TensorFileError, load_tensors, parse_tensors, save_tensors};
pub use whole_file::{WholeFile, remove_leftovers, write_whole};
