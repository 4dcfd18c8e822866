//! New identifiers: a function of (seed, column, row number), none twice where none repeats, none of the real.

use pmm_core::{Purpose, Stream, Streams};

use super::form::Forms;
use super::identifiers::{IdentifierPattern, Identifiers};
use super::order::{BLOCK, RowOrder};
use super::permutation::Permutation;
use super::real_ranges::{Marks, RealRanges};
use super::running::Running;

/// New identifiers of one column.
#[derive(Debug, Clone)]
pub(crate) struct NewIdentifiers<'a> {
    identifiers: &'a Identifiers,
    streams: Streams,
    column: u32,
    texts: NewTexts<'a>,
}

#[derive(Debug, Clone)]
enum NewTexts<'a> {
    Running(&'a Running),
    Shapes { forms: Forms, orders: Vec<FormOrder>, rows: RowOrder },
}

/// The numbers of one form in the order in which rows get them.
///
/// Of the N numbers, R lie in ranges of real ones. The first N − R places of a permutation π are for rows; a row whose image lies
/// in such a range takes that of one of the last R places, the one that belongs to the number it met: π(N − R + place). Places
/// and marked numbers together are as many as the numbers, and each of them leads to another one, so that no two rows meet.
#[derive(Debug, Clone)]
struct FormOrder {
    order: Permutation,
    real: Option<Marks>,
    /// How many rows it serves.
    rows: u128,
}

impl FormOrder {
    fn new(size: u128, real: Option<Marks>, stream: &mut Stream) -> Self {
        let order = Permutation::new(size, stream);
        let rows = order.size() - real.as_ref().map_or(0, Marks::numbers);
        Self { order, real, rows }
    }

    fn number(&self, place: u64) -> u128 {
        let mut number = self.order.image(u128::from(place));
        while let Some(met) = self.real.as_ref().and_then(|real| real.place(number)) {
            number = self.order.image(self.rows + met);
        }
        number
    }
}

impl<'a> NewIdentifiers<'a> {
    /// Of the column at a place.
    pub(crate) fn new(identifiers: &'a Identifiers, column: usize, streams: &Streams) -> Self {
        let (streams, column) = (*streams, column as u32);
        let texts = match &identifiers.pattern {
            IdentifierPattern::Running(running) => NewTexts::Running(running),
            IdentifierPattern::Shapes { shapes, real } => {
                let forms = Forms::new(shapes);
                let marks = |place: usize, size| {
                    real.iter().find(|ranges| ranges.form() == place).and_then(|r: &RealRanges| r.marks(size))
                };
                let orders: Vec<FormOrder> = (0..)
                    .zip(&forms.forms)
                    .map(|(place, form)| {
                        let mut keys = streams.block_stream(Purpose::IDENTIFIER, column, place as u64, 0);
                        FormOrder::new(form.size, marks(place, form.size), &mut keys)
                    })
                    .collect();
                let weights = forms.forms.iter().zip(&orders).map(|(form, order)| (form.weight, order.rows));
                let rows = RowOrder::new(&weights.collect::<Vec<_>>(), BLOCK, streams, column);
                NewTexts::Shapes { forms, orders, rows }
            }
        };
        Self { identifiers, streams, column, texts }
    }

    /// How many different ones there are; none if they do not end.
    pub(crate) fn possible(&self) -> Option<u64> {
        match &self.texts {
            NewTexts::Running(_) => None,
            NewTexts::Shapes { rows, .. } => Some(rows.rows()),
        }
    }

    /// The identifier of a row; none if it is empty, or if there is no other one left.
    pub(crate) fn text(&self, row: u64) -> Option<String> {
        let mut stream = self.streams.block_stream(Purpose::IDENTIFIER_CELL, self.column, 0, row);
        if self.identifiers.empty > 0.0 && stream.unit() < self.identifiers.empty {
            return None;
        }
        let shared = self.identifiers.shared.map(|pool| pool.min(self.possible().unwrap_or(pool)).max(1));
        let member = shared.map_or(row, |pool| stream.below(pool));
        let mut stream = self.streams.block_stream(Purpose::IDENTIFIER_CELL, self.column, 1, member);
        match &self.texts {
            NewTexts::Running(running) => running.drawn(member, &mut stream),
            NewTexts::Shapes { forms, orders, rows } => {
                let (form, place) = rows.get(member)?;
                Some(forms.forms[form].text(orders[form].number(place), &mut stream))
            }
        }
    }
}
