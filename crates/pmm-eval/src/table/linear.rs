//! What is left of each column of numbers when all others have told what they can, linearly.

use super::frame::Frame;

/// Columns of numbers that take part, at most.
const COLUMNS: usize = 60;
/// Weight of the penalty, for columns in standard deviations: exact sums stay exact to some 10⁻⁶.
const RIDGE: f64 = 1e-9;
/// Weights below this, in standard deviations, are no part of a relation.
const SMALL: f64 = 1e-4;
/// What is left below this share of a standard deviation is nothing.
const NOTHING: f64 = 1e-5;

/// Regressions of each column on all others: with the inverse Ω of the correlation matrix the weights of column j are
/// −Ω_jk / Ω_jj.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    columns: Vec<usize>,
    means: Vec<f64>,
    deviations: Vec<f64>,
    /// Ω, row by row.
    inverse: Vec<f64>,
}

impl Linear {
    /// From the rows in which no number is missing, or from all with means in the gaps, if those are few.
    pub(crate) fn fit(frame: &Frame) -> Self {
        let all: Vec<(usize, Vec<f64>)> = (0..)
            .zip(&frame.columns)
            .filter(|(_, column)| column.is_numeric())
            .map(|(place, column)| (place, column.to_numbers()))
            .collect();
        let known =
            |values: &[f64]| values.iter().copied().filter(|value| !value.is_nan()).collect::<Vec<_>>();
        let mut fit = Self { columns: vec![], means: vec![], deviations: vec![], inverse: vec![] };
        let mut standard: Vec<Vec<f64>> = Vec::new();
        for (place, values) in all {
            let present = known(&values);
            let n = present.len().max(1) as f64;
            let mean = present.iter().sum::<f64>() / n;
            let deviation = (present.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            if deviation > 0.0 && deviation.is_finite() && fit.columns.len() < COLUMNS {
                fit.columns.push(place);
                fit.means.push(mean);
                fit.deviations.push(deviation);
                standard.push(values.iter().map(|value| (value - mean) / deviation).collect());
            }
        }
        let width = standard.len();
        let rows = standard.first().map_or(0, Vec::len);
        let complete: Vec<usize> =
            (0..rows).filter(|&row| standard.iter().all(|column| !column[row].is_nan())).collect();
        let chosen = if complete.len() > 10 * width { complete } else { (0..rows).collect() };
        let cell = |column: usize, row: usize| {
            let value = standard[column][row];
            if value.is_nan() { 0.0 } else { value }
        };
        let mut products = vec![0.0; width * width];
        for a in 0..width {
            for b in 0..=a {
                let sum: f64 = chosen.iter().map(|&row| cell(a, row) * cell(b, row)).sum();
                let product = sum / chosen.len().max(1) as f64 + if a == b { RIDGE } else { 0.0 };
                (products[a * width + b], products[b * width + a]) = (product, product);
            }
        }
        match inverse(products, width).filter(|_| width > 1 && chosen.len() > 3 * width) {
            Some(inverse) => Self { inverse, ..fit },
            None => Self { columns: vec![], means: vec![], deviations: vec![], inverse: vec![] },
        }
    }

    /// The columns of which something is left to be told.
    pub(crate) fn columns(&self) -> Vec<usize> {
        self.columns.clone()
    }

    /// What is left of a column, in its standard deviations; missing where any of its relation is.
    pub(crate) fn rest(&self, frame: &Frame, column: usize) -> Vec<f64> {
        let Some(at) = self.columns.iter().position(|&place| place == column) else {
            return vec![f64::NAN; frame.rows()];
        };
        let width = self.columns.len();
        let row = &self.inverse[at * width..(at + 1) * width];
        let mut rest = vec![0.0; frame.rows()];
        for (other, &omega) in row.iter().enumerate() {
            let weight = omega / row[at];
            if weight.abs() < SMALL {
                continue;
            }
            let values = frame.columns[self.columns[other]].to_numbers();
            for (rest, value) in rest.iter_mut().zip(values) {
                *rest += weight * (value - self.means[other]) / self.deviations[other];
            }
        }
        rest.into_iter().map(|rest| if rest.abs() < NOTHING { 0.0 } else { rest }).collect()
    }
}

/// The inverse of a symmetric matrix by Gauss and Jordan with the largest pivots; none if it has none.
fn inverse(mut matrix: Vec<f64>, width: usize) -> Option<Vec<f64>> {
    let mut inverse: Vec<f64> =
        (0..width * width).map(|i| f64::from(u8::from(i / width == i % width))).collect();
    for column in 0..width {
        let size = |row: &usize| matrix[row * width + column].abs();
        let pivot = (column..width).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let value = matrix[pivot * width + column];
        if value == 0.0 || !value.is_finite() {
            return None;
        }
        for (of, k) in (0..width).flat_map(|k| [(true, k), (false, k)]) {
            let table = if of { &mut matrix } else { &mut inverse };
            table.swap(pivot * width + k, column * width + k);
            table[column * width + k] /= value;
        }
        for row in (0..width).filter(|&row| row != column) {
            let factor = matrix[row * width + column];
            for k in 0..width {
                matrix[row * width + k] -= factor * matrix[column * width + k];
                inverse[row * width + k] -= factor * inverse[column * width + k];
            }
        }
    }
    inverse.iter().all(|value| value.is_finite()).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;
    use crate::table::FrameColumn;

    #[test]
    fn nothing_is_left_of_a_sum() {
        let mut stream = Streams::new(1).stream(Purpose::custom(1), 0, 0);
        let parts: Vec<[f64; 4]> =
            (0..500).map(|_| [(); 4].map(|()| (stream.unit() * 1000.0).floor() / 100.0)).collect();
        let column = |at: usize| parts.iter().map(|row| row[at]).collect::<Vec<f64>>();
        let mut total: Vec<f64> = parts.iter().map(|row| row[0] + row[1] + 2.0 * row[2]).collect();
        total[7] += 0.01;
        let numbers = FrameColumn::numbers;
        let columns = [numbers("a", column(0)), numbers("b", column(1)), numbers("c", column(2))];
        let frame =
            Frame::new([&columns[..], &[numbers("d", column(3)), numbers("total", total.clone())]].concat())
                .unwrap();
        let mut exact = frame.clone();
        total[7] -= 0.01;
        exact.columns[4] = numbers("total", total);
        let linear = Linear::fit(&exact);
        let rest = linear.rest(&frame, 4);
        assert!(rest[7].abs() > 1e-4, "{}", rest[7]);
        assert!((0..500).filter(|row| *row != 7).all(|row| rest[row] == 0.0));
        // Of a column that the others say nothing about all is left.
        let (rest, own) = (linear.rest(&exact, 3), column(3));
        assert!(
            rest.iter()
                .zip(&own)
                .all(|(rest, own)| (rest - (own - linear.means[3]) / linear.deviations[3]).abs() < 0.5)
        );
    }

    #[test]
    fn the_inverse_of_a_matrix() {
        let found = inverse(vec![4.0, 1.0, 1.0, 3.0], 2).unwrap();
        let expected = [3.0, -1.0, -1.0, 4.0].map(|value| value / 11.0);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(inverse(vec![0.0; 4], 2).is_none());
    }
}
