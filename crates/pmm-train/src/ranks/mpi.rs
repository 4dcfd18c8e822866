//! Ranks that MPI has started: it carries bytes, and never adds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi::Threading;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

use super::{AllRanks, Alone, Ranks, RanksError};

/// What Open MPI, MPICH and PMIx tell a process that they have started.
const SIGNS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"];
/// Bytes that go out at once, to all ranks together: MPI counts them in 32 bits.
const AT_ONCE: usize = 1 << 30;

/// MPI, from [`start`] to [`finish`]: a process has one. Not ended with the last of its users: a rank that fails must not wait for the others.
static UNIVERSE: Mutex<Option<Universe>> = Mutex::new(None);

fn universe() -> MutexGuard<'static, Option<Universe>> {
    UNIVERSE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes that `mpirun` or `srun` has started.
#[derive(Debug)]
struct Mpi {
    rank: usize,
    size: usize,
}

/// The ranks that this process was started with; itself alone where nobody has started it as one of many.
pub fn start() -> Result<AllRanks, RanksError> {
    if !SIGNS.iter().any(|name| std::env::var_os(name).is_some()) {
        return Ok(Arc::new(Alone));
    }
    let unusable = |why: &str| RanksError::Unusable { why: why.to_owned() };
    let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
        .ok_or_else(|| unusable("it was started before in this process"))?;
    if threading < Threading::Serialized {
        return Err(unusable("it does not allow a process to have threads"));
    }
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    *self::universe() = Some(universe);
    Ok(Arc::new(Mpi { rank, size }))
}

/// Ends the work of this rank in good order, once the others end theirs.
pub fn finish() {
    drop(universe().take());
}

/// Ends all ranks of a job at once: one that waits for another would wait for ever.
pub fn abort() {
    if universe().is_some() {
        SimpleCommunicator::world().abort(1);
    }
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&self, to: &[&[u8]]) -> Result<Vec<Vec<u8>>, RanksError> {
        let universe = universe();
        let ended = || RanksError::Unusable { why: "it has been ended".to_owned() };
        let world = universe.as_ref().ok_or_else(ended)?.world();
        let lengths: Vec<u64> = to.iter().map(|bytes| bytes.len() as u64).collect();
        let mut coming = vec![0u64; self.size];
        world.all_to_all_into(&lengths[..], &mut coming[..]);
        // As many rounds as the rank needs that has the most to say; all ranks must agree on that.
        let most = lengths.iter().chain(&coming).max().copied().unwrap_or(0);
        let mut longest = 0u64;
        world.all_reduce_into(&most, &mut longest, mpi::collective::SystemOperation::max());
        let piece = (AT_ONCE / self.size).max(1);
        let mut from: Vec<Vec<u8>> = coming.iter().map(|bytes| Vec::with_capacity(*bytes as usize)).collect();
        for round in 0..(longest as usize).div_ceil(piece) {
            self.round(&world, to, &coming, &mut from, round * piece, piece);
        }
        Ok(from)
    }
}

impl Mpi {
    /// The bytes from `start` on, `piece` at most of each rank to each.
    fn round(
        &self,
        world: &impl CommunicatorCollectives,
        to: &[&[u8]],
        coming: &[u64],
        from: &mut [Vec<u8>],
        start: usize,
        piece: usize,
    ) {
        let part = |length: usize| length.saturating_sub(start).min(piece);
        // Never without a place of its own: where an empty vector points to is what Open MPI calls MPI_IN_PLACE.
        let mut outgoing = Vec::with_capacity(1 + to.iter().map(|bytes| part(bytes.len())).sum::<usize>());
        for bytes in to {
            outgoing.extend_from_slice(&bytes[start.min(bytes.len())..][..part(bytes.len())]);
        }
        let out_counts: Vec<i32> = to.iter().map(|bytes| part(bytes.len()) as i32).collect();
        let in_counts: Vec<i32> = coming.iter().map(|length| part(*length as usize) as i32).collect();
        let mut incoming = vec![0u8; 1 + in_counts.iter().map(|count| *count as usize).sum::<usize>()];
        {
            let sent = Partition::new(&outgoing[..], &out_counts[..], places(&out_counts));
            let mut received = PartitionMut::new(&mut incoming[..], &in_counts[..], places(&in_counts));
            world.all_to_all_varcount_into(&sent, &mut received);
        }
        let mut rest = &incoming[..];
        for (bytes, count) in from.iter_mut().zip(&in_counts) {
            let (part, after) = rest.split_at(*count as usize);
            bytes.extend_from_slice(part);
            rest = after;
        }
    }
}

/// Where each part begins.
fn places(counts: &[i32]) -> Vec<i32> {
    counts
        .iter()
        .scan(0, |at, count| {
            let here = *at;
            *at += count;
            Some(here)
        })
        .collect()
}
