//! What a cell may be, by rules and by what a caller asks for.

use super::super::bind::Test;
use super::super::rows::Cell;
use super::heap::HeapGrid;
use super::ranges::Ranges;

/// What a cell may be: all conditions together.
#[derive(Debug, Clone, Default)]
pub struct Allowed<'a> {
    /// The numbers that it may hold.
    pub(super) numbers: Ranges,
    /// Levels that it may hold, by code; all if none is named.
    levels: Option<Vec<bool>>,
    /// Tests, and how each must come out.
    tests: Vec<(&'a [Test], bool)>,
    /// Whether it must be missing, or must not.
    missing: Option<bool>,
    /// Whether it must be a number.
    only_numbers: bool,
    /// Whether conditions exclude each other.
    nothing: bool,
    /// What numbers between those that were seen are rounded to.
    grid: Option<HeapGrid>,
}

impl<'a> Allowed<'a> {
    /// Any cell.
    pub fn any() -> Self {
        Self::default()
    }

    /// A number of a set, and nothing else.
    pub fn numbers(numbers: Ranges) -> Self {
        Self { numbers, missing: Some(false), only_numbers: true, ..Self::default() }
    }

    /// One of some levels, by code.
    pub fn levels(levels: Vec<bool>) -> Self {
        Self { levels: Some(levels), missing: Some(false), ..Self::default() }
    }

    /// Whether anything goes.
    pub fn is_any(&self) -> bool {
        self.numbers.is_all()
            && self.levels.is_none()
            && self.tests.is_empty()
            && self.missing.is_none()
            && !self.only_numbers
            && !self.nothing
    }

    /// The numbers that it may hold.
    pub fn ranges(&self) -> &Ranges {
        &self.numbers
    }

    /// The grid that numbers between those that were seen are rounded to.
    pub fn grid(&self) -> Option<HeapGrid> {
        self.grid
    }

    /// Whether a cell is allowed.
    pub fn admits(&self, cell: Cell<'_>) -> bool {
        let by_kind = match cell {
            Cell::Missing => self.missing != Some(false),
            Cell::Number(number) => self.missing != Some(true) && self.numbers.contains(number),
            Cell::Level(code) => {
                let listed =
                    self.levels.as_ref().is_none_or(|levels| levels.get(code as usize) == Some(&true));
                self.missing != Some(true) && listed
            }
            Cell::Special(_) | Cell::Text(_) => self.missing != Some(true),
        };
        let number = !self.only_numbers || matches!(cell, Cell::Number(_));
        by_kind
            && number
            && !self.nothing
            && self.tests.iter().all(|(tests, wanted)| any(tests, cell) == *wanted)
    }

    /// Whether it must be missing, or must not; none where that is open.
    pub(super) fn is_missing(&self) -> Option<bool> {
        match self.admits(Cell::Missing) {
            false => Some(false),
            true => (self.missing == Some(true) || self.numbers.is_none()).then_some(true),
        }
    }

    /// Whether no cell is left: no number, no level, and no gap that must be.
    pub(super) fn is_nothing(&self) -> bool {
        let open = match &self.levels {
            Some(levels) => (0..).zip(levels).any(|(code, _)| self.admits(Cell::Level(code))),
            // Of a column of numbers nothing is said about levels.
            None => !self.numbers.is_none(),
        };
        self.nothing || (!open && self.is_missing() != Some(true))
    }

    /// Keeps the numbers of a set.
    pub(super) fn keep_numbers(&mut self, numbers: &Ranges) {
        self.numbers.intersect(numbers);
    }

    /// Keeps the levels for which something holds.
    pub(super) fn keep_levels(&mut self, count: usize, keep: impl Fn(u32) -> bool) {
        let levels = self.levels.get_or_insert_with(|| vec![true; count]);
        (0..).zip(levels).for_each(|(code, level)| *level &= keep(code));
    }

    /// All but one cell of a column with so many levels.
    pub(super) fn exclude(&mut self, cell: Cell<'_>, levels: usize) {
        match cell {
            Cell::Number(number) => self.keep_numbers(&Ranges::point(number).complement()),
            Cell::Level(excluded) => self.keep_levels(levels, |code| code != excluded),
            _ => {}
        }
    }

    /// Keeps what passes, or does not pass, any of some tests.
    pub(super) fn keep_tests(&mut self, tests: &'a [Test], wanted: bool) {
        let passing = Ranges::union(tests.iter().map(numbers_of));
        self.numbers.intersect(&if wanted { passing } else { passing.complement() });
        self.tests.push((tests, wanted));
    }

    /// Rounds numbers to a grid.
    pub(super) fn round(&mut self, grid: HeapGrid) {
        self.grid = Some(grid);
    }

    /// Keeps missing cells, or the others.
    pub(super) fn keep_missing(&mut self, missing: bool) {
        self.nothing |= self.missing.is_some_and(|other| other != missing);
        self.missing = Some(missing);
    }

    /// Both conditions.
    pub fn and(mut self, other: &Allowed<'a>) -> Self {
        self.numbers.intersect(&other.numbers);
        if let Some(levels) = &other.levels {
            self.keep_levels(levels.len(), |code| levels[code as usize]);
        }
        self.tests.extend(&other.tests);
        if let Some(missing) = other.missing {
            self.keep_missing(missing);
        }
        self.only_numbers |= other.only_numbers;
        self.nothing |= other.nothing;
        self.grid = self.grid.or(other.grid);
        self
    }
}

fn any(tests: &[Test], cell: Cell<'_>) -> bool {
    tests.iter().any(|test| test.admits(cell))
}

/// The numbers that pass a test.
fn numbers_of(test: &Test) -> Ranges {
    match test {
        // The key of a number is its bits.
        Test::Key(Some(key)) if !f64::from_bits(*key).is_nan() => Ranges::point(f64::from_bits(*key)),
        Test::Key(_) | Test::Missing => Ranges::none(),
        Test::NotZero => Ranges::point(0.0).complement(),
        Test::Between(low, high) => Ranges::between(*low, high.next_down()),
        Test::Present => Ranges::all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_add_up() {
        let both =
            Allowed::numbers(Ranges::between(0.0, 5.0)).and(&Allowed::numbers(Ranges::between(4.0, 9.0)));
        assert!(both.admits(Cell::Number(4.5)) && !both.admits(Cell::Number(3.0)));
        let levels = Allowed::levels(vec![true, false, true]);
        assert!(
            levels.admits(Cell::Level(2)) && !levels.admits(Cell::Level(1)) && !levels.admits(Cell::Missing)
        );
        assert!(Allowed::any().is_any() && !levels.is_any());
        let mut never = Allowed::any();
        never.keep_missing(true);
        never.keep_missing(false);
        assert!(!never.admits(Cell::Missing) && !never.admits(Cell::Level(0)));
    }

    #[test]
    fn tests_speak_of_numbers_and_levels() {
        let tests = [Test::NotZero, Test::Missing];
        let mut allowed = Allowed::any();
        allowed.keep_tests(&tests, false);
        assert!(allowed.admits(Cell::Number(0.0)) && !allowed.admits(Cell::Number(1.0)));
        assert!(!allowed.admits(Cell::Missing) && !allowed.admits(Cell::Level(3)));
    }
}
