//! The n-gram model: what a text costs if only a few tokens back are remembered.

use super::trie::{ROOT, Trie};

/// The highest order.
const MOST_ORDER: usize = 8;

/// An n-gram model with interpolated modified Kneser–Ney smoothing, of order 1 to 8, over tokens below `classes`.
///
/// p(w | h) = (c(h w) − D)/c(h) + γ(h) p(w | h′), where h′ is the context h without its first token, the discount
/// D depends on whether c(h w) is 1, 2 or more, and γ(h) is what the discounts leave. Below the full length, c
/// counts the different tokens before an n-gram, not its occurrences; below one token, p = 1/classes (Chen and
/// Goodman, “An empirical study of smoothing techniques for language modeling”, 1999). At the start of a text,
/// where only m tokens precede, the model of order m + 1 fitted to the same text takes over.
///
/// Chosen by held-out bits: of text8, with 5 million characters to fit and half a million held out, order 6 needs
/// 1.911 bits per character, with Witten–Bell smoothing 2.027; the gap is wider with less text, and closes at
/// order 3 and below.
///
/// Counts are exact for any vocabulary, and the result does not depend on hashes or threads.
///
/// ```
/// use pmm_eval::text::NGram;
/// let text: Vec<u32> = [0, 1, 2].repeat(100);
/// let model = NGram::fit(&text, 4, 3);
/// assert!(model.bits(&text) < 0.1);
/// let sum: f64 = (0..4).map(|token| model.log_probability(&[0, 1], token).exp()).sum();
/// assert!((sum - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct NGram {
    classes: usize,
    trie: Trie,
    /// After a context that is as long as it can be.
    whole: Law,
    /// After a context that was cut because the longer one is unknown.
    lower: Law,
}

/// p(last token | tokens before it) by the n-gram's node, and γ by the context's.
#[derive(Clone, Debug)]
struct Law {
    probabilities: Vec<f64>,
    backoffs: Vec<f64>,
}

impl NGram {
    /// Fits a model of this order, brought within 1 and 8, to a text. Should the text hold tokens of `classes` or
    /// above, there are as many classes as it takes. Only the first 2²⁸ tokens count.
    pub fn fit(tokens: &[u32], classes: usize, order: usize) -> Self {
        let order = order.clamp(1, MOST_ORDER);
        let largest = tokens.iter().max().map_or(0, |&token| token as usize);
        let classes = classes.max(largest + 1);
        let (trie, counts) = Trie::new(tokens, classes, order);
        let lower = Law::new(&trie, &trie.left_contexts(tokens), order - 1, classes, None);
        let whole = Law::new(&trie, &counts, order, classes, Some(&lower));
        Self { classes, trie, whole, lower }
    }

    /// The order: one more than the tokens of context that count.
    pub fn order(&self) -> usize {
        self.trie.depth()
    }

    /// How many tokens there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// log p(token | context) in nats, by the last `order − 1` tokens of the context; −∞ for a token of `classes`
    /// or above.
    pub fn log_probability(&self, context: &[u32], token: u32) -> f64 {
        let length = context.len().min(self.order() - 1);
        self.probability(self.context(context), length, token).ln()
    }

    /// The mean bits per token of a text, its first tokens with the shorter context they have; NaN for an empty text.
    pub fn bits(&self, text: &[u32]) -> f64 {
        self.nats(text) / (std::f64::consts::LN_2 * text.len() as f64)
    }

    /// −log p(text) in nats.
    pub(super) fn nats(&self, text: &[u32]) -> f64 {
        let (mut node, mut sum) = (ROOT, 0.0);
        for (i, &token) in text.iter().enumerate() {
            sum -= self.probability(node, i.min(self.order() - 1), token).ln();
            node = self.trie.advance(node, token);
        }
        sum
    }

    /// The node of the longest known end of a context.
    pub(super) fn context(&self, context: &[u32]) -> u32 {
        let end = &context[context.len() - context.len().min(self.order() - 1)..];
        end.iter().fold(ROOT, |node, &token| self.trie.advance(node, token))
    }

    /// p(token | context): `node` is the longest known end of a context of this length, which is below the order.
    pub(super) fn probability(&self, mut node: u32, length: usize, token: u32) -> f64 {
        if token as usize >= self.classes {
            return 0.0;
        }
        let mut law = if self.trie.level(length).contains(&node) { &self.whole } else { &self.lower };
        let mut factor = 1.0;
        loop {
            if let Some(child) = self.trie.child(node, token) {
                return factor * law.probabilities[child as usize];
            }
            factor *= law.backoffs[node as usize];
            if node == ROOT {
                return factor / self.classes as f64;
            }
            (node, law) = (self.trie.suffix(node), &self.lower);
        }
    }
}

impl Law {
    /// The law of all n-grams up to `longest` tokens from their counts; `lower` is the law of shorter contexts, by
    /// default this law itself.
    fn new(trie: &Trie, counts: &[u32], longest: usize, classes: usize, lower: Option<&Self>) -> Self {
        let mut probabilities = vec![1.0 / classes as f64; trie.level(longest).end as usize];
        let mut backoffs = vec![1.0; trie.level(longest).start as usize];
        for n in 0..longest {
            let discounts = Discounts::new(trie.level(n + 1).map(|node| counts[node as usize]));
            for context in trie.level(n) {
                let children = || trie.children(context).map(|child| (child, counts[child as usize]));
                let total: f64 = children().map(|(_, count)| f64::from(count)).sum();
                if total == 0.0 {
                    continue; // Only the end of the text was ever seen here: nothing is known, and γ = 1.
                }
                let backoff = children().map(|(_, count)| discounts.of(count)).sum::<f64>() / total;
                backoffs[context as usize] = backoff;
                for (child, count) in children() {
                    let shorter = lower.map_or(&probabilities, |law| &law.probabilities);
                    let below = shorter[trie.suffix(child) as usize];
                    let kept = f64::from(count) - discounts.of(count);
                    probabilities[child as usize] = kept / total + backoff * below;
                }
            }
        }
        Self { probabilities, backoffs }
    }
}

/// What is taken off counts of 1, 2 and more.
struct Discounts([f64; 3]);

impl Discounts {
    /// Dᵢ = i − (i + 1) Y nᵢ₊₁/nᵢ with Y = n₁/(n₁ + 2 n₂) and nᵢ the number of counts equal to i; ½, ¾ and 1 where
    /// too few counts are small to say, as with a tiny alphabet or a tiny text.
    fn new(counts: impl Iterator<Item = u32>) -> Self {
        let mut n = [0.0; 5];
        counts.filter(|&count| count < 5).for_each(|count| n[count as usize] += 1.0);
        let known = n[1..].iter().all(|&n| n > 0.0);
        let y = n[1] / (n[1] + 2.0 * n[2]);
        let usual = |i: usize| i as f64 - (i as f64 + 1.0) * y * n[i + 1] / n[i];
        let usable = |i: usize, default: f64| match usual(i) {
            d if known && d > 0.01 && d <= i as f64 => d,
            _ => default,
        };
        Self([usable(1, 0.5), usable(2, 0.75), usable(3, 1.0)])
    }

    fn of(&self, count: u32) -> f64 {
        self.0[count.clamp(1, 3) as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_core::{MarkovChain, Purpose, Streams};

    fn noise(length: usize, classes: u64) -> Vec<u32> {
        let mut stream = Streams::new(3).stream(Purpose::DATA, 0, 0);
        // The smaller of two: some tokens are rare.
        (0..length).map(|_| stream.below(classes).min(stream.below(classes)) as u32).collect()
    }

    #[test]
    fn probabilities_sum_to_one_after_every_context() {
        let text = noise(400, 6);
        for order in 1..=8 {
            let model = NGram::fit(&text, 7, order);
            // Seen at the start, in the middle and at the end; cut short; unseen in part, and with a token that
            // never occurs.
            let contexts = [
                &text[..],
                &text[..3],
                &text[..1],
                &text[20..30],
                &[5, 5, 5, 5, 5, 5],
                &[6, 6],
                &[0, 6],
                &[],
            ];
            for context in contexts {
                let each: Vec<f64> =
                    (0..7).map(|token| model.log_probability(context, token).exp()).collect();
                let sum: f64 = each.iter().sum();
                assert!(
                    (sum - 1.0).abs() < 1e-12 && each.iter().all(|&p| p > 0.0),
                    "order {order}: {each:?}"
                );
            }
        }
    }

    /// By hand: 0 0 1 has counts 2 and 1, left contexts {start, 0} and {0}, and discounts D₁ = ½, D₂ = ¾.
    #[test]
    fn a_small_model_by_hand() {
        let unigrams = NGram::fit(&[0, 0, 1], 3, 1);
        let rest = (0.75 + 0.5) / 3.0;
        for (token, kept) in [(0, 1.25), (1, 0.5), (2, 0.0)] {
            let p = unigrams.log_probability(&[1, 0], token).exp();
            assert!((p - (kept / 3.0 + rest / 3.0)).abs() < 1e-12, "{token}: {p}");
        }
        // After 0 come 0 and 1, once each: half of each is kept, and half of all goes to the left contexts.
        let bigrams = NGram::fit(&[0, 0, 1], 3, 2);
        let p = bigrams.log_probability(&[0], 0).exp();
        assert!((p - (0.25 + 0.5 * (1.25 + rest) / 3.0)).abs() < 1e-12, "{p}");
        assert_eq!(bigrams.log_probability(&[], 0).exp(), unigrams.log_probability(&[], 0).exp());
    }

    /// A text of 200,000 tokens from a chain with entropy rate H. The mean of its surprise has standard error s/√n
    /// with s below 1.2 bits and a factor for dependence below 2: under 0.006. The model adds about
    /// (parameters/2n) log₂ n: under 0.004 at order 4. So 4 × 0.006 + 0.004 < 0.03; a model without memory would
    /// be off by more than 0.2.
    #[test]
    fn bits_approach_the_entropy_rate_of_a_chain() {
        let p = [0.7, 0.2, 0.1, 0.05, 0.15, 0.8, 0.3, 0.3, 0.4];
        let chain = MarkovChain::new(&[0.6, 0.3, 0.1], &p, 100).unwrap();
        let text = chain.sample(&Streams::new(1), 0, 4_000);
        let (train, test) = text.split_at(200_000);
        let rows: Vec<&[u32]> = test.chunks_exact(100).collect();
        let rate =
            rows.iter().map(|row| chain.surprise(row)).sum::<f64>() / 200_000.0 / std::f64::consts::LN_2;
        // The fit sees rows joined end to end, where one token in a hundred does not follow from the last: under
        // 0.015 bits.
        for order in 2..=4 {
            let bits = NGram::fit(train, 3, order).bits(test);
            assert!((bits - rate).abs() < 0.03, "order {order}: {bits}, rate {rate}");
        }
        assert!(NGram::fit(train, 3, 1).bits(test) > rate + 0.2);
    }

    /// The start of a text is scored as by the lower-order models.
    #[test]
    fn short_contexts_have_the_model_of_their_length() {
        let text = noise(2_000, 9);
        let model = NGram::fit(&text, 9, 5);
        let shorter: Vec<NGram> = (1..=5).map(|order| NGram::fit(&text, 9, order)).collect();
        let row = [3, 0, 8, 8, 1, 0];
        let by_hand: f64 = (0..6).map(|i| shorter[i.min(4)].log_probability(&row[..i], row[i])).sum();
        assert!((model.nats(&row) + by_hand).abs() < 1e-9);
        assert!((model.bits(&row) + by_hand / 6.0 / std::f64::consts::LN_2).abs() < 1e-9);
    }

    #[test]
    fn odd_inputs_have_an_answer() {
        let empty = NGram::fit(&[], 4, 3);
        assert!((empty.bits(&[0, 3, 1]) - 2.0).abs() < 1e-12 && empty.bits(&[]).is_nan());
        assert_eq!(empty.log_probability(&[1], 4), f64::NEG_INFINITY);
        let one = NGram::fit(&[0; 50], 1, 6);
        assert!(one.bits(&[0; 9]).abs() < 1e-12);
        let wide = NGram::fit(&[9, 70_000, 9], 2, 99);
        assert_eq!((wide.classes(), wide.order()), (70_001, 8));
        assert!(
            wide.log_probability(&[70_000], 9).is_finite() && wide.log_probability(&[5], 123).is_finite()
        );
    }
}
