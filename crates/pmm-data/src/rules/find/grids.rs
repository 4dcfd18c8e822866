//! Values on a grid: steps and endings of numbers, times, and the bounds of shares.

use super::super::check::on_grid;
use super::super::rule::{Rule, TimeGrid};
use super::Candidate;
use super::chance::ln_at_least;
use super::sample::{Sample, SampleColumn};

/// Different values below which a grid says nothing.
const VALUES: usize = 10;
/// Multiples of the last digit that are tried, times powers of ten.
const MULTIPLES: [f64; 9] = [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 25.0];
/// Steps below this are digits of a measurement.
const FINEST: f64 = 0.99e-4;
/// Powers of ten.
const POWERS: i32 = 6;

/// Rules about the values of single columns.
pub(crate) fn find(sample: &Sample, error_rate: f64) -> Vec<Candidate> {
    let tests = sample.columns.len() * (2 * MULTIPLES.len() * POWERS as usize + TimeGrid::ALL.len());
    let threshold = (error_rate / tests.max(1) as f64).ln();
    let mut candidates = Vec::new();
    for column in sample.columns.iter().filter(|column| column.distinct() >= VALUES && !column.textual) {
        if column.date.is_some() {
            candidates.extend(on_time(column, threshold));
        } else if column.step > 0.0 {
            candidates.extend(multiple(column, threshold));
            candidates.extend(ending(column, threshold));
        }
        candidates.extend(bounds(column));
    }
    candidates
}

/// The numbers other than 0, with their counts.
fn numbers(column: &SampleColumn) -> Vec<(f64, f64)> {
    let of = |(value, &count): (&super::super::value::Value, &u32)| match value {
        super::super::value::Value::Number(number) if *number != 0.0 => Some((*number, f64::from(count))),
        _ => None,
    };
    column.values.iter().zip(&column.counts).filter_map(of).collect()
}

/// Rows and different values that are on a grid.
#[derive(Default)]
struct OnGrid {
    rows: f64,
    values: f64,
    /// Rows of the most frequent value on it.
    most: f64,
}

fn count(numbers: &[(f64, f64)], fits: impl Fn(f64) -> bool) -> OnGrid {
    let mut found = OnGrid::default();
    for &(_, count) in numbers.iter().filter(|(number, _)| fits(*number)) {
        found.rows += count;
        found.values += 1.0;
        found.most = found.most.max(count);
    }
    found
}

/// The coarsest grid of (nearly) all rows, or of more than half of them.
fn multiple(column: &SampleColumn, threshold: f64) -> Option<Candidate> {
    let numbers = numbers(column);
    let all = count(&numbers, |_| true);
    if numbers.len() < VALUES {
        return None;
    }
    let range = numbers.iter().map(|one| one.0.abs()).fold(0.0, f64::max);
    let mut steps: Vec<f64> = Vec::new();
    for power in 0..POWERS {
        steps.extend(MULTIPLES.iter().map(|multiple| multiple * 10_f64.powi(power)));
    }
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let mut mostly = None;
    let fits = |step: &f64| VALUES as f64 * step * column.step <= range && step * column.step >= FINEST;
    for step in steps.into_iter().filter(fits) {
        let (chance, step) = (1.0 / step, step * column.step);
        let on = count(&numbers, |number| on_grid(number, step));
        let rule = Rule::Multiple { column: column.name.clone(), step, remainder: 0.0, nonzero: true };
        let candidate = Candidate { rule, chance: Some(1.0 - chance) };
        // Each value counts once: values that come often are not more rows by chance.
        if on.rows >= 0.99 * all.rows && ln_at_least(on.values, all.values, chance) <= threshold {
            return Some(candidate);
        }
        let heaped =
            chance <= 0.2 && on.values >= VALUES as f64 && on.rows - on.most >= 0.5 * (all.rows - on.most);
        if mostly.is_none()
            && heaped
            && ln_at_least(on.rows - on.most, all.rows - on.most, chance) <= threshold
        {
            mostly = Some(candidate);
        }
    }
    mostly.or_else(|| decimals(column))
}

/// So many digits after the point.
fn decimals(column: &SampleColumn) -> Option<Candidate> {
    let few = column.step < 1.0 && column.step >= FINEST;
    let rule =
        || Rule::Multiple { column: column.name.clone(), step: column.step, remainder: 0.0, nonzero: false };
    few.then(|| Candidate { rule: rule(), chance: Some(0.9) })
}

/// Prices that end in .99, or in 9.
fn ending(column: &SampleColumn, threshold: f64) -> Option<Candidate> {
    let numbers = numbers(column);
    let all = count(&numbers, |_| true);
    for modulus in [100.0, 10.0, 1.0].into_iter().filter(|modulus| column.step < *modulus) {
        let remainder = |number: f64| {
            let rest = number.abs().rem_euclid(modulus);
            ((rest / column.step).round() * column.step).rem_euclid(modulus)
        };
        let mut rests: Vec<(f64, f64)> = numbers.iter().map(|one| (remainder(one.0), one.1)).collect();
        rests.sort_by(|a, b| a.0.total_cmp(&b.0));
        rests.dedup_by(|next, kept| {
            let same = (next.0 - kept.0).abs() < 0.5 * column.step;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        let Some(&(rest, _)) = rests.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        if rest < 0.5 * column.step {
            continue;
        }
        let on = count(&numbers, |number| on_grid(number.abs() - rest, modulus));
        let chance = column.step / modulus;
        let heaped =
            on.values >= VALUES as f64 && on.rows - on.most >= 0.5 * (all.rows - on.most) && chance <= 0.2;
        if heaped && ln_at_least(on.rows - on.most, all.rows - on.most, chance) <= threshold {
            let remainder = (rest * 1e9).round() / 1e9;
            let rule =
                Rule::Multiple { column: column.name.clone(), step: modulus, remainder, nonzero: true };
            return Some(Candidate { rule, chance: Some(1.0 - chance) });
        }
    }
    None
}

/// The coarsest grid of times.
fn on_time(column: &SampleColumn, threshold: f64) -> Option<Candidate> {
    let days_only = column.date == Some(super::super::rows::DateUnit::Days);
    let unit = column.date.map_or(1.0, super::super::rows::DateUnit::seconds);
    let numbers = numbers(column);
    let all = count(&numbers, |_| true);
    let grids = TimeGrid::ALL.into_iter().filter(|grid| grid.chance(days_only) < 0.5);
    let grids = grids.take(if days_only { 2 } else { TimeGrid::ALL.len() });
    for grid in grids {
        let on = count(&numbers, |number| grid.holds(number * unit));
        let chance = grid.chance(days_only);
        if on.rows >= 0.95 * all.rows && ln_at_least(on.values, all.values, chance) <= threshold {
            let rule = Rule::OnTime { column: column.name.clone(), grid };
            return Some(Candidate { rule, chance: Some(1.0 - chance) });
        }
    }
    None
}

/// Shares within 0 and 1, percentages from 0 to 100, numbers that stop at 0.
fn bounds(column: &SampleColumn) -> Option<Candidate> {
    let (low, high) = (column.profile.low, column.profile.high);
    if !column.numeric || low < 0.0 {
        return None;
    }
    let zeros = numbers(column).iter().map(|one| one.1).sum::<f64>() < 0.99 * column.present as f64;
    let high = if column.step < 1.0 && high <= 1.0 && (low <= 0.1 || high >= 0.9) {
        Some(1.0)
    } else if low == 0.0 && high == 100.0 {
        Some(100.0)
    } else if zeros && column.step < 1.0 {
        None
    } else {
        return None;
    };
    let rule = Rule::Range { column: column.name.clone(), low: Some(0.0), high };
    Some(Candidate { rule, chance: None })
}
