//! The gradient of a batch from those of its shards: added in a binary tree that is the same for any number of ranks.
//!
//! Shards are the leaves. A node of a level is the sum of two neighbours of the level below, the left one first; a node without a
//! neighbour goes up as it is. A rank adds what it can of its own shards. The weights are cut into as many segments as there are ranks:
//! every rank gets its segment of what all have, and adds the rest of the tree. So a rank sends about the gradient's bytes, however many
//! ranks there are.

use crate::numbers::{Bytes, Numbers};
use crate::ranks::{Ranks, RanksError};
use crate::segment::Segment;
use crate::train_config::Exchange;

/// A node of the tree: the sum of shards `index · 2^level` to `(index + 1) · 2^level`.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    level: u32,
    index: usize,
    sum: Numbers,
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
    pub(crate) fn shard(&mut self, index: usize, gradient: Numbers) {
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

    /// The sum over all shards, once all ranks have added theirs: of the weights of this rank's segment, of which there is one a rank.
    pub(crate) fn sum(
        mut self,
        segments: &[Segment],
        exchange: Exchange,
        ranks: &dyn Ranks,
    ) -> Result<Numbers, RanksError> {
        if segments.len() > 1 {
            let to: Vec<Vec<u8>> = segments.iter().map(|segment| self.message(segment, exchange)).collect();
            let from = ranks.exchange(&to.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            drop(to);
            self.nodes.clear();
            for (rank, bytes) in from.iter().enumerate() {
                let out_of_step = RanksError::OutOfStep { rank, bytes: bytes.len() };
                self.receive(bytes, exchange, &segments[ranks.rank()]).ok_or(out_of_step)?;
            }
        }
        Ok(self.nodes.pop().map(|node| node.sum).unwrap_or_default())
    }

    /// A segment of all nodes.
    fn message(&self, segment: &Segment, exchange: Exchange) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.nodes.len() * (segment.dense.len() * 4 + 64));
        for node in &self.nodes {
            bytes.extend(u64::from(node.level).to_ne_bytes());
            bytes.extend((node.index as u64).to_ne_bytes());
            node.sum.write_segment(segment, exchange, &mut bytes);
        }
        bytes
    }

    fn receive(&mut self, bytes: &[u8], exchange: Exchange, segment: &Segment) -> Option<()> {
        let mut bytes = Bytes(bytes);
        while !bytes.0.is_empty() {
            let (level, index) = (u32::try_from(bytes.number()?).ok()?, bytes.number()? as usize);
            let sum = Numbers::read(&mut bytes, exchange)?;
            let is_mine = sum.dense.len() == segment.dense.len()
                && sum.rows.iter().all(|(at, _)| segment.rows.contains(at));
            self.push(Node { level, index, sum: is_mine.then_some(sum)? });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Alone, Threads};
    use crate::shard::{Shard, cut};
    use pmm_core::{Purpose, Streams};

    const DENSE: usize = 1000;
    const ALL: usize = 1400;

    /// Numberss of very different size, so that the order of addition shows in the last bits.
    fn shard(index: usize) -> Numbers {
        let mut rng = Streams::new(5).stream(Purpose::DATA, 0, index as u64);
        let mut number = || (rng.normal() * 10f64.powf(3.0 * rng.unit())) as f32;
        let dense = (0..DENSE).map(|_| number()).collect();
        let rows = (0..40).filter(|row| !(row + index).is_multiple_of(3)).map(|row| DENSE + row * 10);
        let rows = rows.map(|at| (at, (0..10).map(|_| number()).collect())).collect();
        Numbers { loss: f64::from(number()), dense, rows }
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

    fn tree(shards: usize, exchange: Exchange, ranks: &dyn Ranks) -> Numbers {
        let mut tree = Tree::new(shards);
        for index in Shard::of_rank(shards, ranks.rank(), ranks.size()) {
            tree.shard(index, shard(index));
        }
        let sum = tree.sum(&segments(ranks.size()), exchange, ranks).unwrap();
        // All segments, one after the other.
        let (all, mut bytes) = (Segment { dense: 0..sum.dense.len(), rows: 0..ALL }, Vec::new());
        sum.write_segment(&all, Exchange::Full, &mut bytes);
        let mut whole = Numbers { loss: sum.loss, ..Numbers::default() };
        for bytes in ranks.gather(&bytes).unwrap() {
            let segment = Numbers::read(&mut Bytes(&bytes), Exchange::Full).unwrap();
            whole.dense.extend(segment.dense);
            whole.rows.extend(segment.rows);
        }
        whole
    }

    fn segments(size: usize) -> Vec<Segment> {
        let rows = |rank: usize| DENSE + 10 * cut(40, rank, size).start..DENSE + 10 * cut(40, rank, size).end;
        (0..size).map(|rank| Segment { dense: cut(DENSE, rank, size), rows: rows(rank) }).collect()
    }

    /// What MPI_Allreduce in a ring does: every rank adds its shards, and a segment goes round, beginning after its owner.
    fn ring(shards: usize, ranks: &dyn Ranks) -> Numbers {
        let (rank, size) = (ranks.rank(), ranks.size());
        let own = Shard::of_rank(shards, rank, size).map(shard).reduce(Numbers::add).unwrap_or_default();
        let from = ranks.gather(bytemuck::cast_slice(&own.dense)).unwrap();
        let all: Vec<Vec<f32>> = from.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
        let owner = |at: usize| (0..size).find(|rank| cut(DENSE, *rank, size).contains(&at)).unwrap_or(0);
        let sum = |at: usize| {
            let order =
                (1..=size).map(|step| (owner(at) + step) % size).filter(|rank| !all[*rank].is_empty());
            order.map(|rank| all[rank][at]).reduce(|a, b| a + b).unwrap_or(0.0)
        };
        Numbers { dense: (0..DENSE).map(sum).collect(), ..own }
    }

    /// By the definition, level by level.
    fn plain(shards: usize) -> Numbers {
        let mut level: Vec<Numbers> = (0..shards).map(shard).collect();
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
            assert_eq!(tree(shards, Exchange::Full, &Alone), expected);
            for size in [2, 3, 4, 7] {
                assert!(
                    on(size, |ranks| tree(shards, Exchange::Full, ranks)).iter().all(|sum| *sum == expected),
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

    /// Half precision: not the same bits, but every rank rounds once, to a part in 256.
    #[test]
    fn half_precision_is_close() {
        let (expected, sums) = (plain(8), on(3, |ranks| tree(8, Exchange::Half, ranks)));
        let largest = (0..8).map(shard).fold(vec![0f32; DENSE], |largest, one| {
            largest.iter().zip(&one.dense).map(|(a, b)| a + b.abs()).collect()
        });
        for sum in sums {
            assert_ne!(sum.dense, expected.dense);
            let far = |((a, b), size): ((&f32, &f32), &f32)| (a - b).abs() > size / 256.0;
            assert!(!sum.dense.iter().zip(&expected.dense).zip(&largest).any(far));
            assert_eq!(sum.loss, expected.loss);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let segment = &segments(4)[1];
        let mut one = Tree::new(2);
        one.shard(0, shard(0));
        let bytes = one.message(segment, Exchange::Full);
        let receive = |bytes: &[u8], segment: &Segment| Tree::new(2).receive(bytes, Exchange::Full, segment);
        assert!(receive(&bytes, segment).is_some());
        assert!(receive(&bytes[..9], segment).is_none());
        assert!(receive(&bytes, &Segment { dense: 0..3, ..segment.clone() }).is_none());
        assert!(receive(&bytes, &Segment { rows: 0..3, ..segment.clone() }).is_none());
    }
}
