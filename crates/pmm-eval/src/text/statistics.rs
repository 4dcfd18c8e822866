//! Counts of n-grams, and what they say.

use std::collections::HashSet;

/// The different n-grams within rows, ascending, with their counts.
pub(super) fn grams<const N: usize, R: AsRef<[u32]>>(rows: &[R]) -> Vec<([u32; N], usize)> {
    let windows = rows.iter().flat_map(|row| row.as_ref().windows(N));
    let mut all: Vec<[u32; N]> = windows.map(|window| std::array::from_fn(|i| window[i])).collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
}

fn total<T>(counts: &[(T, usize)]) -> f64 {
    counts.iter().map(|(_, n)| *n as f64).sum()
}

/// ½ Σ |p − q|, the share of n-grams that would have to change; `None` if a side has none. Both sides ascend.
pub(super) fn total_variation<T: Ord>(a: &[(T, usize)], b: &[(T, usize)]) -> Option<f64> {
    let (total_a, total_b) = (total(a), total(b));
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() || j < b.len() {
        let next = [a.get(i), b.get(j)].into_iter().flatten().map(|(gram, _)| gram).min();
        let count = |entry: Option<&(T, usize)>| {
            entry.filter(|(gram, _)| Some(gram) == next).map_or(0.0, |(_, n)| *n as f64)
        };
        let (left, right) = (count(a.get(i)), count(b.get(j)));
        sum += (left / total_a - right / total_b).abs();
        (i, j) = (i + usize::from(left > 0.0), j + usize::from(right > 0.0));
    }
    (total_a > 0.0 && total_b > 0.0).then_some(sum / 2.0)
}

/// −Σ p log₂ p; `None` without counts.
pub(super) fn entropy<T>(counts: &[(T, usize)]) -> Option<f64> {
    let total = total(counts);
    let term = |(_, n): &(T, usize)| -(*n as f64 / total) * (*n as f64 / total).log2();
    (total > 0.0).then(|| counts.iter().map(term).sum::<f64>().max(0.0))
}

/// The share of n-grams that are different from all others, each kind counted once; `None` without n-grams.
pub(super) fn distinct<const N: usize>(rows: &[Vec<u32>]) -> Option<f64> {
    let counts = grams::<N, _>(rows);
    (!counts.is_empty()).then(|| counts.len() as f64 / total(&counts))
}

/// The share of 4-grams that came before in the same row; `None` without 4-grams.
pub(super) fn repetition(rows: &[Vec<u32>]) -> Option<f64> {
    let (mut all, mut again) = (0_usize, 0_usize);
    for row in rows {
        let mut seen = HashSet::new();
        all += row.windows(4).len();
        again += row.windows(4).filter(|window| !seen.insert(*window)).count();
    }
    (all > 0).then(|| again as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_grams_do_not_cross_rows() {
        let rows = [vec![1, 0, 1, 0], vec![1], vec![]];
        assert_eq!(grams::<1, _>(&rows), [([0], 2), ([1], 3)]);
        assert_eq!(grams::<2, _>(&rows), [([0, 1], 1), ([1, 0], 2)]);
        assert!(grams::<5, _>(&rows).is_empty());
    }

    /// ½ (|½ − ¼| + |½ − 0| + |0 − ¾|) = ¾.
    #[test]
    fn distances_by_hand() {
        let (a, b) = ([('x', 2), ('y', 2)], [('x', 1), ('z', 3)]);
        assert_eq!(total_variation(&a, &b), Some(0.75));
        assert_eq!((total_variation(&a, &a), total_variation(&a, &[])), (Some(0.0), None));
        assert_eq!((entropy(&a), entropy(&[('x', 7)]), entropy::<char>(&[])), (Some(1.0), Some(0.0), None));
    }

    #[test]
    fn variety_by_hand() {
        let rows = [vec![1, 2, 1, 2, 1, 2], vec![1, 2, 1, 2]];
        assert_eq!(distinct::<1>(&rows), Some(0.2));
        assert_eq!(distinct::<2>(&rows), Some(2.0 / 8.0));
        // 1212, 2121, 1212 again; the second row starts afresh.
        assert_eq!(repetition(&rows), Some(0.25));
        assert_eq!((repetition(&[vec![1, 2, 3]]), distinct::<3>(&[])), (None, None));
    }
}
