//! How well one column is predicted from the others.

use pmm_core::Streams;
use pmm_data::{Coding, Numbers};
use pmm_eval::table::{TableError, calibration, class_calibration};
use pmm_eval::{Prediction, PredictionScore};
use pmm_net::table::ClockKind;

use super::frames::Coded;
use crate::predict::{Forecast, Predictor};

/// Rows that are predicted together.
const CHUNK: usize = 1024;
/// Draws of a row, and rows: gradual clocks take a hundred calls for each draw.
const DRAWS: (usize, usize) = (128, 10_000);
const GRADUAL: (usize, usize) = (40, 150);
/// Values that stand for the training rows.
const MARGINAL: usize = 20_000;

/// The score of predictions of `target`, a column of the schema; none if no row says what came.
pub(super) fn score(
    predictor: &Predictor,
    target: usize,
    rows: &Coded,
    seed: u64,
    mut done: impl FnMut(usize),
) -> anyhow::Result<Option<Prediction>> {
    let net = predictor.model.denoiser.net();
    let (draws, most) = if net.clock() == ClockKind::Gradual { GRADUAL } else { DRAWS };
    let rows = &rows[..rows.len().min(most)];
    let streams = Streams::new(seed);
    let mut forecasts = Vec::with_capacity(rows.len());
    for (chunk, rows) in rows.chunks(CHUNK).enumerate() {
        forecasts.extend(predictor.forecasts(rows, (chunk * CHUNK) as u64, draws, &streams)?);
        done(rows.len());
    }
    let column = &predictor.model.schema.columns[target];
    let truth = rows.iter().map(|row| row[target]);
    let score = match &column.coding {
        Coding::Numbers(numbers) => {
            let mut values: Vec<f64> = truth.map(|(_, value)| value).collect();
            let draws: Vec<f64> = forecasts
                .iter()
                .zip(&mut values)
                .flat_map(|(forecast, truth)| numbers_of(forecast, draws, truth))
                .collect();
            calibration(&draws, &values, &marginal(numbers), seed).map(PredictionScore::Numbers)
        }
        _ => {
            let codes: Vec<u32> = truth.map(|(code, _)| code).collect();
            let shares: Vec<f64> = forecasts.iter().flat_map(shares_of).collect();
            let counts = net.coordinates().columns.iter().find(|place| place.column == target);
            let counts =
                counts.and_then(|place| place.tokens.as_ref()).map_or(&[][..], |tokens| &tokens.counts);
            let counts = &counts[..column.n_codes().min(counts.len())];
            let total = counts.iter().sum::<u64>().max(1) as f64;
            let marginal: Vec<f64> = counts.iter().map(|&count| count as f64 / total).collect();
            class_calibration(&shares, &codes, &marginal).map(PredictionScore::Levels)
        }
    };
    match score {
        Ok(score) => Ok(Some(Prediction { target: column.name.clone(), score })),
        Err(TableError::Rows { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// So many draws of a row; those that are no numbers (texts among them) are replaced by others of the row. Without any, the
/// row is left out.
fn numbers_of(forecast: &Forecast, draws: usize, truth: &mut f64) -> Vec<f64> {
    let Forecast::Draws(values) = forecast else { return vec![0.0; draws] };
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        *truth = f64::NAN;
        return vec![0.0; draws];
    }
    finite.iter().copied().cycle().take(draws).collect()
}

fn shares_of(forecast: &Forecast) -> Vec<f64> {
    match forecast {
        Forecast::Levels(shares) => shares.clone(),
        Forecast::Draws(_) => Vec::new(),
    }
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
        assert_eq!(numbers_of(&Forecast::Draws(vec![2.0, f64::NAN, 3.0]), 3, &mut truth), [2.0, 3.0, 2.0]);
        numbers_of(&Forecast::Draws(vec![f64::NAN]), 3, &mut truth);
        assert!(truth.is_nan());
    }
}
