//! The questions by which a code is told.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where the answer to a question leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// To another question, which comes later in the list.
    Question(u32),
    /// To a code.
    Code(u32),
}

/// K − 1 questions for K codes: the answer to each is left (no) or right (yes).
///
/// ```
/// use pmm_trees::{Branch, Questions};
/// // Four codes with an order, equally frequent: halves, and halves of them.
/// let questions = Questions::ordered(&[5, 5, 5, 5]);
/// assert_eq!(questions.list()[0], [Branch::Question(1), Branch::Question(2)]);
/// assert_eq!(questions.list()[2], [Branch::Code(2), Branch::Code(3)]);
/// // Names: what is frequent is told by few questions.
/// let questions = Questions::unordered(&[1, 8, 2]);
/// assert!(questions.list()[0].contains(&Branch::Code(1)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    list: Vec<[Branch; 2]>,
    codes: usize,
}

impl Questions {
    /// Questions about codes with an order, each of which asks whether the code is above some place that leaves about as many
    /// cases on either side.
    pub fn ordered(counts: &[u64]) -> Self {
        Self::of(counts.len(), |questions| questions.split(counts, 0))
    }

    /// Questions about names: the two rarest are told apart last (Huffman's tree).
    pub fn unordered(counts: &[u64]) -> Self {
        Self::of(counts.len(), |questions| questions.huffman(counts))
    }

    /// The same, where one code (of a missing cell) is asked for first, so that the others keep their proportions.
    pub fn after(first: u32, mut rest: Self) -> Self {
        if rest.codes == 0 {
            return Self { list: Vec::new(), codes: 1 };
        }
        let shift = |branch: &Branch| match *branch {
            Branch::Question(at) => Branch::Question(at + 1),
            Branch::Code(code) => Branch::Code(code + u32::from(code >= first)),
        };
        rest.list.iter_mut().for_each(|pair| *pair = [shift(&pair[0]), shift(&pair[1])]);
        let others =
            if rest.list.is_empty() { Branch::Code(u32::from(first == 0)) } else { Branch::Question(1) };
        rest.list.insert(0, [others, Branch::Code(first)]);
        rest.codes += 1;
        rest
    }

    fn of(codes: usize, build: impl FnOnce(&mut Self)) -> Self {
        let mut questions = Self { list: Vec::with_capacity(codes.saturating_sub(1)), codes };
        if codes > 1 {
            build(&mut questions);
        }
        questions
    }

    /// The questions, every one before those that it leads to.
    pub fn list(&self) -> &[[Branch; 2]] {
        &self.list
    }

    /// The number of codes.
    pub fn codes(&self) -> usize {
        self.codes
    }

    /// The first part of the codes from `first` on whose counts come nearest to a half of all.
    fn split(&mut self, counts: &[u64], first: u32) {
        let at = self.list.len();
        self.list.push([Branch::Code(first), Branch::Code(first + 1)]);
        let total: u64 = counts.iter().sum();
        let (mut below, mut best) = (0, (u64::MAX, 1));
        for (index, count) in counts[..counts.len() - 1].iter().enumerate() {
            below += count;
            best = best.min(((2 * below).abs_diff(total), index + 1));
        }
        let halves = [(&counts[..best.1], first), (&counts[best.1..], first + best.1 as u32)];
        for (side, (counts, first)) in halves.into_iter().enumerate() {
            self.list[at][side] = match counts.len() {
                1 => Branch::Code(first),
                _ => Branch::Question(self.list.len() as u32),
            };
            if counts.len() > 1 {
                self.split(counts, first);
            }
        }
    }

    fn huffman(&mut self, counts: &[u64]) {
        // (count, order of making, node): ties are settled by the order.
        let mut heap: BinaryHeap<Reverse<(u64, usize, usize)>> =
            counts.iter().enumerate().map(|(code, count)| Reverse((*count, code, code))).collect();
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        while let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) {
            let node = counts.len() + pairs.len();
            pairs.push([a.2, b.2]);
            if heap.is_empty() {
                break;
            }
            heap.push(Reverse((a.0 + b.0, node, node)));
        }
        // The last pair is the root: the list runs the other way.
        let branch = |node: usize| match node.checked_sub(counts.len()) {
            Some(pair) => Branch::Question((pairs.len() - 1 - pair) as u32),
            None => Branch::Code(node as u32),
        };
        self.list.extend(pairs.iter().rev().map(|&[a, b]| [branch(b), branch(a)]));
    }

    /// For every code, its questions and answers on the way from the first.
    pub(crate) fn ways(&self) -> Vec<Vec<(u32, bool)>> {
        let mut ways = vec![Vec::new(); self.codes];
        let mut of_question = vec![Vec::new(); self.list.len()];
        for (at, pair) in self.list.iter().enumerate() {
            for (branch, yes) in pair.iter().zip([false, true]) {
                let mut way: Vec<(u32, bool)> = of_question[at].clone();
                way.push((at as u32, yes));
                match *branch {
                    Branch::Question(next) => of_question[next as usize] = way,
                    Branch::Code(code) => ways[code as usize] = way,
                }
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(questions: &Questions) {
        assert_eq!(questions.list.len() + 1, questions.codes.max(1));
        let ways = questions.ways();
        // Every code has a way of its own, and later questions come later.
        assert!(questions.codes < 2 || ways.iter().all(|way| !way.is_empty()));
        assert!(ways.iter().all(|way| way.windows(2).all(|pair| pair[0].0 < pair[1].0)));
        let kraft: f64 = ways.iter().map(|way| 0.5f64.powi(way.len() as i32)).sum();
        assert!(questions.codes == 0 || (kraft - 1.0).abs() < 1e-12, "{kraft}");
    }

    #[test]
    fn every_code_is_told() {
        for codes in 0..40 {
            let counts: Vec<u64> = (0..codes).map(|i| (i * 37 % 11) as u64).collect();
            check(&Questions::ordered(&counts));
            check(&Questions::unordered(&counts));
            check(&Questions::after(codes as u32, Questions::unordered(&counts)));
            check(&Questions::after(0, Questions::ordered(&counts)));
        }
    }

    /// Frequencies 1, 1, 2, 4, 8: ways of 4, 4, 3, 2 and 1 questions, as Huffman has it.
    #[test]
    fn rare_names_have_long_ways() {
        let lengths: Vec<usize> =
            Questions::unordered(&[1, 1, 2, 4, 8]).ways().iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 4, 3, 2, 1]);
        let lengths: Vec<usize> = Questions::ordered(&[1; 8]).ways().iter().map(Vec::len).collect();
        assert_eq!(lengths, [3; 8]);
    }
}
