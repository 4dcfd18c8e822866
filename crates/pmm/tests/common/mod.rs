//! Targets and checks that several test files share.
#![allow(dead_code, reason = "each test file uses its own part")]

use pmm::{
    Block, Categorical, Exponential, FiniteTarget, Gamma, Head, MarkovChain, Masked, Normal, Poisson, Space,
    Store, Values,
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

/// Two coordinates that depend on each other, for one pair.
pub(crate) fn plane(pair: &str, head: Head) -> FiniteTarget {
    let numbers = || Store::from(vec![0.5f32, 6.0, 2.0, 2.0, 6.0, 0.5, 6.0, 6.0]);
    let counts = Store::from(vec![0.0f32, 6.0, 2.0, 2.0, 6.0, 0.0, 6.0, 6.0]);
    let tokens = Store::from(vec![0u32, 2, 1, 1, 2, 0, 2, 2]);
    let one_hot = |v: u32| (0..3).map(move |c| f32::from(u8::from(c == v)));
    let dense = Store::from([0, 2, 1, 1, 2, 0, 2, 2].into_iter().flat_map(one_hot).collect::<Vec<f32>>());
    let (block, store) = match pair {
        "normal" => (Block::new(Normal::new(1.0, 0.0).unwrap(), 2, clock()), numbers()),
        "poisson" => (Block::new(Poisson::new(0.5, 0.5).unwrap(), 2, clock()), counts),
        "masked" => (Block::new(Masked::new(3).unwrap(), 2, clock()), tokens),
        "categorical" => (Block::new(Categorical::new(3, 3.0).unwrap(), 2, clock()), dense),
        _ => (Block::new(Gamma::new(2.0, 2.0).unwrap(), 2, clock()), numbers()),
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
        Store::from(vec![-1.0f32, -1.0, 1.0, 1.0, 0.0]),
        Store::from(vec![0.0f32, 3.0, 3.0, 8.0, 0.0]),
        Store::from(vec![0u32, 1, 2, 1, 2]),
        Store::from(vec![1.0f32, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]),
        Store::from(vec![0.5f32, 6.0, 0.5, 2.0, 6.0]),
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
