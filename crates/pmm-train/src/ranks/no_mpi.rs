//! A build without MPI: one process, and a word where more were started together.

use std::sync::Arc;

use super::{AllRanks, Alone, RanksError};

/// What `mpirun` of Open MPI and of MPICH tell a process about how many there are.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The ranks that this process was started with: itself alone.
pub fn start() -> Result<AllRanks, RanksError> {
    let size = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    match SIZES.iter().find_map(|name| size(name)) {
        Some(processes) if processes > 1 => Err(RanksError::NoMpi { processes }),
        _ => Ok(Arc::new(Alone)),
    }
}

/// Ends the work of this rank in good order.
pub fn finish() {}

/// Ends all ranks of a job; there is only one, which ends by itself.
pub fn abort() {}
