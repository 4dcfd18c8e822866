//! What an exchange costs: bytes and time, counted on their way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{AllRanks, Ranks, RanksError};

/// A group of ranks that counts what this one sends to others, and how long it waits for them.
#[derive(Debug)]
pub struct Traffic {
    ranks: AllRanks,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Traffic {
    /// Counts from now on.
    pub fn new(ranks: AllRanks) -> Self {
        Self { ranks, bytes: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) }
    }

    /// Bytes that were sent to other ranks, and the time in which nothing else was done.
    pub fn so_far(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        (self.bytes.load(Ordering::Relaxed), time)
    }
}

impl Ranks for Traffic {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }

    fn size(&self) -> usize {
        self.ranks.size()
    }

    fn exchange(&self, to: &[&[u8]]) -> Result<Vec<Vec<u8>>, RanksError> {
        let begun = Instant::now();
        let from = self.ranks.exchange(to);
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let others = to.iter().enumerate().filter(|(rank, _)| *rank != self.rank());
        self.bytes.fetch_add(others.map(|(_, bytes)| bytes.len() as u64).sum(), Ordering::Relaxed);
        from
    }
}
