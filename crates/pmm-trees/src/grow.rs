//! One regression tree, grown best leaf first.

use crate::histogram::{Layout, Split, SplitRule, Sums, Test, leaf_value};

/// A node of a tree: a leaf with its value, or a split whose children stand side by side, the left one first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Grown {
    Leaf(f32),
    Split { feature: u16, test: Test, left: u32 },
}

/// What a tree is grown from.
pub(crate) struct Grower<'a> {
    pub(crate) layout: &'a Layout,
    /// `[examples, features]`.
    pub(crate) bins: &'a [u8],
    pub(crate) rule: SplitRule,
    pub(crate) leaves: usize,
    pub(crate) rate: f64,
}

/// An example of the tree: its place among all, gradient and curvature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pulled {
    pub(crate) example: u32,
    pub(crate) gradient: f32,
    pub(crate) curvature: f32,
}

/// Histograms that can be used again.
pub(crate) type Spare = Vec<Vec<Sums>>;

struct Open {
    node: usize,
    from: usize,
    to: usize,
    total: Sums,
    sums: Vec<Sums>,
    split: Option<Split>,
}

impl Grower<'_> {
    /// Grows a tree; none where no split gains anything. The examples are put in another order.
    pub(crate) fn grow(&self, pulled: &mut [Pulled], spare: &mut Spare) -> Option<Vec<Grown>> {
        let mut nodes = vec![Grown::Leaf(0.0)];
        let root = self.open(0, 0, pulled.len(), total(pulled), pulled, spare);
        let mut open = vec![root];
        let mut leaves = 1;
        while leaves < self.leaves {
            let Some(at) = widest(&open) else { break };
            let leaf = open.swap_remove(at);
            let Some(split) = leaf.split else { break };
            let middle = leaf.from + self.part(&mut pulled[leaf.from..leaf.to], &split);
            let first = nodes.len();
            nodes[leaf.node] = Grown::Split { feature: split.feature, test: split.test, left: first as u32 };
            nodes.extend([Grown::Leaf(0.0); 2]);
            leaves += 1;
            let right = [leaf.total[0] - split.left[0], leaf.total[1] - split.left[1]];
            let sides = [(first, leaf.from, middle, split.left), (first + 1, middle, leaf.to, right)];
            open.extend(self.children(leaf.sums, sides, leaves < self.leaves, pulled, spare));
        }
        for leaf in open {
            nodes[leaf.node] = Grown::Leaf((self.rate * leaf_value(leaf.total, self.rule.l2)) as f32);
            if !leaf.sums.is_empty() {
                spare.push(leaf.sums);
            }
        }
        (nodes.len() > 1).then_some(nodes)
    }

    /// The two sides of a split leaf: the histogram of the smaller is counted, that of the larger is what is left.
    fn children(
        &self,
        mut sums: Vec<Sums>,
        sides: [(usize, usize, usize, Sums); 2],
        goes_on: bool,
        pulled: &[Pulled],
        spare: &mut Spare,
    ) -> [Open; 2] {
        let large_enough = |total: Sums| goes_on && total[1] >= 2.0 * self.rule.least;
        let wanted = sides.map(|side| large_enough(side.3));
        let small = usize::from(sides[1].2 - sides[1].1 < sides[0].2 - sides[0].1);
        let of = |side: usize, sums: Vec<Sums>, spare: &mut Spare| {
            let (node, from, to, total) = sides[side];
            let mut leaf = Open { node, from, to, total, sums, split: None };
            if wanted[side] {
                leaf.split = self.layout.best(&leaf.sums, total, &self.rule);
            }
            if leaf.split.is_none() && !leaf.sums.is_empty() {
                spare.push(std::mem::take(&mut leaf.sums));
            }
            leaf
        };
        if !wanted[0] && !wanted[1] {
            spare.push(sums);
            return [of(0, Vec::new(), spare), of(1, Vec::new(), spare)];
        }
        let counted = self.count(&pulled[sides[small].1..sides[small].2], spare);
        for (sum, part) in sums.iter_mut().zip(&counted) {
            *sum = [sum[0] - part[0], sum[1] - part[1]];
        }
        let (left, right) = if small == 0 { (counted, sums) } else { (sums, counted) };
        [of(0, left, spare), of(1, right, spare)]
    }

    fn open(
        &self,
        node: usize,
        from: usize,
        to: usize,
        total: Sums,
        pulled: &[Pulled],
        spare: &mut Spare,
    ) -> Open {
        let sums = self.count(&pulled[from..to], spare);
        let split = self.layout.best(&sums, total, &self.rule);
        Open { node, from, to, total, sums, split }
    }

    fn count(&self, pulled: &[Pulled], spare: &mut Spare) -> Vec<Sums> {
        let mut sums = match spare.pop() {
            Some(mut sums) => {
                sums.fill([0.0; 2]);
                sums
            }
            None => self.layout.empty(),
        };
        for one in pulled {
            self.layout.add(&mut sums, self.row(one.example), one.gradient, one.curvature);
        }
        sums
    }

    fn row(&self, example: u32) -> &[u8] {
        let features = self.layout.features.len();
        &self.bins[example as usize * features..][..features]
    }

    /// Puts the examples that go left first; returns how many they are.
    fn part(&self, pulled: &mut [Pulled], split: &Split) -> usize {
        let mut left = 0;
        for at in 0..pulled.len() {
            if split.test.is_left(self.row(pulled[at].example)[usize::from(split.feature)]) {
                pulled.swap(left, at);
                left += 1;
            }
        }
        left
    }
}

fn total(pulled: &[Pulled]) -> Sums {
    pulled
        .iter()
        .fold([0.0; 2], |sum, one| [sum[0] + f64::from(one.gradient), sum[1] + f64::from(one.curvature)])
}

/// The leaf whose split gains most, the first of equals.
fn widest(open: &[Open]) -> Option<usize> {
    let gain = |leaf: &Open| leaf.split.as_ref().map(|split| split.gain);
    let mut best: Option<(f64, usize, usize)> = None;
    for (at, leaf) in open.iter().enumerate() {
        if let Some(gain) = gain(leaf)
            && best.is_none_or(|(most, node, _)| gain > most || (gain == most && leaf.node < node))
        {
            best = Some((gain, leaf.node, at));
        }
    }
    best.map(|(_, _, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Feature, FeatureKind};

    /// Four examples of one feature, targets at odds ½: gradients −½ for yes, ½ for no, curvature ¼. A split between bins 2 and 3
    /// with λ = 0: values ∓G/H = ±2, times a rate of ½.
    #[test]
    fn a_tree_by_hand() {
        let layout = Layout::new(&[Feature { kind: FeatureKind::Ordered, bins: 5 }]);
        let rule = SplitRule { l2: 0.0, codes_l2: 0.0, least: 0.25, gain: 0.0 };
        let grower = Grower { layout: &layout, bins: &[1, 2, 3, 4], rule, leaves: 4, rate: 0.5 };
        let mut pulled: Vec<Pulled> = [-0.5, -0.5, 0.5, 0.5]
            .iter()
            .zip(0..)
            .map(|(&gradient, example)| Pulled { example, gradient, curvature: 0.25 })
            .collect();
        let tree = grower.grow(&mut pulled, &mut Vec::new()).unwrap();
        // Beyond the first split nothing is gained.
        assert_eq!(
            tree,
            [
                Grown::Split { feature: 0, test: Test::UpTo(2, false), left: 1 },
                Grown::Leaf(1.0),
                Grown::Leaf(-1.0)
            ]
        );
    }
}
