//! The network of a table: features of cells → laws of cells.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Device;
use pmm_core::{Element, Head, MASK, ParameterError, States, Streams};
use pmm_data::rules::Keeper;
use pmm_data::{Coding, PairKind, Schema};
use rayon::prelude::*;

use super::coordinates::{ClockKind, Coordinates, Scale};
use super::features::{Encoder, View};
use super::head::{ColumnHead, Target, ValueHead};
use crate::parts::Parts;
use crate::trunk::{Masks, Trunk};
use crate::trunk_config::TrunkConfig;

/// The network of a table; its weights come with every call.
#[derive(Debug, Clone)]
pub struct TableNet {
    pub(super) schema: Arc<Schema>,
    keeper: Arc<Keeper>,
    pub(super) coordinates: Coordinates,
    pub(super) clock: ClockKind,
    pub(super) head: Head,
    encoders: Vec<Encoder>,
    heads: Vec<ColumnHead>,
    /// The same, each for the outputs of its own column alone.
    heads_alone: Vec<ColumnHead>,
    /// Features and outputs of every column.
    columns: Vec<(usize, usize)>,
    /// The first feature and the first output of every column.
    starts: Vec<(usize, usize)>,
    inputs: usize,
    outputs: usize,
    trunk: Trunk,
}

/// Pieces of the encoding of a number; fewer where there are many columns.
const PIECES: usize = 32;
/// Inputs that all pieces together should not exceed by much.
const MOST_PIECES: usize = 2048;

impl TableNet {
    /// The network of a schema. Columns derived from its rules come after those of the file.
    pub fn new(
        schema: Arc<Schema>,
        clock: ClockKind,
        head: Head,
        config: &TrunkConfig,
        device: Device,
    ) -> Result<Self, ParameterError> {
        // The rules of a schema fit its columns: that was seen to when it was read.
        let keeper = Arc::new(schema.keeper().unwrap_or_default());
        let schema = if schema.rules.is_empty() { schema } else { Arc::new(schema.extended()) };
        let coordinates = Coordinates::new(&schema, clock)?;
        let pieces = (MOST_PIECES / coordinates.columns.len().max(1)).clamp(4, PIECES);
        let encoder =
            |place: &super::ColumnPlace| Encoder::new(place, &schema.columns[place.column], clock, pieces);
        let encoders: Vec<Encoder> = coordinates.columns.iter().map(encoder).collect();
        let (mut inputs, mut outputs) = (0, 0);
        let (mut heads, mut heads_alone, mut columns, mut starts) = (vec![], vec![], vec![], vec![]);
        for (place, encoder) in coordinates.columns.iter().zip(&encoders) {
            let gamma = schema.columns[place.column].pair == PairKind::Gamma;
            heads_alone.push(ColumnHead::new(place, head, 0).with_pair(gamma));
            let head = ColumnHead::new(place, head, outputs).with_pair(gamma);
            starts.push((inputs, outputs));
            columns.push((encoder.len(), head.end(outputs) - outputs));
            inputs += encoder.len();
            outputs = head.end(outputs);
            heads.push(head);
        }
        let scores = starts.iter().zip(&encoders);
        let straight = scores.filter_map(|((input, _), encoder)| Some(input + encoder.score_at()?)).collect();
        let trunk = Trunk::new(&columns, straight, config, device);
        Ok(Self {
            schema,
            keeper,
            coordinates,
            clock,
            head,
            encoders,
            heads,
            heads_alone,
            columns,
            starts,
            inputs,
            outputs,
            trunk,
        })
    }

    /// Its coordinates.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }
    /// What keeps the rules of its rows.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }
    /// The schema it was made for, with the derived columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    /// How its clocks run.
    pub fn clock(&self) -> ClockKind {
        self.clock
    }
    /// Its head.
    pub fn head(&self) -> Head {
        self.head
    }
    /// Its weights.
    pub fn parts(&self) -> &Parts {
        self.trunk.parts()
    }
    /// Features and outputs of every column.
    pub fn columns(&self) -> &[(usize, usize)] {
        &self.columns
    }
    /// Hidden units of a block in a row, and blocks: what dropout thins.
    pub fn hidden(&self) -> (usize, usize) {
        self.trunk.hidden()
    }
    /// Outputs per row.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Initial weights: outputs near the columns' own laws.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = self.trunk.initial(streams);
        let last = self.parts().iter().len();
        let output = &self.parts().get(last - 2).range;
        weights[output.clone()].iter_mut().for_each(|w| *w *= 0.1);
        let biases = &mut weights[self.parts().get(last - 1).range.clone()];
        for (head, place) in self.heads.iter().zip(&self.coordinates.columns) {
            head.initial(place.tokens.as_ref().map_or(&[], |tokens| &tokens.counts), biases);
        }
        weights
    }

    /// Features of rows, `[rows, inputs]`, from the views of their cells.
    pub fn features(&self, rows: usize, view: impl Fn(usize, usize) -> View + Sync) -> Vec<f32> {
        let mut features = vec![0.0; rows * self.inputs];
        features.par_chunks_mut(self.inputs).with_min_len(16).enumerate().for_each(|(row, mut out)| {
            for (column, encoder) in self.encoders.iter().enumerate() {
                let (cell, rest) = out.split_at_mut(encoder.len());
                encoder.write(&view(row, column), cell);
                out = rest;
            }
        });
        features
    }

    /// The loss of a batch and its gradient: targets are `[rows, columns]`.
    pub fn gradient(
        &self,
        weights: &[f32],
        features: Vec<f32>,
        masks: Masks,
        targets: &[Target],
        gradient: &mut [f32],
    ) -> f64 {
        let columns = self.heads.len();
        let loss = |row: usize, outputs: &[f32], slope: &mut [f32]| {
            self.row_loss(outputs, &targets[row * columns..][..columns], slope)
        };
        self.trunk.backward(weights, features, masks, loss, gradient)
    }

    /// The loss of every row.
    pub fn losses(&self, weights: &[f32], features: Vec<f32>, targets: &[Target]) -> Vec<f64> {
        let outputs = self.trunk.forward(weights, features);
        let columns = self.heads.len();
        let rows = outputs.par_chunks(self.outputs).zip(targets.par_chunks(columns)).with_min_len(16);
        rows.map_init(
            || vec![0.0; self.outputs],
            |slope, (outputs, targets)| self.row_loss(outputs, targets, slope),
        )
        .collect()
    }

    fn row_loss(&self, outputs: &[f32], targets: &[Target], slope: &mut [f32]) -> f64 {
        let cells = self.heads.iter().zip(targets).filter(|(_, target)| target.weight > 0.0);
        cells.map(|(head, target)| head.loss(outputs, target, slope)).sum()
    }

    /// Where a head starts from while a clock runs: the posterior mean in the head's unit, and the clock.
    pub(super) fn anchor(&self, column: usize, states: &States, mean: f64, row: usize) -> (f32, f32) {
        let place = &self.coordinates.columns[column];
        let Some(value) = &place.value else { return (0.0, 0.0) };
        let clock = states.clock(value.block)[row];
        if let Some((_, ValueHead::Atoms(_))) = &self.heads[column].value {
            let statistics = <f64 as Element>::get(states.stat(value.block)).unwrap_or(&[]);
            return (statistics[row] as f32, clock as f32);
        }
        let mean = match (self.head, place.value.as_ref().map(|value| value.scale)) {
            // A mixture lives on the normal score, whatever the pair.
            (Head::Marginal, Some(Scale::Ratio(unit))) => match &self.schema.columns[place.column].coding {
                Coding::Numbers(numbers) => numbers.grid.score(mean * unit, 0.5),
                _ => mean,
            },
            _ => mean,
        };
        (mean as f32, clock as f32)
    }

    /// A value in the unit of its column's head.
    pub(super) fn head_value(&self, column: usize, value: f64) -> f32 {
        let place = &self.coordinates.columns[column];
        let schema = &self.schema.columns[place.column];
        match (&self.heads[column].value, &schema.coding) {
            (Some((_, ValueHead::Atoms(_))), Coding::Numbers(numbers)) => numbers.grid.index(value) as f32,
            (Some((_, ValueHead::Mixture)), Coding::Numbers(numbers)) => {
                numbers.grid.score(value, 0.5) as f32
            }
            _ => place.from_value(schema, value, 0.5) as f32,
        }
    }

    /// The posterior means of every column's value.
    pub(super) fn value_means(&self, states: &States) -> Vec<Option<Vec<f32>>> {
        let columns = self.coordinates.columns.iter();
        columns.map(|place| place.value.as_ref().map(|value| states.means(value.block))).collect()
    }

    /// What the network sees of a cell of states.
    pub(super) fn view(&self, states: &States, column: usize, means: Option<&[f32]>, row: usize) -> View {
        let place = &self.coordinates.columns[column];
        let mut view = View { known: true, ..View::default() };
        if let Some(tokens) = &place.tokens {
            let token = states.stat(tokens.block).as_tokens().unwrap_or(&[])[row];
            view.token = (token != MASK).then_some(token);
            view.known &= token != MASK;
        }
        let (Some(value), Some(means)) = (&place.value, means) else { return view };
        let clock = states.clock(value.block)[row];
        // A gate that is known and says "special" leaves no value to see.
        let gated = view.token.is_some_and(|token| token > 0);
        view.known &= gated || clock == f64::INFINITY;
        let seen = clock == f64::INFINITY || self.clock == ClockKind::Gradual;
        if seen && !gated {
            view.value =
                Some(place.to_value(&self.schema.columns[place.column], f64::from(means[row]), false));
            view.clock = clock;
        }
        view
    }

    /// Outputs of a batch.
    pub(super) fn outputs_of(&self, weights: &[f32], features: Vec<f32>) -> Vec<f32> {
        self.trunk.forward(weights, features)
    }

    pub(super) fn heads(&self) -> &[ColumnHead] {
        &self.heads
    }

    pub(super) fn heads_alone(&self) -> &[ColumnHead] {
        &self.heads_alone
    }

    /// The first feature of a column.
    pub(super) fn first_input(&self, column: usize) -> usize {
        self.starts[column].0
    }

    /// The outputs of a column.
    pub(super) fn outputs_range(&self, column: usize) -> Range<usize> {
        let first = self.starts[column].1;
        first..first + self.columns[column].1
    }

    pub(super) fn encoders(&self) -> &[Encoder] {
        &self.encoders
    }

    pub(super) fn trunk(&self) -> &Trunk {
        &self.trunk
    }
}
