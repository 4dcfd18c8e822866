//! How well one column is predicted from the others.

use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, Coding, Numbers};
use pmm_eval::table::{MISSING, TableError, calibration, class_calibration};
use pmm_eval::{Prediction, PredictionScore};
use pmm_net::table::ClockKind;

use super::laws::{Laws, RowLaw};
use super::predict::Target;
use super::rows::Empty;
use crate::error::Error;

/// Rows that are predicted together.
const CHUNK: usize = 1024;
/// Draws of a row, and rows that are predicted: gradual clocks take a hundred calls for each draw.
const DRAWS: (usize, usize) = (128, 10_000);
const GRADUAL: (usize, usize) = (40, 150);
/// Values that stand for the training rows.
const MARGINAL: usize = 20_000;

/// The score of predictions; none if no row says what came.
pub(crate) fn score(
    target: &Target<'_>,
    index: usize,
    rows: usize,
    columns: &[Cells],
    seed: u64,
    mut done: impl FnMut(usize),
) -> Result<Option<Prediction>, Error> {
    let net = target.model.denoiser.net();
    let (draws, most) = if net.clock() == ClockKind::Gradual { GRADUAL } else { DRAWS };
    let rows = rows.min(most);
    let streams = Streams::new(seed);
    let mut laws: Vec<RowLaw> = Vec::with_capacity(rows);
    for first in (0..rows).step_by(CHUNK) {
        let some: Vec<usize> = (first..rows.min(first + CHUNK)).collect();
        let cells: Vec<Cells> = columns
            .iter()
            .map(|cells| if cells.is_empty() { Cells::new() } else { cells.select(&some) })
            .collect();
        let numbers: Vec<u64> = some.iter().map(|row| *row as u64).collect();
        laws.extend(target.laws(&cells, Empty::Missing, &numbers, &streams)?);
        done(first + some.len());
    }
    let column = target.column();
    let truth = |row: usize| if columns[index].is_empty() { Cell::Missing } else { columns[index].get(row) };
    let score = match &column.coding {
        Coding::Numbers(numbers) => {
            let (every, streams) = ((0..rows as u64).collect(), streams.child(Purpose::FORECAST, 0));
            let laws = Laws::new(column, every, streams, laws).draws(draws)?;
            let mut truths: Vec<f64> =
                (0..rows).map(|row| column.number(truth(row)).unwrap_or(f64::NAN)).collect();
            let draws: Vec<f64> =
                laws.iter().zip(&mut truths).flat_map(|(drawn, truth)| usable(drawn, draws, truth)).collect();
            calibration(&draws, &truths, &marginal(numbers), seed).map(PredictionScore::Numbers)
        }
        _ => {
            let codes: Vec<u32> = (0..rows)
                .map(|row| if let Cell::Level(code) = truth(row) { code } else { MISSING })
                .collect();
            let shares: Vec<f64> = laws
                .iter()
                .flat_map(|law| if let RowLaw::Levels(shares) = law { shares.clone() } else { Vec::new() })
                .collect();
            class_calibration(&shares, &codes, &level_shares(target, index)).map(PredictionScore::Levels)
        }
    };
    match score {
        Ok(score) => Ok(Some(Prediction { target: column.name.clone(), score })),
        Err(TableError::Rows { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The shares of the levels in the training rows.
fn level_shares(target: &Target<'_>, index: usize) -> Vec<f64> {
    let places = &target.model.denoiser.net().coordinates().columns;
    let place = places.iter().find(|place| place.column == index);
    let counts = place.and_then(|place| place.tokens.as_ref()).map_or(&[][..], |tokens| &tokens.counts);
    let counts = &counts[..target.column().n_codes().min(counts.len())];
    let total = counts.iter().sum::<u64>().max(1) as f64;
    counts.iter().map(|&count| count as f64 / total).collect()
}

/// So many draws of a row. Without a number among them, the row is left out.
fn usable(drawn: &[f64], draws: usize, truth: &mut f64) -> Vec<f64> {
    let finite: Vec<f64> = drawn.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        *truth = f64::NAN;
        return vec![0.0; draws];
    }
    finite.iter().copied().cycle().take(draws).collect()
}

/// The training values of a column, at even ranks.
fn marginal(numbers: &Numbers) -> Vec<f64> {
    let specials = numbers.specials.iter().filter_map(|special| Some((special.value?, special.count)));
    let knots: Vec<(f64, u64)> =
        numbers.grid.values().iter().copied().zip(numbers.grid.counts()).chain(specials).collect();
    let total: u64 = knots.iter().map(|(_, count)| count).sum();
    let wanted = (total as usize).clamp(2, MARGINAL);
    let (mut values, mut below) = (Vec::with_capacity(wanted), 0);
    for (value, count) in knots {
        below += count;
        let until = (below as f64 / total as f64 * wanted as f64).round() as usize;
        values.resize(until.max(values.len()), value);
    }
    values
}

#[cfg(test)]
mod tests {
    use pmm_data::{Overrides, ReadOptions, Schema, Source};

    use super::*;

    #[test]
    fn the_marginal_has_every_value_as_often_as_the_data() {
        let text = "x\n".to_owned() + &"1.5\n2.5\n2.5\n4.5\n".repeat(30);
        let source = Source::from_bytes("x.csv", text.into(), &ReadOptions::default()).unwrap();
        let schema = Schema::infer(&source, &Overrides::default()).unwrap();
        let Coding::Numbers(numbers) = &schema.columns[0].coding else { panic!("numbers") };
        let found = marginal(numbers);
        let count = |x: f64| found.iter().filter(|value| **value == x).count();
        assert_eq!((found.len(), count(1.5), count(2.5), count(4.5)), (120, 30, 60, 30));
    }

    #[test]
    fn draws_that_are_no_numbers_are_replaced() {
        let mut truth = 1.0;
        assert_eq!(usable(&[2.0, f64::NAN, 3.0], 3, &mut truth), [2.0, 3.0, 2.0]);
        usable(&[f64::NAN], 3, &mut truth);
        assert!(truth.is_nan());
    }
}
