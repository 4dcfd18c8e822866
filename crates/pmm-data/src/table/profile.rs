//! What is gathered of a column in one pass, in bounded memory.

use std::collections::HashMap;

use pmm_core::{Purpose, Streams};

use super::date_profile::DateProfile;
use super::dates::DateFormat;
use super::error::Place;
use super::missing::{Marked, MarkerCounts, MarkerUse, Markers};
use super::number_form::NumberForm;
use super::numbers::{FormatProfile, NumberFormat};
use super::places::{finest, places_of};
use super::sample::Reservoir;

/// How much is kept of each column. Together the columns stay below some hundred megabytes, however many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Distinct texts of a column of numbers or dates; beyond, a sample of its values is kept.
    pub(crate) values: usize,
    /// Distinct texts of any column.
    pub(crate) texts: usize,
    /// Bytes of these texts.
    pub(crate) bytes: usize,
}

impl Limits {
    pub(crate) fn new(columns: usize) -> Self {
        let columns = columns.max(1);
        Self {
            values: (4_000_000 / columns).clamp(2_048, 65_536),
            texts: (8_000_000 / columns).clamp(4_096, 200_000),
            bytes: ((256 << 20) / columns).clamp(1 << 18, 64 << 20),
        }
    }
}

/// Distinct texts among numbers that are kept in a sample of values.
pub(crate) const TOKENS: usize = 64;

/// What is known of a column after the whole file.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) cells: u64,
    pub(crate) missing: u64,
    /// Cells that are numbers, infinite ones included.
    pub(crate) numbers: u64,
    pub(crate) format: NumberFormat,
    /// Decimal places of the numbers; none if they lie on no grid.
    pub(crate) places: Option<u8>,
    /// The one format of dates.
    pub(crate) date: Option<DateFormat>,
    /// Dates whose day and month cannot be told apart.
    pub(crate) ambiguous: bool,
    /// Dates that are finer than a microsecond.
    pub(crate) finer: bool,
    /// What was decided about dates that a reader may not expect.
    pub(crate) date_remark: Option<&'static str>,
    /// Markers of missing cells, and what they stand for.
    pub(crate) markers: MarkerUse,
    /// Some cell has leading zeros.
    pub(crate) codes: bool,
    /// Some cell is an integer that f64 cannot hold.
    pub(crate) too_long: bool,
    /// Infinite numbers with the places where they were seen first.
    pub(crate) infinite: Vec<(String, Place)>,
    pub(crate) steps: Steps,
    pub(crate) seen: Seen,
    /// What its type says, beside its values.
    pub(crate) nature: Nature,
}

/// What the type of a column says about its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Text: what it is shows in the cells.
    Unknown,
    /// A category.
    Levels,
    /// Numbers; a NaN among them is a special value.
    Numbers,
    /// Times of day or durations: numbers, but no counts.
    Times,
    /// Dates.
    Dates,
}

/// What is gathered of a column of text.
#[derive(Debug)]
pub(crate) struct TextProfile {
    pub(crate) cells: u64,
    /// Empty cells, and those with a marker until it is known what these stand for.
    pub(crate) missing: u64,
    pub(crate) numbers: u64,
    pub(crate) format: FormatProfile,
    pub(crate) places: Option<u8>,
    /// The form in which numbers are read.
    pub(crate) form: NumberForm,
    /// Cells with a marker.
    pub(crate) marked: MarkerCounts,
    /// What separates fields in the file; none where it is no delimited text.
    pub(crate) delimiter: Option<char>,
    pub(crate) dates: DateProfile,
    pub(crate) codes: bool,
    pub(crate) too_long: bool,
    pub(crate) infinite: Vec<(String, Place)>,
    pub(crate) steps: Steps,
    pub(crate) seen: Seen,
    pub(crate) nature: Nature,
    limits: Limits,
    place: u64,
}

/// How numbers go on from one row to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    last: Option<f64>,
    /// Each is one more than the one before.
    pub(crate) by_one: bool,
    /// Each is greater than the one before.
    pub(crate) increasing: bool,
}

/// The cells that are not missing.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Every distinct text.
    Texts(HashMap<Box<str>, Entry>),
    /// A sample of many numbers or dates.
    Values(Box<ValueSample>),
    /// More texts than can be kept.
    TooMany,
}

/// One distinct text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) count: u64,
    /// Its number; NaN if it is none.
    pub(crate) value: f64,
}

/// A uniform sample of values.
#[derive(Debug)]
pub(crate) struct ValueSample {
    pub(crate) values: Vec<f64>,
    pub(crate) tokens: HashMap<String, u64>,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) whole: bool,
    pub(crate) date: Option<DateFormat>,
    reservoir: Reservoir,
}

impl Profile {
    /// Cells that are not missing.
    pub(crate) fn present(&self) -> u64 {
        self.cells - self.missing
    }
}

impl TextProfile {
    /// Of the column at a place; `nature` is known for dictionaries.
    pub(crate) fn new(
        limits: Limits,
        place: u64,
        nature: Nature,
        name: &str,
        delimiter: Option<char>,
    ) -> Self {
        Self {
            cells: 0,
            missing: 0,
            numbers: 0,
            format: FormatProfile::NONE,
            places: Some(0),
            form: NumberForm::Plain,
            marked: MarkerCounts::default(),
            delimiter,
            dates: DateProfile::named(name),
            codes: false,
            too_long: false,
            infinite: Vec::new(),
            steps: Steps::NONE,
            seen: Seen::Texts(HashMap::new()),
            nature,
            limits,
            place,
        }
    }

    /// Takes note of one cell. None is missing, and with `markers` (delimited text) an empty one is; what a marker is will be
    /// known when all cells were seen. Blanks around a text count, except where it is a number or a date.
    pub(crate) fn add(&mut self, cell: Option<&str>, place: Place, markers: Option<&Markers>) {
        self.cells += 1;
        let marked = markers.zip(cell).map_or(Marked::No, |(markers, text)| markers.mark(text.trim()));
        let Some(text) = cell.filter(|_| marked == Marked::No) else {
            self.missing += 1;
            self.marked.add(cell.unwrap_or_default(), marked);
            return;
        };
        let known = match &mut self.seen {
            Seen::Texts(texts) => texts.get_mut(text).map(|entry| {
                entry.count += 1;
                entry.value
            }),
            _ => None,
        };
        let value = known.unwrap_or_else(|| self.classify(text.trim(), place));
        self.numbers += u64::from(!value.is_nan());
        self.steps.add(value);
        if known.is_none() {
            self.keep(text, value);
        }
    }

    /// Looks at a text for the first time; its number, or NaN.
    fn classify(&mut self, text: &str, place: Place) -> f64 {
        if matches!(self.seen, Seen::TooMany) || self.nature == Nature::Levels {
            return f64::NAN;
        }
        self.dates.add(text);
        let Some(number) = self.form.read_exact(text) else { return f64::NAN };
        self.codes |= number.code;
        self.too_long |= number.too_long();
        if number.value.is_finite() {
            self.format.add(&number);
            self.places = finest(self.places, places_of(number.value));
        } else if self.infinite.len() < TOKENS && self.infinite.iter().all(|(known, _)| known != text) {
            self.infinite.push((text.to_owned(), place));
        }
        number.value
    }

    fn keep(&mut self, text: &str, value: f64) {
        match &mut self.seen {
            Seen::TooMany => return,
            Seen::Values(sample) => {
                let value = sample.date.map_or(value, |date| date.value(text.trim()).unwrap_or(f64::NAN));
                sample.add(text, value);
                if sample.tokens.len() > TOKENS {
                    self.seen = Seen::TooMany;
                }
                return;
            }
            Seen::Texts(texts) => {
                texts.insert(text.into(), Entry { count: 1, value });
                self.limits.bytes = self.limits.bytes.saturating_sub(text.len());
            }
        }
        self.outgrow();
    }

    /// Goes over to a sample, or gives up, when there are too many texts.
    fn outgrow(&mut self) {
        if let Seen::Texts(texts) = &self.seen
            && texts.len() == self.limits.values + 1
        {
            self.find_form();
        }
        let Seen::Texts(texts) = &self.seen else { return };
        let full = self.limits.bytes == 0;
        if texts.len() <= self.limits.values && !full {
            return;
        }
        // Fewer than 2 % of other texts make a column of numbers; some more may come to be fewer.
        let present = self.cells - self.missing;
        let numeric = self.numbers * 100 >= present * 90 && !self.codes && !self.too_long;
        let date = self.dates.format();
        if numeric || date.is_some() {
            let size = self.limits.values;
            let reservoir = Reservoir::new(size, &Streams::new(0), Purpose::COLUMN_VALUES, self.place);
            let mut sample = ValueSample::new(date.filter(|_| !numeric), reservoir);
            sample.add_texts(texts);
            let many = sample.tokens.len() > TOKENS;
            self.seen = if many { Seen::TooMany } else { Seen::Values(Box::new(sample)) };
        } else if texts.len() > self.limits.texts || full {
            self.seen = Seen::TooMany;
        }
    }
}

impl Steps {
    pub(crate) const NONE: Self = Self { last: None, by_one: true, increasing: true };

    pub(crate) fn add(&mut self, value: f64) {
        let first = self.last.is_none();
        let last = self.last.replace(value).unwrap_or(value);
        self.by_one &= value.fract() == 0.0 && (first || value == last + 1.0);
        self.increasing &= first || value > last;
    }
}

impl ValueSample {
    /// An empty sample.
    pub(crate) fn new(date: Option<DateFormat>, reservoir: Reservoir) -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { values: Vec::new(), tokens: HashMap::new(), low, high, whole: true, date, reservoir }
    }

    /// Adds what is known so far. The order of a hash map is no order, so the texts are sorted.
    fn add_texts(&mut self, texts: &HashMap<Box<str>, Entry>) {
        let mut entries: Vec<(&str, Entry)> = texts.iter().map(|(text, entry)| (&**text, *entry)).collect();
        entries.sort_unstable_by_key(|&(text, _)| text);
        for (text, entry) in entries {
            let value = self.date.map_or(entry.value, |date| date.value(text.trim()).unwrap_or(f64::NAN));
            (0..entry.count).for_each(|_| self.add(text, value));
        }
    }

    /// Adds a value; what is not finite, as its text.
    pub(crate) fn add(&mut self, text: &str, value: f64) {
        if !value.is_finite() {
            *self.tokens.entry(text.to_owned()).or_default() += 1;
            return;
        }
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        self.whole &= value.fract() == 0.0;
        match self.reservoir.slot() {
            Some(slot) if slot == self.values.len() => self.values.push(value),
            Some(slot) => self.values[slot] = value,
            None => {}
        }
    }

    /// How many values came by.
    pub(crate) fn seen(&self) -> u64 {
        self.reservoir.seen()
    }
}
