//! Uniform samples of streams whose length is not known.

use pmm_core::{Purpose, Stream, Streams};

/// Where the next item of a stream goes in a reservoir (Vitter's Algorithm R).
#[derive(Debug, Clone)]
pub(crate) struct Reservoir {
    size: usize,
    seen: u64,
    stream: Stream,
}

impl Reservoir {
    /// A reservoir for `size` > 0 items.
    pub(crate) fn new(size: usize, streams: &Streams, purpose: Purpose, row: u64) -> Self {
        Self { size: size.max(1), seen: 0, stream: streams.stream(purpose, 0, row) }
    }

    /// The slot of the next item: a new one, one to replace, or none.
    pub(crate) fn slot(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.seen <= self.size as u64 {
            return Some(self.seen as usize - 1);
        }
        let slot = self.stream.below(self.seen);
        (slot < self.size as u64).then_some(slot as usize)
    }

    /// How many items came by.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 samples of 3 out of 10: each item is in 6,000 ± 5.5 standard deviations (65); false alarm 4e-7.
    #[test]
    fn every_item_is_as_likely() {
        let mut hits = [0i64; 10];
        for run in 0..20_000 {
            let mut reservoir = Reservoir::new(3, &Streams::new(1), Purpose::COLUMN_VALUES, run);
            let mut kept = [0; 3];
            for item in 0..10 {
                if let Some(slot) = reservoir.slot() {
                    kept[slot] = item;
                }
            }
            kept.iter().for_each(|&item| hits[item] += 1);
        }
        assert!(hits.iter().all(|&n| (n - 6_000).abs() < 357), "{hits:?}");
    }
}
