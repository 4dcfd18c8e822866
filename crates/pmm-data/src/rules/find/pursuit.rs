//! Which few columns a column is a sum of: orthogonal matching pursuit with least squares.

/// A fit: target ≈ Σ factor · column + constant.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    /// Places of the columns.
    pub(crate) terms: Vec<usize>,
    pub(crate) factors: Vec<f64>,
}

/// Fewer complete rows than this say nothing.
const ROWS: usize = 30;
/// A column that correlates less with the rest is not taken: of at most eight parts of a sum, the largest correlates more.
const LEAST: f64 = 0.15;

/// Adds, up to `most` times, the column that correlates best with what is left; shows every fit to `accept`, which returns what
/// it would leave of the target (to go on from there), or nothing to go on from the fit itself. Columns are NaN where missing.
pub(crate) fn pursue(
    target: &[f64],
    columns: &[&[f64]],
    most: usize,
    mut accept: impl FnMut(&Fit) -> Option<Vec<f64>>,
) {
    let mut rest = target.to_vec();
    let mut terms: Vec<usize> = Vec::new();
    while terms.len() < most {
        let Some(next) = best(&rest, columns, &terms) else { return };
        terms.push(next);
        let chosen: Vec<&[f64]> = terms.iter().map(|&term| columns[term]).collect();
        let Some((factors, left)) = trimmed(target, &chosen) else { return };
        let fit = Fit { terms: terms.clone(), factors };
        rest = accept(&fit).unwrap_or(left);
    }
}

/// The column with the largest correlation, a few odd rows set aside.
fn best(rest: &[f64], columns: &[&[f64]], taken: &[usize]) -> Option<usize> {
    let rest = &clipped(rest);
    let open = (0..columns.len()).filter(|place| !taken.contains(place));
    let scored = open.map(|place| (correlation(rest, columns[place]).abs(), place));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (best.0 >= LEAST).then_some(best.1)
}

/// The lowest and the highest hundredth cut off at its border.
fn clipped(rest: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> = rest.iter().copied().filter(|value| value.is_finite()).collect();
    if known.is_empty() {
        return rest.to_vec();
    }
    known.sort_by(f64::total_cmp);
    let out = known.len() / 100;
    let (low, high) = (known[out], known[known.len() - 1 - out]);
    rest.iter().map(|value| if value.is_finite() { value.clamp(low, high) } else { *value }).collect()
}

/// The correlation in rows where both are known; 0 if there are too few.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let pairs = || a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
    let mut sums = [0.0; 3];
    for (a, b) in pairs() {
        sums[0] += 1.0;
        sums[1] += a;
        sums[2] += b;
    }
    let n = sums[0];
    let (mean_a, mean_b) = (sums[1] / n, sums[2] / n);
    let mut moments = [0.0; 3];
    for (a, b) in pairs() {
        let (a, b) = (a - mean_a, b - mean_b);
        moments[0] += a * a;
        moments[1] += a * b;
        moments[2] += b * b;
    }
    let correlation = moments[1] / (moments[0] * moments[2]).sqrt();
    if n < ROWS as f64 || !correlation.is_finite() { 0.0 } else { correlation }
}

/// Least squares, then again on the four fifths of the rows that fit best, so that a few odd rows do not count. The factors,
/// and what is left of the target.
fn trimmed(target: &[f64], columns: &[&[f64]]) -> Option<(Vec<f64>, Vec<f64>)> {
    let complete =
        |row: &usize| target[*row].is_finite() && columns.iter().all(|column| column[*row].is_finite());
    let mut rows: Vec<usize> = (0..target.len()).filter(complete).collect();
    if rows.len() < ROWS {
        return None;
    }
    let mut solution = least_squares(target, columns, &rows)?;
    let left = |solution: &[f64], row: usize| {
        let sum: f64 = columns.iter().zip(solution).map(|(column, factor)| factor * column[row]).sum();
        target[row] - sum - solution[columns.len()]
    };
    let keep = (rows.len() * 4).div_ceil(5).max(ROWS).min(rows.len());
    for _ in 0..3 {
        let off: Vec<f64> = (0..target.len()).map(|row| left(&solution, row).abs()).collect();
        rows.sort_unstable_by(|&a, &b| off[a].total_cmp(&off[b]).then(a.cmp(&b)));
        let Some(better) = least_squares(target, columns, &rows[..keep]) else { break };
        solution = better;
    }
    let rest = (0..target.len()).map(|row| left(&solution, row)).collect();
    solution.truncate(columns.len());
    Some((solution, rest))
}

/// The factors, then the constant; columns are brought to one scale and centred before. None if they depend on each other.
fn least_squares(target: &[f64], columns: &[&[f64]], rows: &[usize]) -> Option<Vec<f64>> {
    let n = rows.len() as f64;
    let mean = |column: &[f64]| rows.iter().map(|&row| column[row]).sum::<f64>() / n;
    let centre: Vec<f64> = columns.iter().map(|column| mean(column)).collect();
    let target_mean = mean(target);
    let k = columns.len();
    let mut matrix = vec![vec![0.0; k + 1]; k];
    for &row in rows {
        for i in 0..k {
            let a = columns[i][row] - centre[i];
            for j in 0..=i {
                matrix[i][j] += a * (columns[j][row] - centre[j]);
            }
            matrix[i][k] += a * (target[row] - target_mean);
        }
    }
    let scale: Vec<f64> = (0..k).map(|i| matrix[i][i].sqrt()).collect();
    if scale.iter().any(|&scale| scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    for i in 0..k {
        for j in 0..i {
            matrix[i][j] /= scale[i] * scale[j];
            matrix[j][i] = matrix[i][j];
        }
        matrix[i][i] = 1.0;
        matrix[i][k] /= scale[i];
    }
    let mut solution = solved(matrix)?;
    for (factor, scale) in solution.iter_mut().zip(&scale) {
        *factor /= scale;
    }
    let constant =
        target_mean - solution.iter().zip(&centre).map(|(factor, mean)| factor * mean).sum::<f64>();
    solution.push(constant);
    Some(solution)
}

/// Gauss's elimination of a positive matrix with its right side in the last column.
fn solved(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let k = matrix.len();
    for i in 0..k {
        if matrix[i][i] < 1e-10 {
            return None;
        }
        for below in i + 1..k {
            let factor = matrix[below][i] / matrix[i][i];
            let (above, rest) = matrix.split_at_mut(below);
            for (to, from) in rest[0][i..].iter_mut().zip(&above[i][i..]) {
                *to -= factor * from;
            }
        }
    }
    let mut solution = vec![0.0; k];
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|j| matrix[i][j] * solution[j]).sum();
        solution[i] = (matrix[i][k] - known) / matrix[i][i];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_taken_apart() {
        let column = |factor: usize| -> Vec<f64> { (0..200).map(|i| (i * factor % 197) as f64).collect() };
        let (a, b, c) = (column(31), column(57), column(101));
        let mut target: Vec<f64> = (0..200).map(|i| 2.0 * a[i] - c[i] + 5.0).collect();
        target[17] = 1e6;
        let mut last = None;
        pursue(&target, &[&a, &b, &c], 3, |fit| {
            last = Some(fit.clone());
            None
        });
        let fit = last.unwrap();
        for (place, wanted) in [(0, 2.0), (2, -1.0)] {
            let at = fit.terms.iter().position(|&term| term == place).unwrap();
            assert!((fit.factors[at] - wanted).abs() < 1e-9, "{fit:?}");
        }
    }
}
