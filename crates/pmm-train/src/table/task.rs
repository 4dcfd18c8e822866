//! Tables as a task: batches of rows with some cells known, and what the network should say about the others.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use pmm_core::{Purpose, SpaceError, Stream, Streams};
use pmm_data::Table;
use pmm_net::Masks;
use pmm_net::table::{
    Answers, Batch, BatchRows, ClockKind, OrderedBatch, Shares, Shown, TableNet, TableTrees,
};

use super::config::MORE_IN_ORDER;
use crate::shard::Shard;
use crate::task::Task;

/// How batches are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchConfig {
    /// Rows per batch.
    pub rows: usize,
    /// Share of hidden units dropped.
    pub dropout: f64,
    /// A column (among the modelled ones) that is asked for alone in a share of the rows.
    pub target: Option<usize>,
    /// The weight of rows that are learned as drawing sees them.
    pub in_order: f64,
    /// Whether trees, where there are any, have all the say.
    pub trees_alone: bool,
}

/// Share of rows in which a named target alone is unknown.
const TARGET_SHARE: f64 = 0.2;
/// Rows that are drawn for validation, at least: small tables are seen in several ways. Of wide tables fewer do, which are as many cells.
const LEAST_VALIDATION: usize = 2048;
const LEAST_CELLS: usize = 65_536;
const VALIDATION_CHUNK: usize = 512;

/// A table to learn.
#[derive(Debug)]
pub struct TableTask {
    net: Arc<TableNet>,
    table: Arc<Table>,
    train: Vec<u32>,
    validation: Vec<Batch>,
    /// How many times a held-out row is among them.
    repeats: usize,
    /// What trees say of them.
    answers: Option<Answers>,
    config: BatchConfig,
    streams: Streams,
    /// The order of the rows in the latest epoch: cheap to draw again, so only remembered.
    epoch: Mutex<Option<(u64, Arc<Vec<u32>>)>>,
}

/// Rows of which any columns are known, and rows on their ways; with their dropout.
#[derive(Debug)]
pub struct TrainBatch {
    any: Option<(Batch, Masks)>,
    ordered: Option<(OrderedBatch, Masks)>,
}

impl TableTask {
    /// Learns the rows `train` of a table, and validates on the rows `valid`, of the same table or of another with its columns.
    pub fn new(
        net: Arc<TableNet>,
        table: Arc<Table>,
        train: Vec<u32>,
        (held_out, valid): (&Table, &[u32]),
        config: BatchConfig,
        streams: Streams,
    ) -> Result<Self, SpaceError> {
        let mut task = Self {
            net,
            table,
            train,
            validation: Vec::new(),
            repeats: 1,
            answers: None,
            config,
            streams,
            epoch: Mutex::new(None),
        };
        let columns = task.net.coordinates().columns.len();
        let least = LEAST_VALIDATION.min(LEAST_CELLS.div_ceil(columns));
        let repeats = least.div_ceil(valid.len().max(1)).min(64);
        task.repeats = repeats;
        let rows: Vec<u32> = std::iter::repeat_n(valid, repeats).flatten().copied().collect();
        for (chunk, rows) in rows.chunks(VALIDATION_CHUNK).enumerate() {
            let first = (chunk * VALIDATION_CHUNK) as u64;
            let batch = task.net.batch(
                held_out,
                rows,
                |row| {
                    let mut rng = task.streams.stream(Purpose::VALIDATION, 0, first + row as u64);
                    task.shown(&mut rng, true)
                },
                &task.streams,
                // Steps of training count from 0: far from these.
                BatchRows::all(u64::MAX - chunk as u64, rows.len()),
            )?;
            task.validation.push(batch);
        }
        Ok(task)
    }

    /// With trees beside the network: what is validated are then their pooled laws.
    pub fn with_trees(mut self, trees: &TableTrees) -> Self {
        self.answers = Some(Answers::new(trees, &self.net, &self.validation, self.repeats));
        self
    }

    /// The trees' shares of every column's law, by the held-out rows; none without trees.
    pub fn shares(&self, weights: &[f32]) -> Vec<Shares> {
        self.pool(weights).map_or(Vec::new(), |(shares, _)| shares)
    }

    fn pool(&self, weights: &[f32]) -> Option<(Vec<Shares>, f64)> {
        let answers = self.answers.as_ref()?;
        Some(self.net.pool(weights, &self.validation, answers, self.config.trees_alone))
    }

    /// Weights whose laws are as wide as the held-out rows want them.
    pub fn calibrated(&self, weights: &[f32]) -> Vec<f32> {
        self.net.calibrated(weights, &self.validation, self.config.target)
    }

    /// How far below its share a code's probability must be to count as none in drawing, by the held-out rows.
    pub fn trims(&self, weights: &[f32], shares: &[Shares]) -> Vec<f64> {
        self.net.trims(weights, &self.validation, self.answers.as_ref().map(|answers| (answers, shares)))
    }

    /// Which columns of a row are known: all but the target, those that drawing would know if there are to be such rows, or any, their
    /// number uniform.
    fn shown(&self, rng: &mut Stream, drawn: bool) -> Shown {
        let columns = self.net.coordinates().columns.len();
        let keeper = self.net.keeper();
        let mut known: Vec<bool>;
        if let Some(target) = self.config.target
            && rng.unit() < TARGET_SHARE
        {
            known = (0..columns).map(|column| column != target).collect();
        } else if drawn && self.net.clock() == ClockKind::Reveal && rng.unit() < self.config.in_order {
            return Shown::Drawn(rng.unit());
        } else {
            let mut order: Vec<usize> = (0..columns).filter(|column| !keeper.is_derived(*column)).collect();
            rng.shuffle(&mut order);
            let count = rng.below(order.len() as u64) as usize;
            known = vec![false; columns];
            order[..count].iter().for_each(|&column| known[column] = true);
        }
        keeper.tell_choices(&mut known, rng);
        Shown::Columns(known)
    }

    /// The rows of a step: every row once per epoch, in an order of its own.
    fn rows(&self, step: u64, rows: Range<usize>) -> Vec<u32> {
        let n = self.train.len() as u64;
        let first = step * self.config.rows as u64;
        let row = |row: usize| {
            let i = first + row as u64;
            self.order(i / n)[(i % n) as usize]
        };
        rows.map(row).collect()
    }

    fn order(&self, epoch: u64) -> Arc<Vec<u32>> {
        let mut latest = self.epoch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((e, order)) = &*latest
            && *e == epoch
        {
            return order.clone();
        }
        let mut order = self.train.clone();
        self.streams.stream(Purpose::EPOCH, epoch, 0).shuffle(&mut order);
        let order = Arc::new(order);
        *latest = Some((epoch, order.clone()));
        order
    }

    /// Of the rows of a batch, how many there are of which any columns are known, and how many that are learned as drawing sees them; the
    /// latter come after the former.
    fn parts(&self) -> (usize, usize) {
        let rows = self.config.rows;
        if !self.net.learns_in_order() {
            return (rows, 0);
        }
        let share = self.config.in_order * rows as f64;
        let any = (rows as f64 - share).round() as usize;
        let questions = MORE_IN_ORDER * share * self.net.questions_for_a_row();
        let ordered = (questions / self.net.coordinates().columns.len() as f64).ceil() as usize;
        (any, ordered.min(rows - any))
    }

    fn ordered_batch(&self, step: u64, rows: Range<usize>, weight: f32) -> (OrderedBatch, Masks) {
        let place = BatchRows { step, first: rows.start, of: self.config.rows };
        let of_table = self.rows(step, rows.clone());
        let batch = self.net.ordered_batch(&self.table, &of_table, weight, &self.streams, place);
        // Far from the rows of which any columns are known, and from the questions of other rows.
        let first = |row: usize| (1 << 40) + ((row as u64) << 20);
        let questions = rows.zip(batch.questions());
        let keys = questions.flat_map(|(row, count)| (0..count as u64).map(move |at| first(row) + at));
        let masks = self.masks(step, &keys.collect::<Vec<_>>());
        (batch, masks)
    }

    fn any_batch(&self, step: u64, rows: Range<usize>, weight: f32) -> Batch {
        let shown = |row: usize| {
            let mut rng = self.streams.stream(Purpose::KNOWN, step, (rows.start + row) as u64);
            self.shown(&mut rng, !self.net.learns_in_order())
        };
        let place = BatchRows { step, first: rows.start, of: self.config.rows };
        let batch = self.net.batch(&self.table, &self.rows(step, rows.clone()), shown, &self.streams, place);
        let mut batch =
            batch.unwrap_or_else(|error| unreachable!("cells were checked when they were read: {error}"));
        batch.targets.iter_mut().for_each(|target| target.weight *= weight);
        batch
    }

    /// Dropout's masks, a row for each key.
    fn masks(&self, step: u64, keys: &[u64]) -> Masks {
        let (width, blocks) = self.net.hidden();
        let keep = 1.0 - self.config.dropout;
        if self.config.dropout <= 0.0 {
            return Masks::new();
        }
        // Sixteen bits a unit: four units a word.
        let bound = (keep * 65536.0).round() as u64;
        let scale = (1.0 / keep) as f32;
        let mask = |block: usize| {
            let mut mask = vec![0f32; keys.len() * width];
            for (&row, mask) in keys.iter().zip(mask.chunks_exact_mut(width)) {
                let mut rng = self.streams.block_stream(Purpose::TABLE_DROPOUT, block as u32, step, row);
                for units in mask.chunks_mut(4) {
                    let word = rng.word();
                    for (k, unit) in units.iter_mut().enumerate() {
                        *unit = if (word >> (16 * k)) & 0xffff < bound { scale } else { 0.0 };
                    }
                }
            }
            mask
        };
        (0..blocks).map(mask).collect()
    }
}

impl Task for TableTask {
    type Batch = TrainBatch;

    fn batch(&self, step: u64, shard: Shard) -> TrainBatch {
        let (any, ordered) = self.parts();
        let in_order = match (any, ordered) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            _ => self.config.in_order,
        };
        // The part of all weight that some of so many rows have, in a shard whose loss counts by its share of the batch.
        let weight = |some: &Range<usize>, of: usize| {
            (some.len() as f64 / of.max(1) as f64 / shard.share(self.config.rows)) as f32
        };
        let (own, ways) = (shard.rows(any), shard.rows(ordered));
        let own_weight = (1.0 - in_order) as f32 * weight(&own, any);
        let ways_weight = in_order as f32 * weight(&ways, ordered);
        let ordered = (!ways.is_empty())
            .then(|| self.ordered_batch(step, any + ways.start..any + ways.end, ways_weight));
        let any = (!own.is_empty()).then(|| {
            let keys: Vec<u64> = (own.start as u64..own.end as u64).collect();
            (self.any_batch(step, own, own_weight), self.masks(step, &keys))
        });
        TrainBatch { any, ordered }
    }

    fn batch_rows(&self) -> usize {
        self.config.rows
    }

    fn gradient(&self, weights: &[f32], batch: TrainBatch, gradient: &mut [f32]) -> f64 {
        let mut loss = 0.0;
        match batch.any {
            Some((any, masks)) => {
                loss += self.net.gradient(weights, any.features, masks, &any.targets, gradient);
            }
            None => gradient.fill(0.0),
        }
        if let Some((ordered, masks)) = batch.ordered {
            loss += self.net.ordered_gradient(weights, &ordered, &masks, gradient);
        }
        loss
    }

    fn initial(&self) -> Vec<f32> {
        self.net.initial(&self.streams)
    }

    fn pieces(&self) -> usize {
        // The shares of pooled laws are of all batches together.
        if self.answers.is_some() { 1 } else { self.validation.len() }
    }

    /// The sum over the rows of each batch; of pooled laws, the mean over all.
    fn losses(&self, weights: &[f32], pieces: Range<usize>) -> Vec<f64> {
        if self.answers.is_some() {
            let mean = |_| self.pool(weights).map_or(f64::NAN, |(_, loss)| loss);
            return pieces.map(mean).collect();
        }
        let sum = |batch: &Batch| {
            let losses = self.net.losses(weights, batch.features.clone(), &batch.targets);
            // Weights of a batch sum to 1: undone here, where batches differ in size.
            losses.iter().sum::<f64>() * losses.len() as f64
        };
        self.validation[pieces].iter().map(sum).collect()
    }

    fn mean_loss(&self, losses: &[f64]) -> f64 {
        if self.answers.is_some() {
            return losses.iter().sum();
        }
        let columns = self.net.coordinates().columns.len();
        let rows: usize = self.validation.iter().map(|batch| batch.targets.len() / columns).sum();
        losses.iter().sum::<f64>() / rows as f64
    }

    fn decayed(&self) -> Vec<f32> {
        self.net.parts().decayed()
    }
}
