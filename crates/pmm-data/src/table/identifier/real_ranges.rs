//! Where the real ones lie among the numbers of a form, without saying which they are.

use serde::{Deserialize, Serialize};

/// Ranges for each real one: so few are marked that most numbers are left.
const RANGES: u64 = 8;
/// Ranges of a form, at most: 16 megabytes.
const MOST: u64 = 1 << 27;

/// The numbers of a form, cut into equal ranges, of which those with a real one are marked.
///
/// A real one is hidden among all that share its range. Where the numbers are few, a range is one number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RealRanges {
    /// The place of the form among those of the shapes.
    form: usize,
    /// How many ranges there are.
    ranges: u64,
    /// A bit for each range, eight in a byte of two hexadecimal digits, the lowest bit first.
    marked: String,
}

/// The same, ready to be asked and to be marked.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    size: u128,
    /// Numbers of a range.
    range: u128,
    bits: Vec<u64>,
    /// Marked ranges before each word of bits.
    before: Vec<u64>,
}

impl Marks {
    /// None marked yet, of `size` numbers with so many real ones.
    pub(crate) fn new(size: u128, real: u64) -> Self {
        let wanted = real.saturating_mul(RANGES).clamp(64, MOST);
        Self::cut(size, wanted.min(u64::try_from(size).unwrap_or(u64::MAX)))
    }

    fn cut(size: u128, ranges: u64) -> Self {
        let words = ranges.div_ceil(64) as usize;
        let range = size.div_ceil(u128::from(ranges.max(1)));
        Self { size, range, bits: vec![0; words], before: vec![0; words] }
    }

    /// Marks the range of a real one.
    pub(crate) fn mark(&mut self, number: u128) {
        let range = (number / self.range) as usize;
        self.bits[range / 64] |= 1 << (range % 64);
    }

    /// Counts the marks, which must not change from here on.
    pub(crate) fn counted(mut self) -> Self {
        let mut sum = 0;
        for (before, bits) in self.before.iter_mut().zip(&self.bits) {
            *before = sum;
            sum += u64::from(bits.count_ones());
        }
        self
    }

    /// The place of a number among those of marked ranges; none if its range is not marked.
    pub(crate) fn place(&self, number: u128) -> Option<u128> {
        let range = (number / self.range) as usize;
        let (word, bit) = (self.bits[range / 64], range % 64);
        if word >> bit & 1 == 0 {
            return None;
        }
        let before = self.before[range / 64] + u64::from((word & ((1 << bit) - 1)).count_ones());
        Some(u128::from(before) * self.range + number % self.range)
    }

    /// How many numbers lie in marked ranges.
    pub(crate) fn numbers(&self) -> u128 {
        let marked: u128 = self.bits.iter().map(|bits| u128::from(bits.count_ones())).sum();
        let last = (self.size - 1) / self.range;
        let short = (last + 1) * self.range - self.size;
        let last = last as usize;
        let last_marked = self.bits[last / 64] >> (last % 64) & 1 == 1;
        marked * self.range - if last_marked { short } else { 0 }
    }

    /// To be stored; none if nothing is marked.
    pub(crate) fn stored(&self, form: usize) -> Option<RealRanges> {
        let ranges = self.size.div_ceil(self.range) as u64;
        let bytes = self.bits.iter().flat_map(|bits| bits.to_le_bytes()).take(ranges.div_ceil(8) as usize);
        let marked: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        self.bits.iter().any(|bits| *bits != 0).then_some(RealRanges { form, ranges, marked })
    }
}

impl RealRanges {
    /// The place of the form.
    pub(crate) fn form(&self) -> usize {
        self.form
    }

    /// The marks of a form of `size` numbers; none if they do not fit it.
    pub(crate) fn marks(&self, size: u128) -> Option<Marks> {
        if self.ranges == 0 || self.ranges > MOST || u128::from(self.ranges) > size {
            return None;
        }
        let mut marks = Marks::cut(size, self.ranges);
        let fits = self.marked.is_ascii() && self.marked.len() as u64 == 2 * self.ranges.div_ceil(8);
        if !fits || size.div_ceil(marks.range) != u128::from(self.ranges) {
            return None;
        }
        for place in 0..self.marked.len() / 2 {
            let byte = u8::from_str_radix(&self.marked[2 * place..2 * place + 2], 16).ok()?;
            marks.bits[place / 8] |= u64::from(byte) << (8 * (place % 8));
        }
        let beyond = self.ranges % 64;
        let stray = beyond > 0 && marks.bits.last().is_some_and(|bits| bits >> beyond != 0);
        (!stray).then(|| marks.counted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marked numbers have the places 0, 1, 2 …, each once.
    fn check(size: u128, real: &[u128]) -> Marks {
        let mut marks = Marks::new(size, real.len() as u64);
        real.iter().for_each(|number| marks.mark(*number));
        let marks = marks.counted();
        let again = marks.stored(0).unwrap().marks(size).unwrap();
        let places: Vec<u128> = (0..size).filter_map(|number| again.place(number)).collect();
        assert!(places.iter().copied().eq(0..marks.numbers()), "{size}");
        assert!(real.iter().all(|number| again.place(*number).is_some()));
        marks
    }

    #[test]
    fn places_count_what_is_marked() {
        assert_eq!(check(40, &[0, 3, 39]).numbers(), 3);
        let real: Vec<u128> = (0..50).map(|i| i * i).collect();
        let marks = check(10_007, &real);
        assert_eq!(marks.range, 26);
        assert!(marks.numbers() <= 26 * 50);
        check(10_007, &[10_006]);
        check(1000, &(0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let stored = |ranges, marked: &str| RealRanges { form: 0, ranges, marked: marked.into() };
        assert!(stored(12, "0108").marks(12).is_some());
        for (ranges, marked) in [(0, ""), (12, "01"), (12, "0118"), (12, "zz00"), (13, "0100"), (12, "é00")]
        {
            assert!(stored(ranges, marked).marks(12).is_none(), "{ranges} {marked}");
        }
    }
}
