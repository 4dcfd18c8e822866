//! Rows to learn from as drawing goes through them: every column asked for when it is next.

use pmm_core::Streams;
use pmm_data::Table;
use pmm_data::rules::RowWay;
use rayon::prelude::*;

use super::batch::BatchRows;
use super::coordinates::{CellCoordinates, ClockKind};
use super::features::View;
use super::head::Target;
use super::net::TableNet;
use crate::ops::ordered_mlp::OrderedRows;
use crate::trunk::Masks;

/// Rows with their ways, and what the network should say at every question on these.
#[derive(Debug, Clone)]
pub struct OrderedBatch {
    /// Features of all cells, `[rows, inputs]`.
    features: Vec<f32>,
    ways: Vec<RowWay>,
    targets: Vec<Target>,
}

impl OrderedBatch {
    /// How many questions each row is asked.
    pub fn questions(&self) -> impl Iterator<Item = usize> {
        self.ways.iter().map(|way| way.asked.len())
    }
}

impl TableNet {
    /// Whether all questions of a row can be learned from in one pass ([`TableNet::ordered_gradient`]).
    pub fn learns_in_order(&self) -> bool {
        self.clock == ClockKind::Reveal && self.trunk().revealing(&[]).is_some()
    }

    /// How many questions on ways cost as much as a row of which any columns are known and all others are asked for.
    pub fn questions_for_a_row(&self) -> f64 {
        let ((width, blocks), columns) = (self.hidden(), self.columns().len() as f64);
        let between = (2 * blocks * width) as f64;
        let ends = self.columns().iter().map(|(inputs, outputs)| inputs + outputs).sum::<usize>() as f64;
        (between + ends) / (between + ends / columns)
    }

    /// Rows of a table on their ways. All questions weigh alike, whatever the length of their row's way: else the law of a column would be
    /// learned from rows with short ways more than from others. As many as there are columns in a row would together weigh `weight`.
    pub fn ordered_batch(
        &self,
        table: &Table,
        rows: &[u32],
        weight: f32,
        streams: &Streams,
        place: BatchRows,
    ) -> OrderedBatch {
        let columns = self.coordinates.columns.len();
        let cells: Vec<CellCoordinates> = (0..rows.len() * columns)
            .into_par_iter()
            .with_min_len(256)
            .map(|i| self.cell(table, rows[i / columns] as usize, i % columns))
            .collect();
        let features = self.features(rows.len(), |row, column| View::of(&cells[row * columns + column]));
        let way = |row: usize| {
            let mut way = self.way(table, rows[row] as usize);
            way.asked.retain(|(_, column)| !cells[row * columns + column].is_unknown());
            way
        };
        let ways: Vec<RowWay> = (0..rows.len()).into_par_iter().map(way).collect();
        let weight = weight / cells.len() as f32;
        let questions = ways.iter().enumerate();
        let questions = questions.flat_map(|(row, way)| way.asked.iter().map(move |asked| (row, asked.1)));
        let targets = questions.map(|(row, column)| {
            let cell = &cells[row * columns + column];
            Target { weight, ..self.reveal_target(cell, column, row, streams, place) }
        });
        OrderedBatch { targets: targets.collect(), features, ways }
    }

    fn way(&self, table: &Table, row: usize) -> RowWay {
        let columns = self.coordinates.columns.len();
        if self.keeper().is_empty() {
            let all = 0..columns;
            return RowWay { revealed: all.clone().collect(), asked: all.map(|c| (c, c)).collect() };
        }
        self.keeper().way(&mut self.rule_cells(table, row))
    }

    /// The loss of such rows; its gradient is added.
    pub fn ordered_gradient(
        &self,
        weights: &[f32],
        batch: &OrderedBatch,
        masks: &Masks,
        gradient: &mut [f32],
    ) -> f64 {
        let range = |column: usize| {
            let (first, len) = (self.first_input(column), self.columns()[column].0);
            (first..first + len, self.outputs_range(column))
        };
        let columns: Vec<_> = (0..self.columns().len()).map(range).collect();
        let rows = OrderedRows { features: &batch.features, columns: &columns, ways: &batch.ways };
        let asked: Vec<usize> = batch.ways.iter().flat_map(|way| &way.asked).map(|asked| asked.1).collect();
        let loss = |question: usize, outputs: &[f32], slope: &mut [f32]| {
            self.heads_alone()[asked[question]].loss(outputs, &batch.targets[question], slope)
        };
        let found = self.trunk().backward_in_order(weights, &rows, masks, loss, gradient);
        found.unwrap_or_else(|| unreachable!("asked of a network without the short cut"))
    }
}
