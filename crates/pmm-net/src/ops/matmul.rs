//! Matrix products on slices, by the crate that Burn's CPU backend multiplies with.

#![expect(unsafe_code, reason = "the crate takes pointers; lengths are checked here, before every call")]

use std::ops::Range;

use multiversion::multiversion;

/// A matrix in a slice: `rows` × `columns`, stored by rows, or the transpose of one stored so.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    /// Distance between rows, and between columns.
    strides: (isize, isize),
}

impl<'a> Matrix<'a> {
    pub(crate) fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix of {rows} × {columns}");
        Self { values, rows, columns, strides: (columns as isize, 1) }
    }

    pub(crate) fn transposed(self) -> Self {
        let strides = (self.strides.1, self.strides.0);
        Self { values: self.values, rows: self.columns, columns: self.rows, strides }
    }

    /// What it is stored in.
    pub(crate) fn values(self) -> &'a [f32] {
        self.values
    }

    /// Some of its columns.
    pub(crate) fn columns(self, range: Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.columns,
            "columns {range:?} of {}",
            self.columns
        );
        let start = (range.start * self.strides.1 as usize).min(self.values.len());
        Self { values: &self.values[start..], columns: range.len(), ..self }
    }
}

/// The transpose of a matrix of so many rows.
pub(crate) fn turned(values: &[f32], rows: usize) -> Vec<f32> {
    let columns = values.len() / rows.max(1);
    let mut out = vec![0.0; values.len()];
    turn(values, (columns, rows), &mut out, (rows, columns));
    out
}

/// Transposes a matrix, square by square, given by the distance between its rows and their number, to one given likewise.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2+fma"))]
pub(crate) fn turn(
    from: &[f32],
    (stride, rows): (usize, usize),
    to: &mut [f32],
    (to_stride, columns): (usize, usize),
) {
    for row in (0..rows).step_by(SQUARE) {
        for column in (0..columns).step_by(SQUARE) {
            if row + SQUARE <= rows && column + SQUARE <= columns {
                turn_square(
                    &from[row * stride + column..],
                    stride,
                    &mut to[column * to_stride + row..],
                    to_stride,
                );
                continue;
            }
            for c in column..columns.min(column + SQUARE) {
                for r in row..rows.min(row + SQUARE) {
                    to[c * to_stride + r] = from[r * stride + c];
                }
            }
        }
    }
}

/// Rows and columns that are transposed at once.
const SQUARE: usize = 4;

#[inline(always)]
fn turn_square(from: &[f32], stride: usize, to: &mut [f32], to_stride: usize) {
    let mut lines = [[0.0; SQUARE]; SQUARE];
    for (r, line) in lines.iter_mut().enumerate() {
        line.copy_from_slice(&from[r * stride..r * stride + SQUARE]);
    }
    for c in 0..SQUARE {
        let line: [f32; SQUARE] = std::array::from_fn(|r| lines[r][c]);
        to[c * to_stride..c * to_stride + SQUARE].copy_from_slice(&line);
    }
}

/// out = a·b, or out += a·b. On the calling thread: callers share work out by rows, so that sums do not depend on threads.
pub(crate) fn matmul(out: &mut [f32], add: bool, a: Matrix<'_>, b: Matrix<'_>) {
    assert_eq!(out.len(), a.rows * b.columns, "the place for a product");
    matmul_into(out, b.columns, add, 1.0, a, b);
}

/// The same times a factor, to a place whose rows are `stride` apart.
pub(crate) fn matmul_into(
    out: &mut [f32],
    stride: usize,
    add: bool,
    factor: f32,
    a: Matrix<'_>,
    b: Matrix<'_>,
) {
    assert_eq!(a.columns, b.rows, "a product of {} × {} and {} × {}", a.rows, a.columns, b.rows, b.columns);
    if a.rows == 0 || b.columns == 0 {
        return;
    }
    assert!(b.columns <= stride && (a.rows - 1) * stride + b.columns <= out.len(), "the place for a product");
    // SAFETY: `Matrix::new` has checked that rows × columns elements are there and strides stay within them (also when
    // transposed, or cut down to some columns), the place for the product is checked above, and `out` is borrowed alone.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            out.as_mut_ptr(),
            1,
            stride as isize,
            add,
            a.values.as_ptr(),
            a.strides.1,
            a.strides.0,
            b.values.as_ptr(),
            b.strides.1,
            b.strides.0,
            1.0,
            factor,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns() {
        let values: Vec<f32> = (0..17 * 35).map(|i| i as f32).collect();
        let out = turned(&values, 17);
        assert!((0..out.len()).all(|k| out[k] == values[k % 17 * 35 + k / 17]));
        assert!(turned(&[], 0).is_empty());
    }

    #[test]
    fn plain_transposed_and_added() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 2.0, -1.0, 0.0, 1.0]);
        let mut out = [0.0; 4];
        matmul(&mut out, false, Matrix::new(&a, 2, 3), Matrix::new(&b, 3, 2));
        assert_eq!(out, [5.0, 1.0, 14.0, 1.0]);
        matmul(&mut out, true, Matrix::new(&a, 3, 2).transposed(), Matrix::new(&b, 3, 2));
        assert_eq!(out, [5.0 + 7.0, 1.0 + 2.0, 14.0 + 10.0, 1.0 + 2.0]);
        let mut out = [0.0; 2];
        matmul(&mut out, false, Matrix::new(&a, 2, 3).columns(1..3), Matrix::new(&b[..2], 2, 1));
        assert_eq!(out, [2.0, 5.0]);
    }
}
