//! The chain rule in the order of events is the continuous-time objective, for clocks of every position and for any denoiser.
#![allow(clippy::unwrap_used)]

mod common;

use std::num::NonZeroUsize;
use std::sync::Arc;

use common::assert_law;

use pmm_core::{
    Clock, Filter, GrowingTexts, MASK, MarkovChain, MonteCarlo, OrderLaw, Prompt, SemiAutoregressive,
    SequentialDenoiser, Staircase, Streams, TextError, Texts, TokenDenoiser, TokenPosition, fill_positions,
    in_order, order_bound, text_bound,
};

const LENGTH: usize = 6;
const ROWS: usize = 20_000;

fn chain() -> MarkovChain {
    MarkovChain::new(&[0.6, 0.3, 0.1], &[0.7, 0.2, 0.1, 0.05, 0.15, 0.8, 0.3, 0.3, 0.4], LENGTH).unwrap()
}

/// A denoiser that is wrong, the more so the later, and looks at the time: the theorem is about any g.
struct Hasty(MarkovChain);

impl TokenDenoiser for Hasty {
    fn classes(&self) -> usize {
        self.0.classes()
    }
    fn length(&self) -> usize {
        self.0.length()
    }
    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]) {
        self.0.logits(texts, wanted, logits);
        for (place, logits) in wanted.iter().zip(logits.chunks_exact_mut(3)) {
            let t = texts.times[place.row] as f32;
            logits
                .iter_mut()
                .enumerate()
                .for_each(|(x, logit)| *logit = *logit * (1.0 - 0.7 * t) + x as f32 * t);
        }
    }
}

fn agree(what: &str, a: MonteCarlo, b: MonteCarlo) {
    let error = a.standard_error.hypot(b.standard_error);
    assert!((a.mean - b.mean).abs() < 5.0 * error, "{what}: {a:?} {b:?}");
    // The comparison says something: the error is below a two-hundredth of the six nats.
    assert!(error < 0.03, "{what}: {error}");
}

/// One text many times over, so that only orders and times vary. Five standard errors: 6e-7 each, eight comparisons.
#[test]
fn chain_rule_is_the_objective() {
    let text = [0, 0, 1, 2, 2, 0].repeat(ROWS);
    let clocks: [Arc<dyn Clock>; 2] =
        [Arc::new(Staircase::new(2.0, 3.0, 0.6).unwrap()), Arc::new(SemiAutoregressive::new(0.3).unwrap())];
    let denoisers: [&dyn TokenDenoiser; 2] = [&chain(), &Hasty(chain())];
    for clock in clocks {
        for (index, denoiser) in denoisers.into_iter().enumerate() {
            let draws = NonZeroUsize::new(16).unwrap();
            let timed = text_bound(denoiser, &*clock, &text, 0, draws, &Streams::new(1)).unwrap().bound;
            let law = OrderLaw::Clock(clock.clone());
            let ordered = order_bound(denoiser, &law, &text, 0, NonZeroUsize::MIN, &Streams::new(2)).unwrap();
            let what = format!("denoiser {index}, {clock:?}");
            agree(&format!("objective, {what}"), timed.objective, ordered.objective);
            agree(&format!("terminal, {what}"), timed.terminal, ordered.terminal);
        }
    }
}

/// The test above can fail: orders of another clock have another objective.
#[test]
fn another_clock_s_orders_are_noticed() {
    let text = [0, 0, 1, 2, 2, 0].repeat(ROWS);
    let clock = SemiAutoregressive::new(0.05).unwrap();
    let timed =
        text_bound(&Hasty(chain()), &clock, &text, 0, NonZeroUsize::new(16).unwrap(), &Streams::new(1))
            .unwrap();
    let ordered =
        order_bound(&Hasty(chain()), &OrderLaw::Random, &text, 0, NonZeroUsize::MIN, &Streams::new(2))
            .unwrap();
    let (a, b) = (timed.bound.objective, ordered.objective);
    assert!((a.mean - b.mean).abs() > 10.0 * a.standard_error.hypot(b.standard_error), "{a:?} {b:?}");
}

/// A denoiser that keeps nothing but the tokens.
struct Uncached(MarkovChain);

impl SequentialDenoiser for Uncached {
    type Cache = Vec<u32>;
    fn classes(&self) -> usize {
        self.0.classes()
    }
    fn length(&self) -> usize {
        self.0.length()
    }
    fn begin(&self, tokens: &[u32]) -> Vec<u32> {
        tokens.to_vec()
    }
    fn step(&self, tokens: &mut Vec<u32>, wanted: &[TokenPosition]) -> Vec<f32> {
        let mut logits = vec![0.0; 3 * wanted.len()];
        let times = vec![0.0; tokens.len() / LENGTH];
        self.0.logits(&Texts { tokens, times: &times }, wanted, &mut logits);
        logits
    }
    fn reveal(&self, tokens: &mut Vec<u32>, place: TokenPosition, token: u32) {
        tokens[place.row * LENGTH + place.position] = token;
    }
}

/// Of texts of six tokens the last is given; the first three are compared with their exact law.
#[test]
fn texts_filled_in_order_have_the_exact_law() {
    let chain = chain();
    let texts: Vec<Vec<u32>> = (0..729u32).map(|n| (0..6).map(|i| n / 3u32.pow(i) % 3).collect()).collect();
    let mut exact = vec![0.0; 27];
    let code = |text: &[u32]| (text[0] * 9 + text[1] * 3 + text[2]) as usize;
    texts.iter().filter(|t| t[5] == 2).for_each(|t| exact[code(t)] += (-chain.surprise(t)).exp());
    let total: f64 = exact.iter().sum();
    exact.iter_mut().for_each(|p| *p /= total);
    for law in [OrderLaw::LeftToRight, OrderLaw::Random, OrderLaw::Infill] {
        let prompt = Prompt { first_row: 0, tokens: [MASK, MASK, MASK, MASK, MASK, 2].repeat(ROWS) };
        let found =
            in_order(&Uncached(chain.clone()), &law, prompt, Filter::default(), &Streams::new(3), &mut ())
                .unwrap();
        let mut shares = vec![0.0; 27];
        found.tokens.chunks_exact(6).for_each(|text| shares[code(text)] += 1.0 / ROWS as f64);
        assert!(found.tokens.chunks_exact(6).all(|text| text[5] == 2) && found.calls == [5; ROWS]);
        assert_law(&format!("{law:?}"), &shares, &exact, ROWS);
    }
    let prompt = Prompt { first_row: 0, tokens: vec![0, 1, 3, MASK, 0, 0] };
    let refused =
        in_order(&Uncached(chain), &OrderLaw::Random, prompt, Filter::default(), &Streams::new(3), &mut ());
    assert!(matches!(refused, Err(TextError::Token { position: 2, token: 3, .. })));
}

/// Texts that grow are, up to a window, those that are filled from left to right; longer ones go on with the law of the chain, row by
/// row the same whatever is drawn beside them.
#[test]
fn texts_grow_beyond_their_window() {
    let (denoiser, streams) = (Uncached(chain()), Streams::new(3));
    let grown = |first: u64, rows: usize, tokens: usize| -> Vec<Vec<u32>> {
        let mut texts =
            GrowingTexts::new(&denoiser, &[1], (first, rows), Filter::default(), &streams).unwrap();
        (1..tokens).map(|_| texts.grow().unwrap()).collect()
    };
    let prompt = Prompt { first_row: 0, tokens: [1, MASK, MASK, MASK, MASK, MASK].repeat(20) };
    let whole =
        in_order(&denoiser, &OrderLaw::LeftToRight, prompt, Filter::default(), &streams, &mut ()).unwrap();
    for (place, tokens) in (1..).zip(grown(0, 20, LENGTH)) {
        let expected: Vec<u32> = whole.tokens.chunks_exact(LENGTH).map(|text| text[place]).collect();
        assert_eq!(tokens, expected);
    }
    let many = grown(0, 500, 41);
    assert_eq!(many.iter().map(|tokens| tokens[7]).collect::<Vec<_>>(), grown(7, 1, 41).concat());
    // What follows a 1 beyond the first windows: 10,000 steps or so, with the chain's own probabilities.
    let mut follows = [0.0; 3];
    for pair in many[20..].windows(2) {
        let after = pair[0].iter().zip(&pair[1]).filter(|(before, _)| **before == 1);
        after.for_each(|(_, &token)| follows[token as usize] += 1.0);
    }
    let total: f64 = follows.iter().sum();
    assert_law("after a 1", &follows.map(|count| count / total), &[0.05, 0.15, 0.8], total as usize);
    let refused = GrowingTexts::new(&denoiser, &[3], (0, 1), Filter::default(), &streams);
    assert!(matches!(refused, Err(TextError::Token { token: 3, .. })));
}

/// What was drawn has the probability that is said: the chain's own, for a text that is filled from nothing; and what is not wanted stays
/// masked.
#[test]
fn filled_positions_say_how_likely_they_were() {
    let chain = chain();
    let queues = vec![vec![3, 0, 5, 1, 2, 4], vec![2, 1]];
    let prompt = Prompt { first_row: 0, tokens: vec![MASK; 12] };
    let filled = fill_positions(
        &Uncached(chain.clone()),
        &queues,
        prompt,
        Filter::default(),
        &Streams::new(5),
        &mut (),
    )
    .unwrap();
    let (whole, part) = filled.tokens.split_at(6);
    assert!((filled.log_probabilities[0] + chain.surprise(whole)).abs() < 1e-5, "{filled:?}");
    assert!(part[1] != MASK && part[2] != MASK && [0, 3, 4, 5].iter().all(|&c| part[c] == MASK), "{part:?}");
    assert!(filled.log_probabilities[1] < 0.0);
}
