//! The chain rule in the order of events is the continuous-time objective, for clocks of every position and for any denoiser.
#![allow(clippy::unwrap_used)]

mod common;

use std::num::NonZeroUsize;
use std::sync::Arc;

use common::assert_law;

use pmm_core::{
    Clock, Filter, MASK, MarkovChain, MonteCarlo, OrderLaw, Prompt, SemiAutoregressive, SequentialDenoiser,
    Staircase, Streams, TextError, Texts, TokenDenoiser, TokenPosition, in_order, order_bound, text_bound,
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
