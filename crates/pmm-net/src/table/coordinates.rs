//! Coordinates of a table: which blocks of which pairs its columns become, and cells as values of these.

use std::sync::Arc;

use pmm_core::{
    AnyPair, Block, Exponential, Gamma, Group, LogLinear, Masked, Normal, Pair, ParameterError, Poisson,
    Space,
};
use pmm_data::{Cell, Coding, Column, Numbers, PairKind, Schema};
use serde::{Deserialize, Serialize};

use super::atoms::Atoms;

/// How clocks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// A column jumps from unknown to known: one call per column, from the law given those before.
    #[default]
    Reveal,
    /// The paper's way: every column by its own pair, all clocks running together.
    Gradual,
}

/// The coordinates of a table.
#[derive(Debug, Clone)]
pub struct Coordinates {
    /// A block for every part of a column.
    pub space: Space,
    /// The modelled columns.
    pub columns: Vec<ColumnPlace>,
    /// What is revealed together: the parts of a column.
    pub groups: Vec<Group>,
}

/// The coordinates of one column.
#[derive(Debug, Clone)]
pub struct ColumnPlace {
    /// Its place in the schema.
    pub column: usize,
    /// Levels, distinct values, or the gate of special values.
    pub tokens: Option<TokenPlace>,
    /// A number.
    pub value: Option<ValuePlace>,
}

/// A masked coordinate.
#[derive(Debug, Clone)]
pub struct TokenPlace {
    /// Its block.
    pub block: usize,
    /// The number of codes, at least 2.
    pub codes: usize,
    /// The code of a missing cell, where the training data have some.
    pub missing: Option<u32>,
    /// The values of the codes, for numbers of few distinct values.
    pub values: Vec<f64>,
    /// How often each code was seen.
    pub counts: Vec<u64>,
}

/// A numeric coordinate.
#[derive(Debug, Clone)]
pub struct ValuePlace {
    /// Its block.
    pub block: usize,
    /// In what unit it is.
    pub scale: Scale,
    /// Its values, where they are few and run on the clock of counts or positives.
    pub atoms: Option<Arc<Atoms>>,
}

/// The unit of a numeric coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// The normal score of the value.
    Score,
    /// The value over its mean.
    Ratio(f64),
}

/// What is known of a cell, as coordinates: `None` where unknown or not applicable.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CellCoordinates {
    /// The token.
    pub token: Option<u32>,
    /// The value, in the column's own unit.
    pub value: Option<f64>,
}

impl CellCoordinates {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.token.is_none() && self.value.is_none()
    }
}

impl Coordinates {
    /// The coordinates of the modelled columns of a schema.
    pub fn new(schema: &Schema, clock: ClockKind) -> Result<Self, ParameterError> {
        let (mut blocks, mut columns) = (Vec::new(), Vec::new());
        for (index, column) in schema.columns.iter().enumerate().filter(|(_, column)| column.is_modelled()) {
            let mut place = ColumnPlace { column: index, tokens: None, value: None };
            if let Some((values, counts)) = codes(column, clock) {
                let missing = (column.missing > 0).then_some(counts.len() as u32 - 1);
                let codes = counts.len().max(2);
                place.tokens = Some(TokenPlace { block: blocks.len(), codes, missing, values, counts });
                blocks.push(Block::new(Masked::new(codes as u32)?, 1, LogLinear)?);
            }
            if let Some((block, scale, atoms)) = value_block(column, clock)? {
                place.value = Some(ValuePlace { block: blocks.len(), scale, atoms });
                blocks.push(block);
            }
            columns.push(place);
        }
        let blocks_of = |place: &ColumnPlace| {
            let tokens = place.tokens.as_ref().map(|tokens| tokens.block);
            tokens
                .into_iter()
                .chain(place.value.as_ref().map(|value| value.block))
                .map(|block| (block, 0))
                .collect()
        };
        let groups = columns.iter().map(blocks_of).collect();
        Ok(Self { space: Space::new(blocks), columns, groups })
    }
}

/// Values (for numbers of few values) and counts of a column's codes, where it has any; missing cells last.
fn codes(column: &Column, clock: ClockKind) -> Option<(Vec<f64>, Vec<u64>)> {
    let missing = (column.missing > 0).then_some(column.missing);
    let (values, mut counts) = match &column.coding {
        Coding::Levels(levels) => {
            let mut counts = vec![0; levels.n_codes()];
            levels.levels().iter().for_each(|level| {
                counts[levels.code(&level.text).unwrap_or(0) as usize] += level.count;
            });
            (Vec::new(), counts)
        }
        Coding::Numbers(numbers) if numbers.discrete && clock == ClockKind::Reveal => {
            (numbers.grid.values().to_vec(), numbers.grid.counts().collect())
        }
        Coding::Numbers(numbers) => {
            if numbers.specials.is_empty() && missing.is_none() {
                return None;
            }
            let specials = numbers.specials.iter().map(|special| special.count);
            (Vec::new(), std::iter::once(numbers.grid.total()).chain(specials).collect())
        }
        Coding::Constant { .. } | Coding::Out => return None,
    };
    counts.extend(missing);
    Some((values, counts))
}

type ValueBlock = (Block, Scale, Option<Arc<Atoms>>);

/// The block of a column's value, where it has one.
fn value_block(column: &Column, clock: ClockKind) -> Result<Option<ValueBlock>, ParameterError> {
    let Coding::Numbers(numbers) = &column.coding else { return Ok(None) };
    if clock == ClockKind::Reveal {
        let block = || Block::new(Normal::new(1.0, 0.0)?, 1, Exponential::default());
        return if numbers.discrete { Ok(None) } else { Ok(Some((block()?, Scale::Score, None))) };
    }
    let weighted = numbers.grid.values().iter().zip(numbers.grid.counts());
    let mean = weighted.map(|(value, count)| value * count as f64).sum::<f64>() / numbers.grid.total() as f64;
    let positive = numbers.grid.values()[0] > 0.0;
    Ok(Some(match column.pair {
        PairKind::Poisson if mean > 0.0 => {
            // By the end an observation of twenty times the mean count: enough to tell neighbouring counts apart.
            let clock = ending_at((20.0 * mean).max(100.0))?;
            running(Poisson::new(0.5, 0.5)?.intensities(), clock, mean, numbers)?
        }
        PairKind::Gamma if positive => running(Gamma::new(2.0, 1.0)?, ending_at(2000.0)?, mean, numbers)?,
        _ => (Block::new(Normal::new(1.0, 0.0)?, 1, Exponential::default())?, Scale::Score, None),
    }))
}

/// A value over its mean on a running clock.
fn running<P>(pair: P, clock: Exponential, mean: f64, numbers: &Numbers) -> Result<ValueBlock, ParameterError>
where
    P: Pair<Value = f32, Stat = f64> + Into<AnyPair>,
{
    let atoms = numbers.discrete.then(|| {
        let x = numbers.grid.values().iter().map(|value| (value / mean) as f32).collect();
        Arc::new(Atoms::new(&pair, x, numbers.grid.counts().collect()))
    });
    Ok((Block::new(pair, 1, clock)?, Scale::Ratio(mean), atoms))
}

/// An exponential clock with this reading at the end, and 0.01 as its scale.
fn ending_at(information: f64) -> Result<Exponential, ParameterError> {
    let scale = 0.01;
    Exponential::new(scale, (information / scale).ln_1p())
}

impl ColumnPlace {
    /// A cell as coordinates. A missing cell is the token for that, or unknown where training had none; a level never seen is
    /// unknown. A number that is none of a few known values stands for the nearest of them.
    pub fn coordinates(&self, column: &Column, cell: Cell) -> CellCoordinates {
        let gate = |token: u32| self.tokens.as_ref().map(|_| token);
        match (cell, &column.coding, &self.tokens) {
            (Cell::Missing, _, tokens) => {
                CellCoordinates { token: tokens.as_ref().and_then(|tokens| tokens.missing), value: None }
            }
            (Cell::Unseen, ..) => CellCoordinates::default(),
            (Cell::Level(code), ..) => CellCoordinates { token: Some(code), value: None },
            (Cell::Special(s), ..) => CellCoordinates { token: gate(s + 1), value: None },
            (Cell::Value(value), Coding::Numbers(numbers), Some(tokens)) if !tokens.values.is_empty() => {
                CellCoordinates { token: Some(numbers.grid.index(value) as u32), value: None }
            }
            (Cell::Value(value), ..) => {
                CellCoordinates { token: gate(0), value: self.value.is_some().then_some(value) }
            }
        }
    }

    /// The cell of coordinates; `value` is in the coordinate's unit. `snap` keeps to values that were seen, where values
    /// repeat.
    pub fn cell(&self, column: &Column, token: Option<u32>, value: f64, snap: bool) -> Cell {
        if let (Some(tokens), Some(token)) = (&self.tokens, token) {
            if tokens.missing == Some(token) {
                return Cell::Missing;
            }
            if let Some(&value) = tokens.values.get(token as usize) {
                return Cell::Value(value);
            }
            if !matches!(column.coding, Coding::Numbers(_)) {
                return Cell::Level(token);
            }
            if token > 0 {
                return Cell::Special(token - 1);
            }
        }
        Cell::Value(self.to_value(column, value, snap))
    }

    /// Whether a cell with this token has a value of the continuum.
    pub fn has_value(&self, token: Option<u32>) -> bool {
        let gate = self.tokens.as_ref().is_none_or(|tokens| tokens.values.is_empty());
        self.value.is_some() && gate && token.is_none_or(|token| token == 0)
    }

    /// The value of a numeric coordinate, in the column's own unit.
    pub fn to_value(&self, column: &Column, x: f64, snap: bool) -> f64 {
        match (&column.coding, &self.value) {
            (Coding::Numbers(numbers), Some(ValuePlace { scale: Scale::Score, .. })) => {
                numbers.grid.value(x, snap && numbers.snap)
            }
            (Coding::Numbers(numbers), Some(ValuePlace { scale: Scale::Ratio(mean), .. })) => {
                let value = x * mean;
                if snap && numbers.snap { numbers.grid.values()[numbers.grid.index(value)] } else { value }
            }
            _ => f64::NAN,
        }
    }

    /// A value in the coordinate's unit; `u` picks a place within ties.
    pub fn from_value(&self, column: &Column, value: f64, u: f64) -> f64 {
        match (&column.coding, &self.value) {
            (Coding::Numbers(numbers), Some(ValuePlace { scale: Scale::Score, .. })) => {
                numbers.grid.score(value, u)
            }
            (_, Some(ValuePlace { scale: Scale::Ratio(mean), .. })) => value / mean,
            _ => f64::NAN,
        }
    }
}
