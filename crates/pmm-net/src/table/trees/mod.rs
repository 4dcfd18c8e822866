//! Boosted trees as an estimate of a table's cells: the law of a cell from what is known of its row.

mod bins;
mod learn;
mod place;
mod pool;

use pmm_trees::{ColumnTrees, PackedTrees, Questions, UnpackError};

pub use learn::{RowsOf, TreesConfig};
pub(super) use pool::Pool;
pub use pool::{Answers, Shares};

use self::bins::{Binner, ValueBins, grid_of};
use self::learn::MOST_VALUE_BINS;
use self::place::PlaceTrees;
use super::cell_law::ScorePart;
use super::coordinates::{CellCoordinates, ColumnPlace};
use super::head::Law;
use super::net::TableNet;

/// The trees of a table's columns.
#[derive(Debug, Clone)]
pub struct TableTrees {
    binner: Binner,
    columns: Vec<TreesOfColumn>,
}

/// The trees of a column: for its codes, and for its number.
#[derive(Debug, Clone, PartialEq)]
pub struct TreesOfColumn {
    codes: Option<ColumnTrees>,
    value: Option<ValueTrees>,
}

/// The trees of a number: how probable its bins are, and where it lies.
#[derive(Debug, Clone, PartialEq)]
struct ValueTrees {
    ranks: ColumnTrees,
    bins: ValueBins,
    place: Option<PlaceTrees>,
}

/// What the two lists of a column tell.
struct Plan {
    codes: Option<(Questions, Vec<u64>)>,
    value: Option<ValueBins>,
}

impl Plan {
    fn of(net: &TableNet, column: usize, bins: usize) -> Self {
        let place = &net.coordinates.columns[column];
        Self {
            codes: codes_of(place),
            value: grid_of(place, &net.schema.columns[place.column]).map(|grid| ValueBins::new(grid, bins)),
        }
    }

    fn value_questions(bins: &ValueBins) -> Questions {
        Questions::ordered(&bins.counts)
    }
}

/// The questions about a column's codes: whether a cell is missing comes first, and few values have an order.
fn codes_of(place: &ColumnPlace) -> Option<(Questions, Vec<u64>)> {
    let tokens = place.tokens.as_ref()?;
    let mut counts = tokens.counts.clone();
    counts.resize(tokens.codes, 0);
    let tree = |counts: &[u64]| match tokens.values.is_empty() {
        true => Questions::unordered(counts),
        false => Questions::ordered(counts),
    };
    let questions = match tokens.missing {
        None => tree(&counts),
        Some(missing) => {
            let mut present = counts.clone();
            present.remove(missing as usize);
            Questions::after(missing, tree(&present))
        }
    };
    Some((questions, counts))
}

impl ValueTrees {
    /// The law by bins: within one a number is as it is in the column, and its scores are normal.
    fn bin_parts(&self, bytes: &[u8]) -> Vec<ScorePart> {
        let mut shares = Vec::new();
        self.ranks.probabilities(bytes, &mut shares);
        let part = |(weight, ends): (f64, &[f64])| ScorePart {
            weight,
            mean: 0.0,
            sd: 1.0,
            low: ends[0],
            high: ends[1],
        };
        shares.into_iter().zip(self.bins.scores.windows(2)).map(part).collect()
    }
}

impl TreesOfColumn {
    /// The law of a cell in a row of these bytes.
    fn law(&self, bytes: &[u8]) -> Law {
        let mut law = Law::default();
        if let Some(trees) = &self.codes {
            trees.probabilities(bytes, &mut law.codes);
        }
        if let Some(value) = &self.value {
            law.parts = value.bin_parts(bytes);
            if let Some(place) = &value.place {
                law.parts.iter_mut().for_each(|part| part.weight *= 1.0 - place.share);
                law.parts.extend(place.parts(bytes));
            }
        }
        law
    }

    /// As lists of numbers by name.
    pub fn pack(&self) -> Vec<(String, Vec<f32>)> {
        let named = |list: &'static str, trees: &ColumnTrees| {
            trees.pack().into_parts().map(|(part, values)| (format!("{list}.{part}"), values))
        };
        let mut lists: Vec<_> = self.codes.iter().flat_map(|trees| named("codes", trees)).collect();
        if let Some(value) = &self.value {
            lists.extend(named("value", &value.ranks));
            lists.push(("value.bins".into(), vec![value.bins.most as f32]));
            lists.extend(value.place.iter().flat_map(PlaceTrees::pack));
        }
        lists
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        let place = |value: &ValueTrees| value.place.as_ref().map_or(0, PlaceTrees::trees);
        let value = self.value.as_ref().map_or(0, |value| value.ranks.trees() + place(value));
        self.codes.as_ref().map_or(0, ColumnTrees::trees) + value
    }
}

impl TableNet {
    /// The trees of a column, of lists of numbers by name; none without any, refused where they are not those of the column.
    pub fn unpack_column(
        &self,
        column: usize,
        mut take: impl FnMut(&str) -> Option<Vec<f32>>,
    ) -> Result<Option<TreesOfColumn>, UnpackError> {
        let codes = PackedTrees::of_parts(|part| take(&format!("codes.{part}")));
        let value = PackedTrees::of_parts(|part| take(&format!("value.{part}")));
        if codes.is_none() && value.is_none() {
            return Ok(None);
        }
        let bins = take("value.bins").and_then(|bins| bins.first().copied()).unwrap_or(2.0);
        let plan = Plan::of(self, column, (bins as usize).clamp(2, MOST_VALUE_BINS));
        let features = Binner::new(&self.coordinates, &self.schema).features().len();
        let unpack = |packed: Option<PackedTrees>, questions: Questions| {
            ColumnTrees::unpack(&packed.unwrap_or_default(), questions, features)
        };
        let codes = match plan.codes {
            Some((questions, _)) => Some(unpack(codes, questions)?),
            None => None,
        };
        let value = match plan.value {
            Some(bins) => Some(ValueTrees {
                ranks: unpack(value, Plan::value_questions(&bins))?,
                bins,
                place: PlaceTrees::unpack(&mut take, features)?,
            }),
            None => None,
        };
        Ok(Some(TreesOfColumn { codes, value }))
    }
}

impl TableTrees {
    /// Trees of a network's columns.
    pub fn new(net: &TableNet, columns: Vec<TreesOfColumn>) -> Self {
        Self { binner: Binner::new(&net.coordinates, &net.schema), columns }
    }

    /// The law of a column's cell in a row of which so much is known.
    pub fn law(&self, column: usize, seen: &[CellCoordinates]) -> Law {
        let mut bytes = Vec::with_capacity(self.binner.features().len());
        self.binner.write(|column| seen[column], &mut bytes);
        self.columns[column].law(&bytes)
    }

    /// The trees of every column.
    pub fn columns(&self) -> &[TreesOfColumn] {
        &self.columns
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.columns.iter().map(TreesOfColumn::trees).sum()
    }
}
