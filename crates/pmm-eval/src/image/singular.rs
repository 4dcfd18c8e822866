//! The sum of the singular values of a matrix.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over indices of equal slices become vector instructions"
)]

use multiversion::multiversion;
use rayon::prelude::*;

use super::cholesky::dot;

/// Columns that a thread sums at a time, and rows that it reflects.
const COLUMNS: usize = 256;
const ROWS: usize = 32;

/// Σ σᵢ of a matrix stored by rows: reflections make it bidiagonal (Golub and Kahan 1965), then bisection finds each σ. The
/// errors are about ε σ₁ each, also of the smallest, which they would not be by way of the eigenvalues σ².
pub(super) fn nuclear_norm(matrix: &[f64], rows: usize, columns: usize) -> f64 {
    if rows < columns {
        let turned = (0..columns).flat_map(|j| (0..rows).map(move |i| matrix[i * columns + j])).collect();
        return of_bidiagonal(&bidiagonal(turned, columns, rows));
    }
    of_bidiagonal(&bidiagonal(matrix.to_vec(), rows, columns))
}

/// The diagonal and what is beside it, in turns: d₀, e₀, d₁, …, for rows ≥ columns.
fn bidiagonal(mut matrix: Vec<f64>, rows: usize, columns: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(2 * columns);
    for k in 0..columns {
        let width = columns - k;
        // The part that is left has its rows `columns` apart and begins at (k, k).
        let left = &mut matrix[k * columns..rows * columns];
        let across = Reflection::of(left.chunks_exact(columns).map(|row| row[k]).collect());
        out.push(across.length);
        if width == 1 {
            break;
        }
        let mut sums = vec![0.0; width - 1];
        sums.par_chunks_mut(COLUMNS).enumerate().for_each(|(chunk, sums)| {
            column_sums(sums, left, columns, k + 1 + chunk * COLUMNS, &across.normal);
        });
        sums.iter_mut().for_each(|sum| *sum *= across.factor);
        let first = left[k + 1..columns].iter().zip(&sums).map(|(x, sum)| x - across.normal[0] * sum);
        let along = Reflection::of(first.collect());
        out.push(along.length);
        let below = &mut left[columns..];
        below
            .par_chunks_mut(ROWS * columns)
            .zip(across.normal[1..].par_chunks(ROWS))
            .for_each(|(rows, normal)| reflect_rows(rows, columns, k + 1, normal, &sums, &along));
    }
    out
}

/// x − factor·⟨x, normal⟩·normal, which takes a vector to the first axis, at this (signed) length.
struct Reflection {
    normal: Vec<f64>,
    factor: f64,
    length: f64,
}

impl Reflection {
    fn of(mut vector: Vec<f64>) -> Self {
        let first = vector[0];
        // Scaled, so that squares neither overflow nor vanish.
        let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let rest = vector[1..].iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if rest == 0.0 {
            return Self { normal: vec![0.0; vector.len()], factor: 0.0, length: first };
        }
        let squares: f64 = vector.iter().map(|x| (x / largest).powi(2)).sum();
        let length = -(largest * squares.sqrt()).copysign(first);
        let pivot = first - length;
        vector.iter_mut().for_each(|x| *x /= pivot);
        vector[0] = 1.0;
        Self { normal: vector, factor: -pivot / length, length }
    }
}

/// Σᵢ normalᵢ xᵢⱼ for the columns from `first` on.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn column_sums(sums: &mut [f64], rows: &[f64], columns: usize, first: usize, normal: &[f64]) {
    let count = sums.len();
    for (row, weight) in rows.chunks_exact(columns).zip(normal) {
        let row = &row[first..first + count];
        for j in 0..count {
            sums[j] += weight * row[j];
        }
    }
}

/// Both reflections of some rows, from a column on.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn reflect_rows(
    rows: &mut [f64],
    columns: usize,
    first: usize,
    normal: &[f64],
    sums: &[f64],
    along: &Reflection,
) {
    let count = sums.len();
    for (row, weight) in rows.chunks_exact_mut(columns).zip(normal) {
        let row = &mut row[first..first + count];
        for j in 0..count {
            row[j] -= weight * sums[j];
        }
        let share = along.factor * dot(row, &along.normal);
        for j in 0..count {
            row[j] -= share * along.normal[j];
        }
    }
}

/// The singular values of a bidiagonal matrix are the positive eigenvalues of the symmetric matrix with these numbers beside
/// a diagonal of zeros.
fn of_bidiagonal(beside: &[f64]) -> f64 {
    let largest = beside.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let squares: Vec<f64> = beside.iter().map(|x| (x / largest).powi(2)).collect();
    let count = beside.len().div_ceil(2);
    let one = |place: usize| {
        // Rows sum up to 2 at most. Of 2·count eigenvalues the upper half are the singular values.
        let (mut low, mut high) = (0.0, 2.0);
        while high - low > f64::EPSILON {
            let middle = 0.5 * (low + high);
            if below(&squares, middle) > count + place {
                high = middle;
            } else {
                low = middle;
            }
        }
        0.5 * (low + high)
    };
    let values: Vec<f64> = (0..count).into_par_iter().map(one).collect();
    largest * values.iter().sum::<f64>()
}

/// How many eigenvalues are below x, by Sturm's sequence.
fn below(squares: &[f64], x: f64) -> usize {
    let mut pivot = -x;
    let mut count = usize::from(pivot < 0.0);
    for square in squares {
        if pivot == 0.0 {
            pivot = f64::MIN_POSITIVE;
        }
        pivot = -x - square / pivot;
        count += usize::from(pivot < 0.0);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        let close = |matrix: &[f64], rows, columns, expected: f64| {
            let found = nuclear_norm(matrix, rows, columns);
            assert!((found - expected).abs() < 1e-13 * expected.max(1.0), "{found} {expected}");
        };
        close(&[3.0], 1, 1, 3.0);
        close(&[-3.0, 4.0], 1, 2, 5.0);
        close(&[3.0, 4.0], 2, 1, 5.0);
        close(&[0.0; 6], 2, 3, 0.0);
        close(&[2.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.5], 3, 3, 3.5);
        // σ² are the eigenvalues 8 and 2 of [[5, 3], [3, 5]].
        close(&[1.0, 2.0, 2.0, 1.0], 2, 2, 4.0);
        close(&[2.0, 1.0, 1.0, 2.0, 0.0, 0.0], 3, 2, 4.0);
        close(&[1e200, 0.0, 0.0, 1e200], 2, 2, 2e200);
    }

    /// numpy.linalg.svd(M, compute_uv=False).sum() of M[i, j] = sin(i² + 3j + ij²), 70 × 50, and of its transpose.
    #[test]
    fn agrees_with_numpy() {
        let (rows, columns) = (70, 50);
        let value = |i: usize, j: usize| ((i * i + 3 * j + i * j * j) as f64).sin();
        let matrix: Vec<f64> = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
        let turned: Vec<f64> = (0..rows * columns).map(|at| value(at % rows, at / rows)).collect();
        let [a, b] = [nuclear_norm(&matrix, rows, columns), nuclear_norm(&turned, columns, rows)];
        assert!((a - NUMPY).abs() < 1e-11 && (b - NUMPY).abs() < 1e-11, "{a} {b}");
    }

    const NUMPY: f64 = 269.07157882870246;
}
