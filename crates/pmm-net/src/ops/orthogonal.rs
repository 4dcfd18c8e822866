//! The nearest matrix with singular values near 1, by Newton–Schulz steps.

use super::matmul::{Matrix, matmul, turned};

/// x ← a x + (b s + c s²) x with s = x xᵀ takes every singular value σ to a σ + b σ³ + c σ⁵; five such steps take all from .01 to 1
/// to between .68 and 1.14.
const COEFFICIENTS: [f32; 3] = [3.4445, -4.7750, 2.0315];
const STEPS: usize = 5;

/// U Vᵀ of a matrix U Σ Vᵀ (`rows` × `columns`, stored by rows), roughly: singular values come to lie between .68 and 1.14. On the calling
/// thread, always by the same sums.
///
/// ```
/// // A diagonal matrix stays diagonal, and its entries come near ±1.
/// let found = pmm_net::orthogonal(&[4.0, 0.0, 0.0, -1.0], 2, 2);
/// assert!((found[0] - 1.0).abs() < 0.35 && (found[3] + 1.0).abs() < 0.35);
/// assert_eq!((found[1], found[2]), (0.0, 0.0));
/// ```
pub fn orthogonal(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    if rows > columns {
        return turned(&wide(turned(values, rows), columns, rows), columns);
    }
    wide(values.to_vec(), rows, columns)
}

/// The same for at least as many columns as rows.
fn wide(mut x: Vec<f32>, rows: usize, columns: usize) -> Vec<f32> {
    let [a, b, c] = COEFFICIENTS;
    let square: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let scale = (1.0 / (square.sqrt() + 1e-12)) as f32;
    x.iter_mut().for_each(|x| *x *= scale);
    let (mut s, mut polynomial) = (vec![0.0; rows * rows], vec![0.0; rows * rows]);
    let mut product = vec![0.0; rows * columns];
    for _ in 0..STEPS {
        let view = Matrix::new(&x, rows, columns);
        matmul(&mut s, false, view, view.transposed());
        matmul(&mut polynomial, false, Matrix::new(&s, rows, rows), Matrix::new(&s, rows, rows));
        polynomial.iter_mut().zip(&s).for_each(|(p, s)| *p = c * *p + b * s);
        matmul(&mut product, false, Matrix::new(&polynomial, rows, rows), view);
        x.iter_mut().zip(&product).for_each(|(x, p)| *x = a * *x + p);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The singular values of a diagonal matrix are its entries: each goes by the scalar polynomial, and ends near 1.
    #[test]
    fn singular_values_come_near_one() {
        let entries = [5.0, 2.0, 0.6, 0.1];
        let mut values = [0.0; 4 * 6];
        (0..4).for_each(|i| values[i * 6 + i] = entries[i]);
        let found = orthogonal(&values, 4, 6);
        let norm = entries.iter().map(|e| e * e).sum::<f32>().sqrt();
        for (i, entry) in entries.into_iter().enumerate() {
            let mut sigma = entry / norm;
            for _ in 0..STEPS {
                sigma = COEFFICIENTS[0] * sigma
                    + COEFFICIENTS[1] * sigma.powi(3)
                    + COEFFICIENTS[2] * sigma.powi(5);
            }
            assert!((found[i * 6 + i] - sigma).abs() < 1e-4 && (0.68..1.14).contains(&sigma), "{i}: {sigma}");
        }
    }

    /// Turning the rows before or after is the same, and so is transposing.
    #[test]
    fn turns_and_transposes_go_through() {
        let values: Vec<f32> = (0..10).map(|i| ((i * i * 7 + 3 * i) % 19) as f32 - 9.0).collect();
        let turn = |x: &[f32]| -> Vec<f32> {
            let (c, s) = (0.6, 0.8);
            let (a, b) = x.split_at(5);
            let both = a.iter().zip(b);
            both.clone().map(|(a, b)| c * a - s * b).chain(both.map(|(a, b)| s * a + c * b)).collect()
        };
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        let found = orthogonal(&values, 2, 5);
        assert!(close(&orthogonal(&turn(&values), 2, 5), &turn(&found)));
        assert!(close(&turned(&orthogonal(&turned(&values, 2), 5, 2), 5), &found));
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(orthogonal(&[0.0; 6], 2, 3), [0.0; 6]);
    }
}
