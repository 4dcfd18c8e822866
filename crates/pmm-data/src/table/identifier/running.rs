//! Numbers that run on: 1001, 1002, 1003 …, also within a text (`INV-0007`).

use pmm_core::Stream;
use serde::{Deserialize, Serialize};

/// With fewer numbers, an order may be chance.
const ENOUGH: u64 = 10;

/// Numbers that go on after the last real one: row r has last + step · (r + 1).
///
/// ```
/// use pmm_data::Running;
/// let running = Running { before: "INV-".into(), after: String::new(), digits: 4, last: 207, step: 1, uneven: false };
/// assert_eq!(running.text(2, 0), Some("INV-0210".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    /// What stands before the number.
    pub before: String,
    /// What stands behind it.
    pub after: String,
    /// Digits, with zeros in front; 0 for as many as there are.
    pub digits: usize,
    /// The greatest real number.
    pub last: i64,
    /// From one to the next; on average, if they are uneven.
    pub step: i64,
    /// Numbers increase by steps that differ: row r has a number in (last + step · r, last + step · (r + 1)].
    pub uneven: bool,
}

impl Running {
    /// The text of a row; `within` is below the step, and counts if steps are uneven. None beyond the greatest integer.
    pub fn text(&self, row: u64, within: i64) -> Option<String> {
        let row = i64::try_from(row).ok()?;
        let number = match self.uneven {
            false => self.last.checked_add(self.step.checked_mul(row.checked_add(1)?)?)?,
            true => {
                self.last.checked_add(self.step.checked_mul(row)?)?.checked_add(1)?.checked_add(within)?
            }
        };
        Some(format!("{}{number:0width$}{}", self.before, self.after, width = self.digits))
    }

    /// The text of a row, with its place within an uneven step drawn.
    pub(crate) fn drawn(&self, row: u64, stream: &mut Stream) -> Option<String> {
        let within = if self.uneven { stream.below(self.step.unsigned_abs().max(1)) as i64 } else { 0 };
        self.text(row, within)
    }

    /// Whether texts are plain integers.
    pub(crate) fn is_integer(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.digits == 0
    }
}

/// Numbers of a column in the order of its rows, as long as they may be running.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningSeen {
    state: Option<State>,
    refused: bool,
}

#[derive(Debug, Clone)]
struct State {
    before: String,
    after: String,
    /// Digits of the first; none when others have another number of them.
    digits: Option<usize>,
    /// Some number has zeros in front.
    padded: bool,
    count: u64,
    last: i64,
    low: i64,
    high: i64,
    /// The one step; none yet, or several.
    step: Option<i64>,
    even: bool,
    increasing: bool,
}

impl RunningSeen {
    pub(crate) fn add(&mut self, text: &str) {
        if self.refused {
            return;
        }
        let Some((before, digits, after)) = parted(text) else {
            self.refused = true;
            return;
        };
        let Ok(number) = digits.parse::<i64>() else {
            self.refused = true;
            return;
        };
        match &mut self.state {
            None => self.state = Some(State::new(before, digits, after, number)),
            Some(state) if state.before == before && state.after == after => state.add(digits, number),
            Some(_) => self.refused = true,
        }
        self.refused |= self.state.as_ref().is_some_and(|state| state.digits.is_none() && state.padded);
    }

    /// How the numbers go on, if no text repeats: in order; in any order without a gap; or after the greatest, if `anyhow`.
    pub(crate) fn found(&self, anyhow: bool) -> Option<Running> {
        let state = self.state.as_ref().filter(|_| !self.refused)?;
        let span = i128::from(state.high) - i128::from(state.low);
        let whole = span + 1 == i128::from(state.count);
        let even = state.even && state.step.is_some_and(|step| step > 0) && state.count > 2;
        let increasing = state.increasing && state.count >= ENOUGH;
        let (step, uneven) = match () {
            () if even => (state.step?, false),
            () if whole && state.count > 2 => (1, false),
            () if increasing => {
                let mean = i64::try_from(span / i128::from(state.count - 1)).ok()?.max(1);
                (mean, mean > 1)
            }
            () if anyhow => (1, false),
            () => return None,
        };
        let (before, after) = (state.before.clone(), state.after.clone());
        let digits = state.digits.filter(|_| state.padded).unwrap_or(0);
        Some(Running { before, after, digits, last: state.high, step, uneven })
    }
}

impl State {
    fn new(before: &str, digits: &str, after: &str, number: i64) -> Self {
        Self {
            before: before.to_owned(),
            after: after.to_owned(),
            digits: Some(digits.len()),
            padded: has_zero(digits),
            count: 1,
            last: number,
            low: number,
            high: number,
            step: None,
            even: true,
            increasing: true,
        }
    }

    fn add(&mut self, digits: &str, number: i64) {
        self.digits = self.digits.filter(|known| *known == digits.len());
        self.padded |= has_zero(digits);
        let step = number.saturating_sub(self.last);
        self.even &= step == *self.step.get_or_insert(step);
        self.increasing &= step > 0;
        self.count += 1;
        (self.low, self.high, self.last) = (self.low.min(number), self.high.max(number), number);
    }
}

fn has_zero(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0')
}

/// What stands before the last digits of a text, these, and what stands behind them.
fn parted(text: &str) -> Option<(&str, &str, &str)> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = text[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |place| place + text[place..].chars().next().map_or(1, char::len_utf8));
    Some((&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[String]) -> Option<Running> {
        let mut seen = RunningSeen::default();
        texts.iter().for_each(|text| seen.add(text));
        seen.found(false)
    }

    fn numbers(numbers: impl Iterator<Item = i64>) -> Vec<String> {
        numbers.map(|number| number.to_string()).collect()
    }

    #[test]
    fn numbers_go_on() {
        let running = found(&numbers((0..50).map(|i| 100 + 5 * i))).unwrap();
        assert_eq!((running.last, running.step, running.uneven), (345, 5, false));
        assert_eq!(running.text(0, 0).unwrap(), "350");
        let shuffled = found(&numbers((0..101).map(|i| i * 7 % 101))).unwrap();
        assert_eq!((shuffled.last, shuffled.step), (100, 1));
        assert_eq!(found(&numbers((0..50).map(|i| i * 37 % 101))), None);
    }

    #[test]
    fn uneven_steps_stay_apart() {
        let running = found(&numbers((0..50).map(|i| 10 * i + i % 3))).unwrap();
        assert_eq!((running.last, running.step, running.uneven), (491, 10, true));
        assert_eq!((running.text(0, 0).unwrap(), running.text(0, 9).unwrap()), ("492".into(), "501".into()));
        assert_eq!(running.text(1, 0).unwrap(), "502");
    }

    #[test]
    fn texts_around_numbers_and_zeros_are_kept() {
        let texts: Vec<String> = (7..40).map(|i| format!("ä{i:03}/b")).collect();
        assert_eq!(found(&texts).unwrap().text(0, 0).unwrap(), "ä040/b");
        let mixed = ["A1", "A2", "B3"].map(str::to_owned);
        assert_eq!((found(&mixed), found(&["x".to_owned()])), (None, None));
        assert_eq!(found(&["007", "08", "9"].map(str::to_owned)), None);
        assert_eq!(Running { last: i64::MAX - 1, ..found(&texts).unwrap() }.text(1, 0), None);
    }
}
