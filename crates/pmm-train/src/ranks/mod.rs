//! The processes that train one model together: each has a number, its *rank*, and they hand bytes to each other. Nothing here adds:
//! a sum that depends on who computes it would not be the same on another number of ranks.

use std::fmt::Debug;
use std::sync::Arc;

mod alone;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
#[path = "no_mpi.rs"]
mod mpi;
mod processor;
mod state_parts;
mod threads;
mod traffic;

pub use alone::Alone;
pub use mpi::{abort, finish, start};
pub use processor::processor;
pub(crate) use state_parts::{Parts, deal, gather_average, gather_parts};
pub use threads::Threads;
pub use traffic::Traffic;

/// Why ranks could not work together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RanksError {
    /// A rank has ended before its time.
    #[error("rank {rank} is gone")]
    Gone {
        /// Which.
        rank: usize,
    },
    /// Several processes were started, and this build cannot join them.
    #[error("{processes} processes were started together, but this build of pmm has no MPI")]
    NoMpi {
        /// How many.
        processes: usize,
    },
    /// MPI does not do what is needed.
    #[error("MPI cannot be used: {why}")]
    Unusable {
        /// Why.
        why: String,
    },
    /// A rank has sent something else than was expected.
    #[error("rank {rank} is out of step: it sent {bytes} bytes that make no sense here")]
    OutOfStep {
        /// Which.
        rank: usize,
        /// How many bytes.
        bytes: usize,
    },
}

impl RanksError {
    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            Self::Gone { .. } => {
                "see why that process ended; the fit goes on from its last checkpoint".into()
            }
            Self::NoMpi { .. } => "build pmm with the feature mpi, or start one process".into(),
            Self::Unusable { .. } => {
                "start the program with the mpirun of the MPI that it was built with".into()
            }
            Self::OutOfStep { .. } => {
                "start all ranks with the same program and the same command line".into()
            }
        }
    }
}

/// A group of ranks, as one of them sees it. All of them must call [`Ranks::exchange`] equally often.
pub trait Ranks: Debug + Send + Sync {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends `to[r]` to rank r, and returns what every rank has sent to this one, in the order of their numbers.
    fn exchange(&self, to: &[&[u8]]) -> Result<Vec<Vec<u8>>, RanksError>;

    /// The bytes of every rank, in the order of their numbers.
    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RanksError> {
        self.exchange(&vec![bytes; self.size()])
    }

    /// The bytes of rank 0; those of the others are not looked at.
    fn bytes_of_first(&self, bytes: &[u8]) -> Result<Vec<u8>, RanksError> {
        let bytes = if self.rank() == 0 { bytes } else { &[] };
        Ok(self.gather(bytes)?.swap_remove(0))
    }

    /// The bits that any rank has set.
    fn any(&self, bits: u8) -> Result<u8, RanksError> {
        if self.size() == 1 {
            return Ok(bits);
        }
        Ok(self.gather(&[bits])?.concat().into_iter().fold(0, |all, bits| all | bits))
    }
}

/// The ranks of a job: those that `mpirun` or `srun` has started, or this process alone.
pub type AllRanks = Arc<dyn Ranks>;
