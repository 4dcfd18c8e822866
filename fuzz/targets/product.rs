//! Products of matrices of any shape, transposed, cut and placed at will: within their memory, and right. The kernels' one `unsafe` block
//! is in this file of theirs; `fuzz/run --address` watches every access.
#![no_main]

use libfuzzer_sys::fuzz_target;
use matmul::{Matrix, matmul_into, turned};

#[path = "../../crates/pmm-net/src/ops/matmul.rs"]
mod matmul;

/// A matrix of small whole numbers in a slice of just its length, stored by rows or by columns, perhaps the last columns of a wider one.
struct Stored {
    values: Vec<f32>,
    rows: usize,
    columns: usize,
    by_columns: bool,
    before: usize,
}

impl Stored {
    fn new(rows: usize, columns: usize, by_columns: bool, before: usize, seed: u8) -> Self {
        let before = if by_columns { 0 } else { before };
        let n = rows * (columns + before);
        let values = (0..n).map(|i| ((i * 7 + usize::from(seed)) % 11) as f32 - 5.0).collect();
        Self { values, rows, columns, by_columns, before }
    }

    fn matrix(&self) -> Matrix<'_> {
        if self.by_columns {
            return Matrix::new(&self.values, self.columns, self.rows).transposed();
        }
        let all = self.before + self.columns;
        Matrix::new(&self.values, self.rows, all).columns(self.before..all)
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        if self.by_columns {
            return self.values[column * self.rows + row];
        }
        self.values[row * (self.before + self.columns) + self.before + column]
    }
}

fuzz_target!(|bytes: [u8; 8]| {
    let [m, k, n, flags, before, beyond, seed, start] = bytes;
    let (m, k, n) = (usize::from(m % 80), usize::from(k % 80), usize::from(n % 80));
    let a = Stored::new(m, k, flags & 1 > 0, usize::from(before % 5), seed);
    let b = Stored::new(k, n, flags & 2 > 0, usize::from(before / 5 % 5), seed ^ 85);
    let (add, stride) = (flags & 4 > 0, n + usize::from(beyond % 20));
    let start = f32::from(start % 8);
    let mut out = vec![start; (m * stride).saturating_sub(stride - n)];
    matmul_into(&mut out, stride, add, 0.5, a.matrix(), b.matrix());
    for (place, found) in out.iter().enumerate() {
        let (row, column) = (place / stride.max(1), place % stride.max(1));
        // Whole numbers below 2²⁴: sums are exact in any order.
        let sum: f32 = if column < n { (0..k).map(|i| a.at(row, i) * b.at(i, column)).sum() } else { 0.0 };
        let right = if column < n && !add { 0.5 * sum } else { start + 0.5 * sum };
        assert_eq!(*found, right, "{bytes:?} at {row}, {column}");
    }
    let back = turned(&turned(&a.values, a.rows), a.values.len() / a.rows.max(1));
    assert!(a.rows == 0 || back == a.values);
});
