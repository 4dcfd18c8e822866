//! Predictive laws of a column, one for each row, all at once.

use arrow_array::ArrayRef;
use pmm_core::{Purpose, Streams};
use pmm_data::{Cell, Cells, Coding, Column, Numbers, OutputColumn};
use rayon::prelude::*;

use super::law::NumberLaw;
use crate::error::Error;

/// The law of a column in each of some rows, given the rest of the row.
///
/// Numbers have a mean, quantiles, a distribution function and a density; categories have probabilities. Dates are numbers: days
/// or seconds since 1970, as the column counts; times of day are seconds since midnight.
#[derive(Debug, Clone)]
pub struct Laws<'m> {
    column: &'m Column,
    /// The number of each row, by which its draws are keyed.
    numbers: Vec<u64>,
    streams: Streams,
    rows: Vec<RowLaw>,
}

/// The law of one cell.
#[derive(Debug, Clone)]
pub(crate) enum RowLaw {
    /// A number.
    Number(NumberLaw),
    /// Probabilities of the levels' codes.
    Levels(Vec<f64>),
}

impl<'m> Laws<'m> {
    pub(crate) fn new(column: &'m Column, numbers: Vec<u64>, streams: Streams, rows: Vec<RowLaw>) -> Self {
        Self { column, numbers, streams, rows }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.numbers.extend(other.numbers);
        self.rows.extend(other.rows);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The column that is predicted.
    pub fn column(&self) -> &'m Column {
        self.column
    }

    /// A value of the column as it writes it: a date as a date.
    pub fn text(&self, value: f64) -> String {
        self.column.text(Cell::Value(value), 0.5)
    }

    /// Whether it holds numbers (or dates).
    pub fn is_number(&self) -> bool {
        matches!(self.column.coding, Coding::Numbers(_))
    }

    /// The expected value in each row.
    pub fn mean(&self) -> Result<Vec<f64>, Error> {
        self.numbers(|law, numbers, _| law.mean(numbers))
    }

    /// The standard deviation in each row.
    pub fn standard_deviation(&self) -> Result<Vec<f64>, Error> {
        self.numbers(|law, numbers, _| law.standard_deviation(numbers))
    }

    /// The value that a share `q` is not above, in each row.
    pub fn quantile(&self, q: f64) -> Result<Vec<f64>, Error> {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::request(format!("{q} is no share"), "quantiles are between 0 and 1"));
        }
        self.numbers(|law, numbers, _| law.quantile(numbers, q))
    }

    /// P(X ≤ y) in each row; one `y` for each.
    pub fn cdf(&self, y: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_len(y)?;
        self.numbers(|law, numbers, row| law.cdf(numbers, y[row]))
    }

    /// log p(y) in each row: of the density, or of the probability where values repeat.
    pub fn log_density(&self, y: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_len(y)?;
        self.numbers(|law, numbers, row| law.log_density(numbers, y[row]))
    }

    /// `k` draws in each row, `[rows][k]`.
    pub fn draws(&self, k: usize) -> Result<Vec<Vec<f64>>, Error> {
        self.numbers(|law, numbers, row| {
            let mut rng = self.streams.stream(Purpose::FORECAST, 0, self.numbers[row]);
            (0..k).map(|_| law.draw(numbers, &mut rng)).collect()
        })
    }

    /// The levels' texts; those that share a code stand for it together.
    pub fn levels(&self) -> Vec<String> {
        (0..self.column.n_codes() as u32).map(|code| self.column.text(Cell::Level(code), 0.0)).collect()
    }

    /// The probabilities of the [`levels`](Self::levels), `[rows][levels]`.
    pub fn probabilities(&self) -> Result<Vec<&[f64]>, Error> {
        fn shares(law: &RowLaw) -> Option<&[f64]> {
            if let RowLaw::Levels(shares) = law { Some(shares) } else { None }
        }
        let refusal = || self.refusal("numbers", "quantile, cdf and draws say what is known of them");
        self.rows.iter().map(|law| shares(law).ok_or_else(refusal)).collect()
    }

    /// `k` draws of levels in each row, `[rows][k]`, as places in [`levels`](Self::levels).
    pub fn level_draws(&self, k: usize) -> Result<Vec<Vec<usize>>, Error> {
        let draws = |(row, shares): (usize, &&[f64])| {
            let mut rng = self.streams.stream(Purpose::FORECAST, 0, self.numbers[row]);
            (0..k).map(|_| draw_level(shares, rng.unit())).collect()
        };
        Ok(self.probabilities()?.par_iter().enumerate().with_min_len(16).map(draws).collect())
    }

    /// The place in [`levels`](Self::levels) of the likeliest level of each row.
    pub fn best(&self) -> Result<Vec<usize>, Error> {
        let best =
            |shares: &[f64]| (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0);
        Ok(self.probabilities()?.into_iter().map(best).collect())
    }

    /// Whether it holds dates or times of day, whose means are such, too.
    pub fn is_date(&self) -> bool {
        matches!(&self.column.coding, Coding::Numbers(numbers) if numbers.date.is_some())
    }

    /// Values of the column, one for each row, as an array of its type under another name.
    pub fn values_column(&self, name: &str, values: &[f64]) -> Result<(OutputColumn, ArrayRef), Error> {
        self.cells_column(name, values.iter().map(|value| Cell::Value(*value)).collect())
    }

    /// The likeliest level of each row, as an array of the column's type under another name.
    pub fn best_column(&self, name: &str) -> Result<(OutputColumn, ArrayRef), Error> {
        self.cells_column(name, self.best()?.into_iter().map(|code| Cell::Level(code as u32)).collect())
    }

    /// The [`levels`](Self::levels) as an array of the column's type under another name.
    pub fn level_column(&self, name: &str) -> Result<(OutputColumn, ArrayRef), Error> {
        self.cells_column(name, (0..self.column.n_codes() as u32).map(Cell::Level).collect())
    }

    fn cells_column(&self, name: &str, cells: Cells) -> Result<(OutputColumn, ArrayRef), Error> {
        let array = self.column.decoder()?.array(cells.len(), &cells, |_| 0.0)?;
        let output = self.column.output();
        Ok((OutputColumn { field: output.field.with_name(name), text: output.text }, array))
    }

    pub(super) fn numbers<T: Send>(
        &self,
        of: impl Fn(&NumberLaw, &Numbers, usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let Coding::Numbers(numbers) = &self.column.coding else {
            return Err(self.refusal("levels", "probabilities say what is known of them"));
        };
        let law = |(row, law): (usize, &RowLaw)| match law {
            RowLaw::Number(law) => Some(of(law, numbers, row)),
            RowLaw::Levels(_) => None,
        };
        // A few are done before other threads would wake.
        let laws: Vec<Option<T>> = match self.rows.len() {
            0..16 => self.rows.iter().enumerate().map(law).collect(),
            _ => self.rows.par_iter().enumerate().with_min_len(16).map(law).collect(),
        };
        Ok(laws.into_iter().flatten().collect())
    }

    fn check_len(&self, y: &[f64]) -> Result<(), Error> {
        if y.len() == self.rows.len() {
            return Ok(());
        }
        let what = format!("{} values for {} rows", y.len(), self.rows.len());
        Err(Error::request(what, "give one value for each row"))
    }

    fn refusal(&self, what: &str, remedy: &str) -> Error {
        Error::request(format!("the column {} holds {what}", self.column.name), remedy)
    }
}

/// The level at which the shares up to it first exceed u; the likeliest where rounding leaves a rest.
fn draw_level(shares: &[f64], mut u: f64) -> usize {
    for (level, share) in shares.iter().enumerate() {
        u -= share;
        if u < 0.0 {
            return level;
        }
    }
    (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_drawn_by_their_shares() {
        let shares = [0.5, 0.0, 0.25, 0.25];
        assert_eq!([0.0, 0.49, 0.5, 0.74, 0.75, 0.99].map(|u| draw_level(&shares, u)), [0, 0, 2, 2, 3, 3]);
        assert_eq!(draw_level(&[0.2, 0.7999], 0.99999), 1, "a rest");
    }
}
