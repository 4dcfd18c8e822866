//! Shards: the parts of a batch whose gradients are computed apart, on one rank or on many.

use std::ops::Range;

/// One of the parts that the batch of a step is cut into. Which rows it holds depends on the setting `train.shards` alone, never on
/// who computes it.
///
/// ```
/// use pmm_train::Shard;
/// let rows = |index| Shard { index, count: 3 }.rows(8);
/// assert_eq!((rows(0), rows(1), rows(2)), (0..2, 2..5, 5..8));
/// assert_eq!((Shard::of_rank(8, 0, 3), Shard::of_rank(8, 1, 3), Shard::of_rank(8, 2, 3)), (0..2, 2..5, 5..8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl Shard {
    /// The whole batch.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Its rows (or texts, or images), of so many of the batch.
    pub fn rows(self, batch: usize) -> Range<usize> {
        cut(batch, self.index, self.count)
    }

    /// Its share of the batch.
    pub(crate) fn share(self, batch: usize) -> f64 {
        self.rows(batch).len() as f64 / batch.max(1) as f64
    }

    /// The shards that a rank computes, of so many: neighbours, as equal in number as can be.
    pub fn of_rank(count: usize, rank: usize, ranks: usize) -> Range<usize> {
        cut(count, rank, ranks)
    }
}

/// The part `index` of `count` of `length` things, as equal as can be.
pub(crate) fn cut(length: usize, index: usize, count: usize) -> Range<usize> {
    let at = |index: usize| (length as u128 * index as u128 / count.max(1) as u128) as usize;
    at(index)..at(index + 1)
}
