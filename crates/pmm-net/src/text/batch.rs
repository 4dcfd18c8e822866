//! Texts with masks, to learn from.

use pmm_core::{MASK, Pair, Purpose, Streams};

use super::net::TextNet;

/// A text of which some positions are masked, and what the network should say there.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedText {
    /// Tokens; masked ones are `classes`.
    pub tokens: Vec<u32>,
    /// What the network is told of the clock.
    pub clock: Vec<f32>,
    /// Masked positions that count.
    pub wanted: Vec<u32>,
    /// The tokens there.
    pub targets: Vec<u32>,
    /// Their weights in the loss: f(t), in nats per token.
    pub weights: Vec<f32>,
}

impl MaskedText {
    /// The text with some positions masked, as the clock has it at a time.
    pub fn at(net: &TextNet, tokens: &[u32], t: f64, streams: &Streams, step: u64, row: u64) -> Self {
        let length = tokens.len();
        let place = |c: usize| c as f64 / length as f64;
        let information: Vec<f64> = (0..length).map(|c| net.clock().information(t, place(c))).collect();
        let mut state = vec![MASK; length];
        let mut rng = streams.stream(Purpose::STATE, step, row);
        net.pair().draw_row(tokens, &information, &mut state, &mut rng);
        let mut text = Self {
            tokens: Vec::with_capacity(length),
            clock: net.clock_features(t),
            wanted: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
        };
        for (c, (&token, state)) in tokens.iter().zip(state).enumerate() {
            text.tokens.push(if state == MASK { net.classes() as u32 } else { token });
            let weight = net.clock().rate(t, place(c)) / length as f64;
            if state == MASK && weight > 0.0 {
                text.wanted.push(c as u32);
                text.targets.push(token);
                text.weights.push(weight as f32);
            }
        }
        text
    }
}
