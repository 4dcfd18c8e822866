//! The gradient of a batch from those of its shards: added in a binary tree that is the same for any number of ranks.
//!
//! Shards are the leaves. A node of a level is the sum of two neighbours of the level below, the left one first; a node without a
//! neighbour goes up as it is. A rank adds what it can of its own shards. The weights are cut into as many segments as there are ranks:
//! every rank gets its segment of what all have, adds the rest of the tree, and hands the sum to all. So a rank sends about twice the
//! gradient's bytes, however many ranks there are.

use std::ops::Range;

use rayon::prelude::*;

use crate::ranks::{Ranks, RanksError};
use crate::shard::cut;

/// Numbers per task of an addition.
const CHUNK: usize = 1 << 14;

/// A gradient, or a segment of one: numbers for all weights of a range, and rows of large tables of which a batch reads few.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Gradient {
    /// The loss, of which this is the gradient.
    pub(crate) loss: f64,
    /// Of weights one after the other.
    pub(crate) dense: Vec<f32>,
    /// Where rows begin in the weights, sorted; each with its numbers.
    pub(crate) rows: Vec<(usize, Vec<f32>)>,
}

impl Gradient {
    /// `self + other`, in this order.
    fn add(mut self, other: Self) -> Self {
        self.loss += other.loss;
        let both = self.dense.par_chunks_mut(CHUNK).zip(other.dense.par_chunks(CHUNK));
        both.for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, from)| *to += from));
        let mut rows = Vec::with_capacity(self.rows.len() + other.rows.len());
        let mut left = self.rows.into_iter().peekable();
        for (at, values) in other.rows {
            rows.extend(std::iter::from_fn(|| left.next_if(|(before, _)| *before < at)));
            match left.next_if(|(same, _)| *same == at) {
                Some((at, mut sum)) => {
                    sum.iter_mut().zip(&values).for_each(|(to, from)| *to += from);
                    rows.push((at, sum));
                }
                None => rows.push((at, values)),
            }
        }
        rows.extend(left);
        Self { rows, ..self }
    }

    /// A segment: some of the weights one after the other, and the rows that begin within a range.
    fn write_segment(&self, dense: Range<usize>, rows: &Range<usize>, bytes: &mut Vec<u8>) {
        bytes.extend(self.loss.to_ne_bytes());
        bytes.extend((dense.len() as u64).to_ne_bytes());
        bytes.extend_from_slice(bytemuck::cast_slice(&self.dense[dense]));
        let from = self.rows.partition_point(|(at, _)| *at < rows.start);
        let to = self.rows.partition_point(|(at, _)| *at < rows.end);
        bytes.extend(((to - from) as u64).to_ne_bytes());
        for (at, values) in &self.rows[from..to] {
            bytes.extend((*at as u64).to_ne_bytes());
            bytes.extend((values.len() as u64).to_ne_bytes());
            bytes.extend_from_slice(bytemuck::cast_slice(values));
        }
    }

    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let loss = f64::from_bits(bytes.number()?);
        let length = bytes.number()? as usize;
        let dense = bytes.floats(length)?;
        let count = bytes.number()?;
        let mut rows = Vec::new();
        for _ in 0..count {
            let (at, length) = (bytes.number()? as usize, bytes.number()? as usize);
            rows.push((at, bytes.floats(length)?));
        }
        Some(Self { loss, dense, rows })
    }
}

/// What is left to read of what a rank has sent.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*number))
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        let (floats, rest) = self.0.split_at_checked(count.checked_mul(4)?)?;
        self.0 = rest;
        Some(bytemuck::pod_collect_to_vec(floats))
    }
}

/// A node of the tree: the sum of shards `index · 2^level` to `(index + 1) · 2^level`.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    level: u32,
    index: usize,
    sum: Gradient,
}

/// The tree as far as it is added: nodes from left to right, none of which could be added to its neighbour.
#[derive(Debug)]
pub(crate) struct Tree {
    shards: usize,
    nodes: Vec<Node>,
}

impl Tree {
    pub(crate) fn new(shards: usize) -> Self {
        Self { shards, nodes: Vec::new() }
    }

    /// The next shard of this rank.
    pub(crate) fn shard(&mut self, index: usize, gradient: Gradient) {
        self.push(Node { level: 0, index, sum: gradient });
    }

    /// The next node to the right, and what follows from it.
    fn push(&mut self, mut node: Node) {
        while (1usize << node.level) < self.shards {
            let left = |last: &Node| last.level == node.level && last.index + 1 == node.index;
            if node.index % 2 == 1 {
                let Some(neighbour) = self.nodes.pop_if(|last| left(last)) else { break };
                node.sum = neighbour.sum.add(node.sum);
            } else if (node.index + 1) << node.level < self.shards {
                break; // its neighbour is to come
            }
            node = Node { level: node.level + 1, index: node.index / 2, ..node };
        }
        self.nodes.push(node);
    }

    /// The sum over all shards, once all ranks have added theirs. `length` is that of the dense part and of all weights.
    pub(crate) fn sum(mut self, length: (usize, usize), ranks: &dyn Ranks) -> Result<Gradient, RanksError> {
        let size = ranks.size();
        if size == 1 {
            return Ok(self.nodes.pop().map(|node| node.sum).unwrap_or_default());
        }
        let segment = |rank: usize| {
            let rows = cut(length.1 - length.0, rank, size);
            (cut(length.0, rank, size), length.0 + rows.start..length.0 + rows.end)
        };
        let to: Vec<Vec<u8>> =
            (0..size).map(segment).map(|(dense, rows)| self.message(&dense, &rows)).collect();
        let from = ranks.exchange(&to.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        drop(to);
        self.nodes.clear();
        for (rank, bytes) in from.iter().enumerate() {
            let out_of_step = RanksError::OutOfStep { rank, bytes: bytes.len() };
            self.receive(bytes).ok_or(out_of_step)?;
        }
        let mine = self.nodes.pop().map(|node| node.sum).unwrap_or_default();
        let mut bytes = Vec::new();
        mine.write_segment(0..mine.dense.len(), &(0..usize::MAX), &mut bytes);
        let mut whole = Gradient { loss: mine.loss, ..Gradient::default() };
        for (rank, bytes) in ranks.gather(&bytes)?.iter().enumerate() {
            let out_of_step = RanksError::OutOfStep { rank, bytes: bytes.len() };
            let segment = Gradient::read(&mut Bytes(bytes)).ok_or(out_of_step)?;
            whole.dense.extend(segment.dense);
            whole.rows.extend(segment.rows);
        }
        Ok(whole)
    }

    /// A segment of all nodes.
    fn message(&self, dense: &Range<usize>, rows: &Range<usize>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.nodes.len() * (dense.len() * 4 + 64));
        for node in &self.nodes {
            bytes.extend(u64::from(node.level).to_ne_bytes());
            bytes.extend((node.index as u64).to_ne_bytes());
            node.sum.write_segment(dense.clone(), rows, &mut bytes);
        }
        bytes
    }

    fn receive(&mut self, bytes: &[u8]) -> Option<()> {
        let mut bytes = Bytes(bytes);
        while !bytes.0.is_empty() {
            let (level, index) = (u32::try_from(bytes.number()?).ok()?, bytes.number()? as usize);
            let sum = Gradient::read(&mut bytes)?;
            self.push(Node { level, index, sum });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Alone, Threads};
    use crate::shard::Shard;
    use pmm_core::{Purpose, Streams};

    const DENSE: usize = 1000;
    const ALL: usize = 1400;

    /// Gradients of very different size, so that the order of addition shows in the last bits.
    fn shard(index: usize) -> Gradient {
        let mut rng = Streams::new(5).stream(Purpose::DATA, 0, index as u64);
        let mut number = || (rng.normal() * 10f64.powf(3.0 * rng.unit())) as f32;
        let dense = (0..DENSE).map(|_| number()).collect();
        let rows = (0..40).filter(|row| !(row + index).is_multiple_of(3)).map(|row| DENSE + row * 10);
        let rows = rows.map(|at| (at, (0..10).map(|_| number()).collect())).collect();
        Gradient { loss: f64::from(number()), dense, rows }
    }

    fn on<R: Send>(size: usize, job: impl Fn(&dyn Ranks) -> R + Sync) -> Vec<R> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = Threads::group(size)
                .into_iter()
                .map(|rank| {
                    let job = &job;
                    scope.spawn(move || job(&rank))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn tree(shards: usize, ranks: &dyn Ranks) -> Gradient {
        let mut tree = Tree::new(shards);
        for index in Shard::of_rank(shards, ranks.rank(), ranks.size()) {
            tree.shard(index, shard(index));
        }
        tree.sum((DENSE, ALL), ranks).unwrap()
    }

    /// What MPI_Allreduce in a ring does: every rank adds its shards, and a segment goes round, beginning after its owner.
    fn ring(shards: usize, ranks: &dyn Ranks) -> Gradient {
        let (rank, size) = (ranks.rank(), ranks.size());
        let own = Shard::of_rank(shards, rank, size).map(shard).reduce(Gradient::add).unwrap_or_default();
        let from = ranks.gather(bytemuck::cast_slice(&own.dense)).unwrap();
        let all: Vec<Vec<f32>> = from.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
        let owner = |at: usize| (0..size).find(|rank| cut(DENSE, *rank, size).contains(&at)).unwrap_or(0);
        let sum = |at: usize| {
            let order =
                (1..=size).map(|step| (owner(at) + step) % size).filter(|rank| !all[*rank].is_empty());
            order.map(|rank| all[rank][at]).reduce(|a, b| a + b).unwrap_or(0.0)
        };
        Gradient { dense: (0..DENSE).map(sum).collect(), ..own }
    }

    /// By the definition, level by level.
    fn plain(shards: usize) -> Gradient {
        let mut level: Vec<Gradient> = (0..shards).map(shard).collect();
        while level.len() > 1 {
            let mut pairs = level.into_iter();
            level = std::iter::from_fn(|| {
                let left = pairs.next()?;
                Some(match pairs.next() {
                    Some(right) => left.add(right),
                    None => left,
                })
            })
            .collect();
        }
        level.remove(0)
    }

    #[test]
    fn any_number_of_ranks_gives_the_same_bits() {
        for shards in [1, 2, 3, 5, 8, 13] {
            let expected = plain(shards);
            assert_eq!(tree(shards, &Alone), expected);
            for size in [2, 3, 4, 7] {
                assert!(
                    on(size, |ranks| tree(shards, ranks)).iter().all(|sum| *sum == expected),
                    "{shards} {size}"
                );
            }
        }
    }

    /// The test above can fail: sums in the order of ranks do depend on their number.
    #[test]
    fn a_ring_gives_other_bits() {
        let of = |size: usize| on(size, |ranks| ring(8, ranks)).remove(0).dense;
        let sums: Vec<Vec<f32>> = [1, 2, 3, 4].map(of).to_vec();
        for (a, b) in [(0, 1), (1, 2), (2, 3), (0, 3)] {
            assert_ne!(sums[a], sums[b]);
            let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * (1.0 + a.abs());
            assert!(sums[a].iter().zip(&sums[b]).all(close));
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut tree = Tree::new(2);
        let mut bytes = Vec::new();
        shard(0).write_segment(0..10, &(0..usize::MAX), &mut bytes);
        assert!(Gradient::read(&mut Bytes(&bytes)).is_some());
        for length in [0, 7, 17, bytes.len() - 1] {
            assert!(Gradient::read(&mut Bytes(&bytes[..length])).is_none(), "{length}");
        }
        assert!(tree.receive(&bytes[..9]).is_none());
    }
}
