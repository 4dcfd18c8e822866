//! Byte-pair encoding learnt from words: the most frequent pair of neighbours becomes a token, again and again.
//!
//! Sennrich, Haddow & Birch (2016), *Neural machine translation of rare words with subword units*, algorithm 1, on bytes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

type Pair = (u32, u32);

/// What was learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Learnt {
    /// The tokens: first those given, then one for each merge that made a new one.
    pub(super) tokens: Vec<Vec<u8>>,
    /// The pairs, in the order in which they are merged.
    pub(super) merges: Vec<Pair>,
}

/// Learns merges until there are `most` tokens or no pair occurs twice. Of pairs that are equally frequent, the one with the
/// smaller numbers goes first, so the result is a function of the counts alone.
pub(super) fn learn(alphabet: &[u8], words: impl IntoIterator<Item = (Vec<u8>, u64)>, most: usize) -> Learnt {
    let mut learner = Learner::new(alphabet, words);
    while learner.learnt.tokens.len() < most {
        let Some(pair) = learner.most_frequent() else { break };
        learner.merge(pair);
    }
    learner.learnt
}

struct Learner {
    learnt: Learnt,
    /// Tokens by their bytes: two merges may make the same token.
    ids: HashMap<Vec<u8>, u32>,
    /// Tokens by the pair that makes them.
    made: HashMap<Pair, u32>,
    /// Words as tokens, with how often they occur.
    words: Vec<(Vec<u32>, u64)>,
    counts: HashMap<Pair, u64>,
    /// Words in which a pair is or was.
    places: HashMap<Pair, Vec<u32>>,
    /// Pairs by count; counts may have fallen since.
    queue: BinaryHeap<(u64, Reverse<Pair>)>,
}

impl Learner {
    fn new(alphabet: &[u8], words: impl IntoIterator<Item = (Vec<u8>, u64)>) -> Self {
        let tokens: Vec<_> = alphabet.iter().map(|&byte| vec![byte]).collect();
        let ids: HashMap<_, _> = tokens.iter().cloned().zip(0..).collect();
        let mut numbers = [0; 256];
        for (&byte, id) in alphabet.iter().zip(0..) {
            numbers[usize::from(byte)] = id;
        }
        let coded = |word: Vec<u8>| word.iter().map(|&byte| numbers[usize::from(byte)]).collect();
        let words: Vec<(Vec<u32>, u64)> =
            words.into_iter().map(|(word, count)| (coded(word), count)).collect();
        let (mut counts, mut places) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        for ((word, count), place) in words.iter().zip(0..) {
            for pair in pairs(word) {
                *counts.entry(pair).or_default() += count;
                let places = places.entry(pair).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        let queue = counts.iter().map(|(&pair, &count)| (count, Reverse(pair))).collect();
        let learnt = Learnt { tokens, merges: vec![] };
        Self { learnt, ids, made: HashMap::new(), words, counts, places, queue }
    }

    /// The most frequent pair, if it occurs twice.
    fn most_frequent(&mut self) -> Option<Pair> {
        while let Some((count, Reverse(pair))) = self.queue.pop() {
            let now = self.counts.get(&pair).copied().unwrap_or(0);
            if now >= 2 && now == count {
                return Some(pair);
            }
            if now >= 2 {
                self.queue.push((now, Reverse(pair)));
            }
        }
        None
    }

    /// Makes a pair a token, in all words.
    fn merge(&mut self, pair: Pair) {
        let id = self.token(pair);
        let mut places = self.places.remove(&pair).unwrap_or_default();
        places.sort_unstable();
        places.dedup();
        let mut grown = HashSet::new();
        for place in places {
            let (word, count) = &mut self.words[place as usize];
            for pair in pairs(word) {
                if let Some(total) = self.counts.get_mut(&pair) {
                    *total -= *count;
                }
            }
            merge_in(word, pair, id);
            for pair in pairs(word) {
                *self.counts.entry(pair).or_default() += *count;
                if pair.0 == id || pair.1 == id {
                    self.places.entry(pair).or_default().push(place);
                    grown.insert(pair);
                }
            }
        }
        self.counts.remove(&pair);
        self.queue.extend(grown.into_iter().map(|pair| (self.counts[&pair], Reverse(pair))));
    }

    /// The token of a pair, which may be new. A pair can come up twice, when another merge makes one of its halves anew.
    fn token(&mut self, pair: Pair) -> u32 {
        if let Some(&id) = self.made.get(&pair) {
            return id;
        }
        let tokens = &mut self.learnt.tokens;
        let bytes = [&tokens[pair.0 as usize][..], &tokens[pair.1 as usize][..]].concat();
        let id = *self.ids.entry(bytes.clone()).or_insert(tokens.len() as u32);
        if id as usize == tokens.len() {
            tokens.push(bytes);
        }
        self.learnt.merges.push(pair);
        self.made.insert(pair, id);
        id
    }
}

fn pairs(word: &[u32]) -> impl Iterator<Item = Pair> {
    word.windows(2).map(|pair| (pair[0], pair[1]))
}

/// Replaces a pair by a token, from the left.
fn merge_in(word: &mut Vec<u32>, pair: Pair, id: u32) {
    let (mut read, mut write) = (0, 0);
    while read < word.len() {
        let found = word[read] == pair.0 && word.get(read + 1) == Some(&pair.1);
        word[write] = if found { id } else { word[read] };
        read += if found { 2 } else { 1 };
        write += 1;
    }
    word.truncate(write);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(Vec<u8>, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        text.split_whitespace().for_each(|word| *counts.entry(word.as_bytes().to_vec()).or_default() += 1);
        counts.into_iter().collect()
    }

    fn learnt(alphabet: &str, text: &str, most: usize) -> Vec<String> {
        let learnt = learn(alphabet.as_bytes(), words(text), most);
        learnt.tokens[alphabet.len()..]
            .iter()
            .map(|token| String::from_utf8(token.clone()).unwrap())
            .collect()
    }

    #[test]
    fn frequent_pairs_become_tokens() {
        // ab: 4, abc: 3 of them; then nothing occurs twice.
        assert_eq!(learnt("abcd", "abc abc abcd ab", 100), ["ab", "abc"]);
        assert_eq!(learnt("abcd", "abc abc abcd ab", 5), ["ab"]);
        assert_eq!(learnt("abcd", "abcd", 100), [""; 0]);
    }

    #[test]
    fn ties_go_to_the_smaller_numbers() {
        assert_eq!(learnt("abcd", "cd cd ab ab", 5), ["ab"]);
        assert_eq!(learnt("dcba", "cd cd ba ba", 5), ["cd"]);
    }

    #[test]
    fn runs_of_one_letter_end() {
        let text = "aaaaaaaaaaa aaaaaaa aaaaa aaa";
        let all = learn(b"a", words(text), 100);
        let distinct: HashSet<_> = all.tokens.iter().collect();
        assert_eq!(distinct.len(), all.tokens.len());
        assert_eq!(all.merges.iter().collect::<HashSet<_>>().len(), all.merges.len());
        assert_eq!(learn(b"a", words(text), 100), all);
    }

    #[test]
    fn the_order_of_words_does_not_matter() {
        let text = "the cat sat on the mat and the rat sat on that cat; mattresses matter to the cats";
        let alphabet: Vec<u8> = (0..=255).collect();
        let mut reversed = words(text);
        reversed.reverse();
        assert_eq!(learn(&alphabet, words(text), 280), learn(&alphabet, reversed, 280));
    }
}
