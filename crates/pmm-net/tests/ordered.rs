//! What the ordered network promises: gradients, exact likelihoods in any order, a cache that changes nothing, no bit by threads.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use pmm_core::{
    EventOrder, Filter, MASK, OrderLaw, Prompt, Purpose, Streams, Texts, TokenDenoiser, TokenPosition,
    in_order,
};
use pmm_net::text::{OrderedConfig, OrderedDenoiser, OrderedNet, OrderedText};

fn net(classes: usize, length: usize) -> OrderedNet {
    let config = OrderedConfig { width: 24, blocks: 2, heads: 3, length, window: 3, hash_bits: 5 };
    OrderedNet::new(classes, &config).unwrap()
}

/// Weights away from the zeros that training starts with, so that every path counts.
fn weights(net: &OrderedNet) -> Vec<f32> {
    let mut rng = Streams::new(3).stream(Purpose::DATA, 0, 0);
    net.initial(&Streams::new(1)).into_iter().map(|w| w + 0.2 * rng.normal() as f32).collect()
}

fn tokens(net: &OrderedNet, row: u64) -> Vec<u32> {
    let mut rng = Streams::new(5).stream(Purpose::DATA, 1, row);
    (0..net.length()).map(|_| rng.below(net.classes() as u64) as u32).collect()
}

fn order(net: &OrderedNet, row: u64) -> EventOrder {
    let law = [OrderLaw::Random, OrderLaw::Infill, OrderLaw::LeftToRight][row as usize % 3].clone();
    law.draw(net.length(), &mut Streams::new(6).stream(Purpose::EVENT_ORDER, 0, row))
}

fn texts(net: &OrderedNet, count: u64) -> Vec<OrderedText> {
    (0..count).map(|row| net.text(&tokens(net, row), &order(net, row))).collect()
}

/// The slope along a random direction of each part, by differences: f32 rounding and curvature leave .5 % of the steepest slope.
#[test]
fn gradient_is_that_of_finite_differences() {
    let net = net(5, 70); // more steps than a tile of the attention
    let (weights, texts) = (weights(&net), texts(&net, 10));
    let mut gradient = vec![f32::NAN; weights.len()];
    let loss = net.gradient(&weights, &texts, &mut gradient);
    let mean = |w: &[f32]| net.losses(w, &texts).iter().sum::<f64>() / texts.len() as f64;
    assert!((loss - mean(&weights)).abs() < 1e-5 * loss, "{loss}");
    // Rows of patterns that no text reads have no gradient.
    let patterns = net.parts().iter().find(|part| part.name.starts_with("pattern")).unwrap().range.start;
    let read = net.rows_read(&texts);
    for row in (patterns..weights.len()).step_by(net.classes()).filter(|row| read.binary_search(row).is_err())
    {
        assert!(gradient[row..row + net.classes()].iter().all(|g| g.is_nan()), "row at {row} was written");
        gradient[row..row + net.classes()].fill(0.0);
    }
    for (index, part) in net.parts().iter().enumerate() {
        let mut rng = Streams::new(8).stream(Purpose::DATA, 0, index as u64);
        let g = &gradient[part.range.clone()];
        let length = g.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
        assert!(length > 1e-5, "{} has no gradient", part.name);
        // Mostly along the gradient, so that the slope is not lost in rounding, and somewhat away from it.
        let direction: Vec<f64> = g
            .iter()
            .map(|&g| f64::from(g) / length + 0.5 * rng.normal() / (part.range.len() as f64).sqrt())
            .collect();
        let slope: f64 = g.iter().zip(&direction).map(|(g, d)| f64::from(*g) * d).sum();
        let step = 4e-3;
        let moved = |sign: f64| {
            let mut w = weights.clone();
            w[part.range.clone()]
                .iter_mut()
                .zip(&direction)
                .for_each(|(w, d)| *w += (sign * step * d) as f32);
            mean(&w)
        };
        let difference = (moved(1.0) - moved(-1.0)) / (2.0 * step);
        assert!((difference - slope).abs() < 5e-3 * length + 2e-5, "{}: {difference} {slope}", part.name);
    }
}

/// All texts of three positions over three tokens, in all six orders.
#[test]
fn likelihood_sums_to_one_in_any_order() {
    let net = net(3, 3);
    let weights = weights(&net);
    for times in
        [[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.2, 0.1, 0.3], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2], [0.3, 0.2, 0.1]]
    {
        let order = EventOrder::sorted(&times);
        let texts: Vec<OrderedText> =
            (0..27u32).map(|n| net.text(&[n / 9, n / 3 % 3, n % 3], &order)).collect();
        let p: Vec<f64> = net
            .log_probabilities(&weights, &texts)
            .iter()
            .map(|log_p| log_p.iter().sum::<f64>().exp())
            .collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{times:?}: {}", p.iter().sum::<f64>());
        assert!(p.iter().any(|p| (p - 1.0 / 27.0).abs() > 1e-3), "every text is as likely");
    }
}

#[test]
fn a_later_token_changes_no_earlier_prediction() {
    let net = net(5, 70);
    let weights = weights(&net);
    for row in 0..3 {
        let (mut changed, order) = (tokens(&net, row), order(&net, row));
        let before = net.log_probabilities(&weights, &[net.text(&changed, &order)]);
        let step = 40;
        let position = order.positions[step] as usize;
        changed[position] = (changed[position] + 1) % 5;
        let after = net.log_probabilities(&weights, &[net.text(&changed, &order)]);
        assert_eq!(before[0][..step], after[0][..step]);
        assert!(before[0][step..].iter().zip(&after[0][step..]).all(|(a, b)| a != b));
    }
}

fn log_softmax(logits: &[f32], token: u32) -> f64 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|l| f64::from(l - top).exp()).sum();
    f64::from(logits[token as usize] - top) - sum.ln()
}

/// Step by step, with some tokens known at first and orders that differ from row to row: log-probabilities of one pass.
#[test]
fn cached_steps_agree_with_one_pass() {
    let net = net(5, 70);
    let weights = weights(&net);
    for known in [0, 1, 30] {
        // What is known first comes from left to right.
        let orders: Vec<EventOrder> = (0..3)
            .map(|row| {
                let mut order = order(&net, row);
                order.positions[..known].sort_unstable();
                order
            })
            .collect();
        let all: Vec<Vec<u32>> = (0..3).map(|row| tokens(&net, row)).collect();
        let mut prompt = vec![MASK; 3 * 70];
        for row in 0..3 {
            for &position in &orders[row].positions[..known] {
                prompt[row * 70 + position as usize] = all[row][position as usize];
            }
        }
        let texts: Vec<OrderedText> =
            all.iter().zip(&orders).map(|(tokens, order)| net.text(tokens, order)).collect();
        let whole = net.log_probabilities(&weights, &texts);
        let mut cache = net.begin(&weights, &prompt);
        for step in known..70 {
            let place = |row: usize| TokenPosition { row, position: orders[row].positions[step] as usize };
            let wanted: Vec<TokenPosition> = (0..3).map(place).collect();
            let peeked = net.peek(&weights, &cache, &wanted);
            let logits = net.step(&weights, &mut cache, &wanted);
            assert_eq!(logits, peeked);
            for (place, logits) in wanted.iter().zip(logits.chunks_exact(5)) {
                let token = all[place.row][place.position];
                let (found, one_pass) = (log_softmax(logits, token), whole[place.row].get(step));
                assert!(one_pass.is_some_and(|p| (found - p).abs() < 1e-5), "{step}: {found} {one_pass:?}");
                cache.reveal(*place, token);
            }
        }
        assert_eq!(cache.tokens(), all.concat());
    }
}

/// Asked like a masked network: what is known is read from left to right, and every position is answered as the next.
#[test]
fn a_masked_question_is_the_next_step() {
    let net = Arc::new(net(4, 9));
    let weights = weights(&net);
    let denoiser = OrderedDenoiser::new(net.clone(), weights.clone());
    let text = [1, MASK, 3, MASK, MASK, 0, 2, MASK, 1, 0, MASK, 2, 2, 2, 1, 0, 1, 3];
    let wanted = [(1, 1), (0, 7), (0, 3)].map(|(row, position)| TokenPosition { row, position });
    let mut logits = [0.0; 12];
    denoiser.logits(&Texts { tokens: &text, times: &[0.0; 2] }, &wanted, &mut logits);
    for (place, logits) in wanted.iter().zip(logits.chunks_exact(4)) {
        let known = &text[place.row * 9..][..9];
        let time = |c: usize| {
            if known[c] != MASK {
                c as f64 / 20.0
            } else if c == place.position {
                0.6
            } else {
                0.9
            }
        };
        let order = EventOrder::sorted(&(0..9).map(time).collect::<Vec<_>>());
        let step = order.ranks()[place.position] as usize;
        for token in 0..4 {
            let filled: Vec<u32> = known.iter().map(|&t| if t == MASK { token } else { t }).collect();
            let one_pass = net.log_probabilities(&weights, &[net.text(&filled, &order)])[0][step];
            assert!((log_softmax(logits, token) - one_pass).abs() < 1e-5);
        }
    }
}

/// Samples of three tokens over three kinds in a random order have the law that is the mean over all orders: 40,000 texts against 27
/// probabilities, χ² with 26 degrees of freedom above 85 has probability 3e-8.
#[test]
fn samples_have_the_network_s_law() {
    let net = Arc::new(net(3, 3));
    let weights = weights(&net);
    let mut exact = [0.0; 27];
    for times in
        [[0.1, 0.2, 0.3], [0.1, 0.3, 0.2], [0.2, 0.1, 0.3], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2], [0.3, 0.2, 0.1]]
    {
        let order = EventOrder::sorted(&times);
        let texts: Vec<_> = (0..27u32).map(|n| net.text(&[n / 9, n / 3 % 3, n % 3], &order)).collect();
        let log_p = net.log_probabilities(&weights, &texts);
        exact.iter_mut().zip(log_p).for_each(|(p, log_p)| *p += log_p.iter().sum::<f64>().exp() / 6.0);
    }
    let denoiser = OrderedDenoiser::new(net, weights);
    let n = 40_000;
    let prompt = Prompt::empty(0, n, 3);
    let drawn =
        in_order(&denoiser, &OrderLaw::Random, prompt, Filter::default(), &Streams::new(1), &mut ()).unwrap();
    let mut counts = [0.0; 27];
    drawn.tokens.chunks_exact(3).for_each(|t| counts[(t[0] * 9 + t[1] * 3 + t[2]) as usize] += 1.0);
    let chi: f64 = counts.iter().zip(exact).map(|(c, p)| (c - n as f64 * p).powi(2) / (n as f64 * p)).sum();
    assert!(chi < 85.0, "{chi}");
}

/// A text does not depend on those drawn beside it.
#[test]
fn batches_change_no_sample() {
    let net = Arc::new(net(5, 20));
    let denoiser = OrderedDenoiser::new(net.clone(), weights(&net));
    let draw = |first_row: u64, rows: usize| {
        let prompt = Prompt::empty(first_row, rows, 20);
        in_order(&denoiser, &OrderLaw::LeftToRight, prompt, Filter::default(), &Streams::new(2), &mut ())
            .unwrap()
            .tokens
    };
    let together = draw(0, 9);
    assert_eq!([draw(0, 1), draw(1, 5), draw(6, 3)].concat(), together);
}

/// One thread or three: the same bits, in training and in sampling.
#[test]
fn threads_change_nothing() {
    let net = net(5, 70);
    let (weights, texts) = (weights(&net), texts(&net, 20));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut gradient = vec![0.0; weights.len()];
            net.gradient(&weights, &texts, &mut gradient);
            let mut cache = net.begin(&weights, &[MASK; 7 * 70]);
            let wanted: Vec<TokenPosition> =
                (0..7).map(|row| TokenPosition { row, position: 3 * row }).collect();
            (gradient, net.step(&weights, &mut cache, &wanted))
        })
    };
    assert_eq!(run(1), run(3));
}

/// Without window and tables, and with a vocabulary of tokens.
#[test]
fn parts_can_be_left_out() {
    let config = OrderedConfig { width: 8, blocks: 1, heads: 1, length: 6, window: 0, hash_bits: 0 };
    let net = OrderedNet::new(600, &config.for_classes(600)).unwrap();
    let (weights, texts) = (weights(&net), texts(&net, 2));
    let mut gradient = vec![f32::NAN; weights.len()];
    assert!(net.gradient(&weights, &texts, &mut gradient).is_finite());
    assert!(gradient.iter().all(|g| g.is_finite()) && net.rows_read(&texts).is_empty());
}
