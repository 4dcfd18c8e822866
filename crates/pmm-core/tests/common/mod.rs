//! Targets and checks that several test files share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses its own part; a failed unwrap is a failed test"
)]

use pmm_core::TokenDenoiser;
use pmm_core::{
    Block, Categorical, Clock, Elements, Exponential, FiniteTarget, Gamma, Head, MarkovChain, Masked,
    MonteCarlo, Normal, Poisson, Space, States, Streams, TimeGrid, Values,
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Fails when counts of `n` draws are further from the law than chance allows once in a million (chi-square). With 10,000
/// draws it finds a total variation of .04 all but surely.
pub(crate) fn assert_law(what: &str, found: &[f64], expected: &[f64], n: usize) {
    let impossible: f64 = found.iter().zip(expected).filter(|(_, e)| **e == 0.0).map(|(f, _)| f).sum();
    assert!(impossible < 2e-3, "{what}: a share of {impossible} where the target has none");
    let terms = found.iter().zip(expected).filter(|(_, e)| **e > 0.0);
    let chi2: f64 = terms.clone().map(|(f, e)| (f - e).powi(2) / e * n as f64).sum();
    let freedom = terms.count() as f64 - 1.0;
    let limit = if freedom > 0.0 { ChiSquared::new(freedom).unwrap().inverse_cdf(1.0 - 1e-6) } else { 0.1 };
    assert!(
        chi2 < limit,
        "{what}: chi-square {chi2:.1} over {limit:.1}; found {found:.4?}, expected {expected:.4?}"
    );
}

pub(crate) fn clock() -> Exponential {
    Exponential::default()
}

/// A grid uniform in log a on that clock.
pub(crate) fn log_grid(steps: usize) -> TimeGrid {
    TimeGrid::log_information(&clock(), 1e-3, steps).unwrap()
}

/// Two coordinates that depend on each other, for one pair.
pub(crate) fn plane(pair: &str, head: Head) -> FiniteTarget {
    plane_on(pair, head, clock())
}

/// The same on another clock.
pub(crate) fn plane_on(pair: &str, head: Head, clock: Exponential) -> FiniteTarget {
    let numbers = || Elements::from(vec![0.5f32, 6.0, 2.0, 2.0, 6.0, 0.5, 6.0, 6.0]);
    let counts = Elements::from(vec![0.0f32, 6.0, 2.0, 2.0, 6.0, 0.0, 6.0, 6.0]);
    let tokens = Elements::from(vec![0u32, 2, 1, 1, 2, 0, 2, 2]);
    let one_hot = |v: u32| (0..3).map(move |c| f32::from(u8::from(c == v)));
    let dense = Elements::from([0, 2, 1, 1, 2, 0, 2, 2].into_iter().flat_map(one_hot).collect::<Vec<f32>>());
    let (block, store) = match pair {
        "normal" => (Block::new(Normal::new(1.0, 0.0).unwrap(), 2, clock), numbers()),
        "poisson" => (Block::new(Poisson::new(0.5, 0.5).unwrap(), 2, clock), counts),
        "masked" => (Block::new(Masked::new(3).unwrap(), 2, clock), tokens),
        "categorical" => (Block::new(Categorical::new(3, 3.0).unwrap(), 2, clock), dense),
        _ => (Block::new(Gamma::new(2.0, 2.0).unwrap(), 2, clock), numbers()),
    };
    let space = Space::new(vec![block.unwrap()]);
    FiniteTarget::new(&space, Values::new(vec![store]), &[0.4, 0.2, 0.1, 0.3]).unwrap().with_head(head)
}

/// A real, a count, a masked category, a dense category and a positive value that all depend on each other.
pub(crate) fn mixed() -> FiniteTarget {
    let space = Space::new(vec![
        Block::new(Normal::new(1.0, 0.0).unwrap(), 1, clock()).unwrap(),
        Block::new(Poisson::new(0.5, 0.5).unwrap(), 1, clock()).unwrap(),
        Block::new(Masked::new(3).unwrap(), 1, clock()).unwrap(),
        Block::new(Categorical::new(2, 2.0).unwrap(), 1, clock()).unwrap(),
        Block::new(Gamma::new(2.0, 2.0).unwrap(), 1, clock()).unwrap(),
    ]);
    let points = Values::new(vec![
        Elements::from(vec![-1.0f32, -1.0, 1.0, 1.0, 0.0]),
        Elements::from(vec![0.0f32, 3.0, 3.0, 8.0, 0.0]),
        Elements::from(vec![0u32, 1, 2, 1, 2]),
        Elements::from(vec![1.0f32, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]),
        Elements::from(vec![0.5f32, 6.0, 0.5, 2.0, 6.0]),
    ]);
    FiniteTarget::new(&space, points, &[0.3, 0.1, 0.25, 0.2, 0.15]).unwrap().with_head(Head::Marginal)
}

/// A Markov chain of 27 symbols with the bigram frequencies of English text, started as after a space.
pub(crate) fn english(length: usize) -> MarkovChain {
    let counts: Vec<f64> = include_str!("../data/bigrams.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split(',').map(|count| count.parse::<f64>().unwrap()))
        .collect();
    let normalised = |row: &[f64]| {
        let total: f64 = row.iter().sum();
        row.iter().map(|count| count / total).collect::<Vec<f64>>()
    };
    let transition: Vec<f64> = counts.chunks_exact(27).flat_map(normalised).collect();
    MarkovChain::new(&transition[..27], &transition, length).unwrap()
}

/// The chain's own law of (symbol, next symbol), over all positions of a text.
pub(crate) fn bigram_law(chain: &MarkovChain) -> Vec<f64> {
    let last = chain.length() - 1;
    let mean = |v: usize| (0..last).map(|c| chain.marginal(c)[v]).sum::<f64>() / last as f64;
    (0..27 * 27).map(|i| mean(i / 27) * chain.transition(i / 27, i % 27)).collect()
}

/// The shares of (symbol, next symbol) in texts of this length.
pub(crate) fn bigram_shares(tokens: &[u32], length: usize) -> Vec<f64> {
    let mut shares = vec![0.0; 27 * 27];
    let pairs = (tokens.len() / length * (length - 1)) as f64;
    for text in tokens.chunks_exact(length) {
        text.windows(2).for_each(|pair| shares[pair[0] as usize * 27 + pair[1] as usize] += 1.0 / pairs);
    }
    shares
}

/// The one-coordinate Gamma target {0.5, 2, 6} with weights {.5, .3, .2}.
pub(crate) fn gamma_line() -> FiniteTarget {
    let space = Space::new(vec![Block::new(Gamma::new(2.0, 2.0).unwrap(), 1, clock()).unwrap()]);
    let points = Values::new(vec![Elements::from(vec![0.5f32, 2.0, 6.0])]);
    FiniteTarget::new(&space, points, &[0.5, 0.3, 0.2]).unwrap()
}

/// By how much the bound of the mean-plugged Gamma exceeds the entropy. Per unit of clock, plugging in the mean loses the
/// divergence between the true jump rate E[e^(−y/x)]/y and the plugged e^(−y/x̂)/y, which is
/// ∫ q log q dy/y + 1 + log x̂ − E log x with q(y) = E[e^(−y/x)]; this integrates it over the clock.
pub(crate) fn gamma_gap(target: &FiniteTarget, rows: usize) -> MonteCarlo {
    const STRATA: usize = 128;
    let streams = Streams::new(4);
    let x = target.rows(&target.choose(&streams, 0, rows));
    let points: Vec<f64> = target.points().reals(0).iter().map(|x| f64::from(*x)).collect();
    let mut gaps = vec![0.0; rows];
    for stratum in 0..STRATA {
        let t = (stratum as f64 + 0.5) / STRATA as f64;
        let mut states = States::prior(target.space(), 0, rows);
        states.draw(&x, &vec![t; rows], &streams, stratum as u64).unwrap();
        for (gap, p) in gaps.iter_mut().zip(target.posterior(&states).chunks_exact(points.len())) {
            *gap += clock().rate(t, 0.0) * gamma_loss_rate(p, &points) / STRATA as f64;
        }
    }
    MonteCarlo::of(&gaps)
}

/// The loss per unit of clock, with y = e^z on a trapezoid grid.
fn gamma_loss_rate(p: &[f64], x: &[f64]) -> f64 {
    let mean = |f: &dyn Fn(f64) -> f64| p.iter().zip(x).map(|(p, x)| p * f(*x)).sum::<f64>();
    let (from, to, n) = (-25.0, 6.0, 200);
    let h = (to - from) / f64::from(n);
    let term = |i: i32| {
        let y = (from + f64::from(i) * h).exp();
        let q = mean(&|x| (-y / x).exp());
        if q > 0.0 { h * q * q.ln() } else { 0.0 }
    };
    (0..=n).map(term).sum::<f64>() + 1.0 + mean(&|x| x).ln() - mean(&|x: f64| x.ln())
}
