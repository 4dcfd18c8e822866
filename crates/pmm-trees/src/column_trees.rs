//! The trees of a column: bins of a row → the probability of every code.

use crate::grow::Grown;
use crate::histogram::{Test, contains};
use crate::questions::{Branch, Questions};

/// Branches less probable than this are not asked further: below them codes have their proportions among all rows.
const LEAST_ASKED: f64 = 1e-4;

/// A node among all trees of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    pub(crate) feature: u16,
    /// The last bin that goes left, of a threshold.
    pub(crate) bin: u8,
    pub(crate) kind: NodeKind,
    /// The left child, for splits; the right one stands after it.
    pub(crate) left: u32,
    /// The value of a leaf, as bits; the place of a split's set.
    pub(crate) data: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Leaf,
    /// A threshold, unknown cells to the right.
    UnknownRight,
    /// A threshold, unknown cells to the left.
    UnknownLeft,
    Set,
}

/// The questions of a column, each with its boosted trees.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnTrees {
    pub(crate) questions: Questions,
    pub(crate) features: usize,
    /// The log-odds of "yes" among all rows, question by question.
    pub(crate) bases: Vec<f32>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) sets: Vec<[u64; 4]>,
    /// The roots of all trees, and where those of each question begin and end.
    pub(crate) roots: Vec<u32>,
    pub(crate) first: Vec<u32>,
}

impl ColumnTrees {
    /// Trees as they were grown, question by question.
    pub(crate) fn new(
        questions: Questions,
        features: usize,
        bases: Vec<f32>,
        grown: &[Vec<Vec<Grown>>],
    ) -> Self {
        let mut trees = Self {
            questions,
            features,
            bases,
            nodes: Vec::new(),
            sets: Vec::new(),
            roots: Vec::new(),
            first: vec![0],
        };
        for of_question in grown {
            of_question.iter().for_each(|tree| trees.add(tree));
            trees.first.push(trees.roots.len() as u32);
        }
        trees
    }

    fn add(&mut self, tree: &[Grown]) {
        let start = self.nodes.len() as u32;
        self.roots.push(start);
        for node in tree {
            let node = match *node {
                Grown::Leaf(value) => {
                    Node { feature: 0, bin: 0, kind: NodeKind::Leaf, left: 0, data: value.to_bits() }
                }
                Grown::Split { feature, test: Test::UpTo(bin, unknown), left } => {
                    let kind = if unknown { NodeKind::UnknownLeft } else { NodeKind::UnknownRight };
                    Node { feature, bin, kind, left: start + left, data: 0 }
                }
                Grown::Split { feature, test: Test::In(set), left } => {
                    self.sets.push(set);
                    let data = self.sets.len() as u32 - 1;
                    Node { feature, bin: 0, kind: NodeKind::Set, left: start + left, data }
                }
            };
            self.nodes.push(node);
        }
    }

    /// The number of codes.
    pub fn codes(&self) -> usize {
        self.questions.codes()
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.roots.len()
    }

    /// The probabilities of the codes, given the bins of a row's features.
    pub fn probabilities(&self, bins: &[u8], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.codes(), 1.0);
        let mut reached = vec![1.0; self.questions.list().len()];
        for (question, pair) in self.questions.list().iter().enumerate() {
            let mass = reached[question];
            let log_odds =
                if mass < LEAST_ASKED { self.bases[question] } else { self.log_odds(question, bins) };
            let yes = sigmoid(f64::from(log_odds));
            // Not 1 − yes, which would lose what is rare.
            let no = sigmoid(-f64::from(log_odds));
            for (branch, share) in pair.iter().zip([no, yes]) {
                match *branch {
                    Branch::Question(next) => reached[next as usize] = mass * share,
                    Branch::Code(code) => out[code as usize] = mass * share,
                }
            }
        }
    }

    /// The log-odds of "yes" to a question.
    pub(crate) fn log_odds(&self, question: usize, bins: &[u8]) -> f32 {
        let roots = &self.roots[self.first[question] as usize..self.first[question + 1] as usize];
        roots.iter().fold(self.bases[question], |sum, &root| sum + self.value(root, bins))
    }

    /// What a tree says.
    #[inline]
    fn value(&self, root: u32, bins: &[u8]) -> f32 {
        let mut node = &self.nodes[root as usize];
        loop {
            let bin = bins[usize::from(node.feature)];
            let right = match node.kind {
                NodeKind::Leaf => return f32::from_bits(node.data),
                NodeKind::UnknownRight => bin.wrapping_sub(1) >= node.bin,
                NodeKind::UnknownLeft => bin > node.bin,
                NodeKind::Set => !contains(&self.sets[node.data as usize], bin),
            };
            node = &self.nodes[node.left as usize + usize::from(right)];
        }
    }
}

/// 1/(1 + e⁻ˣ).
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What one grown tree says of a row.
pub(crate) fn value_of(tree: &[Grown], row: &[u8]) -> f32 {
    let mut at = 0;
    loop {
        match tree[at] {
            Grown::Leaf(value) => return value,
            Grown::Split { feature, test, left } => {
                at = left as usize + usize::from(!test.is_left(row[usize::from(feature)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiled trees say what grown ones say, whatever the split.
    #[test]
    fn nodes_agree_with_the_tree_they_are_of() {
        let split = |feature, test, left| Grown::Split { feature, test, left };
        let mut set = [0u64; 4];
        set[0] = 0b1010;
        set[3] = 1 << 63;
        let tree = vec![
            split(0, Test::UpTo(2, false), 1),
            split(1, Test::In(set), 3),
            split(0, Test::UpTo(5, true), 5),
            Grown::Leaf(1.0),
            Grown::Leaf(2.0),
            Grown::Leaf(3.0),
            Grown::Leaf(4.0),
        ];
        let questions = Questions::ordered(&[1, 1]);
        let trees = ColumnTrees::new(questions, 2, vec![0.5], &[vec![tree.clone(), tree.clone()]]);
        for a in 0..=255 {
            for b in 0..=255 {
                let row = [a, b];
                assert_eq!(trees.value(0, &row), value_of(&tree, &row), "{row:?}");
                assert_eq!(trees.log_odds(0, &row), 0.5 + 2.0 * value_of(&tree, &row));
            }
        }
        let mut out = Vec::new();
        trees.probabilities(&[0, 3], &mut out);
        assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{out:?}");
    }
}
