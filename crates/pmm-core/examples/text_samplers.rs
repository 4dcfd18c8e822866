//! Quality against network calls for masked text: a Markov chain with the bigrams of real text, a perfect denoiser, every sampler.
//!
//! `cargo run --release -p pmm-core --example text_samplers` prints the table of `docs/results.md`.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{bigram_law, bigram_shares, english};
use pmm_core::{
    Filter, LogLinear, MarkovChain, Order, Parallel, Prompt, Streams, TextSamples, TimeGrid, events,
    parallel, steps, total_variation,
};

const LENGTH: usize = 256;
const ROWS: usize = 1000;
const CALLS: [usize; 6] = [8, 16, 32, 64, 128, 256];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let chain = english(LENGTH);
    let exact = bigram_law(&chain);
    let bits = |i: usize| -chain.transition(i / 27, i % 27).max(1e-300).log2();
    let entropy: f64 = exact.iter().enumerate().map(|(i, p)| p * bits(i)).sum();
    println!(
        "{ROWS} texts of {LENGTH} characters from the bigrams of real text: {entropy:.3} bits per character."
    );
    println!(
        "Total variation of bigrams / bits per character under the chain (mean calls, where fewer than asked):\n"
    );

    let (prompt, filter, streams) = (|| Prompt::empty(0, ROWS, LENGTH), Filter::default(), Streams::new(1));
    let drawn = TextSamples { tokens: chain.sample(&Streams::new(7), 0, ROWS), calls: vec![LENGTH; ROWS] };
    println!("- exact draws: {}", score(&chain, &exact, &drawn, LENGTH));
    let simulated = events(&chain, &LogLinear, prompt(), filter, &streams, &mut ())?;
    println!("- event simulation, {LENGTH} calls: {}\n", score(&chain, &exact, &simulated, LENGTH));

    println!(
        "| calls | fixed steps | parallel, random order | parallel, confidence order |\n|---|---|---|---|"
    );
    for calls in CALLS {
        let asked = calls.try_into()?;
        let plan = |order| Parallel { calls: asked, order };
        let cell = |found: TextSamples| score(&chain, &exact, &found, calls);
        println!(
            "| {calls} | {} | {} | {} |",
            cell(steps(&chain, &LogLinear, &TimeGrid::uniform(calls)?, prompt(), filter, &streams, &mut ())?),
            cell(parallel(&chain, &LogLinear, plan(Order::Random), prompt(), filter, &streams, &mut ())?),
            cell(parallel(&chain, &LogLinear, plan(Order::Confidence), prompt(), filter, &streams, &mut ())?),
        );
    }
    Ok(())
}

fn score(chain: &MarkovChain, exact: &[f64], found: &TextSamples, asked: usize) -> String {
    // A transition that never occurs costs 20 bits in place of infinity.
    let bits =
        |pair: &[u32]| -chain.transition(pair[0] as usize, pair[1] as usize).max(2f64.powi(-20)).log2();
    let texts = found.tokens.chunks_exact(LENGTH);
    let total: f64 = texts.map(|text| text.windows(2).map(bits).sum::<f64>()).sum();
    let distance = total_variation(&bigram_shares(&found.tokens, LENGTH), exact);
    let calls = found.calls.iter().sum::<usize>() as f64 / ROWS as f64;
    let note = if calls < asked as f64 { format!(" ({calls:.0})") } else { String::new() };
    format!("{distance:.4} / {:.3}{note}", total / (ROWS * (LENGTH - 1)) as f64)
}
