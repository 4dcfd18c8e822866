//! Hidden tokens of a text under an n-gram model, exactly.

use super::NGram;

/// The highest order, and the most contexts and transitions, for which all are enumerated.
const MOST_ORDER: usize = 3;
const MOST_CONTEXTS: usize = 20_000;
const MOST_TRANSITIONS: usize = 1 << 25;

/// What an n-gram model says of the hidden tokens of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Infill {
    /// −log p(hidden tokens = truth | visible tokens), in nats, for all hidden tokens together.
    pub nats: f64,
    /// The most probable token of each hidden place, each on its own, in the order of the text.
    pub best: Vec<u32>,
}

impl NGram {
    /// The exact posterior of the hidden tokens (`None`) of a text, by forward–backward over contexts of `order −
    /// 1` tokens.
    ///
    /// `truth` is the whole text, as long as `text`; its tokens count where `text` hides them. `None` if the order
    /// exceeds 3, the contexts 20,000 or the transitions between them 2²⁵; if the lengths differ; or if a token is
    /// not below `classes`. Stretches with enough visible tokens between them do not know of each other and are
    /// solved one by one.
    ///
    /// ```
    /// use pmm_eval::text::NGram;
    /// let model = NGram::fit(&[0, 1, 2].repeat(50), 3, 2);
    /// let found = model.infill(&[Some(0), None, Some(2)], &[0, 1, 2]).ok_or("too large")?;
    /// assert_eq!(found.best, [1]);
    /// assert!(found.nats < 0.01);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn infill(&self, text: &[Option<u32>], truth: &[u32]) -> Option<Infill> {
        let known = |(shown, &truth): (&Option<u32>, &u32)| shown.unwrap_or(truth);
        let filled: Vec<u32> = text.iter().zip(truth).map(known).collect();
        let valid =
            text.len() == truth.len() && filled.iter().all(|&token| (token as usize) < self.classes());
        let mut chain = Chain::new(self).filter(|_| valid)?;
        let mut found = Infill { nats: 0.0, best: Vec::new() };
        let mut place = 0;
        while let Some(ahead) = text[place..].iter().position(Option::is_none) {
            let start = place + ahead;
            let end = chain.end(text, start);
            chain.solve(text, &filled, start..end, &mut found);
            place = end;
        }
        Some(found)
    }
}

/// The contexts of a model as states of a Markov chain. At place i a state is the last min(i, memory) tokens, as
/// digits of a number.
struct Chain<'a> {
    model: &'a NGram,
    classes: usize,
    memory: usize,
    /// The law of the next token by length and state, filled as needed.
    laws: Vec<Vec<Vec<f64>>>,
}

/// States that can be, with their weights.
type Weights = Vec<(usize, f64)>;

impl<'a> Chain<'a> {
    fn new(model: &'a NGram) -> Option<Self> {
        let (classes, memory) = (model.classes(), model.order() - 1);
        let contexts = classes.checked_pow(memory as u32).filter(|&contexts| contexts <= MOST_CONTEXTS)?;
        let transitions = contexts.checked_mul(classes)?;
        let laws = (0..=memory as u32).map(|length| vec![Vec::new(); classes.pow(length)]).collect();
        let fits = model.order() <= MOST_ORDER && transitions <= MOST_TRANSITIONS;
        fits.then_some(Self { model, classes, memory, laws })
    }

    /// Where the stretch that starts with a hidden token ends: at the text's end, or when all of the memory is
    /// visible.
    fn end(&self, text: &[Option<u32>], start: usize) -> usize {
        let mut hidden = start;
        for (i, shown) in text.iter().enumerate().skip(start) {
            match shown {
                None => hidden = i,
                Some(_) if i - hidden > self.memory => return i,
                Some(_) => {}
            }
        }
        text.len()
    }

    fn solve(
        &mut self,
        text: &[Option<u32>],
        filled: &[u32],
        range: std::ops::Range<usize>,
        found: &mut Infill,
    ) {
        let tokens = |place: usize| match text[place] {
            Some(token) => token as usize..token as usize + 1,
            None => 0..self.classes,
        };
        let tokens: Vec<_> = range.clone().map(tokens).collect();
        let (forward, evidence) = self.forward(&tokens, &filled[..range.start]);
        let truth: f64 = range.clone().map(|i| self.model.log_probability(&filled[..i], filled[i])).sum();
        found.nats += evidence - truth;
        let marginals = self.backward(&tokens, &forward, range.start);
        let hidden = marginals.iter().zip(range).filter(|(_, place)| text[*place].is_none());
        found.best.extend(hidden.map(|(marginal, _)| best(marginal)));
    }

    /// The weights of the states before each place, summing to 1, and log p(visible tokens of the stretch | what
    /// precedes it).
    fn forward(&mut self, tokens: &[std::ops::Range<usize>], before: &[u32]) -> (Vec<Weights>, f64) {
        let recent = &before[before.len() - before.len().min(self.memory)..];
        let first = recent.iter().fold(0, |state, &token| state * self.classes + token as usize);
        let (mut all, mut evidence) = (vec![vec![(first, 1.0)]], 0.0);
        for (i, tokens) in tokens.iter().enumerate() {
            let length = self.length(before.len() + i);
            let mut next = vec![0.0; self.laws[self.length(before.len() + i + 1)].len()];
            for &(state, weight) in &all[i] {
                self.prepare(length, state);
                for token in tokens.clone() {
                    next[self.step(length, state, token)] += weight * self.laws[length][state][token];
                }
            }
            let sum: f64 = next.iter().sum();
            evidence += sum.ln();
            let possible = next.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0);
            all.push(possible.map(|(state, weight)| (state, weight / sum)).collect());
        }
        (all, evidence)
    }

    /// p(token | visible tokens), up to a factor, for each place of the stretch.
    fn backward(
        &self,
        tokens: &[std::ops::Range<usize>],
        forward: &[Weights],
        start: usize,
    ) -> Vec<Vec<f64>> {
        let mut later = vec![1.0; self.laws[self.length(start + tokens.len())].len()];
        let mut marginals = Vec::with_capacity(tokens.len());
        for (i, tokens) in tokens.iter().enumerate().rev() {
            let length = self.length(start + i);
            let mut marginal = vec![0.0; tokens.len()];
            let mut here = vec![0.0; self.laws[length].len()];
            for &(state, weight) in &forward[i] {
                for (token, share) in tokens.clone().zip(&mut marginal) {
                    let joint = self.laws[length][state][token] * later[self.step(length, state, token)];
                    here[state] += joint;
                    *share += weight * joint;
                }
            }
            let largest = here.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            here.iter_mut().for_each(|weight| *weight /= largest);
            later = here;
            marginals.push(marginal);
        }
        marginals.reverse();
        marginals
    }

    /// How many tokens a state before this place holds.
    fn length(&self, place: usize) -> usize {
        place.min(self.memory)
    }

    /// The state after `token`.
    fn step(&self, length: usize, state: usize, token: usize) -> usize {
        let long = state * self.classes + token;
        if length < self.memory { long } else { long % self.laws[self.memory].len() }
    }

    /// Fills in the law of the next token after a state.
    fn prepare(&mut self, length: usize, state: usize) {
        if !self.laws[length][state].is_empty() {
            return;
        }
        let digit = |i: usize| (state / self.classes.pow((length - 1 - i) as u32) % self.classes) as u32;
        let context: Vec<u32> = (0..length).map(digit).collect();
        let node = self.model.context(&context);
        let law = (0..self.classes as u32).map(|token| self.model.probability(node, length, token));
        self.laws[length][state] = law.collect();
    }
}

/// The place of the largest weight, the first of equals.
fn best(weights: &[f64]) -> u32 {
    let larger = |best: usize, i: usize| if weights[i] > weights[best] { i } else { best };
    (0..weights.len()).fold(0, larger) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_core::{Purpose, Streams};

    /// A text with some memory: a token is often the sum of the last two.
    fn text(length: usize, classes: u32) -> Vec<u32> {
        let mut stream = Streams::new(8).stream(Purpose::DATA, 0, 0);
        let mut text = vec![1, 1];
        while text.len() < length {
            let sum = (text[text.len() - 1] + text[text.len() - 2]) % classes;
            text.push(if stream.unit() < 0.6 { sum } else { stream.below(u64::from(classes)) as u32 });
        }
        text
    }

    fn probability(model: &NGram, text: &[u32]) -> f64 {
        (0..text.len()).map(|i| model.log_probability(&text[..i], text[i])).sum::<f64>().exp()
    }

    /// All 3⁶ texts, all 2⁶ ways to hide a part of one of them.
    #[test]
    fn posterior_is_that_of_enumeration() {
        let all: Vec<Vec<u32>> = (0..729).map(|n| (0..6).map(|i| n / 3_u32.pow(i) % 3).collect()).collect();
        let truth = [2, 0, 0, 1, 2, 2];
        for order in 1..=3 {
            let model = NGram::fit(&text(300, 3), 3, order);
            let weights: Vec<f64> = all.iter().map(|text| probability(&model, text)).collect();
            for hidden in 0..64_u32 {
                let shown: Vec<Option<u32>> =
                    (0..6).map(|i| (hidden >> i & 1 == 0).then_some(truth[i])).collect();
                let fits = |x: &[u32]| x.iter().zip(&shown).all(|(x, s)| s.is_none_or(|s| s == *x));
                let fitting = || all.iter().zip(&weights).filter(|(x, _)| fits(x));
                let total: f64 = fitting().map(|(_, w)| w).sum();
                let found = model.infill(&shown, &truth).unwrap();
                let nats = (total / probability(&model, &truth)).ln();
                assert!((found.nats - nats).abs() < 1e-10, "order {order}, {shown:?}: {found:?}, {nats}");
                let places = (0..6).filter(|&i| shown[i].is_none());
                for (place, &best) in places.zip(&found.best) {
                    let share =
                        |v: u32| fitting().filter(|(x, _)| x[place] == v).map(|(_, w)| w).sum::<f64>();
                    let most = (0..3).map(share).fold(0.0, f64::max);
                    assert!(share(best) > most * (1.0 - 1e-9), "order {order}, {shown:?} at {place}");
                }
            }
        }
    }

    #[test]
    fn with_nothing_visible_it_is_the_texts_own_probability() {
        let long = text(5_000, 5);
        let model = NGram::fit(&long, 5, 3);
        let truth = &long[1_000..1_300];
        let found = model.infill(&[None; 300], truth).unwrap();
        assert!((found.nats - model.nats(truth)).abs() < 1e-8, "{} {}", found.nats, model.nats(truth));
        assert_eq!(found.best.len(), 300);
    }

    #[test]
    fn what_cannot_be_enumerated_is_refused() {
        let fit = |classes, order| NGram::fit(&[0, 1, 0, 1, 1], classes, order);
        assert!(fit(3, 4).infill(&[None], &[0]).is_none());
        assert!(
            fit(200, 3).infill(&[None], &[0]).is_none() && fit(10_000, 2).infill(&[None], &[0]).is_none()
        );
        assert!(fit(3, 2).infill(&[None], &[0, 1]).is_none() && fit(3, 2).infill(&[None], &[3]).is_none());
        let nothing = Infill { nats: 0.0, best: Vec::new() };
        assert_eq!(fit(3, 2).infill(&[Some(1)], &[2]), Some(nothing.clone()));
        assert_eq!(fit(3, 2).infill(&[], &[]), Some(nothing));
    }
}
