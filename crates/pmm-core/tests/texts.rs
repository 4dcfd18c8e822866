//! Text samplers on Markov chains, whose exact law is known.
#![allow(clippy::unwrap_used)]

mod common;

use std::num::NonZeroUsize;

use common::{assert_law, bigram_law, bigram_shares, english};
use pmm_core::{
    Filter, LogLinear, MASK, MarkovChain, Order, Parallel, Prompt, SemiAutoregressive, Staircase, Streams,
    TextError, TextSamples, Texts, TimeGrid, TokenDenoiser, TokenPosition, events, parallel, steps,
    total_variation,
};
use proptest::prelude::*;

/// A small chain on which the law of whole texts can be compared: 3 symbols, length 4, 81 texts.
fn small() -> MarkovChain {
    MarkovChain::new(&[0.6, 0.3, 0.1], &[0.7, 0.2, 0.1, 0.05, 0.15, 0.8, 0.3, 0.3, 0.4], 4).unwrap()
}

fn text_law(tokens: &[u32]) -> Vec<f64> {
    let mut law = vec![0.0; 81];
    let n = (tokens.len() / 4) as f64;
    tokens
        .chunks_exact(4)
        .for_each(|text| law[text.iter().fold(0, |sum, &token| sum * 3 + token as usize)] += 1.0 / n);
    law
}

fn exact_law(chain: &MarkovChain, fits: impl Fn(&[u32]) -> bool) -> Vec<f64> {
    let texts = (0..81u32).map(|n| [n / 27, n / 9 % 3, n / 3 % 3, n % 3]);
    let law: Vec<f64> =
        texts.map(|text| if fits(&text) { (-chain.surprise(&text)).exp() } else { 0.0 }).collect();
    let total: f64 = law.iter().sum();
    law.iter().map(|p| p / total).collect()
}

const ROWS: usize = 20_000;

fn plan(calls: usize, order: Order) -> Parallel {
    Parallel { calls: NonZeroUsize::new(calls).unwrap(), order }
}

#[test]
fn events_have_the_exact_law_for_every_clock() {
    let (chain, streams) = (small(), Streams::new(1));
    let exact = exact_law(&chain, |_| true);
    let clocks: [&dyn pmm_core::Clock; 3] =
        [&LogLinear, &Staircase::default(), &SemiAutoregressive::default()];
    for clock in clocks {
        let found =
            events(&chain, clock, Prompt::empty(0, ROWS, 4), Filter::default(), &streams, &mut ()).unwrap();
        assert_law(&format!("{clock:?}"), &text_law(&found.tokens), &exact, ROWS);
        assert!(found.calls.iter().all(|calls| *calls == 4));
    }
}

#[test]
fn one_position_per_call_is_exact_in_either_order() {
    let (chain, streams) = (small(), Streams::new(2));
    let exact = exact_law(&chain, |_| true);
    for order in [Order::Random, Order::Confidence] {
        let found = parallel(
            &chain,
            &LogLinear,
            plan(4, order),
            Prompt::empty(0, ROWS, 4),
            Filter::default(),
            &streams,
            &mut (),
        )
        .unwrap();
        assert_law(&format!("{order:?}"), &text_law(&found.tokens), &exact, ROWS);
        assert!(found.calls.iter().all(|calls| *calls == 4));
    }
}

#[test]
fn fixed_steps_become_exact_and_skip_idle_calls() {
    let (chain, streams) = (small(), Streams::new(3));
    let run = |n: usize| {
        let grid = TimeGrid::uniform(n).unwrap();
        steps(&chain, &LogLinear, &grid, Prompt::empty(0, ROWS, 4), Filter::default(), &streams, &mut ())
            .unwrap()
    };
    let found = run(1000);
    assert_law("steps", &text_law(&found.tokens), &exact_law(&chain, |_| true), ROWS);
    assert!(found.calls.iter().all(|calls| *calls <= 4), "1000 steps, at most 4 calls");
    let coarse = total_variation(&text_law(&run(2).tokens), &exact_law(&chain, |_| true));
    assert!(coarse > 0.1, "two steps draw positions independently: {coarse}");
}

#[test]
fn given_positions_stay_and_the_rest_is_conditional() {
    let (chain, streams) = (small(), Streams::new(4));
    let prompt = || Prompt { first_row: 0, tokens: [MASK, 2, MASK, 0].repeat(ROWS) };
    let exact = exact_law(&chain, |text| text[1] == 2 && text[3] == 0);
    let grid = TimeGrid::uniform(1000).unwrap();
    let filter = Filter::default();
    let runs = [
        events(&chain, &LogLinear, prompt(), filter, &streams, &mut ()).unwrap(),
        steps(&chain, &LogLinear, &grid, prompt(), filter, &streams, &mut ()).unwrap(),
        parallel(&chain, &LogLinear, plan(2, Order::Confidence), prompt(), filter, &streams, &mut ())
            .unwrap(),
    ];
    for (index, found) in runs.iter().enumerate() {
        assert!(found.tokens.chunks_exact(4).all(|text| text[1] == 2 && text[3] == 0));
        assert_law(&format!("{index}"), &text_law(&found.tokens), &exact, ROWS);
        assert!(found.calls.iter().all(|calls| *calls <= 2));
    }
}

/// Length 256, 27 symbols, transitions of real text: the bigram shares of 1,000 texts are within chance of the chain's own, in
/// 256 calls. The total variation of 1,000 exact texts varies by 5 % (one standard deviation) from seed to seed; 1.3 times
/// their mean is 6 of these away.
#[test]
fn events_reproduce_the_bigrams_of_real_text() {
    let (length, rows) = (256, 1000);
    let chain = english(length);
    let exact = bigram_law(&chain);
    let distance = |tokens: &[u32]| total_variation(&bigram_shares(tokens, length), &exact);
    let noise = (10..14).map(|seed| distance(&chain.sample(&Streams::new(seed), 0, rows))).sum::<f64>() / 4.0;
    let (prompt, streams) = (|| Prompt::empty(0, rows, length), Streams::new(5));
    let found = events(&chain, &LogLinear, prompt(), Filter::default(), &streams, &mut ()).unwrap();
    assert!(found.calls.iter().all(|calls| *calls == length));
    assert!(distance(&found.tokens) < 1.3 * noise, "{} against {noise}", distance(&found.tokens));
    // A control that can fail: 32 positions per call are visibly worse.
    let rough =
        parallel(&chain, &LogLinear, plan(8, Order::Random), prompt(), Filter::default(), &streams, &mut ())
            .unwrap();
    assert!(distance(&rough.tokens) > 1.5 * noise, "{} against {noise}", distance(&rough.tokens));
}

#[test]
fn results_do_not_depend_on_batches() {
    let chain = english(16);
    let grid = TimeGrid::uniform(6).unwrap();
    let filter = Filter::new(0.9, Some(20), Some(0.95)).unwrap();
    let run = |first: u64, rows: usize| -> [TextSamples; 4] {
        let (prompt, streams) = (|| Prompt::empty(first, rows, 16), Streams::new(8));
        [
            events(&chain, &Staircase::default(), prompt(), filter, &streams, &mut ()).unwrap(),
            steps(&chain, &LogLinear, &grid, prompt(), filter, &streams, &mut ()).unwrap(),
            parallel(&chain, &LogLinear, plan(5, Order::Random), prompt(), filter, &streams, &mut ())
                .unwrap(),
            parallel(&chain, &LogLinear, plan(5, Order::Confidence), prompt(), filter, &streams, &mut ())
                .unwrap(),
        ]
    };
    let whole = run(0, 50);
    let (head, tail) = (run(0, 13), run(13, 37));
    for i in 0..4 {
        assert_eq!(whole[i].tokens, [&head[i].tokens[..], &tail[i].tokens[..]].concat());
        assert_eq!(whole[i].calls, [&head[i].calls[..], &tail[i].calls[..]].concat());
    }
}

/// An observer sees one more character after every call, and the rest still masked.
#[test]
fn an_observer_sees_texts_come_out_of_the_masks() {
    let chain = small();
    let mut masks = Vec::new();
    let mut watch =
        |_: usize, texts: &Texts<'_>| masks.push(texts.tokens.iter().filter(|t| **t == MASK).count());
    events(&chain, &LogLinear, Prompt::empty(0, 1, 4), Filter::default(), &Streams::new(1), &mut watch)
        .unwrap();
    assert_eq!(masks, [3, 2, 1, 0]);
    // Asked for more calls than there are masks, it is called once per call made.
    for order in [Order::Random, Order::Confidence] {
        let (mut seen, prompt) = (0, Prompt::empty(0, 1, 4));
        let mut count = |_: usize, _: &Texts<'_>| seen += 1;
        let found = parallel(
            &chain,
            &LogLinear,
            plan(9, order),
            prompt,
            Filter::default(),
            &Streams::new(1),
            &mut count,
        );
        assert_eq!((found.unwrap().calls[0], seen), (4, 4), "{order:?}");
    }
}

#[test]
fn seeded_texts_are_stable() {
    let chain = english(24);
    let found =
        events(&chain, &LogLinear, Prompt::empty(0, 1, 24), Filter::default(), &Streams::new(0), &mut ())
            .unwrap();
    let text: String =
        found.tokens.iter().map(|&t| if t == 0 { ' ' } else { (b'a' + t as u8 - 1) as char }).collect();
    assert_eq!(text, "a ap twoequar is ity bet");
}

#[test]
fn temperature_zero_takes_the_likeliest() {
    let chain = small();
    let cold = Filter::new(0.0, None, None).unwrap();
    let prompt = Prompt { first_row: 0, tokens: vec![1, MASK, MASK, MASK] };
    let found =
        parallel(&chain, &LogLinear, plan(3, Order::Confidence), prompt, cold, &Streams::new(9), &mut ())
            .unwrap();
    assert_eq!(found.tokens[..2], [1, 2]);
}

#[test]
fn bad_prompts_filters_and_logits_are_refused() {
    let (chain, streams, filter) = (small(), Streams::new(0), Filter::default());
    let run = |tokens: Vec<u32>| {
        events(&chain, &LogLinear, Prompt { first_row: 0, tokens }, filter, &streams, &mut ())
    };
    assert_eq!(run(vec![0; 5]).unwrap_err(), TextError::Length { length: 4, tokens: 5 });
    let error = run(vec![0, 0, 0, 0, 0, 3, 0, 0]).unwrap_err().to_string();
    assert_eq!(error, "row 1, position 1: a token must be below the vocabulary size 3, got 3");
    for (temperature, k, p) in [
        (-1.0, None, None),
        (f64::NAN, None, None),
        (1.0, Some(0), None),
        (1.0, None, Some(0.0)),
        (1.0, None, Some(1.5)),
    ] {
        assert!(Filter::new(temperature, k, p).is_err());
    }
    struct Broken(f32);
    impl TokenDenoiser for Broken {
        fn classes(&self) -> usize {
            3
        }
        fn length(&self) -> usize {
            4
        }
        fn logits(&self, _: &Texts<'_>, _: &[TokenPosition], logits: &mut [f32]) {
            logits.fill(self.0);
        }
    }
    for value in [f32::NAN, f32::NEG_INFINITY, f32::INFINITY] {
        let error = events(&Broken(value), &LogLinear, Prompt::empty(0, 1, 4), filter, &streams, &mut ())
            .unwrap_err();
        assert!(matches!(error, TextError::Logits { row: 0, .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No sampler returns a mask, whatever the clock, the number of calls, the filter and what is given.
    #[test]
    fn nothing_stays_masked(seed in any::<u64>(), n in 1usize..9, k in 1usize..4, p in 0.1..1.0f64, known in prop::collection::vec(0u32..4, 4)) {
        let chain = small();
        let tokens: Vec<u32> = known.iter().map(|&t| if t == 3 { MASK } else { t }).collect();
        let prompt = || Prompt { first_row: 0, tokens: tokens.clone() };
        let filter = Filter::new(0.7, Some(k), Some(p)).unwrap();
        let streams = Streams::new(seed);
        let grid = TimeGrid::uniform(n).unwrap();
        let semi = SemiAutoregressive::default();
        for found in [
            events(&chain, &semi, prompt(), filter, &streams, &mut ()).unwrap(),
            steps(&chain, &semi, &grid, prompt(), filter, &streams, &mut ()).unwrap(),
            parallel(&chain, &LogLinear, plan(n, Order::Random), prompt(), filter, &streams, &mut ()).unwrap(),
            parallel(&chain, &LogLinear, plan(n, Order::Confidence), prompt(), filter, &streams, &mut ()).unwrap(),
        ] {
            prop_assert!(found.tokens.iter().all(|&t| t < 3));
            prop_assert!(found.tokens.iter().zip(&tokens).all(|(f, g)| *g == MASK || f == g));
            prop_assert!(found.calls[0] <= n.max(tokens.iter().filter(|t| **t == MASK).count()));
        }
    }
}
