//! What pairs draw and refuse, beyond the laws that all keep.
#![allow(clippy::unwrap_used)]

use pmm_core::{
    Categorical, DataKind, Gamma, MASK, Masked, MonteCarlo, Normal, Pair, Poisson, Purpose, Stream, Streams,
    Support,
};

fn rng(row: u64) -> Stream {
    Streams::new(2025).stream(Purpose::custom(0), 0, row)
}

/// Marks give independent Poisson counts: each class and all together, 6 standard errors (2e-9) on mean and variance, for few marks,
/// for a walk along them, and for pieces so long that they take single draws.
#[test]
fn marks_are_independent_poisson_counts() {
    let pair = Categorical::new(4, 1.0).unwrap().simplex();
    let x = [0.05f32, 0.2, 0.7, 0.05];
    let n = 200_000;
    for (row, a) in [(40, 3.0), (41, 9.0), (42, 40.0)] {
        let mut rng = rng(row);
        let mut counts = vec![Vec::new(); 5];
        for _ in 0..n {
            let mut s = [0.0; 4];
            pair.advance(&mut s, a, &x, &mut rng);
            (0..4).for_each(|v| counts[v].push(s[v]));
            counts[4].push(s.iter().sum());
        }
        for (counts, share) in counts.iter().zip(x.iter().chain(&[1.0])) {
            let (estimate, mean) = (MonteCarlo::of(counts), a * f64::from(*share));
            let variance = estimate.standard_error.powi(2) * n as f64;
            assert!((estimate.mean - mean).abs() < 6.0 * estimate.standard_error, "{mean}: {estimate:?}");
            // Var of the sample variance of a Poisson count: (μ + 2μ²)/n.
            let spread = ((mean + 2.0 * mean * mean) / n as f64).sqrt();
            assert!((variance - mean).abs() < 6.0 * spread, "{mean}: {variance}");
        }
    }
}

/// 50,257 classes: the dense state sums to its marks and its mean to 1.
#[test]
fn dense_categorical_of_a_large_vocabulary() {
    let pair = Categorical::new(50_257, 100.0).unwrap();
    let mut x = vec![0.0f32; 50_257];
    x[50_256] = 1.0;
    let (mut s, mut mu) = (vec![0.0; 50_257], vec![0.0f32; 50_257]);
    pair.draw(&x, 1e9, &mut s, &mut rng(41));
    pair.mean(&s, 1e9, &mut mu);
    assert!(s[..50_256].iter().all(|s| *s == 0.0) && (s[50_256] - 1e9).abs() < 6.0 * 1e9f64.sqrt());
    assert!((mu.iter().copied().map(f64::from).sum::<f64>() - 1.0).abs() < 1e-6 && mu[50_256] > 0.999);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let nan = f64::NAN;
    for (b, m) in [(0.0, 0.0), (-1.0, 0.0), (nan, 0.0), (f64::INFINITY, 0.0), (1.0, nan)] {
        assert!(Normal::new(b, m).is_err(), "{b} {m}");
    }
    for (shape, rate) in [(0.0, 1.0), (1.0, 0.0), (nan, 1.0), (1.0, f64::INFINITY)] {
        assert!(Poisson::new(shape, rate).is_err(), "{shape} {rate}");
    }
    for (shape, scale) in [(1.0, 1.0), (0.5, 1.0), (2.0, 0.0), (nan, 1.0), (f64::INFINITY, 1.0)] {
        assert!(Gamma::new(shape, scale).is_err(), "{shape} {scale}");
    }
    for (classes, k) in [(1, 1.0), (0, 1.0), (MASK, 1.0), (3, 0.0), (3, f64::INFINITY), (3, nan)] {
        assert!(Categorical::new(classes, k).is_err(), "{classes} {k}");
    }
    assert!(Masked::new(1).is_err() && Masked::new(2).is_ok());
    let message = Normal::new(-2.0, 0.0).unwrap_err().to_string();
    assert_eq!(message, "the prior precision b must be positive and finite, got -2");
}

#[test]
fn values_off_the_support_are_refused() {
    let message = |result: Result<(), pmm_core::ValueError>| result.unwrap_err().to_string();
    let counts = Poisson::new(1.0, 1.0).unwrap();
    assert_eq!(
        message(Pair::check(&counts, &[2.5])),
        "a count must be a whole number of at least 0, got 2.5"
    );
    assert_eq!(
        message(Pair::check(&counts, &[-1.0])),
        "a count must be a whole number of at least 0, got -1"
    );
    assert!(Pair::check(&counts, &[f32::INFINITY]).is_err());
    let intensities = counts.intensities();
    assert_eq!(
        message(Pair::check(&intensities, &[-0.5])),
        "an intensity must be finite and at least 0, got -0.5"
    );
    let positive = Gamma::new(2.0, 1.0).unwrap();
    assert_eq!(message(Pair::check(&positive, &[0.0])), "a positive value must be finite and above 0, got 0");
    let dense = Categorical::new(3, 1.0).unwrap().simplex();
    assert_eq!(
        message(dense.check(&[0.5, 0.5, 0.5])),
        "the entries of a point of the simplex must sum to 1, got 1.5"
    );
    let negative = message(dense.check(&[1.5, -0.5, 0.0]));
    assert_eq!(negative, "a probability must be finite and at least 0, got -0.5 at class 1");
    let token = message(Masked::new(3).unwrap().check(&[3]));
    assert_eq!(token, "a token must be below the vocabulary size 3, got 3");
}

/// What tables ask: the kind that a pair is made for, and the others that it serves.
#[test]
fn pairs_know_the_kinds_of_data_they_serve() {
    use DataKind::{Category, Count, Positive, Real};
    fn kinds<P: Pair>(pair: &P) -> (DataKind, Vec<DataKind>) {
        (
            pair.kind(),
            [Real, Count, Positive, Category].into_iter().filter(|kind| pair.serves(*kind)).collect(),
        )
    }
    assert_eq!(kinds(&Normal::new(1.0, 0.0).unwrap()), (Real, vec![Real, Count, Positive]));
    let poisson = Poisson::new(1.0, 1.0).unwrap();
    assert_eq!(kinds(&poisson), (Count, vec![Count]));
    assert_eq!(kinds(&poisson.intensities()), (Count, vec![Count, Positive]));
    assert_eq!(kinds(&Gamma::new(2.0, 1.0).unwrap()), (Positive, vec![Count, Positive]));
    let categorical = Categorical::new(3, 1.0).unwrap();
    assert_eq!(kinds(&categorical), (Category, vec![Category]));
    assert_eq!(kinds(&Masked::new(3).unwrap()), (Category, vec![Category]));
    assert_eq!(
        (categorical.support(), categorical.simplex().support()),
        (Support::Tokens(3), Support::Simplex(3))
    );
}
