//! A number that is the time between two dates.

use super::super::date_part::TimeUnit;
use super::super::error::RuleError;
use super::super::place::Place;
use super::super::rows::{Cell, Column};
use super::super::rule::Rounding;
use super::allowed::Allowed;
use super::ranges::Ranges;
use super::relation::{Asked, Relate, Row};

/// output = end − start, in a unit and rounded to a step.
#[derive(Debug)]
pub(super) struct Duration {
    output: Place,
    start: Place,
    end: Place,
    unit: TimeUnit,
    rounding: Rounding,
    step: f64,
}

impl Duration {
    pub(super) fn new(
        [output, start, end]: [&str; 3],
        (unit, rounding, step): (TimeUnit, Rounding, f64),
        columns: &[Column],
    ) -> Result<Self, RuleError> {
        let (start, end) = (Place::date(start, columns)?, Place::date(end, columns)?);
        Ok(Self { output: Place::number(output, columns, false)?, start, end, unit, rounding, step })
    }

    /// The place of the time: it is drawn before the second date.
    pub(super) fn output(&self) -> usize {
        self.output.index
    }

    /// Seconds in a unit; none for those of the calendar.
    fn seconds(&self) -> Option<f64> {
        match self.unit {
            TimeUnit::Months | TimeUnit::Years => None,
            unit => Some(1.0 / unit.between(0.0, 1.0)?),
        }
    }

    /// A time in the output's digits.
    fn digits(&self, time: f64) -> f64 {
        let steps = time / self.step;
        // Up to the dust of binary fractions.
        let near = steps.round();
        let steps = if (steps - near).abs() < 1e-9 * (1.0 + steps.abs()) { near } else { steps };
        self.step
            * match self.rounding {
                Rounding::Nearest => steps.round(),
                Rounding::Down => steps.floor(),
                Rounding::Up => steps.ceil(),
            }
    }
}

impl Relate for Duration {
    fn members(&self) -> Vec<usize> {
        vec![self.output.index, self.start.index, self.end.index]
    }

    fn follows(&self, row: Row<'_>) -> Option<(usize, Cell<'static>)> {
        match [&self.output, &self.start, &self.end].map(|place| row.is_known(place)) {
            [false, true, true] => {
                let time = self.unit.between(row.number(&self.start)?, row.number(&self.end)?)?;
                Some((self.output.index, self.output.cell_of_number(self.digits(time))?))
            }
            // Where the unit is that of the dates, nothing is lost by rounding.
            [true, start_known, end_known] if start_known != end_known => {
                let seconds = self.seconds()?;
                let exact = [&self.start, &self.end].iter().all(|date| self.step * seconds == date.scale());
                let time = row.number(&self.output).filter(|_| exact)? * seconds;
                match start_known {
                    true => Some((self.end.index, self.end.cell_of_number(row.number(&self.start)? + time)?)),
                    false => {
                        Some((self.start.index, self.start.cell_of_number(row.number(&self.end)? - time)?))
                    }
                }
            }
            _ => None,
        }
    }

    fn breaks(&self, row: Row<'_>) -> Option<bool> {
        let dates = row.number(&self.start).zip(row.number(&self.end));
        let time = dates.and_then(|(start, end)| self.unit.between(start, end)).map(|time| self.digits(time));
        let said = row.number(&self.output);
        Some(time.zip(said).is_some_and(|(time, said)| (time - said).abs() > 1e-9 * (1.0 + said.abs())))
    }

    /// The second date lies where the time, rounded, leads.
    fn restrict<'a>(&'a self, asked: Asked<'_>, allowed: &mut Allowed<'a>) {
        let (this, other, sign) = match asked.column {
            column if column == self.end.index => (&self.end, &self.start, 1.0),
            column if column == self.start.index => (&self.start, &self.end, -1.0),
            _ => return,
        };
        let known = (asked.row.number(&self.output), asked.row.number(other), self.seconds());
        let (Some(time), Some(from), Some(seconds)) = known else { return };
        let (low, high) = match self.rounding {
            Rounding::Nearest => (time - 0.5 * self.step, time + 0.5 * self.step),
            Rounding::Down => (time, time + self.step * (1.0 - 1e-9)),
            Rounding::Up => (time - self.step * (1.0 - 1e-9), time),
        };
        let ends = [low, high].map(|time| from + sign * time * seconds);
        let dates = Ranges::between(ends[0].min(ends[1]), ends[0].max(ends[1]));
        allowed.keep_numbers(&dates.in_units_of(this.scale()));
    }
}
