//! Whether a row keeps a rule.

use super::bind::{Bound, BoundNumbering};
use super::error::RuleError;
use super::place::{Place, join};
use super::rows::{Cell, Column};
use super::rule::{Rounding, Rule};

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

impl Rule {
    /// The rule, ready for rows with these columns.
    pub fn checker(&self, columns: &[Column]) -> Result<Checker, RuleError> {
        Ok(Checker(Bound::new(self, columns)?))
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
    use super::super::value::{Condition, State};
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
}
