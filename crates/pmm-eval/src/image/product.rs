//! AᵀB of matrices stored by rows, in 64 bits.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over indices of equal slices become vector instructions"
)]

use multiversion::multiversion;
use rayon::prelude::*;

/// Rows and columns of the product that are summed in registers.
const HIGH: usize = 4;
const WIDE: usize = 8;
/// Rows of the product that a thread makes at a time.
const CHUNK: usize = 64;

/// out + AᵀB, with A `[rows, p]`, B `[rows, q]` and out `[p, q]`. Every sum goes by rows in their order, whatever the threads.
pub(super) fn add_product(out: &mut [f64], a: &[f64], b: &[f64], [p, q]: [usize; 2]) {
    if p == 0 || q == 0 {
        return;
    }
    out.par_chunks_mut(CHUNK * q).enumerate().for_each(|(chunk, out)| {
        let (first, high) = (chunk * CHUNK, out.len() / q);
        let tiles: Vec<Vec<[f64; HIGH]>> =
            (0..high).step_by(HIGH).map(|at| pack(a, p, first + at, high - at)).collect();
        for column in (0..q).step_by(WIDE) {
            let b: Vec<[f64; WIDE]> = pack(b, q, column, q - column);
            for (tile, row) in tiles.iter().zip((0..high).step_by(HIGH)) {
                let sums = tile_sums(tile, &b);
                for (sums, out) in sums.iter().zip(out[row * q..].chunks_mut(q)) {
                    out[column..].iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
                }
            }
        }
    });
}

/// N columns of a matrix from `first` on, row by row; where there are fewer, zeros.
fn pack<const N: usize>(values: &[f64], columns: usize, first: usize, left: usize) -> Vec<[f64; N]> {
    let some = |row: &[f64]| {
        let mut out = [0.0; N];
        let count = left.min(N);
        out[..count].copy_from_slice(&row[first..first + count]);
        out
    };
    values.chunks_exact(columns).map(some).collect()
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
fn tile_sums(a: &[[f64; HIGH]], b: &[[f64; WIDE]]) -> [[f64; WIDE]; HIGH] {
    let mut sums = [[0.0; WIDE]; HIGH];
    for (a, b) in a.iter().zip(b) {
        for i in 0..HIGH {
            for j in 0..WIDE {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_definition() {
        let value = |i: usize| ((i * 37 + 11) % 101) as f64 - 50.0;
        for (rows, p, q) in [(1, 1, 1), (3, 5, 17), (9, 70, 33), (0, 2, 2), (2, 0, 3)] {
            let a: Vec<f64> = (0..rows * p).map(value).collect();
            let b: Vec<f64> = (0..rows * q).map(|i| value(i + 7)).collect();
            let mut out = vec![1.0; p * q];
            add_product(&mut out, &a, &b, [p, q]);
            for (place, found) in out.iter().enumerate() {
                let (i, j) = (place / q, place % q);
                let sum: f64 = (0..rows).map(|r| a[r * p + i] * b[r * q + j]).sum();
                assert_eq!(*found, 1.0 + sum, "{i} {j} of {rows} {p} {q}");
            }
        }
    }
}
