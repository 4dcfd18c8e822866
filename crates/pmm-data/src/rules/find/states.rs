//! The cells of a column as one of a few states: levels, small numbers, zero or not, missing or not.

use super::super::value::{State, Value};
use super::sample::{NONE, Sample, SampleColumn};

/// Levels with a state of their own, at most; the others share one that no rule speaks of.
const LEVELS: usize = 40;
/// Numbers with a state each, at most.
const NUMBERS: usize = 20;

/// Numbers that have an order to speak of, at least.
const ORDERED: usize = 5;

/// A column as states.
pub(crate) struct States {
    pub(crate) name: String,
    pub(crate) column: usize,
    /// What the codes stand for; none for rare levels that share one.
    pub(crate) states: Vec<Option<State>>,
    pub(crate) code: Vec<u8>,
    pub(crate) counts: Vec<f64>,
    /// The state of cells that are missing, of zeros, of all other numbers.
    pub(crate) missing: Option<usize>,
    pub(crate) zero: Option<usize>,
    /// Whether the states are ranges of a number.
    pub(crate) binned: bool,
}

impl States {
    /// The columns that have two states or more.
    pub(crate) fn all(sample: &Sample, bins: usize) -> Vec<Self> {
        let columns = sample.columns.iter().enumerate();
        columns
            .map(|(place, column)| Self::new(place, column, bins))
            .filter(|one| one.states.len() > 1)
            .collect()
    }

    fn new(place: usize, column: &SampleColumn, bins: usize) -> Self {
        let distinct = column.distinct();
        let (mut states, of_code, binned) = if column.date.is_some() || column.identifier {
            (vec![Some(State::Present)], vec![0; distinct], false)
        } else if column.textual || distinct <= NUMBERS {
            let (states, of_code) = by_value(column);
            (states, of_code, false)
        } else {
            by_range(column, bins)
        };
        let missing = (column.present < column.code.len()).then_some(states.len());
        if missing.is_some() {
            states.push(Some(State::Missing));
        }
        let gap = missing.unwrap_or(0) as u8;
        let code: Vec<u8> =
            column.code.iter().map(|&code| if code == NONE { gap } else { of_code[code as usize] }).collect();
        let mut counts = vec![0.0; states.len()];
        for &code in &code {
            counts[usize::from(code)] += 1.0;
        }
        let is_zero = |state: &Option<State>| *state == Some(State::Is(Value::Number(0.0)));
        let zero = states.iter().position(is_zero);
        Self { name: column.name.clone(), column: place, states, code, counts, missing, zero, binned }
    }

    /// The state of all but missing cells or zeros, as a rule speaks of it.
    pub(crate) fn opposite(&self, state: usize) -> State {
        if self.missing == Some(state) { State::Present } else { State::NotZero }
    }

    /// Whether a gate may say that a cell must be in this state.
    pub(crate) fn is_gate(&self, state: usize) -> bool {
        self.missing == Some(state) || self.zero == Some(state)
    }
}

impl States {
    /// The states of the numbers next to that of a state, so many on either side; none where there are few numbers in all, which
    /// may be codes.
    pub(crate) fn neighbours(&self, state: usize, each: usize) -> Vec<usize> {
        let number = |(place, state): (usize, &Option<State>)| match state {
            Some(State::Is(Value::Number(number))) => Some((*number, place)),
            _ => None,
        };
        let mut numbers: Vec<(f64, usize)> = self.states.iter().enumerate().filter_map(number).collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(at) = numbers.iter().position(|one| one.1 == state).filter(|_| numbers.len() >= ORDERED)
        else {
            return Vec::new();
        };
        let near = at.saturating_sub(each)..(at + each + 1).min(numbers.len());
        near.filter(|place| *place != at).map(|place| numbers[place].1).collect()
    }
}

/// A state for each value; the rare ones beyond [`LEVELS`] share one.
fn by_value(column: &SampleColumn) -> (Vec<Option<State>>, Vec<u8>) {
    let mut order: Vec<usize> = (0..column.distinct()).collect();
    order.sort_by_key(|&code| std::cmp::Reverse(column.counts[code]));
    let mut kept: Vec<usize> = order.into_iter().take(LEVELS).collect();
    kept.sort_unstable();
    let rare = kept.len() as u8;
    let mut of_code = vec![rare; column.distinct()];
    for (state, &code) in kept.iter().enumerate() {
        of_code[code] = state as u8;
    }
    let mut states: Vec<Option<State>> =
        kept.iter().map(|&code| Some(State::Is(column.values[code].clone()))).collect();
    if column.distinct() > kept.len() {
        states.push(None);
    }
    (states, of_code)
}

/// Zero and not zero, where zeros are a matter of their own; else equally filled ranges.
fn by_range(column: &SampleColumn, bins: usize) -> (Vec<Option<State>>, Vec<u8>, bool) {
    let zero = column.values.iter().position(|value| *value == Value::Number(0.0));
    let share = zero.map_or(0.0, |code| f64::from(column.counts[code]) / column.present as f64);
    if (0.01..=0.99).contains(&share) {
        let is_zero = State::Is(Value::Number(0.0));
        let of_code = (0..column.distinct()).map(|code| u8::from(Some(code) != zero)).collect();
        return (vec![Some(is_zero), Some(State::NotZero)], of_code, false);
    }
    let bins = bins.clamp(1, 16);
    let (mut cuts, mut of_code, mut seen) = (Vec::new(), Vec::with_capacity(column.distinct()), 0.0);
    for (code, &count) in column.counts.iter().enumerate() {
        if seen >= (cuts.len() + 1) as f64 * column.present as f64 / bins as f64
            && let Value::Number(number) = column.values[code]
        {
            cuts.push(number);
        }
        of_code.push(cuts.len() as u8);
        seen += f64::from(count);
    }
    if cuts.is_empty() {
        return (vec![Some(State::Present)], of_code, false);
    }
    let low = |bin: usize| bin.checked_sub(1).map(|cut| cuts[cut]);
    let range = |bin: usize| Some(State::Between { low: low(bin), high: cuts.get(bin).copied() });
    ((0..=cuts.len()).map(range).collect(), of_code, true)
}
