//! Trees as plain numbers, for files; and back, with every number looked at.

use thiserror::Error;

use crate::column_trees::{ColumnTrees, Node, NodeKind};
use crate::questions::Questions;

/// Why numbers are no trees.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("its trees are damaged: {0}")]
pub struct UnpackError(&'static str);

/// The trees of a column as numbers, all of them whole and below 2²⁴ but for those of `values` and `bases`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackedTrees {
    /// The log-odds that every question starts from.
    pub bases: Vec<f32>,
    /// Trees of every question.
    pub trees: Vec<f32>,
    /// Nodes of every tree.
    pub sizes: Vec<f32>,
    /// Of every node: kind, last bin and feature in one number.
    pub nodes: Vec<f32>,
    /// Of every node: the left child, counted from its tree's root; the value, for leaves.
    pub values: Vec<f32>,
    /// The sets of names in the order of their nodes, sixteen bins a number.
    pub sets: Vec<f32>,
}

impl PackedTrees {
    /// Its lists by name.
    pub fn into_parts(self) -> [(&'static str, Vec<f32>); 6] {
        [
            ("bases", self.bases),
            ("trees", self.trees),
            ("sizes", self.sizes),
            ("nodes", self.nodes),
            ("values", self.values),
            ("sets", self.sets),
        ]
    }

    /// Of lists by name; none without any.
    pub fn of_parts(mut take: impl FnMut(&'static str) -> Option<Vec<f32>>) -> Option<Self> {
        let bases = take("bases")?;
        let mut rest = |name| take(name).unwrap_or_default();
        Some(Self {
            bases,
            trees: rest("trees"),
            sizes: rest("sizes"),
            nodes: rest("nodes"),
            values: rest("values"),
            sets: rest("sets"),
        })
    }
}

/// A feature's number in 14 bits, a bin in 8, the kind in 2.
const MOST_FEATURES: usize = 1 << 14;
const KINDS: [NodeKind; 4] = [NodeKind::Leaf, NodeKind::UnknownRight, NodeKind::UnknownLeft, NodeKind::Set];
/// More nodes than this would not be whole numbers.
const MOST_NODES: usize = 1 << 24;

impl ColumnTrees {
    /// As numbers.
    pub fn pack(&self) -> PackedTrees {
        let trees = self.first.windows(2).map(|pair| (pair[1] - pair[0]) as f32).collect();
        let ends = self.roots.iter().skip(1).copied().chain([self.nodes.len() as u32]);
        let sizes = self.roots.iter().zip(ends).map(|(from, to)| (to - from) as f32).collect();
        let (mut nodes, mut values, mut sets) = (Vec::new(), Vec::new(), Vec::new());
        let mut root = 0;
        let mut roots = self.roots.iter().peekable();
        for (at, node) in self.nodes.iter().enumerate() {
            if roots.peek() == Some(&&(at as u32)) {
                root = at as u32;
                roots.next();
            }
            let kind = KINDS.iter().position(|kind| *kind == node.kind).unwrap_or(0) as u32;
            nodes.push((u32::from(node.feature) << 10 | u32::from(node.bin) << 2 | kind) as f32);
            values.push(match node.kind {
                NodeKind::Leaf => f32::from_bits(node.data),
                _ => (node.left - root) as f32,
            });
            if node.kind == NodeKind::Set {
                let words = self.sets[node.data as usize];
                sets.extend((0..16).map(|part| (words[part / 4] >> (16 * (part % 4)) & 0xffff) as f32));
            }
        }
        PackedTrees { bases: self.bases.clone(), trees, sizes, nodes, values, sets }
    }

    /// The trees of numbers: refused unless each leads from bins of so many features to a value, whatever the bins.
    pub fn unpack(packed: &PackedTrees, questions: Questions, features: usize) -> Result<Self, UnpackError> {
        let check = |holds: bool, why: &'static str| if holds { Ok(()) } else { Err(UnpackError(why)) };
        let asked = questions.list().len();
        check(packed.bases.len() == asked && packed.trees.len() == asked, "questions of another column")?;
        check(packed.bases.iter().all(|base| base.is_finite()), "odds that are no numbers")?;
        check(packed.nodes.len() == packed.values.len(), "nodes without values")?;
        check(features < MOST_FEATURES && packed.nodes.len() < MOST_NODES, "too many nodes or features")?;
        let mut trees = Self {
            questions,
            features,
            bases: packed.bases.clone(),
            nodes: Vec::with_capacity(packed.nodes.len()),
            sets: packed.sets.chunks_exact(16).map(set).collect::<Result<_, _>>()?,
            roots: Vec::with_capacity(packed.sizes.len()),
            first: vec![0],
        };
        for count in &packed.trees {
            let last = trees.first[trees.first.len() - 1] as usize + whole(*count)?;
            check(last <= packed.sizes.len(), "more trees than there are")?;
            trees.first.push(last as u32);
        }
        check(trees.first.last() == Some(&(packed.sizes.len() as u32)), "trees of no question")?;
        let (mut start, mut sets) = (0, 0);
        for size in &packed.sizes {
            let size = whole(*size)?;
            check(size > 0 && size <= packed.nodes.len() - start, "a tree without nodes")?;
            trees.roots.push(start as u32);
            for at in 0..size {
                let node =
                    node(packed.nodes[start + at], packed.values[start + at], (at, size), start, &mut sets)?;
                check(usize::from(node.feature) < features.max(1), "a feature that is not there")?;
                trees.nodes.push(node);
            }
            start += size;
        }
        check(start == packed.nodes.len(), "nodes of no tree")?;
        check(sets == trees.sets.len() && packed.sets.len() == 16 * sets, "sets of no node")?;
        Ok(trees)
    }
}

/// A number that must be whole and small.
fn whole(value: f32) -> Result<usize, UnpackError> {
    if value.fract() == 0.0 && (0.0..MOST_NODES as f32).contains(&value) {
        return Ok(value as usize);
    }
    Err(UnpackError("a count that is no whole number"))
}

fn set(parts: &[f32]) -> Result<[u64; 4], UnpackError> {
    let mut words = [0; 4];
    for (part, value) in parts.iter().enumerate() {
        let bits = whole(*value)? as u64;
        if bits > 0xffff {
            return Err(UnpackError("a set of more bins than there are"));
        }
        words[part / 4] |= bits << (16 * (part % 4));
    }
    Ok(words)
}

/// A node of a tree: children come after it, so that every way ends.
fn node(
    packed: f32,
    value: f32,
    (at, size): (usize, usize),
    start: usize,
    sets: &mut usize,
) -> Result<Node, UnpackError> {
    let packed = whole(packed)?;
    let mut node = Node {
        feature: (packed >> 10) as u16,
        bin: (packed >> 2 & 0xff) as u8,
        kind: KINDS[packed & 3],
        left: 0,
        data: 0,
    };
    if node.kind == NodeKind::Leaf {
        if !value.is_finite() {
            return Err(UnpackError("a leaf that is no number"));
        }
        node.data = value.to_bits();
        return Ok(node);
    }
    let left = whole(value)?;
    if left <= at || left + 1 >= size {
        return Err(UnpackError("a child outside its tree"));
    }
    node.left = (start + left) as u32;
    if node.kind == NodeKind::Set {
        node.data = *sets as u32;
        *sets += 1;
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grow::Grown;
    use crate::histogram::Test;

    fn trees() -> ColumnTrees {
        let tree = vec![
            Grown::Split { feature: 1, test: Test::UpTo(7, true), left: 1 },
            Grown::Leaf(0.25),
            Grown::Split { feature: 0, test: Test::In([1 << 63 | 5, 0, u64::MAX, 9]), left: 3 },
            Grown::Leaf(-1.5),
            Grown::Leaf(f32::MIN_POSITIVE),
        ];
        let questions = Questions::ordered(&[3, 2, 2]);
        ColumnTrees::new(questions, 2, vec![0.5, -0.25], &[vec![tree.clone(), tree.clone()], vec![tree]])
    }

    #[test]
    fn round_trip() {
        let trees = trees();
        let again = ColumnTrees::unpack(&trees.pack(), trees.questions.clone(), 2).unwrap();
        assert_eq!(again, trees);
    }

    /// Any number put in the place of any other is refused, or gives trees that lead to a finite value for any bins.
    #[test]
    fn damage_is_refused_or_harmless() {
        let (trees, questions) = (trees(), Questions::ordered(&[3, 2, 2]));
        let packed = trees.pack();
        let odd =
            [f32::NAN, f32::INFINITY, -1.0, 0.5, 0.0, 1.0, 2.0, 3.0, 17.0, 1023.0, 65535.0, 16_777_215.0];
        let mut refused = 0;
        for part in 0..6 {
            let len = field(&mut packed.clone(), part).len();
            for (at, value) in (0..len).flat_map(|at| odd.map(|value| (at, value))) {
                let mut other = packed.clone();
                field(&mut other, part)[at] = value;
                let Ok(trees) = ColumnTrees::unpack(&other, questions.clone(), 2) else {
                    refused += 1;
                    continue;
                };
                let mut p = Vec::new();
                for bins in [[0, 0], [0, 255], [255, 0], [3, 200]] {
                    trees.probabilities(&bins, &mut p);
                    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{other:?}");
                }
            }
            // Cut short.
            let mut other = packed.clone();
            field(&mut other, part).pop();
            assert!(ColumnTrees::unpack(&other, questions.clone(), 2).is_err(), "part {part}");
        }
        assert!(refused > 100, "{refused}");
        assert!(ColumnTrees::unpack(&packed, questions, 1).is_err());
    }

    fn field(packed: &mut PackedTrees, part: usize) -> &mut Vec<f32> {
        match part {
            0 => &mut packed.bases,
            1 => &mut packed.trees,
            2 => &mut packed.sizes,
            3 => &mut packed.nodes,
            4 => &mut packed.values,
            _ => &mut packed.sets,
        }
    }
}
