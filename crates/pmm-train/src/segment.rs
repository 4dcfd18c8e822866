//! Segments: which rank adds the gradients of which weights, moves them, and keeps their moments and average.

use std::ops::Range;

/// The weights of one rank: a range of those that have a gradient at every step, and a range of the tables of which a step reads some
/// rows. Of moments and averages a rank keeps those of its weights, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) dense: Range<usize>,
    pub(crate) rows: Range<usize>,
}

impl Segment {
    /// How many weights.
    pub(crate) fn len(&self) -> usize {
        self.dense.len() + self.rows.len()
    }

    /// The moment of weight `i` of the dense ones is at `i` less this.
    pub(crate) fn dense_origin(&self) -> usize {
        self.dense.start
    }

    /// The moment of weight `i` of the tables is at `i` less this.
    pub(crate) fn rows_origin(&self) -> usize {
        self.rows.start - self.dense.len()
    }

    /// Its part of numbers for all weights.
    pub(crate) fn of(&self, all: &[f32]) -> Vec<f32> {
        [&all[self.dense.clone()], &all[self.rows.clone()]].concat()
    }

    /// Puts its part to those of the others. There must be a number for each of its weights.
    pub(crate) fn put(&self, part: &[f32], all: &mut [f32]) {
        let (dense, rows) = part.split_at(self.dense.len());
        all[self.dense.clone()].copy_from_slice(dense);
        all[self.rows.clone()].copy_from_slice(rows);
    }
}

/// What two ranges have in common.
pub(crate) fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_goes_and_comes_back() {
        let all: Vec<f32> = (0..10).map(|i| i as f32).collect();
        let segment = Segment { dense: 2..4, rows: 7..10 };
        let part = segment.of(&all);
        assert_eq!(part, [2.0, 3.0, 7.0, 8.0, 9.0]);
        assert_eq!(part[3 - segment.dense_origin()], 3.0);
        assert_eq!(part[9 - segment.rows_origin()], 9.0);
        let mut other = vec![-1.0; 10];
        segment.put(&part, &mut other);
        assert_eq!(other, [-1.0, -1.0, 2.0, 3.0, -1.0, -1.0, -1.0, 7.0, 8.0, 9.0]);
        assert_eq!((common(&(0..5), &(3..9)), common(&(0..2), &(3..9)).len()), (3..5, 0));
    }
}
