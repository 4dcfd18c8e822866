//! Adagrad, for rows of tables.

use multiversion::multiversion;

/// Added to √s.
const EPSILON: f32 = 1e-10;

/// Moves a row of a table, with the sums of the squares of its gradients.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn adagrad(row: &mut [f32], sums: &mut [f32], gradient: &[f32], rate: f32) {
    let n = row.len();
    let (sums, gradient) = (&mut sums[..n], &gradient[..n]);
    for i in 0..n {
        sums[i] += gradient[i] * gradient[i];
        row[i] -= rate * gradient[i] / (sums[i].sqrt() + EPSILON);
    }
}
