//! What is gathered of a column that has a type, in one pass and in bounded memory. Nothing is printed and parsed.

use std::collections::HashMap;

use pmm_core::{Purpose, Streams};

use super::column_type::Width;
use super::date_unit::{DateUnit, iso_format};
use super::dates::DateFormat;
use super::error::Place;
use super::missing::MarkerUse;
use super::numbers::NumberFormat;
use super::places::{finest, places_in};
use super::profile::{Entry, Limits, Nature, Profile, Seen, Steps, TOKENS, ValueSample};
use super::raw::RawKind;
use super::sample::Reservoir;
use super::scalar::{float_key, float_of_key};
use super::view::{BEYOND, View, float_text};

/// What the cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    Raw(RawKind),
    Float(Width),
}

/// What is gathered of a column of integers, decimals, booleans, dates, times or floats.
#[derive(Debug)]
pub(crate) struct TypedProfile {
    typed: Typed,
    /// Whether the values are those of a dictionary: levels, if they repeat.
    is_dictionary: bool,
    cells: u64,
    missing: u64,
    numbers: u64,
    /// The greatest common divisor of all integers.
    step: i128,
    /// Decimal places of the floats.
    places: Option<u8>,
    too_long: bool,
    /// Decimals of more than 38 digits were seen.
    pub(crate) beyond: bool,
    infinite: Vec<(String, Place)>,
    steps: Steps,
    kept: Kept,
    limits: Limits,
    place: u64,
}

#[derive(Debug)]
enum Kept {
    /// Every distinct cell with its count; floats by their bits.
    All(HashMap<i128, u64>),
    /// A sample of the numbers; dates in seconds.
    Sample(Box<ValueSample>),
    TooMany,
}

impl TypedProfile {
    pub(crate) fn new(typed: Typed, is_dictionary: bool, limits: Limits, place: u64) -> Self {
        Self {
            typed,
            is_dictionary,
            cells: 0,
            missing: 0,
            numbers: 0,
            step: 0,
            places: Some(0),
            too_long: false,
            beyond: false,
            infinite: Vec::new(),
            steps: Steps::NONE,
            kept: Kept::All(HashMap::new()),
            limits,
            place,
        }
    }

    /// Takes note of an array of its type.
    pub(crate) fn add(&mut self, view: &View<'_>, place: impl Fn(usize) -> Place) {
        match view {
            View::Raws(_, raws) => {
                raws.iter().enumerate().for_each(|(row, raw)| self.add_key(*raw, || place(row)));
            }
            View::Floats(_, floats) => {
                let keys = floats.iter().map(|float| float.map(float_key));
                keys.enumerate().for_each(|(row, key)| self.add_key(key, || place(row)));
            }
            View::Null(rows) => (0..*rows).for_each(|row| self.add_key(None, || place(row))),
            View::Texts(_) | View::Other(_) => {}
        }
    }

    fn add_key(&mut self, key: Option<i128>, place: impl Fn() -> Place) {
        self.cells += 1;
        let Some(key) = key else {
            self.missing += 1;
            return;
        };
        let value = self.value(key, false);
        self.numbers += u64::from(!value.is_nan());
        self.steps.add(value);
        match &mut self.kept {
            Kept::All(all) => {
                let count = all.entry(key).or_default();
                *count += 1;
                if *count > 1 {
                    return;
                }
            }
            Kept::Sample(sample) if value.is_finite() => sample.add("", value),
            Kept::Sample(sample) => sample.add(&Self::text_of(self.typed, key), value),
            Kept::TooMany => {}
        }
        self.classify(key, value, place);
        self.outgrow();
    }

    /// Looks at a value, for the first time as long as all are kept.
    fn classify(&mut self, key: i128, value: f64, place: impl Fn() -> Place) {
        match self.typed {
            Typed::Raw(kind) => {
                self.beyond |= key == BEYOND;
                self.too_long |= kind.too_long(key);
                self.step = common(self.step, key);
            }
            Typed::Float(width) if value.is_finite() => {
                self.places = finest(self.places, self.places.and_then(|_| places_in(width, value)));
            }
            Typed::Float(width) if value.is_infinite() => {
                let text = float_text(width, value);
                if self.infinite.iter().all(|(known, _)| *known != text) {
                    self.infinite.push((text, place()));
                }
            }
            Typed::Float(_) => {}
        }
    }

    /// Goes over to a sample, or gives up, when there are too many distinct cells.
    fn outgrow(&mut self) {
        let Kept::All(all) = &self.kept else { return };
        if all.len() <= self.limits.values {
            return;
        }
        if self.too_long {
            if all.len() > self.limits.texts {
                self.kept = Kept::TooMany;
            }
            return;
        }
        let reservoir =
            Reservoir::new(self.limits.values, &Streams::new(0), Purpose::COLUMN_VALUES, self.place);
        let mut sample = ValueSample::new(None, reservoir);
        let mut entries: Vec<(i128, u64)> = all.iter().map(|(&key, &count)| (key, count)).collect();
        entries.sort_unstable();
        for (key, count) in entries {
            let value = self.value(key, false);
            let text = if value.is_finite() { String::new() } else { Self::text_of(self.typed, key) };
            (0..count).for_each(|_| sample.add(&text, value));
        }
        self.kept = if sample.tokens.len() > TOKENS { Kept::TooMany } else { Kept::Sample(Box::new(sample)) };
    }

    fn value(&self, key: i128, days: bool) -> f64 {
        match self.typed {
            Typed::Raw(kind) => kind.value(key, days),
            Typed::Float(_) => float_of_key(key),
        }
    }

    fn text_of(typed: Typed, key: i128) -> String {
        match typed {
            Typed::Raw(kind) => kind.text(key),
            Typed::Float(width) => float_text(width, float_of_key(key)),
        }
    }

    /// What is known now that all cells were seen.
    pub(crate) fn finish(mut self) -> Profile {
        let (typed, step) = (self.typed, self.step);
        let date = if let Typed::Raw(kind) = typed { iso_format(kind, step) } else { None };
        let days = date.is_some_and(|date| DateUnit::of(&date) == DateUnit::Day);
        let places = match typed {
            Typed::Raw(kind) => Some(kind.places(step)),
            Typed::Float(_) => self.places,
        };
        let seen = match std::mem::replace(&mut self.kept, Kept::TooMany) {
            Kept::All(all) => Seen::Texts(self.named(&all, days)),
            // A sample may have been begun before it was known that the numbers are too long.
            _ if self.too_long => Seen::TooMany,
            Kept::Sample(sample) => Seen::Values(Box::new(dated(*sample, date, days))),
            Kept::TooMany => Seen::TooMany,
        };
        let present = self.cells - self.missing;
        // Numbers that hardly repeat are no category, whatever they are stored in.
        let repeat = matches!(&seen, Seen::Texts(texts) if 20 * texts.len() as u64 <= 19 * present);
        Profile {
            cells: self.cells,
            missing: self.missing,
            numbers: self.numbers,
            format: format(typed, places),
            places,
            date,
            ambiguous: false,
            finer: matches!(typed, Typed::Raw(kind) if kind.finer(step)),
            date_remark: None,
            markers: MarkerUse::default(),
            codes: false,
            too_long: self.too_long,
            infinite: self.infinite,
            steps: self.steps,
            seen,
            nature: if self.is_dictionary && repeat { Nature::Levels } else { nature(typed) },
        }
    }

    /// The distinct cells by their texts, which are the names of levels.
    fn named(&self, all: &HashMap<i128, u64>, days: bool) -> HashMap<Box<str>, Entry> {
        let entry = |(&key, &count): (&i128, &u64)| {
            (Self::text_of(self.typed, key).into(), Entry { count, value: self.value(key, days) })
        };
        all.iter().map(entry).collect()
    }
}

/// A sample of seconds as one of dates, in days where they count days.
fn dated(mut sample: ValueSample, date: Option<DateFormat>, days: bool) -> ValueSample {
    sample.date = date;
    if days {
        let day = |seconds: f64| seconds / super::raw::DAY as f64;
        sample.values.iter_mut().for_each(|value| *value = day(*value));
        (sample.low, sample.high, sample.whole) = (day(sample.low), day(sample.high), true);
    }
    sample
}

fn nature(typed: Typed) -> Nature {
    match typed {
        Typed::Raw(RawKind::Bool) => Nature::Levels,
        Typed::Raw(RawKind::Clock { .. } | RawKind::Span { .. }) => Nature::Times,
        Typed::Raw(kind) if kind.is_date() => Nature::Dates,
        _ => Nature::Numbers,
    }
}

/// How numbers of a type are shown: decimals with all their digits, floats with at least one.
fn format(typed: Typed, places: Option<u8>) -> NumberFormat {
    let (decimals, least, exponent) = match (typed, places) {
        (Typed::Raw(RawKind::Decimal { scale }), _) => (scale.max(0) as u8, scale.max(0) as u8, false),
        (Typed::Raw(_), places) => (places.unwrap_or(0), 0, false),
        (Typed::Float(_), Some(places)) => (places, 1, false),
        (Typed::Float(_), None) => (1, 1, true),
    };
    NumberFormat { decimals, least, exponent, ..NumberFormat::default() }
}

/// The greatest common divisor of a step and an integer.
fn common(step: i128, raw: i128) -> i128 {
    let (mut a, mut b) = (raw.unsigned_abs(), step.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(typed: Typed, keys: &[Option<i128>]) -> Profile {
        let mut profile = TypedProfile::new(typed, false, Limits::new(1), 0);
        keys.iter().for_each(|key| profile.add_key(*key, || Place::Row(1)));
        profile.finish()
    }

    #[test]
    fn decimals_have_their_scale_and_their_grid() {
        let money = profile(Typed::Raw(RawKind::Decimal { scale: 2 }), &[Some(150), Some(200), None]);
        assert_eq!((money.cells, money.missing, money.numbers, money.places), (3, 1, 2, Some(1)));
        assert_eq!(money.format.text(1.5), "1.50");
        let Seen::Texts(texts) = &money.seen else { panic!() };
        assert_eq!(texts["1.50"].value, 1.5);
    }

    #[test]
    fn floats_have_the_places_they_need() {
        let of = |floats: &[f64]| {
            let keys: Vec<_> = floats.iter().map(|&float| Some(float_key(float))).collect();
            profile(Typed::Float(Width::Double), &keys)
        };
        assert_eq!(of(&[1.0, 2.0]).places, Some(0));
        assert_eq!(of(&[1.0, 2.0]).format.text(3.0), "3.0");
        assert_eq!(of(&[1.25, f64::NAN]).places, Some(2));
        assert_eq!(of(&[1.25, std::f64::consts::PI]).places, None);
        assert_eq!(of(&[1.0, f64::NEG_INFINITY]).infinite, [("-inf".to_owned(), Place::Row(1))]);
    }

    #[test]
    fn dates_have_their_coarsest_unit() {
        let micros = Typed::Raw(RawKind::Instant { ticks: 1_000_000, zoned: false, date: false });
        let day = 86_400_000_000;
        let of = |keys: &[i128]| profile(micros, &keys.iter().map(|&key| Some(key)).collect::<Vec<_>>());
        let days = of(&[3 * day, -day]);
        assert!(days.date.unwrap().time.is_none());
        let Seen::Texts(texts) = &days.seen else { panic!() };
        assert_eq!(texts["1969-12-31T00:00:00"].value, -1.0);
        assert_eq!(of(&[3 * day, day + 60_000_000]).date.unwrap().text(60.0), "1970-01-01T00:01");
    }

    #[test]
    fn many_days_are_sampled_as_days() {
        let seconds = Typed::Raw(RawKind::Instant { ticks: 1, zoned: false, date: false });
        let keys: Vec<Option<i128>> = (0..70_000).map(|i| Some(i * 86_400)).collect();
        let Seen::Values(sample) = profile(seconds, &keys).seen else { panic!() };
        assert_eq!((sample.low, sample.high, sample.seen()), (0.0, 69_999.0, 70_000));
    }

    #[test]
    fn common_divisors() {
        assert_eq!((common(0, 12), common(12, 18), common(6, -9), common(5, 0)), (12, 6, 3, 5));
        assert_eq!(common(0, i128::MIN), 1);
    }
}
