//! Means of cells while a sampler runs, in the columns' own units.

use pmm_core::{Estimate, Estimates, States, Streams, Values};
use pmm_data::{Cell, Coding, Column};
use pmm_net::table::{CellCoordinates, ClockKind, ColumnPlace, FillOptions, TableDenoiser};

use super::model::Model;
use crate::error::Error;

/// Rows that are drawn.
pub(super) const ROWS: usize = 24;
/// Network calls of a gradual clock.
const CALLS: usize = 100;

/// Where every row was at every step.
pub(super) struct Paths {
    /// Looks at the rows.
    pub(super) steps: usize,
    /// `[columns][rows][steps]`: means, NaN where there is none.
    means: Vec<Vec<Vec<f64>>>,
    /// `[columns][rows]`: the step at which the cell was first seen to be known.
    known: Vec<Vec<Option<usize>>>,
    /// `[columns][rows]`: values at the end.
    ends: Vec<Vec<f64>>,
    /// `[modelled columns][rows]`: tokens at the end.
    tokens: Vec<Vec<u32>>,
}

impl Paths {
    /// The path of a row, to its value.
    pub(super) fn line(&self, column: usize, row: usize) -> Vec<(f64, f64)> {
        let means = self.means[column][row].iter().enumerate();
        means.map(|(step, &mean)| (step as f64, mean)).collect()
    }

    /// Where a row's value became known: at its turn, or at the end of the clock.
    pub(super) fn arrival(&self, column: usize, row: usize, clock: ClockKind) -> Option<(f64, f64)> {
        let step = match clock {
            ClockKind::Reveal => self.known[column][row]?,
            ClockKind::Gradual => self.steps.saturating_sub(1),
        };
        let end = self.ends[column][row];
        end.is_finite().then_some((step as f64, end))
    }

    /// The tokens of a modelled column at the end.
    pub(super) fn tokens(&self, column: usize) -> &[u32] {
        &self.tokens[column]
    }
}

/// Lets rows be made, and looks at the chosen columns on the way.
pub(super) fn walk(
    model: &Model,
    denoiser: &TableDenoiser,
    chosen: &[usize],
    streams: &Streams,
) -> Result<Paths, Error> {
    let places = &denoiser.net().coordinates().columns;
    let columns: Vec<(&ColumnPlace, &Column)> =
        chosen.iter().map(|&at| (&places[at], &model.schema().columns[places[at].column])).collect();
    let clock = denoiser.net().clock();
    let mut means = vec![vec![Vec::new(); ROWS]; chosen.len()];
    let mut known = vec![vec![None; ROWS]; chosen.len()];
    let mut steps = 0;
    let mut look = |step: usize, states: &States, estimates: &Estimates| {
        steps = step + 1;
        for (c, (place, column)) in columns.iter().enumerate() {
            let posterior = place.value.as_ref().map(|value| states.means(value.block));
            for row in 0..ROWS {
                let seen = is_known(place, states, row);
                if seen && known[c][row].is_none() {
                    known[c][row] = Some(step);
                }
                let x = posterior.as_ref().map_or(f64::NAN, |means| f64::from(means[row]));
                means[c][row].push(match clock {
                    ClockKind::Gradual => place.to_value(column, x, false),
                    ClockKind::Reveal if seen => {
                        number(column, place.cell(column, token(place, states, row), x, true))
                    }
                    ClockKind::Reveal => expected(place, column, estimates, row),
                });
            }
        }
    };
    let unknown = vec![CellCoordinates::default(); ROWS * places.len()];
    let options = FillOptions { steps: CALLS, ..FillOptions::default() };
    let x = denoiser.run(denoiser.states(&unknown, 0)?, options, streams, &mut look)?;
    let ends: Vec<Vec<f64>> = columns
        .iter()
        .map(|(place, column)| (0..ROWS).map(|row| end(place, column, &x, row)).collect())
        .collect();
    if clock == ClockKind::Gradual {
        // The last call gives the value itself.
        for (means, ends) in means.iter_mut().flatten().zip(ends.iter().flatten()) {
            means.push(*ends);
        }
        steps += 1;
    }
    let tokens = places.iter().map(|place| match &place.tokens {
        Some(tokens) => x.tokens(tokens.block).to_vec(),
        None => vec![0; ROWS],
    });
    Ok(Paths { steps, means, known, ends, tokens: tokens.collect() })
}

fn token(place: &ColumnPlace, states: &States, row: usize) -> Option<u32> {
    place.tokens.as_ref().and_then(|tokens| states.stat(tokens.block).as_tokens().map(|t| t[row]))
}

fn is_known(place: &ColumnPlace, states: &States, row: usize) -> bool {
    let blocks = place.tokens.iter().map(|t| t.block).chain(place.value.iter().map(|v| v.block));
    blocks.into_iter().all(|block| states.clock(block)[row] == f64::INFINITY)
}

fn end(place: &ColumnPlace, column: &Column, x: &Values, row: usize) -> f64 {
    let token = place.tokens.as_ref().map(|tokens| x.tokens(tokens.block)[row]);
    let value = place.value.as_ref().map_or(f64::NAN, |at| f64::from(x.reals(at.block)[row]));
    number(column, place.cell(column, token, value, true))
}

/// The number of a cell; NaN if it has none.
fn number(column: &Column, cell: Cell) -> f64 {
    column.number(cell).unwrap_or(f64::NAN)
}

/// The mean of a cell's law: over its codes that have a number, and its value.
fn expected(place: &ColumnPlace, column: &Column, estimates: &Estimates, row: usize) -> f64 {
    let value = place.value.as_ref().map(|at| mean_value(place, column, &estimates.blocks[at.block], row));
    let Some(tokens) = &place.tokens else { return value.unwrap_or(f64::NAN) };
    let Estimate::Mean(shares) = &estimates.blocks[tokens.block] else { return f64::NAN };
    let shares = &shares[row * tokens.codes..][..tokens.codes];
    let number = |code: usize| match (&column.coding, value) {
        _ if !tokens.values.is_empty() => tokens.values.get(code).copied(),
        (_, value) if code == 0 => value,
        (Coding::Numbers(numbers), _) => numbers.specials.get(code - 1).and_then(|special| special.value),
        _ => None,
    };
    let terms = shares.iter().enumerate().filter_map(|(code, &p)| Some((f64::from(p), number(code)?)));
    let (total, sum) = terms.fold((0.0, 0.0), |(total, sum), (p, x)| (total + p, sum + p * x));
    sum / total
}

/// The mean of a value whose normal score is a mixture of normal laws: by the trapezoidal rule over each.
fn mean_value(place: &ColumnPlace, column: &Column, estimate: &Estimate, row: usize) -> f64 {
    let Estimate::Mixture(mixture) = estimate else { return f64::NAN };
    let range = row * mixture.components..(row + 1) * mixture.components;
    let (mut sum, mut total) = (0.0, 0.0);
    for k in range {
        for node in -16..=16 {
            let z = f64::from(node) / 4.0;
            let weight = f64::from(mixture.weight[k]) * (-0.5 * z * z).exp();
            let x = f64::from(mixture.mean[k]) + f64::from(mixture.sd[k]) * z;
            sum += weight * place.to_value(column, x, false);
            total += weight;
        }
    }
    sum / total
}
