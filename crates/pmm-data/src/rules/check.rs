//! Whether a row keeps a rule.

use std::collections::{HashMap, HashSet};

use super::date_part::{DatePart, TimeUnit};
use super::error::RuleError;
use super::pattern::Pattern;
use super::place::{Place, join};
use super::rows::{Cell, Column};
use super::rule::{Numbering, Rounding, Rule, TimeGrid};
use super::value::{Condition, State};

/// What a rule says about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The row keeps it.
    Holds,
    /// The row breaks it.
    Breaks,
    /// It says nothing: a cell is missing, or was never seen.
    Silent,
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Breaks }
    }
}

/// A rule, ready for the rows of a table; rows are to be shown in their order.
///
/// ```
/// use pmm_data::rules::{Cell, Column, ColumnKind, Rule, Verdict};
/// let columns = ["low", "high"].map(|name| Column::new(name, ColumnKind::Number { decimals: None }));
/// let rule = Rule::parse("low <= high", &columns)?;
/// let mut checker = rule.checker(&columns)?;
/// assert_eq!(checker.check(&[Cell::Number(1.0), Cell::Number(2.0)]), Verdict::Holds);
/// assert_eq!(checker.check(&[Cell::Number(3.0), Cell::Number(2.0)]), Verdict::Breaks);
/// assert_eq!(checker.check(&[Cell::Number(3.0), Cell::Missing]), Verdict::Silent);
/// # Ok::<(), pmm_data::rules::RuleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Checker(Bound);

/// A rule whose names are places.
#[derive(Debug, Clone)]
enum Bound {
    Table { inputs: Vec<Place>, output: Place, table: HashMap<u64, u64> },
    OneToOne { left: Place, right: Place, there: HashMap<u64, u64>, back: HashMap<u64, u64> },
    DatePart { date: Place, part: DatePart, output: Place, numbering: BoundNumbering },
    Equal { left: Place, right: Place, nonzero: bool },
    Sum { output: Place, terms: Vec<(f64, Place)>, constants: Vec<f64>, within: f64 },
    Product { output: Place, factor: f64, above: Vec<Place>, below: Vec<Place>, within: f64 },
    Duration { output: Place, start: Place, end: Place, unit: TimeUnit, rounding: Rounding, step: f64 },
    Order { low: Place, high: Place, strict: bool },
    Range { column: Place, low: f64, high: f64 },
    Impossible { left: Place, right: Place, pairs: Vec<(Test, Test)> },
    Gate { when: BoundCondition, then: BoundCondition, both_ways: bool },
    Together(Vec<Place>),
    NeverEqual { left: Place, right: Place },
    Unique { columns: Vec<Place>, seen: Seen },
    Running { column: Place, last: Option<f64>, step: f64 },
    Shape { column: Place, shapes: Vec<Pattern> },
    Multiple { column: Place, step: f64, remainder: f64, nonzero: bool },
    OnTime { column: Place, grid: TimeGrid },
}

#[derive(Debug, Clone)]
enum BoundNumbering {
    Offset(f64),
    Table(HashMap<u64, u64>),
}

/// A state as a test of a cell.
#[derive(Debug, Clone)]
enum Test {
    Key(Option<u64>),
    NotZero,
    Between(f64, f64),
    Missing,
    Present,
}

#[derive(Debug, Clone)]
struct BoundCondition {
    column: Place,
    tests: Vec<Test>,
}

/// Hashes that were seen, at most [`Seen::MOST`] of them: where there are more, rows whose hash ends in some zeros stand for
/// all. Equal rows have equal hashes, so they are looked at together or not at all.
#[derive(Debug, Clone, Default)]
struct Seen {
    hashes: HashSet<u64>,
    zeros: u32,
}

impl Seen {
    const MOST: usize = 1 << 20;

    /// Whether the hash is new; silent if it is not looked at.
    fn insert(&mut self, hash: u64) -> Verdict {
        if hash.trailing_zeros() < self.zeros {
            return Verdict::Silent;
        }
        let new = self.hashes.insert(hash);
        while self.hashes.len() > Self::MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.hashes.retain(|hash| hash.trailing_zeros() >= zeros);
        }
        new.into()
    }
}

impl Test {
    fn new(state: &State, place: &Place) -> Self {
        match state {
            State::Is(value) => Self::Key(place.key_of(value)),
            State::NotZero => Self::NotZero,
            State::Between { low, high } => {
                Self::Between(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
            }
            State::Missing => Self::Missing,
            State::Present => Self::Present,
        }
    }

    fn admits(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Key(wanted), cell) => wanted.is_some() && super::place::key(cell) == *wanted,
            (Self::NotZero, Cell::Number(number)) => number != 0.0,
            (Self::Between(low, high), Cell::Number(number)) => number >= *low && number < *high,
            (Self::Between(..), _) => false,
            (Self::Missing, cell) => cell == Cell::Missing,
            (Self::Present | Self::NotZero, cell) => cell != Cell::Missing,
        }
    }
}

impl BoundCondition {
    fn new(condition: &Condition, columns: &[Column]) -> Result<Self, RuleError> {
        let column = Place::new(&condition.column, columns)?;
        let tests = condition.states.iter().map(|state| Test::new(state, &column)).collect();
        Ok(Self { column, tests })
    }

    fn admits(&self, row: &[Cell<'_>]) -> bool {
        let cell = row[self.column.index];
        self.tests.iter().any(|test| test.admits(cell))
    }
}

impl Rule {
    /// The rule, ready for rows with these columns.
    pub fn checker(&self, columns: &[Column]) -> Result<Checker, RuleError> {
        Ok(Checker(bound(self, columns)?))
    }

    /// What the rule says about one row; [`Rule::checker`] is quicker for many, and the only way for rules about several rows
    /// (unique and running numbers), on which one row is silent.
    pub fn check(&self, columns: &[Column], row: &[Cell<'_>]) -> Result<Verdict, RuleError> {
        match self {
            Self::Unique { .. } | Self::Running { .. } => Ok(Verdict::Silent),
            _ => Ok(self.checker(columns)?.check(row)),
        }
    }
}

fn bound(rule: &Rule, columns: &[Column]) -> Result<Bound, RuleError> {
    let place = |name: &String| Place::new(name, columns);
    let number = |name: &String| Place::number(name, columns, false);
    let scalar = |name: &String| Place::number(name, columns, true);
    let all = |names: &[String], of: &dyn Fn(&String) -> Result<Place, RuleError>| {
        names.iter().map(of).collect::<Result<Vec<_>, _>>()
    };
    Ok(match rule {
        Rule::Determined { inputs, output, table } => {
            let (inputs, output) = (all(inputs, &place)?, place(output)?);
            let lines = table.iter().filter_map(|entry| {
                let keys = inputs.iter().zip(&entry.inputs).map(|(place, value)| place.key_of(value));
                let keys: Vec<u64> = keys.collect::<Option<_>>()?;
                Some((join(keys.into_iter()), output.key_of(&entry.output).unwrap_or(u64::MAX)))
            });
            let table = lines.collect();
            Bound::Table { inputs, output, table }
        }
        Rule::OneToOne { left, right, pairs } => {
            let (left, right) = (place(left)?, place(right)?);
            let keys = pairs.iter().filter_map(|(a, b)| Some((left.key_of(a)?, right.key_of(b)?)));
            let there: HashMap<u64, u64> = keys.collect();
            let back = there.iter().map(|(a, b)| (*b, *a)).collect();
            Bound::OneToOne { left, right, there, back }
        }
        Rule::DatePart { date, part, output, numbering } => {
            let date = Place::date(date, columns)?;
            let (output, numbering) = match numbering {
                Numbering::Offset(offset) => (number(output)?, BoundNumbering::Offset(*offset)),
                Numbering::Table(table) => {
                    let output = place(output)?;
                    let lines = table.iter();
                    let lines =
                        lines.filter_map(|(part, value)| Some((part.to_bits(), output.key_of(value)?)));
                    let table = lines.collect();
                    (output, BoundNumbering::Table(table))
                }
            };
            Bound::DatePart { date, part: *part, output, numbering }
        }
        Rule::Equal { left, right, nonzero } => {
            let (left, right) = (place(left)?, place(right)?);
            Bound::Equal { left, right, nonzero: *nonzero }
        }
        Rule::Sum { output, terms, constants, within } => {
            let terms = terms.iter().map(|term| Ok((term.factor, number(&term.column)?)));
            let (terms, constants) = (terms.collect::<Result<_, RuleError>>()?, constants.clone());
            Bound::Sum { output: number(output)?, terms, constants, within: *within }
        }
        Rule::Product { output, factor, numerators, denominators, within } => Bound::Product {
            output: number(output)?,
            factor: *factor,
            above: all(numerators, &number)?,
            below: all(denominators, &number)?,
            within: *within,
        },
        Rule::Duration { output, start, end, unit, rounding, step } => Bound::Duration {
            output: number(output)?,
            start: Place::date(start, columns)?,
            end: Place::date(end, columns)?,
            unit: *unit,
            rounding: *rounding,
            step: *step,
        },
        Rule::Order { low, high, strict } => {
            let (low, high) = (scalar(low)?, scalar(high)?);
            if low.unit().is_some() != high.unit().is_some() {
                let name = columns[high.index].name.clone();
                return Err(RuleError::WrongKind { name, wanted: "what it is compared with" });
            }
            Bound::Order { low, high, strict: *strict }
        }
        Rule::Range { column, low, high } => {
            let low = low.unwrap_or(f64::NEG_INFINITY);
            Bound::Range { column: number(column)?, low, high: high.unwrap_or(f64::INFINITY) }
        }
        Rule::Impossible { left, right, pairs } => {
            let (left, right) = (place(left)?, place(right)?);
            let tests = pairs.iter().map(|(a, b)| (Test::new(a, &left), Test::new(b, &right)));
            let pairs = tests.collect();
            Bound::Impossible { left, right, pairs }
        }
        Rule::Gate { when, then, both_ways } => Bound::Gate {
            when: BoundCondition::new(when, columns)?,
            then: BoundCondition::new(then, columns)?,
            both_ways: *both_ways,
        },
        Rule::MissingTogether { columns } => Bound::Together(all(columns, &place)?),
        Rule::NeverEqual { left, right } => Bound::NeverEqual { left: place(left)?, right: place(right)? },
        Rule::Unique { columns } => Bound::Unique { columns: all(columns, &place)?, seen: Seen::default() },
        Rule::Running { column, step, .. } => {
            let column = scalar(column)?;
            let step = step * column.unit().map_or(1.0, super::rows::DateUnit::seconds);
            Bound::Running { column, last: None, step }
        }
        Rule::Shape { column, shapes } => Bound::Shape { column: place(column)?, shapes: shapes.clone() },
        Rule::Multiple { column, step, remainder, nonzero } => {
            let column = number(column)?;
            Bound::Multiple { column, step: *step, remainder: *remainder, nonzero: *nonzero }
        }
        Rule::OnTime { column, grid } => Bound::OnTime { column: Place::date(column, columns)?, grid: *grid },
    })
}

impl Checker {
    /// What the rule says about the next row.
    pub fn check(&mut self, row: &[Cell<'_>]) -> Verdict {
        match &mut self.0 {
            Bound::Unique { columns, seen } => {
                let keys: Option<Vec<u64>> = columns.iter().map(|column| column.key(row)).collect();
                keys.map_or(Verdict::Silent, |keys| seen.insert(join(keys.into_iter())))
            }
            Bound::Running { column, last, step } => {
                let Some(now) = column.scalar(row) else { return Verdict::Silent };
                let before = last.replace(now);
                before.map_or(Verdict::Silent, |before| (now == before + *step).into())
            }
            rest => verdict(rest, row).map_or(Verdict::Silent, Verdict::from),
        }
    }
}

/// Whether a row keeps a rule about single rows; none where it says nothing.
fn verdict(bound: &Bound, row: &[Cell<'_>]) -> Option<bool> {
    match bound {
        Bound::Table { inputs, output, table } => {
            let mut keys = [0; 3];
            for (key, input) in keys.iter_mut().zip(inputs) {
                *key = input.key(row)?;
            }
            let used = inputs.len().min(3);
            Some(*table.get(&join(keys[..used].iter().copied()))? == output.key(row)?)
        }
        Bound::OneToOne { left, right, there, back } => {
            let (a, b) = (left.key(row)?, right.key(row)?);
            match (there.get(&a), back.get(&b)) {
                (None, None) => None,
                (other, _) => Some(other == Some(&b)),
            }
        }
        Bound::DatePart { date, part, output, numbering } => {
            let part = part.of(date.scalar(row)?, super::rows::DateUnit::Seconds)?;
            match numbering {
                BoundNumbering::Offset(offset) => Some(output.scalar(row)? == part + offset),
                BoundNumbering::Table(table) => Some(*table.get(&part.to_bits())? == output.key(row)?),
            }
        }
        Bound::Equal { left, right, nonzero } => {
            let zero = |place: &Place| place.scalar(row) == Some(0.0);
            if *nonzero && (zero(left) || zero(right)) {
                return None;
            }
            equal(left, right, row)
        }
        Bound::NeverEqual { left, right } => equal(left, right, row).map(|equal| !equal),
        Bound::Sum { output, terms, constants, within } => {
            let mut rest = output.scalar(row)?;
            let mut size = rest.abs();
            for (factor, term) in terms {
                let part = factor * term.scalar(row)?;
                rest -= part;
                size += part.abs();
            }
            let within = within + 1e-12 * size;
            Some(constants.iter().any(|constant| (rest - constant).abs() <= within))
        }
        Bound::Product { output, factor, above, below, within } => {
            let mut product = *factor;
            for place in above {
                product *= place.scalar(row)?;
            }
            for place in below {
                product /= Some(place.scalar(row)?).filter(|&x| x != 0.0)?;
            }
            Some((output.scalar(row)? - product).abs() <= within + 1e-12 * product.abs())
        }
        Bound::Duration { output, start, end, unit, rounding, step } => {
            let time = unit.between(start.scalar(row)?, end.scalar(row)?)?;
            Some(rounded(output.scalar(row)?, time, *rounding, *step))
        }
        Bound::Order { low, high, strict } => {
            let (low, high) = (low.scalar(row)?, high.scalar(row)?);
            Some(if *strict { low < high } else { low <= high })
        }
        Bound::Range { column, low, high } => {
            let value = column.scalar(row)?;
            Some(*low <= value && value <= *high)
        }
        Bound::Impossible { left, right, pairs } => {
            let (a, b) = (row[left.index], row[right.index]);
            let mut concerned = false;
            for (first, second) in pairs {
                let (first, second) = (first.admits(a), second.admits(b));
                if first && second {
                    return Some(false);
                }
                concerned |= first || second;
            }
            concerned.then_some(true)
        }
        Bound::Gate { when, then, both_ways } => match (when.admits(row), then.admits(row)) {
            (true, then) => Some(then),
            (false, true) if *both_ways => Some(false),
            _ => both_ways.then_some(true),
        },
        Bound::Together(columns) => {
            let missing = columns.iter().filter(|column| row[column.index] == Cell::Missing).count();
            (missing > 0).then_some(missing == columns.len())
        }
        Bound::Shape { column, shapes } => {
            let text = column.text(row)?;
            Some(shapes.iter().any(|shape| shape.matches(text)))
        }
        Bound::Multiple { column, step, remainder, nonzero } => {
            let value = column.scalar(row).filter(|&value| !(*nonzero && value == 0.0))?;
            Some(on_grid(value.abs() - remainder, *step))
        }
        Bound::OnTime { column, grid } => Some(grid.holds(column.scalar(row)?)),
        Bound::Unique { .. } | Bound::Running { .. } => None,
    }
}

/// Whether two cells hold the same number, date or text.
fn equal(left: &Place, right: &Place, row: &[Cell<'_>]) -> Option<bool> {
    if left.is_numeric() || right.is_numeric() {
        match (left.scalar(row), right.scalar(row)) {
            (Some(a), Some(b)) => return Some(a == b),
            (None, None) => {}
            _ => {
                let present = |place: &Place| row[place.index] != Cell::Missing;
                return (present(left) && present(right)).then_some(false);
            }
        }
    }
    Some(left.text(row)? == right.text(row)?)
}

/// Whether a value is a multiple of a step, up to the dust of binary fractions.
pub(crate) fn on_grid(value: f64, step: f64) -> bool {
    let times = value / step;
    (times - times.round()).abs() <= 1e-6_f64.min(1e-12 * times.abs() + 1e-7)
}

/// Whether an output is a time, rounded to a step.
pub(crate) fn rounded(output: f64, time: f64, rounding: Rounding, step: f64) -> bool {
    let (off, dust) = (output - time, 1e-9 * (step + time.abs()));
    match rounding {
        Rounding::Nearest => off.abs() <= 0.5 * step + dust,
        Rounding::Down => off <= dust && off > -step - dust,
        Rounding::Up => off >= -dust && off < step + dust,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::ColumnKind;
    use super::*;

    fn columns() -> Vec<Column> {
        let number = || ColumnKind::Number { decimals: None };
        let texts = vec!["none".to_owned(), "some".to_owned()];
        let mut columns: Vec<Column> =
            ["a", "b", "c"].iter().map(|name| Column::new(*name, number())).collect();
        columns.push(Column::new("kind", ColumnKind::Levels { texts }));
        columns
    }

    fn row(a: f64, b: f64, c: f64, kind: u32) -> [Cell<'static>; 4] {
        let cell = |x: f64| if x.is_nan() { Cell::Missing } else { Cell::Number(x) };
        [cell(a), cell(b), cell(c), Cell::Level(kind)]
    }

    fn verdicts(rule: &Rule, rows: &[[Cell<'static>; 4]]) -> Vec<Verdict> {
        let mut checker = rule.checker(&columns()).unwrap();
        rows.iter().map(|row| checker.check(row)).collect()
    }

    use Verdict::{Breaks, Holds, Silent};

    #[test]
    fn sums_hold_to_the_last_digit() {
        let rule = Rule::parse("c = a + b", &columns()).unwrap();
        let rows = [row(0.1, 0.2, 0.3, 0), row(1.0, 2.0, 4.0, 0), row(1.0, f64::NAN, 1.0, 0)];
        assert_eq!(verdicts(&rule, &rows), [Holds, Breaks, Silent]);
    }

    #[test]
    fn gates_and_impossible_states() {
        let is = |column: &str, state: State| Condition { column: column.into(), states: vec![state] };
        let gate = |both_ways| Rule::Gate {
            when: is("kind", State::Is("none".into())),
            then: is("a", State::Missing),
            both_ways,
        };
        let rows = [row(f64::NAN, 0.0, 0.0, 0), row(1.0, 0.0, 0.0, 0), row(f64::NAN, 0.0, 0.0, 1)];
        assert_eq!(verdicts(&gate(false), &rows), [Holds, Breaks, Silent]);
        assert_eq!(verdicts(&gate(true), &rows), [Holds, Breaks, Breaks]);
        let pairs = vec![(State::NotZero, State::Is("none".into()))];
        let rule = Rule::Impossible { left: "b".into(), right: "kind".into(), pairs };
        let rows = [row(0.0, 1.0, 0.0, 0), row(0.0, 1.0, 0.0, 1), row(0.0, 0.0, 0.0, 1)];
        assert_eq!(verdicts(&rule, &rows), [Breaks, Holds, Silent]);
    }

    #[test]
    fn rules_about_several_rows() {
        let rows = [row(1.0, 5.0, 0.0, 0), row(2.0, 5.0, 0.0, 0), row(4.0, 5.0, 0.0, 1)];
        let running = Rule::Running { column: "a".into(), first: 1.0, step: 1.0 };
        assert_eq!(verdicts(&running, &rows), [Silent, Holds, Breaks]);
        let unique = Rule::Unique { columns: vec!["b".into(), "kind".into()] };
        assert_eq!(verdicts(&unique, &rows), [Holds, Breaks, Holds]);
    }

    #[test]
    fn a_rule_needs_its_columns() {
        let rule = Rule::Order { low: "a".into(), high: "z".into(), strict: false };
        let error = rule.checker(&columns()).unwrap_err();
        assert_eq!(error, RuleError::UnknownColumn { name: "z".into() });
        let rule = Rule::Order { low: "a".into(), high: "kind".into(), strict: false };
        assert!(matches!(rule.checker(&columns()), Err(RuleError::WrongKind { .. })));
    }

    #[test]
    fn duplicates_are_found_in_bounded_memory() {
        let mut seen = Seen::default();
        let n = 3 * Seen::MOST as u64;
        assert!((0..n).all(|i| seen.insert(super::super::place::mix(i)) != Breaks));
        assert!(seen.hashes.len() <= Seen::MOST);
        let again = (0..n).filter(|&i| seen.insert(super::super::place::mix(i)) == Breaks).count();
        assert_eq!(again, seen.hashes.len());
    }
}
