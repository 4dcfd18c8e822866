//! Which form a row has, and which of its numbers: forms by their shares, and no number twice.

use pmm_core::{Purpose, Streams};

use super::permutation::Permutation;

/// Rows in which forms of identifiers have their exact shares.
pub(crate) const BLOCK: u64 = 4096;

/// Rows → (form, number of the row within the form).
///
/// Rows come in blocks. A block has as many rows of each form as its share says, in random order; the next block goes on with the
/// numbers of each form where this one ends. When a form has no numbers left, the others share its rows.
#[derive(Debug, Clone)]
pub(crate) struct RowOrder {
    phases: Vec<Phase>,
    /// Rows that have a number.
    rows: u64,
    streams: Streams,
    column: u32,
}

/// Blocks that are cut alike.
#[derive(Debug, Clone)]
struct Phase {
    first_row: u64,
    /// Rows of a block.
    block: u64,
    /// The forms of a block.
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    form: usize,
    /// Rows before it in a block.
    before: u64,
    /// Its rows in a block.
    rows: u64,
    /// Numbers that were used in earlier phases.
    used: u64,
}

impl RowOrder {
    /// Forms with their weights and the numbers that each has; in `block` rows they have their shares.
    pub(crate) fn new(forms: &[(f64, u128)], block: u64, streams: Streams, column: u32) -> Self {
        let mut left: Vec<u64> = forms.iter().map(|form| u64::try_from(form.1).unwrap_or(u64::MAX)).collect();
        let all = left.clone();
        let (mut phases, mut rows) = (Vec::new(), 0_u64);
        while rows < u64::MAX && left.iter().any(|left| *left > 0) {
            let shares: Vec<f64> =
                forms.iter().zip(&left).map(|(form, left)| if *left > 0 { form.0 } else { 0.0 }).collect();
            let wanted = dealt(&shares, &left, block);
            let whole = wanted.iter().zip(&left).filter(|(wanted, _)| **wanted > 0);
            let blocks = whole.map(|(wanted, left)| left / wanted).min().unwrap_or(0);
            // Where one has less than a block's rows left, one block takes them.
            let taken: Vec<u64> = wanted.iter().zip(&left).map(|(wanted, left)| *wanted.min(left)).collect();
            let block: u64 = taken.iter().sum();
            let blocks = blocks.max(1).min((u64::MAX - rows) / block);
            if blocks == 0 {
                break;
            }
            let used = left.iter().zip(&all).map(|(left, all)| all - left);
            let used: Vec<u64> = used.collect();
            phases.push(Phase { first_row: rows, block, parts: parts(&taken, &used) });
            left.iter_mut().zip(&taken).for_each(|(left, taken)| *left -= taken * blocks);
            rows += block * blocks;
        }
        Self { phases, rows, streams, column }
    }

    /// Rows that have a number: those from here on have none.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The form of a row, and its number there.
    pub(crate) fn get(&self, row: u64) -> Option<(usize, u64)> {
        if row >= self.rows {
            return None;
        }
        let at = self.phases.partition_point(|phase| phase.first_row <= row).checked_sub(1)?;
        let phase = &self.phases[at];
        let (block, place) = ((row - phase.first_row) / phase.block, (row - phase.first_row) % phase.block);
        let mut stream = self.streams.block_stream(Purpose::IDENTIFIER_ORDER, self.column, at as u64, block);
        let place = Permutation::new(u128::from(phase.block), &mut stream).image(u128::from(place)) as u64;
        let part = phase.parts[phase.parts.partition_point(|part| part.before <= place).checked_sub(1)?];
        Some((part.form, part.used + block * part.rows + (place - part.before)))
    }
}

fn parts(rows: &[u64], used: &[u64]) -> Vec<Part> {
    let mut before = 0;
    let mut parts = Vec::new();
    for (form, (&rows, &used)) in rows.iter().zip(used).enumerate() {
        if rows > 0 {
            parts.push(Part { form, before, rows, used });
            before += rows;
        }
    }
    parts
}

/// The rows of a block, dealt out by shares: whole parts first, then the largest remainders. Without any weight, equally.
fn dealt(shares: &[f64], left: &[u64], block: u64) -> Vec<u64> {
    let total: f64 = shares.iter().sum();
    let open = left.iter().filter(|left| **left > 0).count().max(1) as f64;
    let exact = shares.iter().zip(left).map(|(share, left)| match total > 0.0 {
        true => share / total * block as f64,
        false if *left > 0 => block as f64 / open,
        false => 0.0,
    });
    let exact: Vec<f64> = exact.collect();
    let mut rows: Vec<u64> = exact.iter().map(|exact| *exact as u64).collect();
    let mut order: Vec<usize> = (0..rows.len()).filter(|&form| left[form] > 0).collect();
    let remainder = |form: &usize| exact[*form] - exact[*form].floor();
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(b)));
    let dealt: u64 = rows.iter().sum();
    for &form in order.iter().cycle().take(block.saturating_sub(dealt) as usize) {
        rows[form] += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(forms: &[(f64, u128)]) -> RowOrder {
        RowOrder::new(forms, BLOCK, Streams::new(1), 0)
    }

    #[test]
    fn every_number_is_used_once_until_none_is_left() {
        for forms in [
            vec![(1.0, 1000)],
            vec![(3.0, 9), (5.0, 70), (1.0, 0), (20.0, 30_000)],
            vec![(0.0, 5), (0.0, 7)],
            vec![(1e-9, 10), (1.0, 5000)],
        ] {
            let order = order(&forms);
            let mut pairs: Vec<(usize, u64)> = (0..order.rows()).map(|row| order.get(row).unwrap()).collect();
            pairs.sort_unstable();
            let all = (0..).zip(&forms).flat_map(|(form, of)| (0..of.1 as u64).map(move |n| (form, n)));
            assert!(pairs.into_iter().eq(all), "{forms:?}");
            assert_eq!(order.get(order.rows()), None);
        }
    }

    #[test]
    fn forms_keep_their_shares() {
        let order = order(&[(3.0, 1 << 100), (1.0, 1 << 90)]);
        assert!(order.rows() > u64::MAX - BLOCK);
        let first = (0..4096).filter(|row| order.get(*row).unwrap().0 == 0).count();
        assert_eq!(first, 3072);
        assert!(order.get(u64::MAX - 2 * BLOCK).is_some());
    }

    #[test]
    fn the_order_is_no_pattern() {
        let order = order(&[(1.0, 1 << 60), (1.0, 1 << 60)]);
        let kinds: Vec<usize> = (0..4096).map(|row| order.get(row).unwrap().0).collect();
        let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
        // Half of 4095 with a deviation of 32: beyond five of them once in a million.
        assert!((changes - 2047.5).abs() < 160.0, "{changes}");
    }
}
