//! The laws of the cells that are next: rows in the making are asked for one column each.

use rayon::prelude::*;

use super::denoise::TableDenoiser;
use super::features::View;
use super::head::Law;
use super::walk::WalkRow;
use crate::ops::revealing::Revealing;

/// A row that is asked for a column.
pub(super) struct Asked<'a> {
    /// Its place among the rows of the caller.
    pub(super) at: usize,
    pub(super) row: &'a mut WalkRow,
    pub(super) column: usize,
}

/// The sums of the network's first layer over the cells that a row has seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// None before a row is asked for the first time.
    values: Option<Vec<f32>>,
    /// The columns that are not in them yet.
    fresh: Vec<usize>,
    /// Whether there is any column at all.
    any: bool,
}

impl Sums {
    /// A column has been seen.
    pub(super) fn see(&mut self, column: usize) {
        self.fresh.push(column);
        self.any = true;
    }
}

impl TableDenoiser {
    /// The law of each row's column, given what the row has seen.
    pub(super) fn asked_laws(&self, asked: &mut [Asked<'_>]) -> Vec<Law> {
        let laws = match self.net().trunk().revealing(self.weights()) {
            _ if self.is_trees_alone() => self.silent_laws(asked),
            Some(network) => self.laws_by_sums(&network, asked),
            None => self.laws_by_whole_passes(asked),
        };
        let rows = laws.into_par_iter().zip(asked.par_iter()).with_min_len(16);
        rows.map(|(law, asked)| self.with_trees(asked.column, law, &asked.row.seen)).collect()
    }

    /// What a network that has no say would say.
    fn silent_laws(&self, asked: &[Asked<'_>]) -> Vec<Law> {
        let law = |asked: &Asked<'_>| {
            let zeros = vec![0.0; self.net().outputs_range(asked.column).len()];
            self.net().heads_alone()[asked.column].law(&zeros, 0.0, 0.0)
        };
        asked.iter().map(law).collect()
    }

    fn laws_by_whole_passes(&self, asked: &[Asked<'_>]) -> Vec<Law> {
        let net = self.net();
        let view = |at: usize, column: usize| View::of(&asked[at].row.seen[column]);
        let outputs = net.outputs_of(self.weights(), net.features(asked.len(), view));
        let rows = outputs.par_chunks_exact(net.outputs()).zip(asked.par_iter()).with_min_len(16);
        rows.map(|(outputs, asked)| net.heads()[asked.column].law(outputs, 0.0, 0.0)).collect()
    }

    fn laws_by_sums(&self, network: &Revealing<'_>, asked: &mut [Asked<'_>]) -> Vec<Law> {
        self.begin(network, asked);
        let (net, width, blank_row) = (self.net(), network.kept(), network.blank());
        // Rows that have seen nothing are all alike: one place is enough for them.
        let (mut sums, mut places, mut blank) = (Vec::new(), Vec::with_capacity(asked.len()), None);
        for asked in asked.iter() {
            let next = sums.len() / width;
            let place = if asked.row.sums.any { next } else { *blank.get_or_insert(next) };
            places.push(place);
            if place == next {
                sums.extend_from_slice(asked.row.sums.values.as_deref().unwrap_or(&blank_row));
            }
        }
        let hidden = network.hidden(sums);
        // By columns, so that each one's matrix is read once.
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_by_key(|at| asked[*at].column);
        let same_column = |a: &usize, b: &usize| asked[*a].column == asked[*b].column;
        let of_column: Vec<&[usize]> = order.chunk_by(same_column).collect();
        let groups = of_column.par_iter().map(|group| {
            let column = asked[group[0]].column;
            let rows: Vec<&[f32]> = group.iter().map(|at| &hidden[places[*at] * width..][..width]).collect();
            let outputs = net.outputs_range(column);
            let answers = network.answers(outputs.clone(), &rows);
            let head = &net.heads_alone()[column];
            answers.chunks_exact(outputs.len()).map(|answer| head.law(answer, 0.0, 0.0)).collect()
        });
        let groups: Vec<Vec<Law>> = groups.collect();
        let mut laws = vec![Law::default(); asked.len()];
        order.into_iter().zip(groups.into_iter().flatten()).for_each(|(at, law)| laws[at] = law);
        laws
    }

    /// Brings the sums of rows up to what they have seen. Those of a row that is asked for the first time are one product; what it
    /// sees from then on is added in the order in which it sees it.
    fn begin(&self, network: &Revealing<'_>, asked: &mut [Asked<'_>]) {
        let (net, width) = (self.net(), network.kept());
        let (mut new, mut begun): (Vec<_>, Vec<_>) =
            asked.iter_mut().map(|asked| &mut *asked.row).partition(|row| row.sums.values.is_none());
        begun.par_iter_mut().with_min_len(16).for_each(|row| self.add_fresh(network, row));
        let (blank, mut new): (Vec<_>, Vec<_>) = new.drain(..).partition(|row| !row.sums.any);
        blank.into_iter().for_each(|row| row.sums.values = Some(network.blank()));
        if new.is_empty() {
            return;
        }
        let view = |at: usize, column: usize| View::of(&new[at].seen[column]);
        let sums = network.sums(net.features(new.len(), view));
        for (row, sums) in new.iter_mut().zip(sums.chunks_exact(width)) {
            row.sums = Sums { values: Some(sums.to_vec()), fresh: Vec::new(), any: true };
        }
    }

    fn add_fresh(&self, network: &Revealing<'_>, row: &mut WalkRow) {
        let Some(values) = &mut row.sums.values else { return };
        for column in row.sums.fresh.drain(..) {
            let encoder = &self.net().encoders()[column];
            let mut features = vec![0.0; encoder.len()];
            encoder.write(&View::of(&row.seen[column]), &mut features);
            network.reveal(values, self.net().first_input(column), &features);
        }
    }
}
