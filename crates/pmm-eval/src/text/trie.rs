//! All n-grams of a text up to a depth, as a tree of prefixes with links to their suffixes.

/// The node of the empty n-gram.
pub(super) const ROOT: u32 = 0;
/// Tokens beyond these are left out, so that eight nodes a token can be numbered in 32 bits.
const MOST_TOKENS: usize = 1 << 28;

/// A tree whose nodes are the distinct n-grams of a text, n = 0, …, depth.
///
/// Nodes are numbered by length, then in the order of their tokens, so the children of a node stand together and
/// are found by bisection. The link of a node leads to its n-gram without the first token. Everything is exact for
/// any vocabulary: nothing is hashed.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    /// The last token of each n-gram, `[nodes]`.
    tokens: Vec<u32>,
    /// The first child of each node, and the number of nodes at the end, `[nodes + 1]`.
    children: Vec<u32>,
    /// `[nodes]`.
    links: Vec<u32>,
    /// The first node of each length, and the number of nodes at the end, `[depth + 2]`.
    starts: Vec<u32>,
}

impl Trie {
    /// The tree of a text, and how often each n-gram occurs in it, `[nodes]`. All tokens must be below `classes`.
    ///
    /// The places of the text are sorted by the next `depth` tokens; then each n-gram is a run of places, and a
    /// pass over them meets the nodes of every length in order.
    pub(super) fn new(text: &[u32], classes: usize, depth: usize) -> (Self, Vec<u32>) {
        let text = &text[..text.len().min(MOST_TOKENS)];
        let mut levels: Vec<Level> = (0..depth).map(|_| Level::default()).collect();
        let mut previous: &[u32] = &[];
        for place in sorted_places(text, classes, depth) {
            let rest = &text[place as usize..];
            let gram = &rest[..rest.len().min(depth)];
            let shared = gram.iter().zip(previous).take_while(|(a, b)| a == b).count();
            for n in shared..gram.len() {
                let child = levels.get(n + 1).map_or(0, |level| level.tokens.len() as u32);
                levels[n].push(gram[n], child);
            }
            levels[..gram.len()].iter_mut().for_each(Level::count);
            previous = gram;
        }
        Self::flat(levels, text.len())
    }

    fn flat(levels: Vec<Level>, length: usize) -> (Self, Vec<u32>) {
        let mut starts = vec![0, 1];
        starts.extend(levels.iter().scan(1, |sum, level| {
            *sum += level.tokens.len() as u32;
            Some(*sum)
        }));
        let nodes = starts[levels.len() + 1];
        let (mut tokens, mut children, mut counts) = (vec![0], vec![1], vec![length as u32]);
        for (n, level) in levels.into_iter().enumerate() {
            let first = starts.get(n + 2).copied().unwrap_or(nodes);
            tokens.extend(level.tokens);
            counts.extend(level.counts);
            children.extend(level.children.iter().map(|child| first + child));
        }
        children.push(nodes);
        let mut trie = Self { links: vec![ROOT; tokens.len()], tokens, children, starts };
        trie.link();
        (trie, counts)
    }

    /// Links every node: the suffix of an n-gram is a child of its parent's suffix.
    fn link(&mut self) {
        for parent in 1..self.tokens.len() as u32 {
            for child in self.children(parent) {
                let link = self.child(self.links[parent as usize], self.tokens[child as usize]);
                self.links[child as usize] = link.unwrap_or(ROOT);
            }
        }
    }

    /// How many different tokens come before each n-gram shorter than the depth, the start of the text being one
    /// of them.
    pub(super) fn left_contexts(&self, text: &[u32]) -> Vec<u32> {
        let full = self.starts[self.depth()] as usize;
        let mut counts = vec![0; full];
        self.links[1..].iter().for_each(|&link| counts[link as usize] += 1);
        let mut node = ROOT;
        for &token in text.iter().take(self.depth() - 1) {
            let Some(child) = self.child(node, token) else { break };
            counts[child as usize] += 1;
            node = child;
        }
        counts
    }

    /// The length of the longest n-grams.
    pub(super) fn depth(&self) -> usize {
        self.starts.len() - 2
    }

    /// The nodes of n tokens, n ≤ depth.
    pub(super) fn level(&self, n: usize) -> std::ops::Range<u32> {
        self.starts[n]..self.starts[n + 1]
    }

    /// The children of a node.
    pub(super) fn children(&self, node: u32) -> std::ops::Range<u32> {
        self.children[node as usize]..self.children[node as usize + 1]
    }

    /// The node of an n-gram followed by `token`, if that occurs.
    pub(super) fn child(&self, node: u32, token: u32) -> Option<u32> {
        let range = self.children(node);
        let tokens = &self.tokens[range.start as usize..range.end as usize];
        tokens.binary_search(&token).ok().map(|i| range.start + i as u32)
    }

    /// The node of the n-gram without its first token.
    pub(super) fn suffix(&self, node: u32) -> u32 {
        self.links[node as usize]
    }

    /// The node of the longest n-gram, shorter than the depth, with which the context at `node` ends once `token`
    /// has followed.
    pub(super) fn advance(&self, mut node: u32, token: u32) -> u32 {
        let full = self.starts[self.depth()];
        loop {
            match self.child(node, token) {
                Some(child) if child >= full => return self.suffix(child),
                Some(child) => return child,
                None if node == ROOT => return ROOT,
                None => node = self.suffix(node),
            }
        }
    }
}

/// The nodes of one length.
#[derive(Default)]
struct Level {
    tokens: Vec<u32>,
    children: Vec<u32>,
    counts: Vec<u32>,
}

impl Level {
    fn push(&mut self, token: u32, child: u32) {
        self.tokens.push(token);
        self.children.push(child);
        self.counts.push(0);
    }

    fn count(&mut self) {
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
    }
}

/// The places of a text in the order of the `depth` tokens from there on, the end of the text before any token: a
/// radix sort, linear in the text.
fn sorted_places(text: &[u32], classes: usize, depth: usize) -> Vec<u32> {
    let mut places: Vec<u32> = (0..text.len() as u32).collect();
    let mut next = places.clone();
    for ahead in (0..depth).rev() {
        let bucket = |place: u32| text.get(place as usize + ahead).map_or(0, |token| *token as usize + 1);
        let mut ends = vec![0_u32; classes + 2];
        (0..text.len() as u32).for_each(|place| ends[bucket(place) + 1] += 1);
        (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
        for &place in &places {
            let end = &mut ends[bucket(place)];
            next[*end as usize] = place;
            *end += 1;
        }
        std::mem::swap(&mut places, &mut next);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every n-gram, its count, its left contexts and its suffix, against direct search of the text.
    #[test]
    fn nodes_are_the_n_grams_of_the_text() {
        let text = [0, 1, 0, 1, 1, 2, 0, 1, 0, 0, 2, 2, 1, 0];
        let (trie, counts) = Trie::new(&text, 4, 3);
        let left = trie.left_contexts(&text);
        let find = |gram: &[u32]| gram.iter().try_fold(ROOT, |node, &token| trie.child(node, token));
        let mut found = 1;
        for n in 1..=3_u32 {
            for code in 0..4_u32.pow(n) {
                let gram: Vec<u32> = (0..n).map(|i| code / 4_u32.pow(i) % 4).collect();
                let places: Vec<usize> = (0..text.len()).filter(|&i| text[i..].starts_with(&gram)).collect();
                let Some(node) = find(&gram) else {
                    assert!(places.is_empty(), "{gram:?}");
                    continue;
                };
                found += 1;
                assert_eq!(counts[node as usize] as usize, places.len(), "{gram:?}");
                assert_eq!(Some(trie.suffix(node)), find(&gram[1..]), "{gram:?}");
                assert!(trie.level(gram.len()).contains(&node));
                if n < 3 {
                    let mut before: Vec<_> =
                        places.iter().map(|&i| i.checked_sub(1).map(|j| text[j])).collect();
                    before.sort_unstable();
                    before.dedup();
                    assert_eq!(left[node as usize] as usize, before.len(), "{gram:?}");
                }
            }
        }
        assert_eq!(trie.tokens.len(), found);
    }

    #[test]
    fn empty_and_short_texts_have_small_trees() {
        let (trie, counts) = Trie::new(&[], 3, 4);
        assert_eq!((trie.tokens.len(), counts.as_slice(), trie.advance(ROOT, 1)), (1, &[0][..], ROOT));
        let (trie, _) = Trie::new(&[2, 2], 3, 5);
        assert_eq!((trie.tokens.len(), trie.level(2), trie.level(3)), (3, 2..3, 3..3));
        assert_eq!(trie.left_contexts(&[2, 2])[1..], [2, 1]);
    }

    /// The context is always the longest n-gram of the text that ends it.
    #[test]
    fn advancing_keeps_the_longest_known_context() {
        let text = [0, 1, 2, 0, 1, 1, 0, 2, 1];
        let (trie, _) = Trie::new(&text, 3, 4);
        let mut node = ROOT;
        let walk = [0, 1, 2, 0, 2, 2, 1, 0, 1, 1];
        for (i, &token) in walk.iter().enumerate() {
            node = trie.advance(node, token);
            let suffixes = (0..=3.min(i + 1)).rev().map(|n| &walk[i + 1 - n..=i]);
            let known = |gram: &[u32]| gram.iter().try_fold(ROOT, |node, &token| trie.child(node, token));
            assert_eq!(suffixes.filter_map(known).next(), Some(node));
        }
    }
}
