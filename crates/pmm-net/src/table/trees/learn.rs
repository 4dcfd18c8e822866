//! How the trees of a table are learned: rows with some cells known, column by column.

use pmm_core::{Purpose, Streams};
use pmm_data::Table;
use pmm_trees::{BoostConfig, Examples, Numbers, fit};
use serde::{Deserialize, Serialize};

use super::bins::{Binner, ValueBins};
use super::place::PlaceTrees;
use super::pool::{LEAST_LOG, best_share};
use super::{Law, Plan, ScorePart, TreesOfColumn, ValueTrees};
use crate::setting::SettingError;
use crate::table::coordinates::CellCoordinates;
use crate::table::net::TableNet;

/// How the trees of a table are learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TreesConfig {
    /// Examples of a column: rows, each with some of its cells known, several times over where rows are fewer.
    pub examples: usize,
    /// Bins in which a number of a continuum is told, at most.
    pub bins: usize,
    /// Trees of a question, at most.
    pub rounds: usize,
    /// What is taken of each tree.
    pub rate: f64,
    /// Leaves of a tree, at most.
    pub leaves: usize,
    /// What leaves are shrunk by.
    pub l2: f64,
    /// The least weight of a leaf: four rows of even odds have 1.
    pub least: f64,
    /// Rounds without a new best on held-out rows after which no more trees are grown.
    pub patience: usize,
}

impl Default for TreesConfig {
    fn default() -> Self {
        Self {
            examples: 40_000,
            bins: 64,
            rounds: 400,
            rate: 0.05,
            leaves: 16,
            l2: 5.0,
            least: 1.0,
            patience: 10,
        }
    }
}

/// Bins of a number, at most.
pub(super) const MOST_VALUE_BINS: usize = 1024;
/// A row is looked at so many times in different ways, at most.
const MOST_WAYS: usize = 16;
/// Held-out examples of a column, at least: rows are looked at in several ways.
const LEAST_CHECKED: usize = 3_000;
/// Examples of a column of which a tree is grown, in rows.
const ROWS_A_TREE: f64 = 2.0;
/// Keys of what is drawn for means and spreads, above those of questions.
const PLACE_KEYS: u32 = 1 << 24;
/// Share of a named target's examples in which all other columns are known.
const TARGET_SHARE: f64 = 0.5;

impl TreesConfig {
    /// The recommended settings for a table of so many rows and columns.
    pub fn for_table(rows: u64, columns: usize) -> Self {
        let base = Self::default();
        // Every column is learned from all others: the work is quadratic in columns.
        let examples = (1.6e7 / (columns * columns).max(1) as f64) as usize;
        let bins = (rows as usize / 32).clamp(8, base.bins);
        let base = if columns > 40 { Self { rounds: 100, rate: 0.1, ..base } } else { base };
        Self { examples: examples.clamp(4_000, 60_000), bins, ..base }
    }

    /// Refuses settings that make no trees.
    pub fn check(&self) -> Result<(), SettingError> {
        SettingError::between("trees.examples", self.examples, 1, 100_000_000)?;
        SettingError::between("trees.bins", self.bins, 2, MOST_VALUE_BINS)?;
        SettingError::between("trees.rounds", self.rounds, 1, 100_000)?;
        SettingError::between("trees.rate", self.rate, 1e-4, 1.0)?;
        SettingError::between("trees.leaves", self.leaves, 2, 4096)?;
        SettingError::between("trees.l2", self.l2, 0.0, 1e6)?;
        SettingError::between("trees.least", self.least, 1e-6, 1e6)?;
        SettingError::between("trees.patience", self.patience, 1, 100_000)
    }
}

/// A table, and which of its rows.
pub type RowsOf<'a> = (&'a Table, &'a [u32]);

/// Some rows of a table.
#[derive(Clone, Copy)]
struct SomeRows<'a> {
    table: &'a Table,
    rows: &'a [u32],
}

impl TableNet {
    /// Learns the trees of a column from some rows, as far as held-out rows gain. `target` is the column that is asked for most
    /// when all others are known; `in_order` the share of the other rows that are shown as drawing sees them.
    pub fn learn_column(
        &self,
        column: usize,
        (learned, held_out): (RowsOf<'_>, RowsOf<'_>),
        (target, in_order): (Option<usize>, f64),
        config: &TreesConfig,
        streams: &Streams,
    ) -> TreesOfColumn {
        let (learned, held_out) = (
            SomeRows { table: learned.0, rows: learned.1 },
            SomeRows { table: held_out.0, rows: held_out.1 },
        );
        let binner = Binner::new(&self.coordinates, &self.schema);
        let plan = Plan::of(self, column, config.bins);
        let n = learned.rows.len().max(1);
        let ways = config.examples.div_ceil(n).clamp(1, MOST_WAYS);
        // Of a very large table a part will do.
        let kept = (config.examples.max(1_000) as f64 / n as f64).min(1.0);
        let checked = LEAST_CHECKED.div_ceil(held_out.rows.len().max(1)).clamp(1, MOST_WAYS);
        let asking =
            Asking { net: self, binner: &binner, column, alone: target == Some(column), in_order, streams };
        let learned = asking.examples(learned, ways, kept, 0, plan.value.as_ref());
        let held_out = asking.examples(held_out, checked, 1.0, 1, plan.value.as_ref());
        let boost = BoostConfig {
            rounds: config.rounds,
            rate: config.rate,
            leaves: config.leaves,
            l2: config.l2,
            least: config.least,
            share: (ROWS_A_TREE / ways as f64).clamp(0.1, 0.7),
            patience: config.patience,
        };
        let features = binner.features();
        TreesOfColumn {
            codes: plan.codes.map(|(questions, counts)| {
                let key = (streams, 2 * column as u32);
                fit(features, questions, &counts, (&learned.codes, &held_out.codes), &boost, key)
            }),
            value: plan.value.map(|bins| {
                let (questions, key) = (Plan::value_questions(&bins), (streams, 2 * column as u32 + 1));
                let both = (&learned.values, &held_out.values);
                let ranks = fit(features, questions, &bins.counts, both, &boost, key);
                let mut value = ValueTrees { ranks, bins, place: None };
                // Four rows, as in a question of even odds.
                let numbers = BoostConfig { l2: 0.2 * boost.l2, least: 4.0 * boost.least, ..boost };
                let place = PlaceTrees::learn(
                    features,
                    (learned.numbers(), &learned.folds),
                    held_out.numbers(),
                    &numbers,
                    (streams, PLACE_KEYS + 8 * column as u32),
                );
                value.place = value.share_of(place, &held_out, features.len(), checked);
                value
            }),
        }
    }
}

impl ValueTrees {
    /// Gives the law about the mean its share beside that of bins, by held-out examples; none where that is nothing.
    fn share_of(
        &self,
        place: PlaceTrees,
        held_out: &Made,
        features: usize,
        repeats: usize,
    ) -> Option<PlaceTrees> {
        let log = |parts: Vec<ScorePart>, z: f32| {
            Law { parts, ..Law::default() }.log_density(f64::from(z)).max(LEAST_LOG)
        };
        let logs = |(at, z): (usize, &f32)| {
            let bytes = &held_out.values.bins[at * features..][..features];
            [log(self.bin_parts(bytes), *z), log(place.parts(bytes).collect(), *z)]
        };
        let logs: Vec<[f64; 2]> = held_out.scores.iter().enumerate().map(logs).collect();
        let share = best_share(&logs, repeats as f64);
        (share > 0.0).then(|| place.with_share(share))
    }
}

/// Examples of a column.
#[derive(Default)]
struct Made {
    /// Of its codes.
    codes: Examples,
    /// Of the bins of its number.
    values: Examples,
    /// The scores of the number, and which rows go together.
    scores: Vec<f32>,
    folds: Vec<u8>,
}

impl Made {
    fn numbers(&self) -> Numbers {
        Numbers { bins: self.values.bins.clone(), targets: self.scores.clone() }
    }
}

/// Makes examples of a column.
struct Asking<'a> {
    net: &'a TableNet,
    binner: &'a Binner,
    column: usize,
    alone: bool,
    in_order: f64,
    streams: &'a Streams,
}

impl Asking<'_> {
    /// Examples of the column's codes and of the bins of its number: every row in several ways, or a share of the rows.
    fn examples(
        &self,
        of: SomeRows<'_>,
        ways: usize,
        kept: f64,
        use_of_rows: u64,
        bins: Option<&ValueBins>,
    ) -> Made {
        let place_of_column = &self.net.coordinates.columns[self.column];
        let schema = &self.net.schema.columns[place_of_column.column];
        let mut made = Made::default();
        for (place, &row) in of.rows.iter().enumerate() {
            let told = self.net.cell(of.table, row as usize, self.column);
            if told.is_unknown() {
                continue;
            }
            for way in 0..ways as u64 {
                let key = way << 1 | use_of_rows;
                let mut rng =
                    self.streams.block_stream(Purpose::TREE_KNOWN, self.column as u32, key, place as u64);
                if rng.unit() >= kept {
                    continue;
                }
                let Some(known) = self.known(of.table, row as usize, &mut rng) else { continue };
                let seen = |column: usize| match known[column] {
                    true => self.net.cell(of.table, row as usize, column),
                    false => CellCoordinates::default(),
                };
                if let Some(token) = told.token {
                    self.binner.write(seen, &mut made.codes.bins);
                    made.codes.codes.push(token);
                }
                if let (Some(value), Some(bins)) = (told.value, bins) {
                    self.binner.write(seen, &mut made.values.bins);
                    made.values.codes.push(bins.bin(value));
                    made.scores.push(place_of_column.from_value(schema, value, rng.unit()) as f32);
                    made.folds.push((place % 256) as u8);
                }
            }
        }
        made
    }

    /// Which cells of a row are known, and what follows from them by the rules of the table: those that drawing knows when it comes to
    /// the column; or each with probability u, for a u of the row's own, so that their number is uniform; all but a target. None where
    /// the column is not asked for then.
    fn known(&self, table: &Table, row: usize, rng: &mut pmm_core::Stream) -> Option<Vec<bool>> {
        let (keeper, columns) = (self.net.keeper(), self.net.coordinates.columns.len());
        let target = self.alone && rng.unit() < TARGET_SHARE;
        if !target && rng.unit() < self.in_order {
            return match keeper.is_empty() {
                true => Some((0..columns).map(|column| column < self.column).collect()),
                false => keeper.before(&mut self.net.rule_cells(table, row), self.column),
            };
        }
        let share = if target { 1.0 } else { rng.unit() };
        let mut known: Vec<bool> = (0..columns).map(|_| rng.unit() < share).collect();
        keeper.tell_choices(&mut known, rng);
        known[self.column] = false;
        if keeper.is_empty() {
            return Some(known);
        }
        keeper.settle_learned(&mut self.net.rule_cells(table, row), &mut known);
        (!known[self.column] && keeper.is_asked(&known, self.column)).then_some(known)
    }
}
