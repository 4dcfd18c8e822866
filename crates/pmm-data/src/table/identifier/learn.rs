//! From the cells of a column to what its identifiers look like.

use pmm_core::Streams;

use super::form::Forms;
use super::gathered::GatheredTexts;
use super::identifiers::{IdentifierPattern, Identifiers};
use super::new_ones::NewIdentifiers;
use super::real_ranges::Marks;
use crate::rules::Pattern;
use crate::table::error::ReadError;
use crate::table::missing::{Marked, MarkerRole, Markers};
use crate::table::scalar::Scalar;
use crate::table::schema::{Coding, Column, Kind};
use crate::table::source::Source;
use crate::table::view::View;

/// Texts from which shapes are learned, at most.
const LEARNED: usize = 20_000;
/// New identifiers there should be for each real one; with fewer, a wider shape is taken.
const ROOM: u64 = 10;

/// Learns the identifiers of the columns that name rows: one more pass over the file, and another where they are very many.
pub(crate) fn learn(source: &Source, missing: &[String], columns: &mut [Column]) -> Result<(), ReadError> {
    let names = |column: &Column| {
        matches!(column.coding, Coding::Out) && matches!(column.kind, Kind::Identifier | Kind::Text)
    };
    let places: Vec<usize> = (0..columns.len()).filter(|&place| names(&columns[place])).collect();
    if places.is_empty() {
        return Ok(());
    }
    let markers = source.is_delimited().then(|| Markers::new(missing));
    let mut gathered = vec![GatheredTexts::default(); places.len()];
    scan(source, markers.as_ref(), &places, columns, |at, text| gathered[at].add(text))?;
    let mut learning: Vec<Option<Learning>> = gathered.iter().map(Learning::new).collect();
    if gathered.iter().zip(&learning).any(|(one, learned)| !one.is_whole() && learned.is_some()) {
        scan(source, markers.as_ref(), &places, columns, |at, text| {
            if let (Some(text), Some(learning)) = (text, &mut learning[at]) {
                learning.mark(text);
            }
        })?;
    }
    for ((place, gathered), learning) in places.into_iter().zip(&gathered).zip(learning) {
        let free_text = columns[place].kind == Kind::Text && gathered.blanks() >= 1.0;
        let identifiers = found(gathered, learning).filter(|_| !free_text);
        columns[place].reason += &match &identifiers {
            Some(identifiers) => format!("; {}", identifiers.sentence()),
            None => "; no pattern for new ones".to_owned(),
        };
        columns[place].identifiers = identifiers;
    }
    Ok(())
}

/// Tells the cells of some columns, with the place of the column among them; none for a missing cell.
fn scan(
    source: &Source,
    markers: Option<&Markers>,
    places: &[usize],
    columns: &[Column],
    mut tell: impl FnMut(usize, Option<&str>),
) -> Result<(), ReadError> {
    for batch in source.batches()? {
        let batch = batch?;
        for (at, &place) in places.iter().enumerate() {
            let array = batch.batch.column(place);
            let view = View::of(array.as_ref());
            for row in 0..array.len() {
                match view.get(row) {
                    Some(Scalar::Text(text)) => {
                        let missing =
                            markers.is_some_and(|markers| is_missing(&columns[place], markers, text));
                        tell(at, Some(text).filter(|_| !missing));
                    }
                    Some(scalar) => tell(at, Some(&scalar.text())),
                    None => tell(at, None),
                }
            }
        }
    }
    Ok(())
}

fn is_missing(column: &Column, markers: &Markers, text: &str) -> bool {
    match markers.mark(text.trim()) {
        Marked::Missing => true,
        Marked::Perhaps => column.markers.role == MarkerRole::Missing,
        Marked::No => false,
    }
}

/// Shapes whose real texts are being marked.
struct Learning {
    shapes: Vec<Pattern>,
    forms: Forms,
    marks: Vec<Marks>,
}

impl Learning {
    /// Shapes that leave enough room for new texts, if there are any.
    fn new(gathered: &GatheredTexts) -> Option<Self> {
        let texts = gathered.texts();
        let step = texts.len().div_ceil(LEARNED).max(1);
        let some = || texts.iter().copied().step_by(step);
        let close = Self::of(Pattern::learn_closely(some()), gathered);
        let enough = gathered.present.saturating_mul(ROOM);
        if close.as_ref().is_some_and(|close| close.room() >= enough) {
            return close;
        }
        let wide = Self::of(Pattern::learn(some()), gathered);
        [close, wide].into_iter().flatten().max_by_key(Self::room)
    }

    /// Shapes with the kept texts marked.
    fn of(shapes: Vec<Pattern>, gathered: &GatheredTexts) -> Option<Self> {
        if shapes.is_empty() {
            return None;
        }
        let forms = Forms::new(&shapes);
        let numbers: Vec<(usize, u128)> =
            gathered.texts().iter().filter_map(|text| forms.find(text)).collect();
        let mut counts = vec![0_u64; forms.forms.len()];
        numbers.iter().for_each(|(form, _)| counts[*form] += gathered.scale());
        let marks = forms.forms.iter().zip(&counts).map(|(form, real)| Marks::new(form.size, *real));
        let mut marks: Vec<Marks> = marks.collect();
        numbers.iter().for_each(|(form, number)| marks[*form].mark(*number));
        Some(Self { shapes, forms, marks })
    }

    /// How many new texts there are, as far as the real ones are marked.
    fn room(&self) -> u64 {
        let free = self.forms.forms.iter().zip(&self.marks);
        let free = free.map(|(form, marks)| form.size - marks.numbers());
        u64::try_from(free.fold(0, u128::saturating_add)).unwrap_or(u64::MAX)
    }

    fn mark(&mut self, text: &str) {
        if let Some((form, number)) = self.forms.find(text) {
            self.marks[form].mark(number);
        }
    }

    fn pattern(self) -> IdentifierPattern {
        let real = (0..).zip(&self.marks).filter_map(|(form, marks)| marks.stored(form)).collect();
        IdentifierPattern::Shapes { shapes: self.shapes, real }
    }
}

/// What the identifiers of a column are; none if they are free text, or if there is no room for a new one.
fn found(gathered: &GatheredTexts, learning: Option<Learning>) -> Option<Identifiers> {
    if gathered.present == 0 {
        return None;
    }
    let unique = gathered.unique();
    let empty = (gathered.cells - gathered.present) as f64 / gathered.cells as f64;
    let shared = (!unique).then(|| gathered.pool());
    let numbering =
        |anyhow| gathered.running.found(anyhow).filter(|_| unique).map(IdentifierPattern::Running);
    let room = learning.as_ref().map_or(0, Learning::room);
    let in_order = numbering(false).filter(|_| empty == 0.0);
    let shaped = |learning: Learning| Some(learning.pattern()).filter(|_| room > 0);
    let pattern = match in_order {
        Some(running) => running,
        None if room >= gathered.present => learning.and_then(shaped)?,
        None => numbering(true).or_else(|| learning.and_then(shaped))?,
    };
    Some(Identifiers { empty, shared, pattern })
}

impl Column {
    /// How many different new identifiers there are; none if they do not end, or if the column has none.
    pub(crate) fn possible_identifiers(&self) -> Option<u64> {
        NewIdentifiers::new(self.identifiers.as_ref()?, 0, &Streams::new(0)).possible()
    }
}
