//! The likelihood bound of a text as the chain rule in the order of its events.

use std::num::NonZeroUsize;

use crate::bound::Bound;
use crate::denoise::{Texts, TokenDenoiser, TokenPosition};
use crate::order::{EventOrder, OrderLaw};
use crate::pair::MASK;
use crate::purpose::Purpose;
use crate::rng::Streams;
use crate::sample::{TextError, ask_logits, count_texts};
use crate::text_bound::log_sum_exp;

/// E Σ over events of −log g(what was revealed before)\[x\], plus the terminal term: what it costs to tell the positions that have no
/// event from the state at t = 1, each on its own. In nats per text, by `draws` orders a text.
///
/// It has the same mean as [`text_bound`](crate::text_bound) on the clock whose orders the law draws (`docs/orders.md` has the proof),
/// whether or not g looks at the time. A text takes one call an event; a network that is causal in the order takes one in all.
///
/// ```
/// use std::{num::NonZeroUsize, sync::Arc};
/// use pmm_core::{LogLinear, MarkovChain, OrderLaw, Streams, order_bound};
/// let chain = MarkovChain::new(&[0.5, 0.5], &[0.9, 0.1, 0.2, 0.8], 3)?;
/// // Of an exact g the chain rule is −log p(x), in whatever order.
/// let law = OrderLaw::Clock(Arc::new(LogLinear));
/// let found = order_bound(&chain, &law, &[0, 0, 1], 0, NonZeroUsize::MIN, &Streams::new(1)).unwrap();
/// assert!((found.rows[0] - chain.surprise(&[0, 0, 1])).abs() < 1e-5);
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
pub fn order_bound(
    denoiser: &dyn TokenDenoiser,
    law: &OrderLaw,
    texts: &[u32],
    first_row: u64,
    draws: NonZeroUsize,
    streams: &Streams,
) -> Result<Bound, TextError> {
    let rows = count_texts(denoiser, texts, false)?;
    let length = denoiser.length();
    let (mut objective, mut terminal) = (vec![0.0; rows], vec![0.0; rows]);
    for draw in 0..draws.get() {
        for (row, text) in texts.chunks_exact(length).enumerate() {
            let mut rng = streams.stream(Purpose::EVENT_ORDER, draw as u64, first_row + row as u64);
            let (events, rest) = chain_rule(denoiser, text, &law.draw(length, &mut rng))?;
            objective[row] += events / draws.get() as f64;
            terminal[row] += rest / draws.get() as f64;
        }
    }
    Ok(Bound::new(&objective, &terminal))
}

/// −log g of the positions with an event, each given those before it; and of the others, given all of them.
fn chain_rule(
    denoiser: &dyn TokenDenoiser,
    text: &[u32],
    order: &EventOrder,
) -> Result<(f64, f64), TextError> {
    let mut state = vec![MASK; text.len()];
    let mut objective = 0.0;
    for (&position, &t) in order.positions.iter().zip(&order.times).take(order.events) {
        objective += surprise(denoiser, text, &state, t, &[position])?;
        state[position as usize] = text[position as usize];
    }
    Ok((objective, surprise(denoiser, text, &state, 1.0, &order.positions[order.events..])?))
}

/// Σ −log g(state, t)\[x\] over some positions.
fn surprise(
    denoiser: &dyn TokenDenoiser,
    text: &[u32],
    state: &[u32],
    t: f64,
    positions: &[u32],
) -> Result<f64, TextError> {
    let wanted: Vec<TokenPosition> =
        positions.iter().map(|&position| TokenPosition { row: 0, position: position as usize }).collect();
    let mut logits = Vec::new();
    ask_logits(denoiser, &Texts { tokens: state, times: &[t] }, &wanted, &mut logits)?;
    let nats = |(logits, place): (&[f32], &TokenPosition)| {
        log_sum_exp(logits) - f64::from(logits[text[place.position] as usize])
    };
    Ok(logits.chunks_exact(denoiser.classes()).zip(&wanted).map(nats).sum())
}
